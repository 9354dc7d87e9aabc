package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/summary"
)

// Agents for AI training that groups by name shut out together are counted in pairs, under
// the first profile; a group for all, a part that is closed and other categories are not.
func TestPairsAreCounted(t *testing.T) {
	list := "- {name: B, category: ai-training}\n- {name: A, category: ai-training, falls_back_to: [B]}\n" +
		"- {name: C, category: ai-training}\n- {name: S, category: search}\n"
	for i := range mostPaired {
		list += fmt.Sprintf("- {name: N%d, category: ai-training}\n", i)
	}
	agents, _, err := registry.ParseAgents("agents.yaml", []byte(list))
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	rfc, _ := robots.ProfileNamed("rfc9309")
	last := fmt.Sprintf("N%d", mostPaired-1)
	for _, row := range []struct{ clause, body, want string }{
		{"by name, in the order of the alphabet", "User-agent: C\nUser-agent: B\nUser-agent: A\nDisallow: /\n",
			"A B, A C, B C"},
		{"by the name of another crawler", "User-agent: B\nDisallow: /\n", "A B"},
		{"another category", "User-agent: C\nUser-agent: S\nDisallow: /\n", ""},
		{"a part", "User-agent: C\nDisallow: /\n\nUser-agent: B\nDisallow: /x\n", ""},
		{"the group for all", "User-agent: *\nDisallow: /\n", ""},
		{"one by name, the others by the group for all", "User-agent: C\nDisallow: /\n\nUser-agent: *\nDisallow: /\n", ""},
		{"one of the first 40, and one that is not", "User-agent: C\nUser-agent: " + last + "\nDisallow: /\n", ""},
		{"no file", "", ""},
	} {
		counts := countedOf(t, Config{Agents: agents, Profiles: []*robots.Profile{google, rfc}}, row.body)
		var got []string
		for _, c := range counts.List() {
			if c.Metric == "policy_pair" {
				got = append(got, c.Agent+" "+c.Key)
				if c.N != 1 || c.Profile != "google" || c.Category != summary.AITraining {
					t.Errorf("%s: %+v", row.clause, c)
				}
			}
		}
		if diff := cmp.Diff(row.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.clause, diff)
		}
	}
}

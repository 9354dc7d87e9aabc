package registry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/sinktest"

	"github.com/google/go-cmp/cmp"
)

// FuzzAgents checks that an accepted registry means the same after it is written
// and read again, and that package robots accepts it.
func FuzzAgents(f *testing.F) {
	for _, text := range []string{
		"- {name: GPTBot, tokens: [GPTBot], category: ai-training}\n",
		"- name: a\n  falls_back_to: [b]\n  user_agent: a/1.0 x\n  ignores_star: true\n- &x {name: c}\n- *x\n",
		"- {name: a, tokens: [é]}", "- {name: 1, operator: ~}", "a: [", "---\n- {name: a}\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		agents, _, err := ParseAgents("file", file)
		if err != nil {
			sinktest.CheckUserError(t, err, file)
			return
		}
		names := make(map[string]bool)
		for _, a := range agents {
			if names[strings.ToLower(a.Name)] || a.Name == "" || Robots(&a).Validate() != nil {
				t.Fatalf("agent %+v", a)
			}
			names[strings.ToLower(a.Name)] = true
		}
		// YAML reads the escapes of strconv; the library cannot read everything
		// that it writes.
		quoted := func(words ...string) string {
			for i, w := range words {
				words[i] = strconv.QuoteToASCII(w)
			}
			return strings.Join(words, ", ")
		}
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return *s
		}
		var out []byte
		for _, a := range agents {
			out = fmt.Appendf(out, "- {name: %s, tokens: [%s], falls_back_to: [%s], operator: %s, category: %s, user_agent: "+
				"%s, ignores_star: %v, user_triggered: %v}\n",
				quoted(a.Name), quoted(slices.Clone(a.Tokens)...), quoted(slices.Clone(a.FallsBackTo)...),
				quoted(text(a.Operator)), quoted(a.Category), quoted(text(a.UserAgent)), a.IgnoresStar, a.UserTriggered)
		}
		again, _, err := ParseAgents("file", out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", file, out, err)
		}
		for i := range again { // an empty list reads as nil
			if len(again[i].FallsBackTo) == 0 && len(agents[i].FallsBackTo) == 0 {
				again[i].FallsBackTo, agents[i].FallsBackTo = nil, nil
			}
		}
		if diff := cmp.Diff(agents, again); diff != "" {
			t.Fatalf("%q is written as %q:\n%s", file, out, diff)
		}
	})
}

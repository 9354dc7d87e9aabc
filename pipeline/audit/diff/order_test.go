package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Runs may list agents in different orders, and each may have agents of its own: policies
// and verdicts are paired by name.
func TestAgentsInAnotherOrder(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	const rest = "User-agent: RoboTestC\nDisallow: /x\nUser-agent: RoboTestD\nDisallow: /\n"
	texts := map[string][2]string{"h.example": {
		"User-agent: RoboTestA\nDisallow: /private\nUser-agent: RoboTestB\nDisallow: /\n" + rest,
		"User-agent: RoboTestA\nDisallow:\nUser-agent: RoboTestB\nDisallow: /private\n" + rest,
	}}
	samples, err := registry.ParseSamples("urls", []byte("/\n/private\n"))
	sinktest.Must(t, err)
	want := []string{
		"h.example policy_class major RoboTestB other google - disallow_all partial - -",
		"h.example policy_class minor RoboTestA other google - partial allow_all - -",
		"h.example verdict minor RoboTestB other google / disallow allow 4 -",
	}
	for _, lists := range [][2]string{
		{"- {name: RoboTestA}\n- {name: RoboTestB}\n- {name: RoboTestC}\n",
			"- {name: RoboTestA}\n- {name: RoboTestB}\n- {name: RoboTestC}\n"},
		{"- {name: RoboTestA}\n- {name: RoboTestB}\n- {name: RoboTestC}\n",
			"- {name: RoboTestC}\n- {name: RoboTestB}\n- {name: RoboTestA}\n"},
		{"- {name: RoboTestD}\n- {name: RoboTestA}\n- {name: RoboTestB}\n",
			"- {name: RoboTestB}\n- {name: RoboTestC}\n- {name: RoboTestA}\n"},
	} {
		dir := eachFolder(t, texts, func(dir, run, folder string, i int) {
			agents, _, err := registry.ParseAgents("agents", []byte(lists[i]))
			sinktest.Must(t, err)
			audittest.StoredRunOf(t, dir, run, folder, tablesOfRules, evaluate.Config{Agents: agents,
				Profiles: []*robots.Profile{google}, Samples: samples})
		})
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		if diff := cmp.Diff(want, shownChanges(t, dir)); diff != "" {
			t.Errorf("agents %q: -want +got\n%s", lists, diff)
		}
	}
}

// Without the table agents, the table policies says how an agent is spelt and what it is.
func TestAgentsWithoutRegistry(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	texts := map[string][2]string{"h.example": {"User-agent: *\nDisallow: /x\n",
		"User-agent: robotesta\nDisallow: /x\nUser-agent: *\nDisallow: /x\n"}}
	for _, tables := range []string{"fetches groups policies agents", "fetches groups policies"} {
		dir := twoFolders(t, texts, tables, google)
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		if diff := cmp.Diff([]string{"h.example group minor RoboTestA search - - - partial - 1"},
			shownChanges(t, dir)); diff != "" {
			t.Errorf("tables %s: -want +got\n%s", tables, diff)
		}
	}
}

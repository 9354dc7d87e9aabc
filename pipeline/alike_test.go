package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// The policies of agents to which a file says the same are written at once. Each is what a
// run with that agent alone writes, also where only its parser or its category differs.
func TestPoliciesOfManyAgents_NoRace(t *testing.T) {
	var agents []schema.Agent
	for i := range 16 {
		name := fmt.Sprintf("bot%c", 'a'+i)
		a := schema.Agent{Name: name, Tokens: []string{name}, Category: fmt.Sprint("category ", i/3)}
		if i < 9 {
			a.Tokens = []string{"bota"}
		}
		if i == 5 || i == 12 {
			a.ReadsAs = new("wget")
		}
		agents = append(agents, a)
	}
	readers := make(map[string]*robots.Profile)
	for _, name := range []string{"google", "wget"} {
		readers[name], _ = robots.ProfileNamed(name)
	}
	bodies := map[string]string{
		"star.example": "User-agent: *\nDisallow: /*.php\n",
		"named.example": "User-agent: bota\nDisallow: /*.php\n\n" +
			"User-agent: *\nUser-agent: botk\nUser-agent: botm\nDisallow: /*a\nAllow: /\n",
		"empty.example": "",
	}
	policies := func(agents ...schema.Agent) map[string][]schema.Policy {
		var hosts strings.Builder
		for host := range bodies {
			fmt.Fprintln(&hosts, host)
		}
		c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
			if body := bodies[r.Host]; body != "" {
				fmt.Fprint(w, body)
			} else {
				w.WriteHeader(http.StatusNotFound)
			}
		}, hosts.String())
		c.Evaluate.Agents, c.Evaluate.Profiles, c.Evaluate.Readers = agents, profilesNamed("google", "own"), readers
		if _, err := Run(context.Background(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
		of := make(map[string][]schema.Policy)
		for _, p := range sinktest.Rows[schema.Policy](t, c.Dir, c.Run, "policies") {
			p.Seq = 0
			of[p.Host+" "+p.Profile] = append(of[p.Host+" "+p.Profile], p)
		}
		return of
	}
	want := make(map[string][]schema.Policy)
	for _, a := range agents {
		for file, rows := range policies(a) {
			want[file] = append(want[file], rows...)
		}
	}
	if diff := cmp.Diff(want, policies(agents...)); diff != "" {
		t.Errorf("(-alone +together):\n%s", diff)
	}
}

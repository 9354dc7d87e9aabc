package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/verify"
)

// SPEC 4: only an agent's own tokens make a group its own. A file that names only
// Googlebot names none of the crawlers that fall back to its group.
func TestOnlyItsOwnTokenNamesAnAgent_NoRace(t *testing.T) {
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "down.example" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, "# a file\nUser-Agent: GOOGLEBOT/2.1\nUser-agent: MJ12bot\nDisallow: /\n")
	}, "a.example\ndown.example\n")
	var err error
	if c.Evaluate.Agents, _, err = registry.ParseAgents("agents.yaml", configs.Agents); err != nil {
		t.Fatal(err)
	}
	rfc9309, _ := robots.ProfileNamed("rfc9309")
	c.Evaluate.Profiles = append(c.Evaluate.Profiles, rfc9309)
	var progress Progress
	result, err := Run(context.Background(), c, &progress)
	if err != nil {
		t.Fatal(err)
	}

	var explicit []bool
	each(t, c, "policies", "is_explicit", func(column any) {
		for i, a := 0, column.(*array.Boolean); i < a.Len(); i++ {
			explicit = append(explicit, a.Value(i))
		}
	})
	var lines []string
	each(t, c, "policies", "group_line", func(column any) {
		for i, a := 0, column.(*array.Int32); i < a.Len(); i++ {
			lines = append(lines, a.ValueStr(i))
		}
	})
	hosts, agents, profiles := texts(t, c, "policies", "host"), texts(t, c, "policies", "agent"),
		texts(t, c, "policies", "profile")
	origins, groups, matches := texts(t, c, "policies", "origin"), texts(t, c, "policies", "group_agent"),
		texts(t, c, "policies", "match")
	got := make(map[string]string)
	for i, agent := range agents {
		got[hosts[i]+" "+profiles[i]+" "+agent] = fmt.Sprint(origins[i], " ", matches[i], " ", groups[i], " ", lines[i], " ",
			explicit[i])
	}
	for row, want := range map[string]string{
		"a.example google Googlebot":             "http://a.example own Googlebot 2 true",
		"a.example google Googlebot-Image":       "http://a.example fallback Googlebot 2 false",
		"a.example google Kagibot":               "http://a.example fallback Googlebot 2 false",
		"a.example google Google-CloudVertexBot": "http://a.example fallback Googlebot 2 false",
		"a.example rfc9309 Kagibot":              "http://a.example fallback Googlebot 2 false",
		"a.example google MJ12bot":               "http://a.example own MJ12bot 2 true",
		"a.example google GPTBot":                "http://a.example none  (null) false",
		"down.example google Googlebot":          "http://down.example   (null) false", // no file decides
	} {
		if got[row] != want {
			t.Errorf("%s: got %q, want %q", row, got[row], want)
		}
	}

	counted := make(map[string]int64)
	for _, row := range result.Counts.List() {
		if row.Profile == "google" && strings.HasPrefix(row.Metric, "policy_") {
			counted[row.Metric+" "+row.Agent+" "+row.Key] = row.N
		}
	}
	named := map[string]int64{
		"policy_explicit Googlebot disallow_all": 1, "policy_explicit MJ12bot disallow_all": 1,
		"policy_versus_star Googlebot stricter": 1, "policy_versus_star MJ12bot stricter": 1, // no group for * allows all
	}
	for _, a := range c.Evaluate.Agents {
		if slices.Contains(a.FallsBackTo, "Googlebot") {
			named["policy_fallback "+a.Name+" disallow_all"] = 1
		}
	}
	if diff := cmp.Diff(named, counted); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}

	// A resumed run starts with the counts of its committed segments.
	again := evaluate.Prepare(c.Evaluate).NewCounts()
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	if err == nil {
		var written *summary.Counts
		if written, err = summary.Read(context.Background(), sinktest.Open(t, c.Dir), m); err == nil {
			err = again.Merge(written)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.Counts.List(), again.List()); diff != "" {
		t.Errorf("counters read back (-want +got):\n%s", diff)
	}

	// Tokens are in lower case, whatever the file has.
	var tokens []string
	each(t, c, "groups", "tokens", func(column any) {
		values := column.(*array.List).ListValues().(*array.String)
		for i := range values.Len() {
			tokens = append(tokens, values.Value(i))
		}
	})
	if diff := cmp.Diff([]string{"googlebot", "mj12bot"}, tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

// A run has its registry once, whichever segment is committed first and however
// often the run is interrupted.
func TestARunHasItsRegistryOnce_NoRace(t *testing.T) {
	for name, slow := range map[string]int{"in the first segment": 3, "in the second segment": pieceTargets + 5} {
		t.Run(name, func(t *testing.T) {
			end := make(chan struct{})
			c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Host == fmt.Sprintf("h%d.example", slow) {
					select {
					case <-end:
					case <-r.Context().Done():
					}
				}
			}, list(pieceTargets*2))
			c.Tables = []string{"fetches", "agents"}
			c.Evaluate.Agents = append(c.Evaluate.Agents, schema.Agent{
				Name: "X Images", Tokens: []string{"X-Images", "XI"}, FallsBackTo: []string{"X"}, Operator: new("X"),
				Category:  "search",
				UserAgent: new("X-Images/1.0"), IgnoresStar: true, UserTriggered: true,
			})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var progress Progress
			done := make(chan error)
			go func() {
				_, err := Run(ctx, c, &progress)
				done <- err
			}()
			for progress.Snapshot().Written < pieceTargets {
				select {
				case err := <-done:
					t.Fatalf("ended before it was cancelled: %v", err)
				case <-time.After(time.Millisecond):
				}
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			close(end)
			c.Resume = true
			var again Progress
			result, err := Run(context.Background(), c, &again)
			if err != nil {
				t.Fatal(err)
			}
			if result.Rows["agents"] != 3 || result.Rows["fetches"] != 2*pieceTargets {
				t.Errorf("rows: %v", result.Rows)
			}
			if diff := cmp.Diff([]string{"GPTBot", "Googlebot", "X Images"}, texts(t, c, "agents", "agent")); diff != "" {
				t.Errorf("agents (-want +got):\n%s", diff)
			}
			lists := make(map[string][]string)
			for _, column := range []string{"tokens", "falls_back_to"} {
				each(t, c, "agents", column, func(values any) {
					for i, a := 0, values.(*array.List); i < a.Len(); i++ {
						lists[column] = append(lists[column], a.ValueStr(i))
					}
				})
			}
			want := map[string][]string{"tokens": {`["GPTBot"]`, `["Googlebot"]`, `["X-Images","XI"]`}, "falls_back_to": {
				`[]`, `[]`, `["X"]`}}
			if diff := cmp.Diff(want, lists); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			v, err := verify.Run(context.Background(), sinktest.Open(t, c.Dir), c.Run, func(int, int) {})
			if err != nil || len(v.Problems) > 0 || !v.Complete {
				t.Errorf("verify: %+v, %v", v, err)
			}
		})
	}
}

// The rows of agents that stand in a list are those of each agent alone: neighbours in
// a group are written together.
func TestAgentsOfAListAndEachAlone_NoRace(t *testing.T) {
	files := map[string]string{
		"one.example":  "user-agent: *\ndisallow: /p\n",
		"none.example": "# nothing\n",
		"most.example": "user-agent: b\nuser-agent: c\nuser-agent: d\nuser-agent: e\nuser-agent: f\ndisallow: /\n" +
			"user-agent: *\nallow: /\n",
		"delay.example": "user-agent: c\nuser-agent: d\nuser-agent: e\nuser-agent: g\ncrawl-delay: 2\nuser-agent: *\n" +
			"crawl-delay: 3\n",
		"two.example": "user-agent: d\ndisallow: /p\nuser-agent: e\ndisallow: /p\nuser-agent: *\ndisallow: /p\n",
	}
	dir := t.TempDir()
	for host, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, host), []byte(text), 0o666))
	}
	rows := func(agents []schema.Agent) (policies []schema.Policy, verdicts []schema.Verdict) {
		c := newConfig(t, nil, "")
		c.Source = source.Config{Schemes: []string{"http"}, Bodies: dir}
		c.Evaluate.Agents, c.Evaluate.Profiles = agents, profilesNamed("google", "rfc9309")
		_, err := Run(t.Context(), c, new(Progress))
		must(t, err)
		return rowsOf[schema.Policy](t, c, "policies"), rowsOf[schema.Verdict](t, c, "verdicts")
	}
	type key struct {
		seq                 int64
		profile, agent, url string
	}
	policies, verdicts := make(map[key]schema.Policy), make(map[key]schema.Verdict)
	var agents []schema.Agent
	for i := range 12 {
		name := string(rune('a' + i))
		agents = append(agents, schema.Agent{Name: name, Tokens: []string{name}, Category: []string{"search",
			"training"}[i/7]})
		p, v := rows(agents[i:])
		for _, row := range p {
			policies[key{row.Seq, row.Profile, row.Agent, ""}] = row
		}
		for _, row := range v {
			verdicts[key{row.Seq, row.Profile, row.Agent, row.URL}] = row
		}
	}
	p, v := rows(agents)
	if len(p) != len(policies) || len(v) != len(verdicts) {
		t.Fatalf("%d policies and %d verdicts together, %d and %d alone", len(p), len(v), len(policies), len(verdicts))
	}
	for i, row := range p {
		if diff := cmp.Diff(policies[key{row.Seq, row.Profile, row.Agent, ""}], row); diff != "" {
			t.Errorf("policy %d, alone and together:\n%s", i, diff)
		}
	}
	for i, row := range v {
		if diff := cmp.Diff(verdicts[key{row.Seq, row.Profile, row.Agent, row.URL}], row); diff != "" {
			t.Errorf("verdict %d, alone and together:\n%s", i, diff)
		}
	}
}

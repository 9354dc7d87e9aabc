package diff

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// side is how one of two runs is made: its tables and profiles, separated by
// spaces ("" for what audittest.Config has), what an own profile is derived from, and its
// limit of size if that is another one.
type side struct {
	tables, profiles, agents, strict string
	limit                            int
}

// sidesOf makes the runs a and b over a web that stays the same: h.example has a
// robots.txt, odd.example answers 304, which profiles take for different things.
func sidesOf(t *testing.T, sides [2]side) pipeline.Config {
	t.Helper()
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "odd.example" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "User-agent: RoboTestA\nDisallow: /private\nContent-Signal: ai-train=no\n")
	}, "h.example\nodd.example\n")
	base := c
	for i, s := range sides {
		c = base
		c.Run = []string{"a", "b"}[i]
		if s.tables != "" {
			c.Tables = strings.Fields(s.tables)
		}
		if s.agents == "" {
			s.agents = "- {name: RoboTestA, category: search}\n- {name: RoboTestB, category: ai-training}\n"
		}
		var err error
		if c.Evaluate.Agents, _, err = registry.ParseAgents("agents", []byte(s.agents)); err != nil {
			t.Fatal(err)
		}
		c.Inputs = []journal.Input{{Role: "agents", SHA256: s.agents}}
		if s.profiles != "" {
			c.Evaluate.Profiles = nil
		}
		for _, name := range strings.Fields(s.profiles) {
			from := name
			if name == "strict" {
				from, c.Settings = s.strict, map[string]any{"profiles": map[string]any{"strict": map[string]any{"base": s.strict,
					"size_limit": s.limit}}}
			}
			known, _ := robots.ProfileNamed(from)
			own := *known
			own.Name = name
			if name == "strict" && s.limit > 0 {
				own.SizeLimit = s.limit
			}
			c.Evaluate.Profiles = append(c.Evaluate.Profiles, &own)
		}
		if _, err := pipeline.Run(context.Background(), c, new(pipeline.Progress)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// What a comparison would not show is not a promise kept.
func TestPromisesThatCannotBeChecked(t *testing.T) {
	const rest = "fetches agents groups rules signals preferences sitemaps policies verdicts"
	lacking := func(tables string) [2]side {
		left := slices.DeleteFunc(strings.Fields(rest), func(name string) bool {
			return slices.Contains(strings.Fields(tables), name)
		})
		return [2]side{{tables: rest}, {tables: strings.Join(left, " ")}}
	}
	profiles := func(a, b string) [2]side { return [2]side{{profiles: a}, {profiles: b}} }
	const differ = "the first profiles of the runs differ, so no change of kind %s is found"
	for _, row := range []struct {
		name  string
		sides [2]side
		want  map[string]string // by expectation: why it is unchecked, "" for kept
	}{
		{"all tables", [2]side{}, map[string]string{
			"no_change: all": "", "no_change: all, category: search": "", "no_change: all, agents: RoboTestB": "",
			"no_change: verdict, urls: /": "", "no_change: preference": "",
			"no_change: preference, agents: RoboTestA, use: [ai-train, search]":    "",
			"preference: none, use: ai-train, agents: RoboTestB, hosts: h.example": "",
			"preference: shut_out, use: ai-train, hosts: odd.example": "unknown: an outage hides 2 of 2 " +
				"policies, on 1 of 1 host",
			"no_change: verdict, urls: /nowhere": "run a does not judge the URL /nowhere",
			"no_change: sitemap, urls: /nowhere": "no host that it covers has the URL /nowhere; correct " +
				"the entry or remove it",
			"no_change: policy_class, profile: rfc9309":           "run a does not judge by profile rfc9309",
			"no_change: all, category: archive":                   "run a has no agent of category archive",
			"class: partial, agents: RoboTestA, hosts: h.example": "",
			"class: partial, hosts: odd.example":                  "unknown: an outage hides 2 of 2 policies, on 1 of 1 host",
		}},
		{"no policies", lacking("policies"), map[string]string{
			"no_change: policy_class": "run b has no table policies", "no_change: all": "run b has no table policies",
			"no_change: [sitemap, policy_class]": "run b has no table policies",
			"no_change: verdict":                 "",
			"no_change: [group, signal, sitemap, crawl_delay, outcome, text, reachability, redirect, host_new, host_gone]": "",
			"no_change: verdict, category: search":                         "run b has no table policies",
			"no_change: group, agents: RoboTestA":                          "run b has no table policies",
			"class: partial":                                               "run b has no table policies",
			"verdict: allow, urls: /, category: search, hosts: h.example":  "",
			"verdict: allow, urls: /, agents: RoboTestA, hosts: h.example": "", "reachable: true, hosts: h.example": "",
		}},
		{"no verdicts", lacking("verdicts"), map[string]string{
			"no_change: verdict": "run b has no table verdicts", "no_change: policy_class": "",
			"no_change: policy_class, category: search": "",
		}},
		{"no groups", lacking("groups"), map[string]string{
			"no_change: group": "run b has no table groups", "no_change: crawl_delay": "run b has no table groups",
			"no_change: signal": "", "no_change: all, severity: major, agents: RoboTestA": "run b has no table groups",
		}},
		{"no rules", lacking("rules"), map[string]string{
			"no_change: rules": "run b has no table rules", "no_change: all": "run b has no table rules",
			"no_change: [text, group, policy_class]": "",
			"at_least_as_strict_as: m":               "run b has no table rules, by which rules are compared under google",
		}},
		{"no policies and agents", lacking("policies agents"), map[string]string{
			"verdict: allow, urls: /, category: search, hosts: h.example": "run b has no table policies, which has the " +
				"categories of agents",
		}},
		{"no agents", lacking("agents"), map[string]string{
			"no_change: rules": "run b has no table agents", "no_change: text": "",
			"at_most_as_strict_as: m": "run b has no table agents, which has the tokens of agents",
		}},
		{"no bodies", [2]side{{tables: rest, profiles: "google-2012 google"},
			{tables: rest, profiles: "google-2012 google"}}, map[string]string{
			"no_change: rules": "", "at_least_as_strict_as: m": "run b has no table bodies, by which rules are compared " +
				"under google-2012",
		}},
		{"no preferences", lacking("preferences"), map[string]string{
			"no_change: preference":                                         "run b has no table preferences",
			"no_change: preference, use: search":                            "run b has no table preferences",
			"no_change: all":                                                "run b has no table preferences",
			"no_change: [policy_class, rules, signal, text]":                "",
			"preference: [none, disallow], use: ai-train, hosts: h.example": "",
		}},
		{"no signals and sitemaps", lacking("signals sitemaps"), map[string]string{
			"no_change: signal": "run b has no table signals", "no_change: sitemap": "run b has no table sitemaps",
			"no_change: text": "", "no_change: all": "run b has no table signals",
		}},
		{"first profiles differ", profiles("google rfc9309", "google-2012 rfc9309"), map[string]string{
			"no_change: outcome": fmt.Sprintf(differ, "outcome"), "no_change: text": fmt.Sprintf(differ, "text"),
			"no_change: group": fmt.Sprintf(differ, "group"), "no_change: preference": fmt.Sprintf(differ, "preference"),
			"no_change: signal": fmt.Sprintf(differ, "signal"), "no_change: sitemap": fmt.Sprintf(differ, "sitemap"),
			"no_change: crawl_delay":  fmt.Sprintf(differ, "crawl_delay"),
			"no_change: reachability": fmt.Sprintf(differ, "reachability"), "no_change: all": fmt.Sprintf(differ, "rules"),
			"no_change: rules": fmt.Sprintf(differ, "rules"),
			"no_change: [policy_class, verdict, redirect, host_new, host_gone]": "", "no_change: verdict, profile: rfc9309": "",
			"no_change: verdict, profile: google": "run b does not judge by profile google",
		}},
		{"no profile in common", profiles("google", "google-2012"), map[string]string{
			"no_change: policy_class": "the runs have no profile in common",
			"no_change: verdict":      "the runs have no profile in common", "no_change: redirect": "",
		}},
		{"an own profile that was defined otherwise", [2]side{{profiles: "strict", strict: "google"},
			{profiles: "strict", strict: "google-2012"}}, map[string]string{
			"no_change: outcome": fmt.Sprintf(differ, "outcome"), "no_change: redirect": "",
		}},
		{"an agent that the earlier run did not know", [2]side{{agents: "- {name: RoboTestA, category: search}\n"}, {}},
			map[string]string{
				"no_change: policy_class, agents: RoboTestB": "run a does not judge agent RoboTestB",
				"no_change: verdict, category: ai-training":  "run a has no agent of category ai-training",
				"no_change: policy_class, agents: RoboTestA": "", "class: partial, agents: RoboTestA, hosts: h.example": "",
			}},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := sidesOf(t, row.sides)
			for text, why := range row.want {
				e, err := expect.Parse("e", []byte("- {name: x, "+text+"}"), func(string) ([]byte, error) {
					return []byte("User-agent: *\nDisallow: /x"), nil
				})
				if err != nil {
					t.Fatal(err)
				}
				r, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b", Expect: e})
				if err != nil {
					t.Fatal(err)
				}
				p := r.Expectations[0]
				state := expect.Kept
				if why != "" {
					state = expect.Unchecked
				}
				outage := strings.HasPrefix(why, "unknown: ")
				why = strings.TrimPrefix(why, "unknown: ")
				if state == expect.Kept && p.Unknown > 0 {
					why = "1 of 2 hosts unknown: not read in both runs" // odd.example
				}
				if p.Note != why || p.State != state || p.Fails != (state == expect.Unchecked && !outage) || p.Broken > 0 {
					t.Errorf("%s: %s, fails %v, %d broken, note %q, want %q", text, p.State, p.Fails, p.Broken, p.Note, why)
				}
			}
		})
	}
}

// Where two runs read one answer differently, no host has changed: not one that
// one of the readings, or both, take for an outage.
func TestOtherProfilesInventNoChange(t *testing.T) {
	notes := map[string]string{
		"other profiles":     "the first profiles differ (google, then google-2012): ",
		"in another order":   "the first profiles differ (google-2012, then google): ",
		"own ones redefined": "the first profiles differ (the runs define strict differently): ",
		"own ones cut files": "the runs define the profile strict differently (profile",
		"a second redefined": "the runs define the profile strict differently (profile",
		"agents redefined":   "the runs define the agent RoboTestA differently (the",
		"in tables alone":    "the runs' agents differ: ",
	}
	for name, sides := range map[string][2]side{
		"other profiles":     {{profiles: "google rfc9309"}, {profiles: "google-2012 rfc9309"}},
		"in another order":   {{profiles: "google-2012 google"}, {profiles: "google google-2012"}},
		"own ones redefined": {{profiles: "strict", strict: "google"}, {profiles: "strict", strict: "google-2012"}},
		"own ones cut files": {{profiles: "strict", strict: "google"}, {profiles: "strict", strict: "google", limit: 10}},
		"a second redefined": {{profiles: "google strict", strict: "google"}, {profiles: "google strict", strict: "google",
			limit: 10}},
		"agents redefined": {{agents: "- {name: RoboTestA, tokens: [Other]}\n"}, {agents: "- {name: RoboTestA}\n"}},
		"in tables alone": {{tables: "fetches policies verdicts", agents: "- {name: RoboTestA, tokens: [Other]}\n"},
			{tables: "fetches policies verdicts", agents: "- {name: RoboTestA}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := sidesOf(t, sides)
			r, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range changesOf(t, c.Dir, "b", "a") {
				got = append(got, showChange(&row))
			}
			if diff := cmp.Diff([]string(nil), got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), notes[name]) || r.Compared != 2 {
				t.Errorf("%d compared, notes %q", r.Compared, r.Notes)
			}
			// For the report, which else would say that nothing has changed.
			kept, err := journal.ReadComparison(sinktest.Open(t, c.Dir), "b", "a")
			if diff := cmp.Diff(r.Notes, kept.Notes); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

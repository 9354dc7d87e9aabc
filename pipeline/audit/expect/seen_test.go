package expect_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// show returns a promise in a line.
func show(p *expect.Promise) string {
	return strings.TrimSpace(fmt.Sprintf("%s %v %d/%d %s", p.State, p.Fails, p.Broken, p.Checked, p.Note))
}

// checkPromises compares promises, each with its result.
func checkPromises(t *testing.T, rows map[string]string, check func(e *expect.List) []*expect.Promise) {
	t.Helper()
	for text, want := range rows {
		e, err := expect.Parse("e", []byte("- {name: x, "+text+"}"), func(string) ([]byte, error) {
			return []byte("User-agent: GPTBot\nDisallow: /x\n"), nil
		})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, show(check(e)[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// Each pattern of hosts and each URL has to be about something, even beside others. What
// an outage hides is not kept.
func TestEachWordOfAPromiseIsAboutSomething(t *testing.T) {
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "h9.example" {
			audittest.Down(w)
			return
		}
		io.WriteString(w, "User-agent: *\nDisallow: /private\nDisallow: /x\n")
	}, audittest.Hosts(10))
	_, err := pipeline.Run(context.Background(), c, new(pipeline.Progress))
	sinktest.Must(t, err)
	const unmatched = "; correct the entry or remove it"
	checkPromises(t, map[string]string{
		"class: partial": "kept false 0/18 an outage hides 2 of 20 policies, on 1 of 10 hosts",
		"class: partial, hosts: [h1.*, h2.example]": "kept false 0/4",
		"class: partial, hosts: [h1.*, x2.example]": "unchecked true 0/2 no " +
			"host matches x2.example" + unmatched,
		"class: partial, hosts: [h1.*, '*.test', H1.EXAMPLE]": "unchecked true 0/2 " +
			"no host matches *.test" + unmatched,
		"class: partial, hosts: [a, b, c, d, h1.*]": "unchecked true 0/2 no " +
			"host matches a, b, c and 1 more" + unmatched,
		"class: partial, hosts: [h1.*, h9.example]": "unchecked false 0/2 " +
			"nothing was seen of h9.example; an outage hides 2 of 4 policies, on 1 of 2 hosts",
		"class: allow_all, hosts: [h1.*, x2.example]": "broken true 2/2",
		"class: partial, hosts: h9.example": "unchecked false 0/0 an " +
			"outage hides 2 of 2 policies, on 1 of 1 host",
		"class: partial, category: search": "unchecked true 0/0 run " +
			"r has no agent of category search",
		"class: partial, agents: [GPTBot], profile: rfc9309": "unchecked true 0/0 run " +
			"r does not judge by profile rfc9309",
		"class: partial, profile: [google, rfc9309], hosts: h1.*": "unchecked true 0/0 run " +
			"r does not judge by profile rfc9309",
		"reachable: true, hosts: [h1.*, h2.*]": "kept false 0/2",
		"reachable: true, hosts: [h1.*, g2.*]": "unchecked true 0/1 " +
			"no host matches g2.*" + unmatched,
		"verdict: disallow, urls: [/private]": "kept false 0/18 an outage hides 2 of 20 verdicts, on 1 of 10 hosts",
		"verdict: disallow, urls: [/private, /nowhere]": "unchecked true 0/18 no " +
			"host that it covers has the URL /nowhere" + unmatched,
		"verdict: allow, urls: [http://h1.example/own, http://h2.example/own], hosts: 'h[12].*'": "unchecked true 0/2 no " +
			"host that it covers has the URL http://h2.example/own" + unmatched,
		"verdict: disallow, urls: /nowhere, hosts: 'h[123].*'": "unchecked true 0/0 no " +
			"host that it covers has the URL /nowhere" + unmatched,
		"at_least_as_strict_as: m, hosts: [h1.*, h2.*]": "kept false 0/2",
		"at_least_as_strict_as: m, hosts: [h1.*, h9.*]": "unchecked false 0/1 " +
			"nothing was seen of h9.*; an outage hides 1 of 2 policies, on 1 of 2 hosts",
		"at_least_as_strict_as: m, hosts: [h1.*, z.*]": "unchecked true " +
			"0/1 no host matches z.*" + unmatched,
		"at_least_as_strict_as: m, agents: Googlebot": "unchecked true 0/0 the " +
			"model m forbids nothing to any of its agents under google",
	}, func(e *expect.List) []*expect.Promise {
		promises, err := e.Check(t.Context(), sinktest.Open(t, c.Dir), c.Run, c.Evaluate.Agents)
		sinktest.Must(t, err)
		return promises
	})
	// Before a run, what the registry lacks is an error.
	for text, want := range map[string]string{
		"class: partial, category: search": "e:1: expectation \"x\": the registry has no agent " +
			"of category search",
		"class: partial, agents: GPTBot, category: [search]": "e:1: expectation \"x\": the registry has GPTBot in none " +
			"of these categories",
		"class: partial, category: [other, archive]": "e:1: expectation \"x\": the registry has no agent " +
			"of category archive",
		"at_least_as_strict_as: m, agents: Googlebot": "e:1: expectation \"x\" cannot be broken: the model m " +
			"forbids nothing to any of its agents under google",
		"at_least_as_strict_as: m, agents: [GPTBot,Googlebot]": "",
	} {
		e, err := expect.Parse("e", []byte("- {name: x, "+text+"}"), func(string) ([]byte, error) {
			return []byte("User-agent: GPTBot\nDisallow: /x\n"), nil
		})
		sinktest.Must(t, err)
		if err := e.Fit(c.Evaluate, c.Tables); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// RFC 9309 always allows /robots.txt, whatever a host says.
	both := c.Evaluate
	rfc, _ := robots.ProfileNamed("rfc9309")
	both.Profiles = append(slices.Clip(both.Profiles), rfc)
	both.Samples = append(slices.Clip(both.Samples), registry.Sample{URL: "/robots.txt"})
	for text, want := range map[string]string{
		"verdict: allow, urls: [/private, /robots.txt], profile: rfc9309": "e:1: expectation \"x\" cannot be broken at " +
			"/robots.txt: under rfc9309 it may always be fetched",
		"no_change: verdict, urls: /robots.txt, profile: rfc9309": "e:1: expectation \"x\" cannot be broken at " +
			"/robots.txt: under rfc9309 it may always be fetched",
		"verdict: allow, urls: /robots.txt":                      "",
		"verdict: disallow, urls: /robots.txt, profile: rfc9309": "",
		"no_change: all, profile: rfc9309":                       "",
	} {
		e, err := expect.Parse("e", []byte("- {name: x, "+text+"}"), nil)
		sinktest.Must(t, err)
		if err := e.Fit(both, c.Tables); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	e, err := expect.Parse("e", []byte("- {name: x, at_most_as_strict_as: m}"), func(string) ([]byte, error) {
		return []byte("User-agent: *\nDisallow: /\n"), nil
	})
	sinktest.Must(t, err)
	if err := e.Fit(c.Evaluate, c.Tables); err == nil || !strings.Contains(err.Error(),
		"the model m allows nothing to any of its agents under google") {
		t.Errorf("of a model that allows nothing: %v", err)
	}
}

// Two runs of hosts that close in part, wholly, go down, are down, and stay; every one of
// them in both lists.
func weekOfChanges(t *testing.T) pipeline.Config {
	run := 0
	files := map[string][2]string{
		"same.example":      {"User-agent: *\nDisallow: /x", "User-agent: *\nDisallow: /x"},
		"shut.example":      {"User-agent: *\nDisallow: /x", "User-agent: *\nDisallow: /"},
		"narrowed.example":  {"", "User-agent: *\nDisallow: /x"},
		"opened.example":    {"User-agent: *\nDisallow: /", "User-agent: *\nDisallow: /x"},
		"part.example":      {"User-agent: *\nDisallow: /x", "User-agent: *\nDisallow: /x\nDisallow: /y"},
		"down.example":      {"User-agent: *\nDisallow: /x", "503"},
		"back.example":      {"503", "User-agent: *\nDisallow: /"},
		"dead.example":      {"503", "503"},
		"stranger.example":  {"User-agent: Other\nDisallow: /x", "User-agent: Other\nDisallow: /"},
		"strangers.example": {"User-agent: Other\nDisallow: /", "User-agent: Other\nDisallow: /x"},
	}
	var hosts strings.Builder
	for host := range files {
		fmt.Fprintln(&hosts, host)
	}
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		if text := files[r.Host][run]; text == "503" {
			audittest.Down(w)
		} else {
			io.WriteString(w, text)
		}
	}, hosts.String())
	var err error
	for i, id := range []string{"a", "b"} {
		urls := "/y\nhttp://same.example/own\n" + []string{"http://same.example/old\n", "http://same.example/new\n"}[i]
		c.Evaluate.Samples, err = registry.ParseSamples("urls", []byte(urls))
		sinktest.Must(t, err)
		run, c.Run = i, id
		_, err := pipeline.Run(context.Background(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	return c
}

func diffPromises(t *testing.T, c pipeline.Config) func(e *expect.List) []*expect.Promise {
	return func(e *expect.List) []*expect.Promise {
		r, err := diff.Runs(t.Context(), diff.Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b", Expect: e})
		sinktest.Must(t, err)
		return r.Expectations
	}
}

// What closes a path closes it, whichever row says so; and only hosts that were read in
// both runs are checked.
func TestPromisesOfChangesByMeaning(t *testing.T) {
	c := weekOfChanges(t)
	const unread = "3 of 10 hosts unknown: not read in both runs"
	checkPromises(t, map[string]string{
		// Two agents on shut, narrowed and part, and the agent of no registry.
		"no_change: rules, after: [closes, both]":                                 "broken true 7/7 " + unread,
		"no_change: rules, after: [closes, both], at_most: 6":                     "broken true 7/7 " + unread,
		"no_change: rules, after: closes, agents: GPTBot":                         "broken true 3/7 " + unread,
		"no_change: rules, after: closes, severity: major, hosts: shut.example":   "broken true 2/1",
		"no_change: rules, after: closes, hosts: [shut.example], profile: google": "broken true 2/1",
		"no_change: rules, after: opens":                                          "broken true 3/7 " + unread,
		"no_change: rules, hosts: same.example":                                   "kept false 0/1",
		"no_change: rules, hosts: opened.example, after: [closes, both]":          "kept false 0/1",
		// A row that counts twice over is one change.
		"no_change: [rules, policy_class], hosts: shut.example": "broken true 2/1",
		"no_change: all, hosts: shut.example":                   "broken true 2/1",
		"no_change: all, hosts: stranger.example":               "broken true 1/1",
		// The verdict that the row of the class covers.
		"no_change: verdict, hosts: shut.example": "broken " +
			"true 2/1",
		"no_change: verdict, hosts: shut.example, severity: major, urls: /y": "broken " +
			"true 2/1",
		"no_change: verdict, hosts: shut.example, after: allow": "kept " +
			"false 0/1",
		"no_change: verdict, hosts: opened.example, after: allow": "broken " +
			"true 2/1",
		"no_change: all, hosts: shut.example, urls: /y": "broken " +
			"true 2/1",
		"no_change: [verdict, policy_class], hosts: shut.example, severity: major, after: [disallow, partial]": "broken " +
			"true 2/1",
		// Outages.
		"no_change: policy_class, hosts: [same.example, down.example]": "unchecked false 0/1 nothing was seen of " +
			"down.example; 1 of 2 hosts unknown: not read in both runs",
		"no_change: policy_class, hosts: d*.example": "unchecked false 0/0 2 of 2 hosts unknown: " +
			"not read in both runs",
		"no_change: policy_class, hosts: '*[dk].example'": "broken true 4/2 2 of 4 hosts unknown: " +
			"not read in both runs",
		"no_change: reachability":                      "broken true 2/10",
		"no_change: reachability, hosts: same.example": "kept false 0/1",
		"no_change: all, hosts: down.example": "broken true 1/0 1 of 1 host unknown: " +
			"not read in both runs",
		"no_change: all, severity: critical, hosts: down.example": "unchecked false 0/0 1 of 1 host unknown: " +
			"not read in both runs",
		"no_change: [host_new, host_gone]": "kept false 0/10",
		// Words about nothing.
		"no_change: text, hosts: [same.example, none.example]": "unchecked true 0/1 no host matches " +
			"none.example; correct the entry or remove it",
		"no_change: verdict, urls: [/y, /z], hosts: same.example": "unchecked true 0/0 run a does " +
			"not judge the URL /z",
		"no_change: verdict, urls: http://same.example/own": "kept false 0/7 " + unread,
		"no_change: verdict, urls: http://same.example/other": "unchecked true 0/7 no host that it covers has " +
			"the URL http://same.example/other; correct the entry or remove it",
		"no_change: verdict, urls: http://same.example/new": "unchecked true 0/7 no host that it covers has " +
			"the URL http://same.example/new; correct the entry or remove it",
		"no_change: verdict, urls: http://same.example/old": "unchecked true 0/7 no host that it covers has " +
			"the URL http://same.example/old; correct the entry or remove it",
		"no_change: all, urls: http://same.example/own, hosts: same.*": "kept false 0/1",
		"no_change: [verdict, sitemap], urls: https://same.example/s.xml": "unchecked true 0/7 no host that it covers has " +
			"the URL https://same.example/s.xml; correct the entry or remove it",
	}, diffPromises(t, c))
}

// Whether a host is gone, or another choice of hosts leaves it out, nobody knows.
func TestHostsThatAnotherChoiceLeavesOut(t *testing.T) {
	rows := []schema.Fetch{audittest.Fetch("https://h1.example", "success", "T", 1), audittest.Fetch("https://h2.example",
		"success", "T", 1), audittest.Fetch("https://h3.example", "success", "T", 1)}
	hosts := func(digest string) []journal.Input {
		return []journal.Input{{Role: "hosts", Path: "hosts", SHA256: digest}}
	}
	for name, row := range map[string]struct {
		plans [2]journal.Plan
		why   string
	}{
		"the same": {[2]journal.Plan{{Inputs: hosts("x")}, {Inputs: hosts("x")}}, ""},
		"another limit": {[2]journal.Plan{{Configuration: map[string]any{"limit": "0"}},
			{Configuration: map[string]any{"limit": "2"}}}, "another --limit: 0, then 2"},
		"another share": {[2]journal.Plan{{Configuration: map[string]any{"sample": "1"}},
			{Configuration: map[string]any{"sample": "0.5"}}}, "another --sample: 1, then 0.5"},
		"another list": {[2]journal.Plan{{Inputs: hosts("x")}, {Inputs: hosts("y")}},
			"another edition of the list of hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			c := pipeline.Config{Dir: t.TempDir()}
			for i, id := range []string{"a", "b"} {
				of := rows
				if i == 1 {
					of = rows[1:]
				}
				audittest.PlannedRun(t, c.Dir, id, row.plans[i], of)
			}
			want := map[string]string{
				"no_change: host_gone":                    "broken true 1/3",
				"no_change: host_gone, hosts: h1.example": "broken true 1/1",
				"no_change: host_gone, at_most: 1":        "kept false 1/3",
				"no_change: host_gone, hosts: h2.example": "kept false 0/1",
				"no_change: host_new":                     "kept false 0/2",
			}
			if row.why != "" {
				note := "1 of 3 hosts in one run only, which another choice of hosts may explain (" + row.why + ")"
				want["no_change: host_gone"] = "unchecked true 0/3 " + note
				want["no_change: host_gone, hosts: h1.example"] = "unchecked true 0/1 " + strings.Replace(note, "3 hosts",
					"1 host", 1)
				want["no_change: host_gone, at_most: 1"] = "kept false 0/3 " + note
			}
			checkPromises(t, want, diffPromises(t, c))
		})
	}
}

// Under a profile that does not know a host's policy in one of the runs, nothing was seen
// of it.
func TestAPolicyThatIsNotKnownIsNotChecked(t *testing.T) {
	run := 0
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		if run == 1 && r.Host == "script.example" {
			io.WriteString(w, "<html><head><meta http-equiv=refresh content='0; url=/login'></head></html>")
			return
		}
		io.WriteString(w, "User-agent: *\nDisallow: /x\n")
	}, "script.example\nsame.example\n")
	old, _ := robots.ProfileNamed("google-2012")
	c.Evaluate.Profiles = append(c.Evaluate.Profiles, old)
	for i, id := range []string{"a", "b"} {
		run, c.Run = i, id
		_, err := pipeline.Run(context.Background(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	const hidden = "kept false 0/1 1 of 2 hosts unknown: not read in both runs"
	checkPromises(t, map[string]string{
		"no_change: policy_class, profile: google":      "broken true 2/2",
		"no_change: policy_class, profile: google-2012": hidden,
		"no_change: verdict, profile: google-2012":      hidden,
		"no_change: sitemap":                            "kept false 0/2",
	}, diffPromises(t, c))
}

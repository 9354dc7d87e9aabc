package expect

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	askedfor "github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestAMistakeInExpectationsIsAnErrorWithItsLine(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", "e: holds no expectation;"},
		{"- name: [\n", "e:"},
		{"- {name: a, reachable: true}\n---\n- {name: b, reachable: true}\n", "e:2: begins a second document"},
		{"a: b\n", "e:1: expected a list: begin each expectation with a dash"},
		{"\nx\n", "e:2: "},
		{"- {name: a, class: {x: y}}\n", "e:1: expected a list, got keys and values"},
		{"- x\n", "e:1: expected `key: value` pairs"},
		{"- name: a\n  hots: x\n", `e:2: unknown key "hots"`},
		{"- hosts: x\n  reachable: true\n", "e:1: the expectation has no name; give it one"},
		{"- name: a\n", `e:1: expectation "a" expects nothing`},
		{"- name: a\n  reachable: true\n  class: partial\n", "e:3: an expectation has one of"},
		{"- name: a\n  reachable: false\n", "e:2: reachable can only be true"},
		{"- name: a\n  reachable: [x]\n", "e:2: "},
		{"- name: a\n  reachable: true\n  agents: GPTBot\n", "e:3: agents does not apply to reachable; remove it"},
		{"- name: a\n  verdict: allow\n", "e:2: verdict needs urls"},
		{"- name: a\n  verdict: yes\n  urls: /\n", `e:2: verdict "yes": use allow or disallow`},
		{"- name: a\n  class: closed\n", `e:2: class "closed": use partial, allow_all, disallow_all`},
		{"- name: a\n  class: unknown\n", `e:2: class "unknown": use`},
		{"- name: a\n  class: partial\n  category: ai\n", `e:3: category "ai": use search, `},
		{"- name: a\n  class: partial\n  hosts: '[a'\n", `e:3: hosts "[a": * stands for`},
		{"- name: a\n  class: partial\n  hosts: []\n", "e:3: hosts is empty"},
		{"- name: a\n  no_change: policies\n", `e:2: no_change "policies": use all, policy_class`},
		{"- name: a\n  no_change: all\n  severity: bad\n", `e:3: severity "bad": use critical`},
		{"- name: a\n  no_change: policy_class\n  after: closed\n",
			`e:3: after "closed": use allow_all, disallow_all, partial`},
		{"- name: a\n  no_change: [verdict, outcome]\n  after: [disallow, disallow_all]\n",
			`e:3: after "disallow_all": use allow, conditional_allow, disallow, full_`},
		{"- name: a\n  no_change: host_gone\n  after: full_allow\n",
			`e:3: after "full_allow": these changes have no such value`},
		{"- name: a\n  no_change: all\n  at_most: 1%\n", "e:3: at_most of no_change must be a number"},
		{"- name: a\n  reachable: true\n  at_most: some\n", `e:3: at_most "some": use a number, or a share`},
		{"- name: a\n  reachable: true\n  at_most: -1\n", `e:3: at_most "-1"`},
		{"- name: a\n  reachable: true\n  at_most: 101%\n", `e:3: at_most "101%"`},
		{"- name: a\n  reachable: true\n  at_most: NaN%\n", `e:3: at_most "NaN%"`},
		{"- name: a\n  reachable: true\n- name: a\n  reachable: true\n", `e:3: expectation "a" is already in line 1`},
	} {
		_, err := Parse("e", []byte(row.text), nil)
		var input *userfile.Error
		if err == nil || !strings.HasPrefix(err.Error(), row.want) || !errors.As(err, &input) {
			t.Errorf("%q: %v, want %s", row.text, err, row.want)
		}
	}
}

func TestTheExampleOfExpectationsIsOne(t *testing.T) {
	text, err := os.ReadFile("../../../configs/expectations.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var models []string
	e, err := Parse("../x/example", text, func(path string) ([]byte, error) {
		models = append(models, path)
		return []byte("User-agent: *\nDisallow: /x"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	what := make(map[string]bool)
	byCategory := false
	for _, x := range e.list {
		what[x.what] = true
		byCategory = byCategory || x.what == ofCoverage && len(x.Category) > 0
	}
	if !byCategory {
		t.Error("the example does not show where category of coverage stands")
	}
	if len(what) != len(expectKeys) {
		t.Errorf("the example shows %v", what)
	}
	if !slices.Equal(models, []string{"../x/house-rules.txt", "../x/house-rules.txt"}) {
		t.Errorf("its models are %q", models)
	}
}

func TestExpectationsThatARunCannotShowAreRefused(t *testing.T) {
	c := audittest.Config(t, nil, "")
	c.Tables = []string{"fetches", "verdicts"}
	for text, want := range map[string]string{
		"- name: a\n  class: partial\n": "e:1: expectation \"a\" looks at table policies, " +
			"which the run does not write: add it to --tables",
		"- name: a\n  verdict: allow\n  urls: /nowhere\n": "e:1: expectation \"a\" is about a URL that the " +
			"run does not judge: add the line /nowhere to the file of --urls",
		"\n- name: a\n  verdict: allow\n  urls: /\n  agents: Stranger\n": "e:2: expectation \"a\" is about agent " +
			"\"Stranger\", which the registry does not have: add it to --agents",
		"- name: a\n  verdict: allow\n  urls: /\n  profile: rfc9309\n": "e:1: expectation \"a\" is about profile " +
			"\"rfc9309\": add it to --profile",
		"- name: a\n  verdict: allow\n  urls: /\n  agents: googlebot\n": "",
		"- name: a\n  no_change: all\n  agents: GPTBot\n":               "",
		"- {name: a, verdict: allow, urls: 'http://h1.example/own'}\n":  "",
	} {
		e, err := Parse("e", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Fit(c.Evaluate, c.Tables); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Ten hosts: h0 to h4 close /private, h5 is closed, h6 to h8 have no file, h9
// is down.
// An answer to an identity breaks served_alike if it turns the identity away for certain.
// What looks like an outage is undecided, which is not kept either.
func TestServedAlike(t *testing.T) {
	answers := map[string]func(w http.ResponseWriter){
		"h0": func(w http.ResponseWriter) { fmt.Fprint(w, "# a comment more\nUser-agent: *\nDisallow: /private\n") },
		"h1": func(w http.ResponseWriter) { fmt.Fprint(w, "User-agent: *\nDisallow: /\n") },
		"h2": func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) },
		"h3": func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"h4": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"h5": func(w http.ResponseWriter) {
			w.Header().Set("cf-mitigated", "challenge")
			w.WriteHeader(http.StatusForbidden)
		},
		"h6": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) },
	}
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		if r.UserAgent() == "other/1" {
			answers[r.Host[:2]](w)
			return
		}
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	}, audittest.Hosts(len(answers)))
	c.Fetch.Identities = []fetch.Identity{{Name: "other", UserAgent: "other/1", Agent: "GPTBot"}}
	if _, err := pipeline.Run(t.Context(), c, new(pipeline.Progress)); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"h0": "kept 1 0 0", "h1": "broken 1 1 0", "h2": "broken 1 1 0", "h3": "unchecked 1 0 1", "h4": "unchecked 1 0 1",
		"h5": "broken 1 1 0", "h6": "broken 1 1 0",
	} {
		e, err := Parse("e", []byte("- {name: alike, served_alike: all, hosts: "+host+".example}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		promises, err := e.Check(t.Context(), sinktest.Open(t, c.Dir), c.Run, c.Evaluate.Agents)
		if err != nil {
			t.Fatal(err)
		}
		p := promises[0]
		if got := fmt.Sprintf("%s %d %d %d", p.State, p.Checked, p.Broken, p.Undecided); got != want ||
			p.Fails != (want != "kept 1 0 0") {
			t.Errorf("%s: %s, fails %v, want %s", host, got, p.Fails, want)
		}
	}
}

// A page that is not as robots.txt says breaks served_as_written: the agent may have it and does
// not get the control's, or may not and gets it. What looks like an outage is undecided.
func TestServedAsWritten(t *testing.T) {
	const page = "<p>all that there is to be read in this place, and nothing more than that"
	shut := map[string]bool{"h6": true, "h7": true}
	answers := map[string]func(w http.ResponseWriter){
		"h0": func(w http.ResponseWriter) { fmt.Fprint(w, page) },
		"h1": func(w http.ResponseWriter) { fmt.Fprint(w, "<p>a text for robots") },
		"h2": func(w http.ResponseWriter) {
			w.Header().Set("Crawler-Price", "USD 1")
			w.WriteHeader(http.StatusPaymentRequired)
		},
		"h3": func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"h4": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"h5": func(w http.ResponseWriter) { fmt.Fprint(w, page) }, // and the control gets nothing
		"h6": func(w http.ResponseWriter) { fmt.Fprint(w, page) },
		"h7": func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) },
	}
	for _, all := range []bool{true, false} {
		c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
			switch host := r.Host[:2]; {
			case r.URL.Path == "/robots.txt" && shut[host]:
				fmt.Fprint(w, "User-agent: GPTBot\nDisallow: /\n")
			case r.URL.Path == "/robots.txt":
				fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
			case r.UserAgent() == "other/1":
				answers[host](w)
			case host == "h5":
				w.WriteHeader(http.StatusForbidden)
			default:
				fmt.Fprint(w, page)
			}
		}, audittest.Hosts(len(answers)))
		c.Fetch.Identities = []fetch.Identity{{Name: "other", UserAgent: "other/1", Agent: "GPTBot"},
			{Name: "control", UserAgent: c.Fetch.UserAgent, IsControl: true}}
		w := &askedfor.WantedPage{Path: "/", All: all, Identities: c.Fetch.Identities, Agents: []robots.Agent{
			{Name: "GPTBot", Tokens: []string{"GPTBot"}}, {Name: "own", Tokens: []string{"robocensus"}}}}
		c.Fetch.Further = []fetch.Plan{w.Plan()}
		if _, err := pipeline.Run(t.Context(), c, new(pipeline.Progress)); err != nil {
			t.Fatal(err)
		}
		wants := map[string]string{"h0": "kept 1 0 0", "h1": "broken 1 1 0", "h2": "broken 1 1 0", "h3": "unchecked 1 0 1",
			"h4": "unchecked 1 0 1", "h5": "unchecked 0 0 0", "h6": "broken 1 1 0", "h7": "kept 1 0 0"}
		if !all {
			wants["h6"], wants["h7"] = "unchecked 0 0 0", "unchecked 0 0 0"
		}
		for host, want := range wants {
			e, err := Parse("e", []byte("- {name: as written, served_as_written: [other], hosts: "+host+".example}"), nil)
			if err != nil {
				t.Fatal(err)
			}
			promises, err := e.Check(t.Context(), sinktest.Open(t, c.Dir), c.Run, c.Evaluate.Agents)
			if err != nil {
				t.Fatal(err)
			}
			p := promises[0]
			if got := fmt.Sprintf("%s %d %d %d", p.State, p.Checked, p.Broken, p.Undecided); got != want ||
				strings.HasPrefix(got, "unchecked 0") != (p.Unknown == 1) {
				t.Errorf("all %t, %s: %s with %d unknown, want %s", all, host, got, p.Unknown, want)
			}
			if host == "h2" && p.First[0].Found != "as other: payment of USD 1 with status 402, and robots.txt lets it in" {
				t.Errorf("found %q", p.First[0].Found)
			}
			if p.Broken > 0 && (p.First[0].URL == nil || *p.First[0].URL != "/") {
				t.Errorf("%s: the breach does not say of which page: %+v", host, p.First[0])
			}
		}
	}
}

func TestExpectationsOfARun(t *testing.T) {
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Host[1] {
		case '5':
			fmt.Fprint(w, "User-agent: Googlebot\nDisallow:\nUser-agent: *\n\n\nDisallow: /\n")
		case '6', '7', '8':
			w.WriteHeader(404)
		case '9':
			w.WriteHeader(500)
		default:
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		}
	}, audittest.Hosts(10))
	if _, err := pipeline.Run(context.Background(), c, new(pipeline.Progress)); err != nil {
		t.Fatal(err)
	}
	e, err := Parse("e", []byte(`
- {name: private, verdict: disallow, urls: /private, hosts: "h[0-5].*", agents: GPTBot}
- {name: open, verdict: allow, urls: [/, /private], hosts: [h5.example, H1.EXAMPLE]}
- {name: down, verdict: allow, urls: /, hosts: h9.example, agents: Googlebot}
- {name: own, verdict: disallow, urls: "http://h1.example/own"}
- {name: not closed, class: [partial, allow_all]}
- {name: one may close, class: [partial, allow_all], at_most: 2}
- {name: of an outage nothing, class: partial, hosts: h9.*}
- {name: all up, reachable: true}
- {name: nearly all up, reachable: true, at_most: 10%}
- {name: too few up, reachable: true, at_most: 9.9%}
- {name: none, reachable: true, hosts: "*.test"}
- {name: later, no_change: all}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	promises, err := e.Check(context.Background(), sinktest.Open(t, c.Dir), c.Run, c.Evaluate.Agents)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range promises {
		line := fmt.Sprintf("%s: %s %v %d/%d %s", p.Name, p.State, p.Fails, p.Broken, p.Checked, p.Note)
		for _, b := range p.First[:min(2, len(p.First))] {
			line += fmt.Sprintf(" [%s %s %s %s", b.Host, schema.OrZero(b.Agent), schema.OrZero(b.URL), b.Found)
			if b.Line != nil {
				line += fmt.Sprint(" ", *b.Line)
			}
			line += "]"
		}
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{
		"private: kept false 0/6",
		"open: broken true 4/8  [h1.example GPTBot /private disallow by rule 2] [h1.example Googlebot /private " +
			"disallow by rule 2]",
		"down: unchecked false 0/0 an outage hides 1 of 1 verdict, on 1 of 1 host",
		"own: broken true 2/2  [h1.example GPTBot http://h1.example/own allow by no_rule] [h1.example Googlebot " +
			"http://h1.example/own allow by no_rule]",
		"not closed: broken true 1/18 an outage hides 2 of 20 policies, on 1 of 10 hosts [h5.example GPTBot  disallow_all 3]",
		"one may close: kept false 1/18 an outage hides 2 of 20 policies, on 1 of 10 hosts [h5.example " +
			"GPTBot  disallow_all 3]",
		"of an outage nothing: unchecked false 0/0 an outage hides 2 of 2 policies, on 1 of 1 host",
		"all up: broken true 1/10  [h9.example   server_error]",
		"nearly all up: kept false 1/10  [h9.example   server_error]",
		"too few up: broken true 1/10  [h9.example   server_error]",
		"none: unchecked true 0/0 no host matches *.test; correct the entry or remove it",
		"later: unchecked false 0/0 it is about two runs; robocensus diff checks it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	f, err := os.Open(filepath.Join(c.Dir, "_runs", c.Run, "expectations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	broken, unchecked := int64(0), []string{}
	for _, p := range promises {
		broken += p.Broken
	}
	for _, row := range rows {
		if why, ok := strings.CutPrefix(row[5], "unchecked: "); ok {
			unchecked = append(unchecked, row[0]+": "+why)
		}
	}
	if err != nil || int64(len(rows)-len(unchecked)) != broken+1 {
		t.Errorf("expectations.csv has %d lines for %d breaches, %v", len(rows), broken, err)
	}
	if diff := cmp.Diff([]string{"down: an outage hides 1 of 1 verdict, on 1 of 1 host",
		"of an outage nothing: an outage hides 2 of 2 policies, on 1 of 1 host",
		"none: no host matches *.test; correct the entry or remove it",
		"later: it is about two runs; robocensus diff checks it"}, unchecked); diff != "" {
		t.Error(diff)
	}
}

// A file whose meaning nobody could compare shows by a path that it is another, and is undecided
// without one.
func TestServedAlikeByAPath(t *testing.T) {
	path := "/a: allow; disallow"
	for _, x := range []struct {
		treatment, policy string
		difference        *string
		found             string
		how               judged
	}{
		{"served", "equal", nil, "", isKnown},
		{"served", "stricter", nil, "another file, stricter", isKnown},
		{"served", "stricter", &path, "another file, stricter: " + path, isKnown},
		{"served", "undecided", &path, "another file, undecided: " + path, isKnown},
		{"served", "undecided", nil, "", isUndecided},
		{"served", "unknown", nil, "", isUndecided},
		{"incomparable", "unknown", &path, "", isUnknown},
	} {
		a := new(schema.Answer)
		a.Treatment, a.Policy, a.FirstDifference = x.treatment, x.policy, x.difference
		if found, how := new(Checker).servedAlike(nil, a); found != x.found || how != x.how {
			t.Errorf("%s %s: %q, %d", x.treatment, x.policy, found, how)
		}
	}
}

package expect

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A promise that nothing can break by its own words is an error with its line.
func TestPromisesThatAreImpossibleByTheirWords(t *testing.T) {
	for text, want := range map[string]string{
		"no_change: host_gone\n  agents: GPTBot": "e:3: agents does not apply " +
			"to changes of kind host_gone: they are about the whole host",
		"no_change: host_gone\n  category: search": "e:3: category does not " +
			"apply to changes of kind host_gone",
		"no_change: [policy_class, reachability]\n  profile: google": "e:3: profile does not " +
			"apply to changes of kind reachability",
		"no_change: outcome\n  agents: GPTBot": "e:3: agents does not apply " +
			"to changes of kind outcome",
		"no_change: outcome\n  after: full_disallow": `e:3: after "full_disallow": use conditional_allow, full_allow, undefined`,
		"no_change: sitemap\n  severity: critical":   `e:3: severity "critical": use minor`,
		"no_change: signal\n  profile: google": "e:3: profile does not " +
			"apply to changes of kind signal",
		"no_change: signal\n  agents: GPTBot": "e:3: agents does not apply " +
			"to changes of kind signal: a signal may be one of a group for several agents",
		"no_change: signal\n  after: 'content-signal'": `e:3: after "content-signal": use clean-param: …, content-signal: …,`,
		"no_change: signal\n  severity: minor\n  after: 'license: x'": "e:2: no change of kind " +
			"signal has these words of severity, after and urls together",
		"no_change: policy_class\n  severity: cosmetic": `e:3: severity "cosmetic": use critical, major, minor`,
		"no_change: policy_class\n  urls: /": "e:3: urls does not apply " +
			"to changes of kind policy_class: they are about every path",
		"no_change: rules\n  urls: /": "e:3: urls does not apply " +
			"to changes of kind rules: a row names one of the paths",
		"no_change: all\n  after: bogus": `e:3: after "bogus": these changes have no such value`,
		"no_change: [policy_class, rules]\n  after: closes": "e:3: after: no change of " +
			"kind policy_class has any of these, but allow_all, disallow_all, partial: give each kind an expectation of its own",
		"no_change: [policy_class, rules]\n  after: [closes, x]": `e:3: after "x": use allow_all, both, closes, disallow_all, opens, partial`,
		"no_change: rules\n  after: closes\n  severity: minor": "e:2: no change of kind " +
			"rules has these words",
		"no_change: rules\n  after: undecided": `e:3: after "undecided": use both, closes, opens`,
		"no_change: policy_class\n  after: [partial, allow_all]\n  severity: critical": "e:2: no change of kind " +
			"policy_class has these words",
		"no_change: verdict\n  urls: http://x.example/\n  after: disallow\n  severity: minor": "e:2: no change of kind " +
			"verdict has these words",
		"no_change: verdict\n  urls: products":                                  `e:3: urls "products": use a path, an absolute URL`,
		"no_change: verdict\n  urls: http://y.example/\n  hosts: '*.x.example'": `e:3: urls "http://y.example/": its host is not among the hosts of this expectation`,
		"no_change: [all, text]\n  severity: critical": "e:3: severity: no change " +
			"of kind text has any of these, but cosmetic, minor",
		"no_change: all\n  profile: google\n  severity: cosmetic": `e:4: severity "cosmetic": use critical, major, minor`,
		"no_change: crawl_delay\n  after: '2.50'":                 `e:3: after "2.50": use a number as the tables show it, such as 2.5`,
		"no_change: sitemap\n  urls: https://a/s.xml\n  after: https://a/s.xml": "e:4: after does not apply " +
			"to changes of kind sitemap: it is the URL; give only one of the two",
		"no_change: all\n  urls: /\n  category: search\n  severity: critical": `e:5: severity "critical": use major, minor`,
		"verdict: allow\n  urls: products":                                    `e:3: urls "products": give a path that starts with / or an absolute URL`,
		"verdict: allow\n  urls: [/, '']":                                     "e:3: urls has an empty word",
		"verdict: allow\n  urls: http://x.example/\n  hosts: y.example":       `e:3: urls "http://x.example/": its host is not among`,
		"no_change: preference\n  urls: /": "e:3: urls does not apply " +
			"to changes of kind preference: they are about every path",
		"no_change: preference\n  after: undecided":   `e:3: after "undecided": use allow, disallow, partial`,
		"no_change: preference\n  severity: critical": `e:3: severity "critical": use major, minor`,
		"no_change: preference\n  after: disallow\n  severity: minor": "e:2: no change of kind " +
			"preference has these words",
		"no_change: preference\n  use: training": `e:3: use "training": use ai-train, ai-input, search`,
		"no_change: [preference, rules]\n  use: ai-train": "e:3: use does not apply to " +
			"changes of kind rules: they are about no use",
		"no_change: all\n  use: search\n  urls: /": "e:2: no kind of change has " +
			"all that this expectation names",
		"verdict: allow\n  urls: /\n  use: search": "e:4: use does not apply " +
			"to verdict; remove it",
		"preference: [allow, disallow, partial, none, shut_out]\n  use: search": "e:2: preference names all " +
			"that a file can state",
		"preference: disallow": "e:2: preference needs use: " +
			"give one of ai-train, ai-input, search",
		"preference: refuses\n  use: search":        `e:2: preference "refuses": use allow, disallow, partial, none, shut_out`,
		"class: [allow_all, partial, disallow_all]": "e:2: class names every class",
		"reachable: true\n  at_most: 100%": "e:3: at_most 100%: " +
			"no more can differ",
		"reachable: true\n  hosts: https://shop.example": `e:3: hosts "https://shop.example": give hosts alone`,
		"reachable: true\n  hosts: shop.example:8080":    `e:3: hosts "shop.example:8080": give hosts alone`,
		"reachable: true\n  hosts: müller.example":       `e:3: hosts "müller.example": hosts in tables are in ASCII`,
		"no_change: coverage\n  urls: /": "e:3: urls does not apply " +
			"to changes of kind coverage: a row is about all pages",
		"coverage: {agent: A}":                 `e:2: at_least "": use a share`,
		"coverage: {agent: A, at_least: 0%}":   `e:2: at_least "0%": use a share`,
		"coverage: {agent: A, at_least: 101%}": `e:2: at_least "101%": use a share`,
		"coverage: {agent: A, at_least: NaN%}": `e:2: at_least "NaN%": use a share`,
		"coverage: {agent: A, at_least: 99}":   `e:2: at_least "99": use a share`,
		"coverage: {at_least: 99%, most: 1}":   "e:2: ",
		"coverage:":                            "e:2: coverage is empty",
		"coverage: {agent: A, at_least: 99%}\n  agents: A": "e:3: agents are those " +
			"of coverage already",
		"coverage: {agent: A, at_least: 99%}\n  urls: /": "e:3: urls does " +
			"not apply to coverage",
		"no_change: document\n  agents: A": "e:3: agents does not apply " +
			"to changes of kind document",
		"no_change: page\n  urls: /": "e:3: urls does not apply " +
			"to changes of kind page: a run asks for one page",
		"no_change: preference\n  after: priced\n  agents: A": "e:2: no change of kind " +
			"preference that names an agent has these words",
		"at_least_as_strict_as: m": "e:2: " +
			"at_least_as_strict_as: the model m forbids nothing",
	} {
		for _, model := range []string{"", "User-agent: *\nDisallow:\n", "Disallow: /\n", "<html>Disallow: /"} {
			_, err := Parse("e", []byte("- name: x\n  "+text+"\n"), func(string) ([]byte, error) { return []byte(model), nil })
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
		}
	}
	// What all is about, and words that go with some of the kinds.
	for text, want := range map[string]string{
		"no_change: all, severity: critical": "policy_class",
		"no_change: all, category: search, severity: [major, minor]": "policy_class verdict rules preference group " +
			"signal crawl_delay answer page coverage",
		"no_change: all, identity: gptbot":                                "answer page",
		"no_change: [document, page], after: [present, refused]":          "page document",
		"no_change: document, severity: cosmetic":                         "document",
		"no_change: preference, use: ai-train, after: priced":             "preference",
		"no_change: [answer, rules], after: [refused, closes]":            "rules answer",
		"no_change: all, use: ai-train":                                   "preference",
		"no_change: all, urls: /":                                         "verdict sitemap",
		"no_change: all, urls: https://x.example/":                        "verdict sitemap",
		"no_change: all, after: closes":                                   "rules",
		"no_change: [policy_class, rules], after: [closes, disallow_all]": "policy_class rules",
		"no_change: all, profile: google":                                 "policy_class verdict rules preference coverage",
		"no_change: text, severity: cosmetic":                             "text",
		"no_change: [host_new, reachability]":                             "reachability host_new",
	} {
		e, err := Parse("e", []byte("- {name: x, "+text+"}"), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := strings.Join(e.list[0].kinds, " "); got != want {
			t.Errorf("%s is about %s, want %s", text, got, want)
		}
	}
}

// The kinds of changes know which outcomes an answer can have that shows a policy.
func TestKindsKnowAllOutcomes(t *testing.T) {
	shown := make(map[string]bool)
	for _, s := range change.Named("outcome").Shapes {
		shown[s.After.Text] = true
	}
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		for status := 100; status < 700; status++ {
			a := p.Answer(answer.Facts{Hops: []answer.Hop{{Status: status}}, Misconfigured: status%2 == 0})
			if a.Reason == answer.Unauthorized {
				continue // a dialect's: a promise about it would be one that no other profile can break
			}
			if !change.Unreachable(string(a.Reason)) && !shown[string(a.Outcome)] {
				t.Errorf("%s takes %d for %s, by %s", name, status, a.Outcome, a.Reason)
			}
		}
	}
}

// The table of promises in configs/schedule/README.md says what each kind has.
func TestKindsAreTheDocumentedOnes(t *testing.T) {
	text, err := os.ReadFile("../../../configs/schedule/README.md")
	sinktest.Must(t, err)
	_, table, ok := strings.Cut(string(text), "| kind | agents, category | profile | urls | severity | after |\n"+
		"|---|---|---|---|---|---|\n")
	if !ok {
		t.Fatal("configs/schedule/README.md has no table of promises")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	if len(lines) != len(change.All) {
		t.Fatalf("the table of promises in configs/schedule/README.md has %d kinds, and change.All has %d: %s", len(lines),
			len(change.All), strings.Join(change.Kinds, ", "))
	}
	for i, line := range lines {
		k := &change.All[i]
		can := func(keys ...string) string {
			for _, key := range keys {
				if k.Narrowed[key] != "" {
					return ""
				}
			}
			return "yes"
		}
		severity := narrowing{column: func(s *change.Shape) *change.Form { return change.Word(s.Severity) }}
		after := narrowing{column: func(s *change.Shape) *change.Form {
			if s.After == nil || s.After.Of != nil {
				return nil // described, not listed
			}
			return s.After
		}}
		want := []string{"`" + k.Name + "`", can("agents", "category"), can("profile"), can("urls"),
			strings.Join(severity.known(k), ", "), strings.Join(after.known(k), ", ")}
		var got []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			got = append(got, strings.TrimSpace(cell))
		}
		if want[5] == "" || k.Name == "reachability" {
			want[5] = got[5]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +documented):\n%s", k.Name, diff)
		}
	}
}

package expect

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// FuzzExpectations: an expectation that is accepted expects one thing, of what it
// names, and can be held against any host.
func FuzzExpectations(f *testing.F) {
	for _, text := range []string{
		"- {name: open, agents: [GPTBot], class: allow_all, at_most: 1%}\n",
		"- name: a\n  hosts: ['*.test', '[a-c]?']\n  verdict: allow\n  urls: /\n  category: search\n",
		"- {name: still, no_change: [policy_class], severity: critical, after: disallow_all, at_most: 3}\n" +
			"- {name: up, reachable: true}", "- {name: x, verdict: allow}", "- a",
		"- {name: model, at_least_as_strict_as: m.txt, category: search}\n- {name: other, at_most_as_strict_as: " +
			"/m, at_most: 2%}",
	} {
		f.Add([]byte(text), "a.test")
	}
	f.Fuzz(func(t *testing.T, text []byte, host string) {
		e, err := Parse("file", text, func(string) ([]byte, error) { return nil, nil })
		if err != nil {
			sinktest.CheckUserError(t, err, text)
			return
		}
		names := make(map[string]bool)
		for _, x := range e.list {
			if x.Name == "" || names[x.Name] || x.table() == "" || x.count < 0 || x.percent > 100 || x.line < 1 {
				t.Fatalf("expectation %+v", x)
			}
			names[x.Name] = true
			if x.matches(host); len(x.Hosts) == 0 && !x.matches(host) {
				t.Fatalf("expectation %+v of all hosts is not about %q", x, host)
			}
			for _, broken := range []int64{0, 1, 100} {
				p := &Promise{Checked: 100, Broken: broken}
				if x.judge(p, "", ""); p.State != Kept && (p.State != Broken || !p.Fails || broken == 0) {
					t.Fatalf("expectation %+v: %d of 100 broken are %+v", x, broken, p)
				}
			}
		}
		if err := e.Fit(evaluate.Config{}, nil); err != nil {
			sinktest.CheckUserError(t, err, text)
		}
	})
}

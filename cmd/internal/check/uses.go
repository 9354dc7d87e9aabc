package check

import (
	"fmt"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// showUses makes the explainer show uses: what labels state, and the policy tokens that
// bind the agent.
func (e *explainer) showUses(labels usage.Vocabulary, tokens []schema.Agent) {
	e.labels, e.tokens = labels, tokens
	agents := []robots.Agent{e.agent}
	for i := range tokens {
		agents = append(agents, registry.Robots(&tokens[i]))
	}
	e.readings[0].judge = robots.NewJudge(e.readings[0].Profile, agents)
}

// uses prints what the file says about each use of a URL, by the first profile.
func (e *explainer) uses(url string, v robots.Verdict) *map[string]useAnswer {
	first := e.readings[0]
	if v.Value == robots.Disallowed {
		e.note("no use: what may not be fetched has no preference")
		return useAnswers(robots.Uses{}, false)
	}
	var got robots.Uses
	if first.answer.AsksRules() {
		var tokens []robots.TokenPolicy
		for i := range e.tokens {
			tokens = append(tokens, registry.TokenPolicy(&e.tokens[i], first.judge.Policy(1+i)))
		}
		t := first.Profile.Target(url)
		got, _ = first.judge.Policy(0).Uses(&t, e.labels, tokens...)
	}
	for use, s := range got.Stated {
		if name := usage.Use(use).String(); s.Line > 0 {
			e.Line(name, s.Line, fmt.Sprintf("%s, by %s", s.Preference, s.Mechanism))
		} else {
			e.note(fmt.Sprintf("%-11s unknown: nothing is stated", name))
		}
	}
	if got.Level != usage.NoLevel {
		e.note("content signals limit every use to: " + got.Level.String())
	}
	for _, line := range got.Licenses {
		e.Line("license", line, "its document says which uses it covers")
	}
	return useAnswers(got, true)
}

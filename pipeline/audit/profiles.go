package audit

import (
	"math"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
)

// agentsOf returns the agents of a run's registry as a configuration has them.
func agentsOf(r *past.Registry) (out []evaluate.Agent) {
	for i := range r.Agents {
		a := past.Robots(&r.Agents[i])
		out = append(out, evaluate.Agent{
			Name: a.Name, Category: r.Agents[i].Category, Tokens: a.Tokens, FallsBackTo: a.FallsBackTo, UserAgent: a.UserAgent, IgnoresStar: a.IgnoresStar,
		})
	}
	return out
}

// withoutLimit returns a copy of a profile that reads files of any size.
func withoutLimit(p *robots.Profile) *robots.Profile {
	roomy := *p
	roomy.SizeLimit = math.MaxInt
	return &roomy
}

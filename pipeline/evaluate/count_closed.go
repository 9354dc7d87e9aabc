package evaluate

import (
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Bounds for registries of any size: the agents that have examples of hosts that shut them
// out, and those of the category ai-training that are counted in pairs.
const (
	mostNamed  = 1000
	mostPaired = 40
)

// countClosed keeps examples of the hosts that shut each agent out, and counts the pairs of
// agents for AI training that groups by name shut out together, under the first profile.
// e.policies holds the rows of all agents.
func (e *Evaluator) countClosed(stratum string) {
	paired, seen := e.paired[:0], 0
	for i := range e.policies {
		p := &e.policies[i]
		training := e.config.Agents[i].Category == summary.AITraining
		if training {
			seen++
		}
		if p.Class != summary.ClassNames[robots.DisallowAll] || p.Match == nil {
			continue
		}
		if i < mostNamed && e.examples.Wants("policy", p.Agent) {
			e.examples.Add("policy", p.Agent, schema.OrZero(p.GroupLine), *p.Match)
		}
		if training && seen <= mostPaired &&
			(*p.Match == robots.OwnGroup.String() || *p.Match == robots.FallbackGroup.String()) {
			paired = append(paired, i)
		}
	}
	e.paired = paired
	for k, i := range paired {
		for _, j := range paired[k+1:] {
			first, second := i, j
			if e.policies[second].Agent < e.policies[first].Agent {
				first, second = second, first
			}
			e.counts.AddAgent("policy_pair", stratum, 0, first, e.policies[second].Agent)
		}
	}
}

package evaluate

import (
	"github.com/robocensus/robocensus/robots"
)

// everybody is an agent that no group names: it follows the group for *. It stands
// behind the agents that each judge judges.
var everybody = robots.Agent{Name: "*"}

// starWork bounds the work of all comparisons of one file under one profile, about
// 0.1 s. A hostile file may have a different group for each agent.
const starWork = 1 << 24

// compareWithStar compares each agent's own group with the group for *.
func (r *reading) compareWithStar(c *content) {
	star := r.judge.Policy(len(r.agents))
	relations := robots.PairMemo[robots.Relation]{Compare: robots.Relate, Most: starWork}
	for slot := range r.agents {
		if p := &c.policies[c.of[slot]]; p.match == robots.OwnGroup {
			p.versusStar = relations.Of(star, r.judge.Policy(slot))
		}
	}
}

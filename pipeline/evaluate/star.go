package evaluate

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
)

// everybody is an agent that no group names: it follows the group for *. It is the
// last agent of each judge.
var everybody = robots.Agent{Name: "*"}

// starWork bounds the work of all comparisons of one file under one profile, about
// 0.1 s. A hostile file may have a different group for each agent.
const starWork = 1 << 24

// compareWithStar compares each agent's own group with the group for *. Agents with
// the same rules are compared once.
func (r *reading) compareWithStar(policies []policy) {
	star := r.judge.Policy(len(policies))
	work := 0
	known := make(map[int]robots.Relation) // per lead
	var dear []int                         // leads whose comparison took work
	for i := range policies {
		p := &policies[i]
		if p.match != robots.OwnGroup {
			continue
		}
		relation, ok := known[p.lead]
		if own := r.judge.Policy(p.lead); !ok {
			if k := slices.IndexFunc(dear, func(lead int) bool { return own.SameRules(r.judge.Policy(lead)) }); k >= 0 {
				relation = known[dear[k]] // a copy of another group
			} else {
				var took int
				if relation, took = robots.Relate(star, own, starWork-work); took > 0 {
					work, dear = work+took, append(dear, p.lead)
				}
			}
			known[p.lead] = relation
		}
		p.versusStar = relation
	}
}

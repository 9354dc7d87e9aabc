package evaluate

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
)

// everybody is an agent that no group names: it follows the group for *. Each
// judge has it behind the agents of the registry.
var everybody = robots.Agent{Name: "*"}

// starWork bounds what the comparisons of one file take under one profile,
// about a tenth of a second beyond the one that reaches it. Hostile files can
// give each agent of the registry a group of its own that takes as much.
const starWork = 1 << 24

// compareWithStar says how each group that is an agent's own stands to the one
// for *. Agents with the same rules are one question.
func (r *reading) compareWithStar(policies []policy) {
	star := r.judge.Policy(len(policies))
	work := 0
	known := make(map[int]robots.Relation) // by lead
	var dear []int                         // leads whose answer took some work
	for i := range policies {
		p := &policies[i]
		if p.match != robots.OwnGroup {
			continue
		}
		relation, ok := known[p.lead]
		if own := r.judge.Policy(p.lead); !ok {
			if k := slices.IndexFunc(dear, func(lead int) bool { return own.SameRules(r.judge.Policy(lead)) }); k >= 0 {
				relation = known[dear[k]] // a copy of another agent's group
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

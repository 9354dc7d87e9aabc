package counters

import (
	"cmp"
	"slices"
)

// A Fate counts how hosts treat an agent.
type Fate struct {
	Agent, Category string
	Known           int64            // hosts whose policy for it is known: no outage and no wall hides it
	Closed          int64            // hosts that shut it out
	Partial         int64            // hosts that close a part to it
	ByName          int64            // hosts that shut it out by a group that names it
	ByFallback      int64            // hosts that do so by the group of a crawler that it falls back to
	Named           map[string]int64 // hosts with a group that names it, by class
	Names           int64            // all of these
}

// Fates returns those of all agents under a profile, by name.
func (s Sums) Fates(profile string) []Fate {
	ofAgent := func(l Label) string { return l.Agent }
	policies, own, fallback := s.Pivot("policy", profile, ofAgent), s.Pivot("policy_explicit", profile, ofAgent),
		s.Pivot("policy_fallback", profile, ofAgent)
	var out []Fate
	for agent, category := range s.Agents(profile) {
		f := Fate{
			Agent: agent, Category: category, Closed: policies[agent]["disallow_all"], Partial: policies[agent]["partial"],
			ByName: own[agent]["disallow_all"], ByFallback: fallback[agent]["disallow_all"], Named: own[agent],
		}
		for _, n := range f.Named {
			f.Names += n
		}
		for class, n := range policies[agent] {
			if class != "unknown" {
				f.Known += n
			}
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Fate) int { return cmp.Compare(a.Agent, b.Agent) })
	return out
}

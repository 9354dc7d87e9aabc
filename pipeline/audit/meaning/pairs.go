package meaning

import "github.com/robocensus/robocensus/robots"

// Pairs compares the policies of two files, agent by agent. Both files must
// have been asked for the same agents. Agents with the same rules are compared once,
// because many files repeat one group for a hundred agents.
type Pairs struct {
	Profile *robots.Profile
	Files   [2]*File
	leads   [2]map[int]int // the first agent with the same rules, by SameAs
	list    [2][]int       // the first agents
	known   map[[2]int]robots.Comparison
	work    int
}

// rulesWork bounds the work for one pair of files, in the unit of [robots.Relate]:
// about a tenth of a second, plus the comparison that reaches it.
const rulesWork = 1 << 24

// sameRulesTried is the most rule sets that lead compares a set with.
const sameRulesTried = 64

// lead returns the first agent whose policy in file i has the same rules.
func (c *Pairs) lead(i, agent int) int {
	p := c.Files[i].Policy(agent)
	if lead, ok := c.leads[i][p.SameAs]; ok {
		return lead
	}
	if c.leads[i] == nil {
		c.leads[i] = make(map[int]int)
	}
	for _, lead := range c.list[i] {
		if p.SameRules(c.Files[i].Policy(lead)) {
			c.leads[i][p.SameAs] = lead
			return lead
		}
	}
	if len(c.list[i]) < sameRulesTried {
		c.list[i] = append(c.list[i], p.SameAs)
	}
	c.leads[i][p.SameAs] = p.SameAs
	return p.SameAs
}

// Compare compares the second file's policy of an agent with the first file's. If
// that is undecided, the witnesses are paths that the rules name, which need not be
// the shortest.
func (c *Pairs) Compare(agent int) robots.Comparison {
	key := [2]int{c.lead(0, agent), c.lead(1, agent)}
	x, ok := c.known[key]
	if !ok {
		a, b := c.Files[0].Policy(key[0]), c.Files[1].Policy(key[1])
		var took int
		x, took = robots.CompareWithin(a, b, rulesWork-c.work)
		if x.Relation == robots.RelationUndecided && x.Closes == nil && x.Opens == nil && took > 0 {
			x = robots.Probe(a, b)
		}
		if c.known == nil {
			c.known = make(map[[2]int]robots.Comparison)
		}
		c.known[key] = x
		c.work += took
	}
	x.Closes, x.Opens = c.own(x.Closes, agent), c.own(x.Opens, agent)
	return x
}

// own returns a witness with the lines of the agent's own groups.
func (c *Pairs) own(w *robots.Witness, agent int) *robots.Witness {
	if w == nil {
		return nil
	}
	target := c.Profile.LiteralTarget("http://host.example" + w.Path)
	return &robots.Witness{Path: w.Path, A: c.Files[0].Policy(agent).Judge(&target), B: c.Files[1].Policy(agent).Judge(&target)}
}

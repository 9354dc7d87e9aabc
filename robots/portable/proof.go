package portable

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
)

// proofWork bounds the comparison of two readings.
const proofWork = 1 << 20

// A parting is a question that a parser answers otherwise than google: a place in names, and
// a path.
type parting struct {
	name int
	path string
}

// prove compares what a file means to google and to each parser on every path, for all who
// are asked about. It returns questions on which they part, and how many readings of the
// parsers it could not compare in the work that is left. Parsers of whom it is known that they
// part are left out.
func (c *checker) prove(f *file, known func(parser int) bool) (found []parting, uncompared int) {
	body := f.bytes()
	for k, p := range c.parsers {
		c.parse(&c.files[k], body, p)
		c.load(c.proofs[k], &c.files[k], len(c.names))
	}
	c.exempt.Load(&c.files[0])
	seen := make(map[[3]int]bool)
	for k, p := range c.parsers[1:] {
		if k++; known(k) {
			continue
		}
		google := c.proofs[0]
		if p.RobotsTxtAllowed { // what a crawler asks for anyway makes no difference
			google = c.exempt
		}
		for i := range c.names {
			if !c.asks(&c.names[i], k) {
				continue
			}
			a, b := google.Policy(i), c.proofs[k].Policy(i)
			pair := [3]int{k, a.SameAs, b.SameAs}
			if seen[pair] {
				continue
			}
			seen[pair] = true
			w, decided, work := robots.Distinguish(a, b, min(proofWork, (c.most-c.work)/costs[proving]), robots.SlashedPaths)
			c.spend(proving, work)
			c.spend(telling, a.NumRules()+b.NumRules())
			switch {
			case w == nil && decided:
			case w != nil && c.parts(a, b, k, w.Path):
				found = append(found, parting{i, w.Path})
			default:
				uncompared++
			}
		}
	}
	return found, uncompared
}

// parts reports whether google and a parser answer otherwise on a path as URLs have it.
func (c *checker) parts(google, parser *robots.Policy, k int, path string) bool {
	one, two := target(c.parsers[0], path), target(c.parsers[k], path)
	return google.Judge(&one).Value != parser.Judge(&two).Value
}

// add makes questions of partings.
func (c *checker) add(found []parting) {
	for _, x := range found {
		if !slices.Contains(c.paths, x.path) {
			c.addPath(x.path)
		}
		if a := c.names[x.name]; !slices.ContainsFunc(c.agents,
			func(b asked) bool { return a.Name == b.Name && a.parser == b.parser }) && len(c.agents) < 2*mostAgents {
			c.agents = append(c.agents, a)
		}
	}
	c.judge()
}

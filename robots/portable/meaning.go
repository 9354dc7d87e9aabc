package portable

import (
	"strings"

	"github.com/robocensus/robocensus/robots"
)

// A meaning is what the file as it is means to google, for everybody whom it names and for a
// crawler that it does not name.
type meaning struct {
	named  map[string]bool // in lower case
	agents int
	before *robots.Judge
	after  *robots.Judge // of the file as a step would leave it
	tooBig bool
}

// mostMerged bounds the rules of groups that are merged, for all names together: names that
// share a long group, and have one of their own each, have its rules again and again.
const mostMerged = 1 << 20

// mean reads what the file as it is means.
func (c *checker) mean() *meaning {
	m := &c.meaning
	if m.before != nil {
		return m
	}
	f := &c.original.read
	m.named = make(map[string]bool)
	groups := make(map[string]int32) // the last of each name
	var agents []robots.Agent
	merged := 0
	for i := range f.Agents {
		a := &f.Agents[i]
		for _, token := range [...]string{strings.ToLower(string(a.Token)), strings.ToLower(string(a.Wide))} {
			if last, known := groups[token]; known && last != a.Group {
				merged += f.Groups[last].Rules.Len() + f.Groups[a.Group].Rules.Len()
			}
			if groups[token] = a.Group; token != "" && token != "*" && !m.named[token] {
				m.named[token] = true
				agents = append(agents, robots.Agent{Name: token, Tokens: []string{token}})
			}
		}
	}
	name := nobody(m.named)
	agents = append(agents, robots.Agent{Name: name, Tokens: []string{name}})
	m.agents, m.tooBig = len(agents), merged > mostMerged
	m.before, m.after = robots.NewJudge(c.parsers[0], agents), robots.NewJudge(c.parsers[0], agents)
	if !m.tooBig {
		m.before.Load(f)
	}
	return m
}

// same reports whether a file is proven to mean to google what the file as it is means: on
// every path, and to everybody. A step may make a rule shorter than another one that matches
// such a path, or name a crawler that follows another group as it is. Where the proof would
// take too long, there is none.
func (c *checker) same(next *file) bool {
	m := c.mean()
	if m.tooBig || next.read.Truncated {
		return false
	}
	for i := range next.read.Agents {
		a := &next.read.Agents[i]
		for _, token := range [...][]byte{a.Token, a.Wide} {
			if name := strings.ToLower(string(token)); name != "" && name != "*" && !m.named[name] {
				return false
			}
		}
	}
	m.after.Load(&next.read) // google looks names up
	c.spend(naming, m.agents+len(next.read.Agents))
	c.spend(loading, len(next.read.Rules))
	asked := make(map[[2]int]bool)
	for i := range m.agents {
		a, b := m.before.Policy(i), m.after.Policy(i)
		if a.Match != b.Match {
			return false
		}
		pair := [2]int{a.SameAs, b.SameAs}
		if asked[pair] {
			continue
		}
		asked[pair] = true
		d, work := robots.Differ(a, b, min(proofWork, (c.most-c.work)/costs[proving]))
		c.spend(proving, work)
		c.spend(telling, a.NumRules()+b.NumRules())
		if d != robots.Same {
			return false
		}
	}
	return true
}

// part applies a step, after which as a whole the file is not proven to mean the same to
// google, to those of its lines with which it is: to halves of them, and halves of these,
// until that takes too long.
func (c *checker) part(s *step, f *file, lines []int) (next *file, changed []int) {
	with, tries := make(map[int]bool), 0
	var add func(some []int)
	add = func(some []int) {
		if len(some) == 0 || tries >= mostParts || c.work > c.most || c.meaning.tooBig {
			return
		}
		tries++
		c.spendStep(f)
		for _, n := range some {
			with[n] = true
		}
		if try := s.apply(f, func(n int) bool { return with[n] }); try != nil && c.same(try) {
			next, changed = try, append(changed, some...)
			return
		}
		for _, n := range some {
			delete(with, n)
		}
		if half := len(some) / 2; half > 0 {
			add(some[:half])
			add(some[half:])
		}
	}
	add(lines[:len(lines)/2])
	add(lines[len(lines)/2:])
	return next, changed
}

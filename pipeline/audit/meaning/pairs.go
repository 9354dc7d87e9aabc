package meaning

import (
	"github.com/robocensus/robocensus/robots"
)

// Pairs compares the policies of two files, agent by agent. Both files must have been
// asked for the same agents.
type Pairs struct {
	profile *robots.Profile
	files   [2]*File
	known   robots.PairMemo[robots.Comparison]
}

// NewPairs compares file b with file a.
func NewPairs(p *robots.Profile, a, b *File) *Pairs {
	return &Pairs{profile: p, files: [2]*File{a, b}, known: robots.PairMemo[robots.Comparison]{Compare: compareOrProbe,
		Most: rulesWork}}
}

// rulesWork bounds the work for one pair of files, in the unit of [robots.Relate]:
// about a tenth of a second, plus the comparison that reaches it.
const rulesWork = 1 << 24

// Of compares the second file's policy of an agent with the first file's. If that is
// undecided, the counterexamples are paths that the rules name, which need not be the
// shortest.
func (c *Pairs) Of(agent int) robots.Comparison {
	x := c.known.Of(c.files[0].Policy(agent), c.files[1].Policy(agent))
	x.Closes, x.Opens = c.own(x.Closes, agent), c.own(x.Opens, agent)
	return x
}

func compareOrProbe(a, b *robots.Policy, most int) (robots.Comparison, int) {
	x, work := robots.CompareWithin(a, b, most)
	if x.Relation == robots.RelationUndecided && x.Closes == nil && x.Opens == nil && work > 0 {
		x = robots.Probe(a, b)
	}
	return x, work
}

// own returns a counterexample with the lines of the agent's own groups.
func (c *Pairs) own(w *robots.Counterexample, agent int) *robots.Counterexample {
	if w == nil {
		return nil
	}
	target := c.profile.LiteralTarget("http://host.example" + w.Path)
	return &robots.Counterexample{Path: w.Path, A: c.files[0].Policy(agent).Judge(&target),
		B: c.files[1].Policy(agent).Judge(&target)}
}

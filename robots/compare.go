package robots

import "github.com/robocensus/robocensus/robots/internal/automaton"

// A Relation orders two policies. Verdicts are ordered allow, undefined,
// disallow.
type Relation uint8

const (
	Equal    Relation = iota // the same verdict on every path
	Stricter                 // no lower verdict on any path, and a higher one on some
	Looser                   // no higher verdict on any path, and a lower one on some
	Mixed                    // a higher verdict on some paths, a lower one on others
	// "undecided": the search reached its bounds, or cannot read what a dialect makes of a path
	RelationUndecided
)

func (r Relation) String() string {
	return [...]string{"equal", "stricter", "looser", "mixed", "undecided"}[r]
}

// A Counterexample is a path on which two policies differ, with both verdicts.
// [Compare] returns the shortest, and of these the first in byte order, if no profile rewrites
// paths. If one does, it returns any of the shortest; if it resolves dot segments, of the
// shortest without them, unless there is none; if it sorts queries, any.
type Counterexample struct {
	Path string
	A, B Verdict
}

// A Comparison is the relation of policy B to policy A.
type Comparison struct {
	Relation Relation
	// Closes is a path on which B has the higher verdict, Opens one on which it
	// has the lower. Nil means that there is none, or, if the relation is
	// undecided, that none was found.
	Closes, Opens *Counterexample
	// Sorted reports whether the relation is undecided because a policy sorts the query of a
	// URL before its rules are asked.
	Sorted bool
	// States is the number of states that the search visited: 0 if rules, their normal
	// form or classes showed the answer.
	States int
}

// The ways in which policy B can differ from policy A: it closes paths, or opens some.
const (
	closes = automaton.Closes
	opens  = automaton.Opens
)

// Compare returns the relation of policy b to policy a: which of them forbids
// more. The two may belong to different agents, files and profiles.
//
// The answer is exact for paths, with queries, that begin with / and consist of
// the bytes 0x21 to 0x7E without #. It concerns rules alone, not answers to
// requests.
//
// A pattern with stars is an automaton with as many states as it has bytes. The
// patterns without stars together form a tree. Compare walks all of them at
// once, breadth first and in byte order, and asks in each state for the
// verdicts on a path that ends there. It does not continue from a state in
// which both policies have the same rules left or can differ only in a way
// already seen, and it enters no state twice. Hostile files can have too many
// states to visit; beyond 65,536 states, or 16 million numbers of states, the
// relation is undecided. Counterexamples found by then are valid.
func Compare(a, b *Policy) Comparison {
	c, _ := CompareWithin(a, b, automaton.MaxWork)
	return c
}

// CompareWithin is [Compare] with a bound on the work (see [Relate]), for
// callers with many pairs. If the answer would take more work than most, the
// relation is undecided. It also returns the work done.
func CompareWithin(a, b *Policy, most int) (c Comparison, work int) {
	if sameRules(a, b) {
		return Comparison{}, 0
	}
	if sorts(a, b) {
		return compareSorted(a, b, most)
	}
	return compareWithin(a, b, most)
}

func compareWithin(a, b *Policy, most int) (c Comparison, work int) {
	if most <= 0 {
		return Comparison{Relation: RelationUndecided}, 0
	}
	if c, ok := compareClasses(a, b); ok {
		return c, 0
	}
	likeness, cost := likenessOf(readingsOf(a, b))
	if likeness == alike {
		return Comparison{}, cost
	}
	l, ok := newLanguage(a, b, most-cost)
	if cost += l.Work(); !ok {
		return Comparison{Relation: RelationUndecided}, cost
	}
	f := find(a, b, l, automaton.Search{Most: most, Ways: ways(a, b)})
	c = Comparison{Relation: relationOf([2]bool{f.Paths[closes] != nil, f.Paths[opens] != nil}, f.Whole), States: f.States}
	for way, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if path := f.Paths[way]; path != nil {
			*w = counterexample(a, b, path)
		}
	}
	return c, f.Work + cost
}

func counterexample(a, b *Policy, path []byte) *Counterexample {
	return &Counterexample{string(path), a.judgePath(path), b.judgePath(path)}
}

// relationOf returns the relation of policies between which differences each way were
// found. whole reports whether there are no others.
func relationOf(found [2]bool, whole bool) Relation {
	switch {
	case found[closes] && found[opens]:
		return Mixed
	case !whole:
		return RelationUndecided
	case found[closes]:
		return Stricter
	case found[opens]:
		return Looser
	}
	return Equal
}

func (p *Policy) judgePath(path []byte) Verdict {
	t := p.judge.profile.target(path)
	return p.Judge(&t)
}

// sameRules reports whether two policies have the same rules in the same order.
func sameRules(a, b *Policy) bool {
	if a.judge.profile != b.judge.profile || len(a.sets) != len(b.sets) {
		return false
	}
	for i := range a.sets {
		if !a.sets[i].same(b.sets[i]) {
			return false
		}
	}
	return true
}

// compareClasses compares policies of which one allows or forbids everything,
// as most groups of real files do. The path / then shows how they differ.
func compareClasses(a, b *Policy) (c Comparison, ok bool) {
	if a.judge.profile.RobotsTxtAllowed != b.judge.profile.RobotsTxtAllowed {
		return c, false // /robots.txt may differ
	}
	one, two := a.Class(), b.Class()
	if one == Partial && two == Partial {
		return c, false
	}
	if one == two {
		return c, true
	}
	path := []byte("/")
	w := counterexample(a, b, path)
	switch {
	case w.A.Value == w.B.Value:
		return c, false
	case rank(w.A.Value) < rank(w.B.Value) && (one == AllowAll || two == DisallowAll):
		return Comparison{Relation: Stricter, Closes: w}, true
	case rank(w.A.Value) > rank(w.B.Value) && (one == DisallowAll || two == AllowAll):
		return Comparison{Relation: Looser, Opens: w}, true
	}
	return c, false
}

// rank orders verdicts.
func rank(v Value) int { return [...]int{Permitted: 0, Undefined: 1, Disallowed: 2}[v] }

package robots

import (
	"encoding/binary"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// SameRules reports whether two policies have the same rules in the same order
// under one profile; their lines may differ. Policies with different rules may
// still mean the same.
func (p *Policy) SameRules(other *Policy) bool { return sameRules(p, other) }

// AppendRules appends the profile of a policy and its rules in their order, but for their
// lines: all that a comparison with another policy depends on.
func (p *Policy) AppendRules(dst []byte) []byte {
	number := func(n ...int) {
		for _, n := range n {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	is := func(flags ...bool) {
		n := 0
		for i, f := range flags {
			if f {
				n |= 1 << i
			}
		}
		number(n)
	}
	text := func(b []byte) {
		number(len(b))
		dst = append(dst, b...)
	}
	text([]byte(p.judge.profile.Name))
	is(p.judge.profile.RobotsTxtAllowed)
	for _, rs := range p.sets {
		if is(rs != nil); rs == nil {
			continue
		}
		is(rs.letter, rs.twin != nil, rs.hides, rs.odd, rs.file.refusedAt > 0)
		number(len(rs.literals), len(rs.wilds))
		for i := range rs.literals {
			l := &rs.literals[i]
			number(int(l.key))
			is(l.anchor, rs.file.Rules[l.rule].Wildcard)
			text(rs.text(l)[:l.n])
		}
		for i := range rs.wilds {
			w := &rs.wilds[i]
			number(int(w.key))
			is(w.anchor, w.once, rs.endsWithStar(w), w.inQuery != nil)
			text(w.pattern)
			text(w.inQuery)
		}
	}
	return dst
}

// Relate returns the relation of policy b to policy a, as [Compare] does,
// without counterexamples, for callers with many pairs. If a path that a rule names
// shows a difference, it does not search for a shorter one; on real files that
// leaves little to search.
//
// work is what the answer cost, the same each time; 16 million take about a
// tenth of a second. If the answer would take more work than most, the relation
// is undecided.
func Relate(a, b *Policy, most int) (r Relation, work int) {
	if most <= 0 {
		return RelationUndecided, 0
	}
	if sameRules(a, b) {
		return Equal, 0
	}
	if c, ok := compareClasses(a, b); ok {
		return c.Relation, 0
	}
	if sorts(a, b) {
		c, work := compareSorted(a, b, most)
		return c.Relation, work
	}
	if a.Class() == AllowAll && b.Class() == AllowAll {
		return Equal, 0
	}
	p := newProber(a, b)
	if r := p.relation(); r != RelationUndecided {
		return r, p.work
	}
	l, ok := newLanguage(a, b, most)
	if !ok {
		return RelationUndecided, p.work + l.Work()
	}
	how := automaton.Search{Most: most, Ways: p.ways, Any: true}
	for way, found := range p.found {
		how.Ways[way] = how.Ways[way] && !found
	}
	f := find(a, b, l, how)
	for way, path := range f.Paths {
		p.found[way] = p.found[way] || path != nil
	}
	return relationOf(p.found, f.Whole), p.work + f.Work + l.Work()
}

// A Difference says whether two policies differ on any path. The constants ascend: what is
// undecided may be a difference.
type Difference uint8

const (
	Same Difference = iota
	// DifferInEscapes means that they differ on URLs with needless escapes only:
	// on /%61dmin, but not on /admin. An escape is needless if its character may
	// stand as itself at its place (RFC 3986, 3.3 and 3.4), or if its digits are
	// not in upper case (2.1). Crawlers normalize such URLs, and sites do not
	// publish them. If a dialect rewrites URLs, the same holds of those with dot
	// segments, or with characters that no URL can hold.
	DifferInEscapes
	DifferenceUndecided
	Differs
)

func (d Difference) String() string {
	return [...]string{"equal", "escapes_only", "undecided", "different"}[d]
}

// Differ reports whether two policies differ on any path, and whether only on URLs with
// needless escapes. It first compares the rules in a normal form, and asks about paths
// that they name: nearly all pairs of real files need no search. If the search would take
// more work than most, the difference is undecided.
func Differ(a, b *Policy, most int) (d Difference, work int) {
	if w, ok := beforehand(a, b); ok {
		if w != nil {
			return Differs, 0 // on /
		}
		return Same, 0
	}
	if most <= 0 {
		return DifferenceUndecided, 0
	}
	if sorts(a, b) {
		return differSorted(a, b, most)
	}
	d, known, work := differShortly(a, b)
	if d != DifferenceUndecided {
		return d, work
	}
	d, cost := differBySearch(a, b, most, known)
	return d, work + cost
}

// differShortly is [Differ] without a search through all rules. If it leaves the difference
// undecided, it returns what is known of it.
func differShortly(a, b *Policy) (d Difference, known shown, work int) {
	p := prober{a: a, b: b, ways: ways(a, b), either: true, escaping: true, plain: true}
	readings, on := readingsOf(a, b)
	var cost int
	if known.agree, work = alikeAsWritten(readings, on); known.agree == unknownLikeness {
		if p.tryFirst(); p.found != [2]bool{} {
			return Differs, known, work + p.work/16
		}
	}
	known.agree, cost = likenessAbove(known.agree, readings, on)
	if work += cost; known.agree == unknownLikeness {
		on.likeness = alikePlainly
		partings, cost := partingsOf(readings, on)
		p.tryApart(partings)
		p.tryAll(a, b)
		same, more := p.compareApart(partings)
		if work += cost + more; same {
			known.agree = alikePlainly
		}
	}
	if known.agree == alikePlainly && !p.needless {
		p.ways = [2]bool{}
		p.most = p.work + differWork
		p.try(a, b)
		p.tryAll(a, b)
	}
	work += p.work / 16 // a rule seldom costs more than a look at its first bytes
	switch known.needless = p.needless; {
	case known.agree == alike:
		return Same, known, work
	case p.found != [2]bool{}:
		return Differs, known, work
	case known.agree == alikePlainly && p.needless:
		return DifferInEscapes, known, work
	}
	return DifferenceUndecided, known, work
}

// shown is what is known of two policies before a search.
type shown struct {
	agree    likeness
	needless bool // they differ on a path with a needless escape
}

// differBySearch is [Differ] without the short ways.
func differBySearch(a, b *Policy, most int, known shown) (d Difference, work int) {
	if most <= 0 {
		return DifferenceUndecided, 0
	}
	l, ok := newLanguage(a, b, most)
	if work += l.Work(); !ok || work >= most {
		return DifferenceUndecided, work
	}
	if known.agree == unknownLikeness {
		path, whole, cost := anyOf(a, b, l, most-work, automaton.PlainPaths)
		switch work += cost; {
		case path != nil:
			return Differs, work
		case !whole:
			return DifferenceUndecided, work
		}
	}
	if known.needless {
		return DifferInEscapes, work
	}
	path, whole, cost := anyOf(a, b, l, most-work, automaton.AllPaths)
	switch work += cost; {
	case path != nil:
		return DifferInEscapes, work
	case !whole:
		return DifferenceUndecided, work
	}
	return Same, work
}

// beforehand compares two policies whose rules or classes show the answer, as most do: a
// counterexample, or nil if they mean the same.
func beforehand(a, b *Policy) (w *Counterexample, ok bool) {
	if sameRules(a, b) {
		return nil, true
	}
	if c, ok := compareClasses(a, b); ok {
		if c.Closes != nil {
			return c.Closes, true
		}
		return c.Opens, true
	}
	return nil, a.Class() == AllowAll && b.Class() == AllowAll
}

// shortest returns the shortest path on which two policies differ, nil if none is found;
// of some paths. whole reports whether there is no other.
func shortest(a, b *Policy, most int, of automaton.Paths) (path []byte, whole bool, work int) {
	if most <= 0 {
		return nil, false, 0
	}
	l, ok := newLanguage(a, b, most)
	if work = l.Work(); !ok || work >= most {
		return nil, false, work
	}
	f := find(a, b, l, automaton.Search{Most: most - work, Ways: ways(a, b), Either: true, Paths: of})
	return f.First, f.Whole, work + f.Work
}

// anyOf returns a path on which two policies differ, whose language is l.
func anyOf(a, b *Policy, l *automaton.Language, most int, of automaton.Paths) (path []byte, whole bool, work int) {
	if most <= 0 {
		return nil, false, 0
	}
	f := find(a, b, l, automaton.Search{Most: most, Ways: ways(a, b), Either: true, Any: true, Paths: of})
	return f.First, f.Whole, f.Work
}

// Paths says which paths count in a comparison.
type Paths = automaton.Paths

const (
	AllPaths   = automaton.AllPaths
	PlainPaths = automaton.PlainPaths // without needless escapes; see [DifferInEscapes]
	// plain ones without an escaped slash, which most servers refuse or take for a slash
	SlashedPaths = automaton.SlashedPaths
)

// Distinguish returns a path on which two policies differ, which [Counterexample] describes;
// nil if they mean the same. Only the paths that count are tried. [Compare] finds the same path
// first, but then searches on for a difference the other way, at much more cost. If the search
// would take more work than most (see [Relate]), Distinguish tries paths that the rules name,
// plain and with an escape, and returns the first that shows a difference, which may not be the
// shortest. If none does, decided is false.
func Distinguish(a, b *Policy, most int, of Paths) (w *Counterexample, decided bool, work int) {
	if w, ok := beforehand(a, b); ok {
		return w, true, 0
	}
	if sorts(a, b) {
		return distinguishSorted(a, b, most, of)
	}
	path, whole, work := shortest(a, b, most, of)
	if path == nil && (whole || work == 0) {
		return nil, whole, work
	}
	if path == nil {
		p := prober{a: a, b: b, ways: ways(a, b), either: true, escaping: true, plain: of != AllPaths}
		p.try(a, b)
		if work += p.work; p.found == [2]bool{} {
			return nil, false, work
		}
		path = p.path
	}
	return counterexample(a, b, path), true, work
}

package robots

import (
	"bytes"
	"slices"

	"github.com/robocensus/robocensus/robots/internal/escape"
)

// SameRules reports whether two policies have the same rules in the same order
// under one profile; their lines may differ. Policies with different rules may
// still mean the same.
func (p *Policy) SameRules(other *Policy) bool { return sameRules(p, other) }

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
	if a.Class() == AllowAll && b.Class() == AllowAll {
		return Equal, 0
	}
	p := newProber(a, b)
	if r := p.relation(); r != RelationUndecided {
		return r, p.work
	}
	l, ok := newLanguage(a, b, most)
	if !ok {
		return RelationUndecided, p.work + l.size*effectWork
	}
	s := search{automaton: newAutomaton(l), most: min(most, maxWork), ways: p.ways}
	for way, found := range p.found {
		if s.found[way] = -1; found {
			s.found[way] = 0
		}
	}
	whole := s.run(a, b)
	return s.relation(whole), p.work + s.work + l.size*effectWork
}

// Probe compares two policies only on paths that their rules name, for pairs
// that [CompareWithin] leaves undecided. Its counterexamples need not be the
// shortest.
func Probe(a, b *Policy) Comparison {
	p := newProber(a, b)
	c := Comparison{Relation: p.relation()}
	for i, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if path := p.paths[i]; path != nil {
			*w = &Counterexample{string(path), a.judgePath(path), b.judgePath(path)}
		}
	}
	return c
}

// Differ reports whether two policies differ on any path, and whether only on URLs with
// needless escapes. It first asks about paths that the rules name, which shows most
// differences at little cost. If the answer would take more work than most, the
// difference is undecided.
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
	p := prober{a: a, b: b, ways: ways(a, b), either: true, escaping: true, plain: true}
	p.try(a)
	p.try(b)
	if work = p.work; p.found != [2]bool{} {
		return Differs, work
	}
	l, ok := newLanguage(a, b, most-work)
	if work += l.size * effectWork; !ok || work >= most {
		return DifferenceUndecided, work
	}
	path, whole, cost := l.shortest(a, b, most-work, true)
	switch work += cost; {
	case path != nil:
		return Differs, work
	case !whole:
		return DifferenceUndecided, work
	case p.needless:
		return DifferInEscapes, work
	}
	path, whole, cost = l.shortest(a, b, most-work, false)
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
// with plain, of those without needless escapes. whole reports whether there is no other.
func shortest(a, b *Policy, most int, plain bool) (path []byte, whole bool, work int) {
	if most <= 0 {
		return nil, false, 0
	}
	l, ok := newLanguage(a, b, most)
	if work = l.size * effectWork; !ok || work >= most {
		return nil, false, work
	}
	path, whole, cost := l.shortest(a, b, most-work, plain)
	return path, whole, work + cost
}

func (l *language) shortest(a, b *Policy, most int, plain bool) (path []byte, whole bool, work int) {
	if most <= 0 {
		return nil, false, 0
	}
	s := search{automaton: newAutomaton(l), most: min(most, maxWork), ways: ways(a, b), either: true, found: [2]int32{-1, -1}}
	if plain {
		s.setPlain()
	}
	whole = s.run(a, b)
	switch c, o := s.found[closes], s.found[opens]; {
	case c >= 0 && (o < 0 || c < o):
		path = s.path(c)
	case o >= 0:
		path = s.path(o)
	default:
		if path = s.dotted[closes]; path == nil {
			path = s.dotted[opens]
		}
	}
	return path, whole, s.work
}

// Distinguish returns the shortest path on which two policies differ, the first in byte
// order of these; nil if they mean the same. With plain it is the shortest without needless
// escapes (see [DifferInEscapes]). [Compare] finds the same path first, but then searches
// on for a difference the other way, at much more cost. If the search would take more work
// than most (see [Relate]), Distinguish tries paths that the rules name, plain and with an
// escape, and returns the first that shows a difference, which may not be the shortest. If
// none does, decided is false.
func Distinguish(a, b *Policy, most int, plain bool) (w *Counterexample, decided bool, work int) {
	if w, ok := beforehand(a, b); ok {
		return w, true, 0
	}
	path, whole, work := shortest(a, b, most, plain)
	if path == nil && (whole || work == 0) {
		return nil, whole, work
	}
	if path == nil {
		p := prober{a: a, b: b, ways: ways(a, b), either: true, escaping: true, plain: plain}
		p.try(a)
		p.try(b)
		if work += p.work; p.found == [2]bool{} {
			return nil, false, work
		}
		path = p.path
	}
	return &Counterexample{string(path), a.judgePath(path), b.judgePath(path)}, true, work
}

// effectWork is the cost of building one effect, in units of the search's work.
const effectWork = 32

// probeWork bounds the work of a prober.
const probeWork = 1 << 16

// A prober asks two policies about paths that their rules name.
type prober struct {
	a, b  *Policy
	ways  [2]bool // how the policies can differ
	found [2]bool
	paths [2][]byte // by way: a path on which they differ
	path  []byte    // last path asked
	work  int

	either   bool // stop at the first difference
	escaping bool // also ask with the last letter escaped that a rule names
	plain    bool // only paths without needless escapes count
	needless bool // they differ on another path
}

// newProber asks two policies about the paths of all their rules. At least one
// of the policies must not be allow_all.
func newProber(a, b *Policy) *prober {
	p := &prober{a: a, b: b, ways: ways(a, b)}
	one, two, same := a.Class(), b.Class(), a.judge.profile == b.judge.profile // else /robots.txt may differ
	if one == AllowAll || same && two == DisallowAll {
		p.ways[opens] = false
	}
	if two == AllowAll || same && one == DisallowAll {
		p.ways[closes] = false
	}
	p.try(a)
	p.try(b)
	return p
}

// relation returns the relation that follows from the paths and from the ways
// in which the policies can differ.
func (p *prober) relation() Relation {
	switch {
	case p.found[closes] && p.found[opens]:
		return Mixed
	case !p.ways[closes] && !p.ways[opens]:
		return Equal
	case p.found[closes] && !p.ways[opens]:
		return Stricter
	case p.found[opens] && !p.ways[closes]:
		return Looser
	}
	return RelationUndecided
}

// try asks about the paths of a policy's rules.
func (p *prober) try(of *Policy) {
	for _, rs := range of.sets {
		if rs == nil || p.settled() {
			continue
		}
		for i := range rs.literals {
			if l := &rs.literals[i]; !p.rule(rs.text(l)[:l.n], l.anchor, false) {
				return
			}
		}
		for i := range rs.wilds {
			if w := &rs.wilds[i]; !p.rule(w.pattern, w.anchor, true) {
				return
			}
		}
	}
}

// filler stands in for what a pattern matches with a wildcard or an open end.
const filler = '~'

// rule asks about a path that a pattern matches and, if the pattern has an open
// end, about a longer one. It reports whether to continue.
func (p *prober) rule(pattern []byte, anchor, starred bool) bool {
	var ok bool
	if p.path, ok = pathOf(p.path[:0], pattern, starred); !ok {
		return true // never in a normalized URL
	}
	n := len(p.path)
	if !p.ask() {
		return false
	}
	if !anchor {
		if p.path = append(p.path, filler); !p.ask() {
			return false
		}
	}
	if !p.escaping || p.needless {
		return true
	}
	p.path = p.path[:n]
	for i := n - 1; i > 0; i-- {
		if c := p.path[i]; escape.IsUnreserved(c) && c != filler && (i < 2 || p.path[i-1] != '%' && p.path[i-2] != '%') {
			p.path = slices.Replace(p.path, i, i+1, '%', escape.Digits[c>>4], escape.Digits[c&15])
			return p.ask()
		}
	}
	return true
}

// pathOf appends a path that a pattern matches. It is not ok if a URL cannot have it.
func pathOf(dst, pattern []byte, starred bool) (path []byte, ok bool) {
	if len(pattern) == 0 || pattern[0] != '/' && !(len(pattern) > 1 && starred && pattern[0] == '*' && pattern[1] == '/') {
		dst = append(dst, '/')
	}
	for i, c := range pattern {
		switch {
		case c == '*' && starred:
			if i > 0 {
				dst = append(dst, filler)
			}
		case c <= ' ' || c > '~' || c == '#':
			return dst, false
		default:
			dst = append(dst, c)
		}
	}
	return dst, true
}

// isPlain reports whether a difference on the path counts as one on plain paths.
func (p *prober) isPlain() bool {
	if p.a.judge.profile.transforms() || p.b.judge.profile.transforms() {
		return isNormal(p.path)
	}
	return isPlain(p.path)
}

func (p *prober) ask() bool {
	for _, of := range [...]*Policy{p.a, p.b} {
		for _, rs := range of.sets {
			if rs != nil {
				p.work += len(rs.literals) + 8*len(rs.wilds) + len(p.path)
			}
		}
	}
	if p.work > probeWork {
		return false
	}
	a, b := rank(p.a.judgePath(p.path).Value), rank(p.b.judgePath(p.path).Value)
	if p.plain && a != b && !p.isPlain() {
		p.needless = true
		return true
	}
	for way, shown := range [2]bool{closes: b > a, opens: b < a} {
		if shown && !p.found[way] {
			p.found[way], p.paths[way] = true, slices.Clone(p.path)
		}
	}
	return !p.settled()
}

func (p *prober) settled() bool {
	c, o := p.found[closes], p.found[opens]
	return (c || !p.ways[closes]) && (o || !p.ways[opens]) || p.either && (c || o)
}

// dottedPath returns a path with dot segments on which two policies differ, of which one
// resolves them, or nil. To that one, such a path leads to another place than it names:
// so it tries paths that the rules name, each with a way from one to another, within the
// work of the search.
func (s *search) dottedPath(a, b *Policy, way int) []byte {
	var named [][]byte
	rules := 0
	for _, of := range [...]*Policy{a, b} {
		for _, rs := range of.sets {
			if rs == nil {
				continue
			}
			rules += len(rs.literals) + 8*len(rs.wilds)
			for i := range rs.literals {
				if len(named) == maxNamed {
					break
				}
				l := &rs.literals[i]
				if path, ok := pathOf(nil, rs.text(l)[:l.n], false); ok {
					named = append(named, path)
				}
			}
			for i := range rs.wilds {
				if len(named) == maxNamed {
					break
				}
				if path, ok := pathOf(nil, rs.wilds[i].pattern, true); ok {
					named = append(named, path)
				}
			}
		}
	}
	named = append(named, []byte{'/', filler})
	differs := func(path []byte) bool {
		x, y := rank(a.judgePath(path).Value), rank(b.judgePath(path).Value)
		return way == closes && y > x || way == opens && y < x
	}
	last := named[len(named)-1]
	for _, path := range named {
		for _, ends := range [...][2][]byte{{path, last}, {last, path}} {
			x := overDots(ends[0], ends[1])
			if s.work += rules + len(x); s.work > s.most {
				return nil
			}
			if differs(x) {
				return x
			}
		}
	}
	return nil
}

// maxNamed bounds the paths that dottedPath tries.
const maxNamed = 1 << 10

// overDots returns a path that begins as one and leads to another.
func overDots(from, to []byte) []byte {
	from, _, _ = bytes.Cut(from, []byte{'?'})
	path := bytes.Clone(from)
	for range bytes.Count(from, []byte{'/'}) {
		path = append(path, "/.."...)
	}
	return append(path, to...)
}

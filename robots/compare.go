package robots

import (
	"math/bits"
	"slices"
)

// A Relation orders two policies. Verdicts are ordered allow, undefined,
// disallow.
type Relation uint8

const (
	Equal             Relation = iota // the same verdict on every path
	Stricter                          // no lower verdict on any path, and a higher one on some
	Looser                            // no higher verdict on any path, and a lower one on some
	Mixed                             // a higher verdict on some paths, a lower one on others
	RelationUndecided                 // "undecided": the search reached its bounds, or cannot read what a dialect makes of a path
)

func (r Relation) String() string {
	return [...]string{"equal", "stricter", "looser", "mixed", "undecided"}[r]
}

// A Counterexample is a path on which two policies differ, with both verdicts.
// [Compare] returns the shortest, and of these the first in byte order.
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
	// States is the number of states that the search visited: 0 if rules or
	// classes showed the answer.
	States int
}

// The bounds of one comparison. maxWork counts the numbers of states read,
// which is what a comparison costs: about a tenth of a second.
const (
	maxStates = 1 << 16
	maxWork   = 1 << 24
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
	c, _ := CompareWithin(a, b, maxWork)
	return c
}

// CompareWithin is [Compare] with a bound on the work (see [Relate]), for
// callers with many pairs. If the answer would take more work than most, the
// relation is undecided. It also returns the work done.
func CompareWithin(a, b *Policy, most int) (c Comparison, work int) {
	if sameRules(a, b) {
		return Comparison{}, 0
	}
	if most <= 0 {
		return Comparison{Relation: RelationUndecided}, 0
	}
	if c, ok := compareClasses(a, b); ok {
		return c, 0
	}
	l, ok := newLanguage(a, b, most)
	if !ok {
		return Comparison{Relation: RelationUndecided}, l.size * effectWork
	}
	s := search{automaton: newAutomaton(l), most: min(most, maxWork), found: [2]int32{-1, -1}, ways: ways(a, b)}
	whole := s.run(a, b)
	c = Comparison{Relation: s.relation(whole), States: len(s.nodes)}
	for way, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if path := s.example(way); path != nil {
			*w = &Counterexample{string(path), a.judgePath(path), b.judgePath(path)}
		}
	}
	return c, s.work + l.size*effectWork
}

// relation returns the relation found so far. whole reports whether the search
// is complete.
func (s *search) relation(whole bool) Relation {
	switch {
	case s.has(closes) && s.has(opens):
		return Mixed
	case !whole:
		return RelationUndecided
	case s.has(closes):
		return Stricter
	case s.has(opens):
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
	w := &Counterexample{"/", a.judgePath(path), b.judgePath(path)}
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

// A search visits the states of an automaton.
type search struct {
	*automaton
	states []int32 // size numbers for each node
	nodes  []node
	table  []int32  // hash table of nodes, by their states
	found  [2]int32 // the node of the first counterexample each way, or -1

	dotted [2][]byte // counterexamples with dot segments, which the automaton does not read

	work   int
	most   int     // bound on work
	ways   [2]bool // how the policies can differ
	either bool    // stop at the first counterexample
	now    []int32
}

// someNodes is the number of nodes for which a search first allocates memory.
const someNodes = 32

type node struct {
	parent int32
	symbol symbol
}

const (
	closes = 0
	opens  = 1
)

// run searches and reports whether it found all that there is.
func (s *search) run(a, b *Policy) (whole bool) {
	whole = s.visit()
	if a.judge.profile.resolvesDots() == b.judge.profile.resolvesDots() || s.symbols == nil || s.symbols.plain {
		return whole // without symbols, no rule of the one that resolves them reads a path
	}
	for way := range s.dotted {
		if !s.settled() && s.ways[way] && !s.has(way) {
			s.dotted[way] = s.dottedPath(a, b, way)
		}
	}
	return whole && s.settled()
}

// has reports whether there is a counterexample.
func (s *search) has(way int) bool { return s.found[way] >= 0 || s.dotted[way] != nil }

// settled reports whether no further counterexample is wanted.
func (s *search) settled() bool {
	c, o := s.has(closes), s.has(opens)
	return (c || !s.ways[closes]) && (o || !s.ways[opens]) || s.either && (c || o)
}

// example returns the path of a counterexample, nil if there is none.
func (s *search) example(way int) []byte {
	if n := s.found[way]; n >= 0 {
		return s.path(n)
	}
	return s.dotted[way]
}

// visit visits the states and reports whether it ended within the bounds.
func (s *search) visit() bool {
	s.now = make([]int32, s.size)
	s.table = make([]int32, 64)
	s.nodes = make([]node, 0, someNodes)
	s.states = make([]int32, 0, someNodes*s.size)
	s.begin(s.now)
	if !s.useful(s.now) {
		return true
	}
	s.first() // every path begins with a slash
	for n := int32(0); n < int32(len(s.nodes)); n++ {
		if s.settled() {
			return true
		}
		if !s.useful(s.state(n)) {
			continue
		}
		if !s.follow(n) {
			return false
		}
	}
	return true
}

// first enters the states after the first slash.
func (s *search) first() {
	slash := byteSymbol('/')
	if s.symbols == nil {
		s.enter(slash, -1)
		return
	}
	start := s.modeOf(s.now)
	for _, slash.guess = range s.symbols.guesses(&slash, &start) {
		s.begin(s.now)
		s.enter(slash, -1)
	}
}

// follow enters the states that follow a node, and reports whether the bounds allow that.
func (s *search) follow(n int32) bool {
	s.work += 2 * s.cost
	if s.symbols == nil {
		next := s.alphabet(s.state(n))
		for c := byte('!'); c <= '~'; c++ {
			if next.has(c) && c != '#' && !s.to(byteSymbol(c), n) {
				return false
			}
		}
		return true
	}
	now := s.modeOf(s.state(n))
	t := s.symbols.table(&now)
	chosen := s.choose(s.state(n), t)
	s.work += len(chosen)
	for i, x := range chosen {
		for ; x != 0; x &= x - 1 {
			if !s.to(t.symbols[i<<6|bits.TrailingZeros64(x)], n) {
				return false
			}
		}
	}
	return true
}

// to enters the state to which a symbol leads from a node.
func (s *search) to(x symbol, n int32) bool {
	copy(s.now, s.state(n))
	s.enter(x, n)
	return len(s.nodes) <= maxStates && s.work <= s.most
}

func (s *search) state(n int32) []int32 { return s.states[int(n)*s.size:][:s.size] }

// enter advances s.now, the state of node parent, by one symbol.
func (s *search) enter(x symbol, parent int32) {
	s.work += s.cost
	if s.symbols == nil {
		s.step(s.now, x.text[0])
	} else if !s.read(s.now, &x) {
		return
	}
	n, isNew := s.add(s.now, parent, x)
	if !isNew || s.plain && byte(s.now[0]) != 0 || !s.ends(s.now) { // in the middle of an escape
		return
	}
	a, b := s.verdicts(s.now)
	switch {
	case rank(b) > rank(a) && s.found[closes] < 0:
		s.found[closes] = n
	case rank(b) < rank(a) && s.found[opens] < 0:
		s.found[opens] = n
	}
}

func rank(v Value) int { return [...]int{Allowed: 0, Undefined: 1, Disallowed: 2}[v] }

// useful reports whether a missing counterexample may still be found from here on.
func (s *search) useful(st []int32) bool {
	a, b := &s.of[0], &s.of[1]
	x, y := s.coming(st, a), s.coming(st, b)
	return s.ways[closes] && s.found[closes] < 0 && x.lowest() < y.highest() && !s.over(st, a, b) ||
		s.ways[opens] && s.found[opens] < 0 && y.lowest() < x.highest() && !s.over(st, b, a)
}

// add returns the node of a state. It makes one if the state is new.
func (s *search) add(st []int32, parent int32, x symbol) (n int32, isNew bool) {
	mask := len(s.table) - 1
	i := int(hashState(st)) & mask
	for ; s.table[i] != 0; i = (i + 1) & mask {
		s.work += s.size
		if n := s.table[i] - 1; slices.Equal(s.state(n), st) {
			return n, false
		}
	}
	n = int32(len(s.nodes))
	s.nodes = append(s.nodes, node{parent, x})
	s.states = append(s.states, st...)
	s.table[i] = n + 1
	if 2*len(s.nodes) > len(s.table) {
		s.grow()
	}
	return n, true
}

func (s *search) grow() {
	s.table = make([]int32, 2*len(s.table))
	mask := len(s.table) - 1
	for n := range s.nodes {
		i := int(hashState(s.state(int32(n)))) & mask
		for s.table[i] != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = int32(n) + 1
	}
}

func hashState(st []int32) uint64 {
	h := uint64(fnvOffset)
	for _, x := range st {
		h = (h ^ uint64(uint32(x))) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

func (s *search) path(n int32) []byte {
	var path []byte
	for ; n >= 0; n = s.nodes[n].parent {
		x := &s.nodes[n].symbol
		for i := range x.n {
			path = append(path, x.text[x.n-1-i])
		}
	}
	slices.Reverse(path)
	return path
}

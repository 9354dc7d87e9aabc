package robots

import "slices"

// A Relation orders two policies. Verdicts are ordered allow, undefined,
// disallow.
type Relation uint8

const (
	Equal             Relation = iota // the same verdict on every path
	Stricter                          // no lower verdict on any path, and a higher one on some
	Looser                            // no higher verdict on any path, and a lower one on some
	Mixed                             // a higher verdict on some paths, a lower one on others
	RelationUndecided                 // "undecided": the search reached its bounds
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
	l, ok := newLanguage(a, b)
	if !ok {
		return Comparison{Relation: RelationUndecided}, l.size * effectWork
	}
	s := search{automaton: newAutomaton(l), most: min(most, maxWork), found: [2]int32{-1, -1}, ways: ways(a, b)}
	whole := s.compares(a, b).run()
	c = Comparison{Relation: s.relation(whole), States: len(s.nodes)}
	for i, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if n := s.found[i]; n >= 0 {
			path := s.path(n)
			*w = &Counterexample{string(path), a.judgePath(path), b.judgePath(path)}
		}
	}
	return c, s.work + l.size*effectWork
}

// relation returns the relation found so far. whole reports whether the search
// is complete.
func (s *search) relation(whole bool) Relation {
	switch {
	case s.found[closes] >= 0 && s.found[opens] >= 0:
		return Mixed
	case !whole:
		return RelationUndecided
	case s.found[closes] >= 0:
		return Stricter
	case s.found[opens] >= 0:
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

	// between are the policies if a profile compares another form of a path than the
	// automaton reads (a dialect). A counterexample is then asked for, and one that does
	// not hold is dropped: what is left may not be all.
	between *[2]*Policy
	dropped bool
	// unescape makes a counterexample one without needless escapes, for the automaton
	// reads that other form, which may have them.
	unescape bool
	apart    bool // under two profiles, one of which does so

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
	byte   byte
}

const (
	closes = 0
	opens  = 1
)

// run searches and reports whether it found all that there is.
func (s *search) run() bool {
	whole := s.visit()
	c, o := s.found[closes] >= 0, s.found[opens] >= 0
	if (c || !s.ways[closes]) && (o || !s.ways[opens]) || s.either && (c || o) {
		return whole
	}
	return whole && !s.dropped && !s.apart
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
	s.enter('/', -1) // every path begins with a slash
	for n := int32(0); n < int32(len(s.nodes)); n++ {
		c, o := s.found[closes] >= 0, s.found[opens] >= 0
		if (c || !s.ways[closes]) && (o || !s.ways[opens]) || s.either && (c || o) {
			return true
		}
		if !s.useful(s.state(n)) {
			continue
		}
		next := s.alphabet(s.state(n))
		s.work += 2 * s.cost
		for c := byte('!'); c <= '~'; c++ {
			if !next.has(c) || c == '#' {
				continue
			}
			copy(s.now, s.state(n))
			s.enter(c, n)
			if len(s.nodes) > maxStates || s.work > s.most {
				return false
			}
		}
	}
	return true
}

func (s *search) state(n int32) []int32 { return s.states[int(n)*s.size:][:s.size] }

// enter advances s.now, the state of node parent, by one byte.
func (s *search) enter(c byte, parent int32) {
	s.step(s.now, c)
	s.work += s.cost
	n, isNew := s.add(s.now, parent, c)
	if !isNew || s.plain && byte(s.now[0]) != 0 { // in the middle of an escape
		return
	}
	a, b := s.verdicts(s.now)
	switch {
	case rank(b) > rank(a) && s.found[closes] < 0 && s.holds(n, closes):
		s.found[closes] = n
	case rank(b) < rank(a) && s.found[opens] < 0 && s.holds(n, opens):
		s.found[opens] = n
	}
}

// holds reports whether the policies differ on the path of a node as the automaton says.
func (s *search) holds(n int32, way int) bool {
	if s.between == nil {
		return true
	}
	path := s.path(n)
	if s.unescape {
		path = plainForm(path)
	}
	s.work += 64 + len(path)
	a, b := rank(s.between[0].judgePath(path).Value), rank(s.between[1].judgePath(path).Value)
	if way == closes && b > a || way == opens && b < a {
		return true
	}
	s.dropped = true
	return false
}

// compares sets the policies that the search compares, if their profiles need that.
func (s *search) compares(a, b *Policy) *search {
	p, q := a.judge.profile, b.judge.profile
	if p.transforms() || q.transforms() {
		s.between, s.apart = &[2]*Policy{a, b}, p != q || a.namesUnseen() || b.namesUnseen()
	}
	return s
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
func (s *search) add(st []int32, parent int32, c byte) (n int32, isNew bool) {
	mask := len(s.table) - 1
	i := int(hashState(st)) & mask
	for ; s.table[i] != 0; i = (i + 1) & mask {
		s.work += s.size
		if n := s.table[i] - 1; slices.Equal(s.state(n), st) {
			return n, false
		}
	}
	n = int32(len(s.nodes))
	s.nodes = append(s.nodes, node{parent: parent, byte: c})
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
		path = append(path, s.nodes[n].byte)
	}
	slices.Reverse(path)
	return path
}

package automaton

import (
	"math"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// The bounds of one search. MaxWork counts the numbers of states read, which is what a
// search costs: about a tenth of a second. effectWork is the cost of building one effect of
// a language, in the same unit.
const (
	maxStates  = 1 << 16
	MaxWork    = 1 << 24
	effectWork = 32
)

// A Search asks for paths on which two policies differ.
type Search struct {
	Most   int     // bound on work, at most MaxWork
	Ways   [2]bool // how the policies can differ
	Either bool    // stop at the first path
	Any    bool    // any path will do, and need not be the shortest
	Paths  Paths   // that count
}

// The ways in which the second policy can differ from the first: it has a higher verdict, or
// a lower one.
const (
	Closes = 0
	Opens  = 1
)

// A Finding is what a search found.
type Finding struct {
	// Paths are the shortest path each way, unless any will do; nil if there is none. Of paths
	// of equal length it is the first in byte order, if no dialect rewrites them. First is that
	// which is shorter.
	Paths  [2][]byte
	First  []byte
	Whole  bool // there are no others
	States int  // visited
	Work   int
}

// Search searches for the paths on which the two policies differ.
func (l *Language) Search(how Search) (f Finding) {
	s := search{automaton: newAutomaton(l), Search: how, found: [2]int32{-1, -1}}
	if s.Paths != AllPaths {
		s.setPlain(s.Paths)
	}
	memory := searches.Get().(*searchMemory)
	s.searchMemory = *memory
	f.Whole = s.run()
	defer func() {
		if *memory = s.searchMemory; cap(memory.states) <= keptStates {
			searches.Put(memory)
		}
	}()
	f.States, f.Work = len(s.nodes), s.work
	least := int32(math.MaxInt32)
	for way, n := range s.found {
		if n >= 0 {
			if f.Paths[way] = s.path(n); n < least {
				least, f.First = n, f.Paths[way]
			}
		}
	}
	return f
}

// A search visits the states of an automaton.
type search struct {
	*automaton
	Search
	searchMemory
	long  []choice // escapes that follow the nodes, if paths are read symbol by symbol
	found [2]int32 // the node of the first path each way, or -1
	work  int
	now   []int32
}

// searchMemory is what a search leaves to the next one.
type searchMemory struct {
	states []int32 // size numbers for each node
	nodes  []node
	table  []int32 // hash table of nodes, by their states
}

// keptStates bounds the memory of a search that is kept, in numbers of states.
const keptStates = 1 << 20

var searches = sync.Pool{New: func() any { return new(searchMemory) }}

type node struct {
	parent int32
	length int32 // of its path
	symbol rewrite.Symbol
}

// settled reports whether no further path is wanted.
func (s *search) settled() bool {
	c, o := s.found[Closes] >= 0, s.found[Opens] >= 0
	return (c || !s.Ways[Closes]) && (o || !s.Ways[Opens]) || s.Either && (c || o)
}

// run visits the states and reports whether it ended within the bounds.
func (s *search) run() (whole bool) {
	s.now = make([]int32, s.size)
	s.resize(64)
	s.nodes, s.states = s.nodes[:0], s.states[:0]
	s.begin(s.now)
	if !s.useful(s.now) {
		return true
	}
	s.first() // every path begins with a slash
	if s.symbols != nil {
		return s.runSymbols()
	}
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
	slash := rewrite.ByteSymbol('/')
	if s.symbols == nil {
		s.enter(slash, -1)
		return
	}
	start := s.modeOf(s.now)
	for _, slash.Guess = range s.symbols.guesses(&slash, &start) {
		s.begin(s.now)
		s.enter(slash, -1)
	}
}

// follow enters the states that follow a node, and reports whether the bounds allow that.
func (s *search) follow(n int32) bool {
	s.work += 2 * s.cost
	next := s.alphabet(s.state(n))
	for c := byte('!'); c <= '~'; c++ {
		if next.has(c) && c != '#' && !s.to(rewrite.ByteSymbol(c), n) {
			return false
		}
	}
	return true
}

// to enters the state to which a symbol leads from a node.
func (s *search) to(x rewrite.Symbol, n int32) bool {
	copy(s.now, s.state(n))
	s.enter(x, n)
	return len(s.nodes) <= maxStates && s.work <= s.Most
}

func (s *search) state(n int32) []int32 { return s.states[int(n)*s.size:][:s.size] }

// enter advances s.now, the state of node parent, by one symbol.
func (s *search) enter(x rewrite.Symbol, parent int32) {
	s.work += s.cost
	if s.symbols == nil {
		c, _ := x.Char()
		s.step(s.now, c)
	} else if !s.read(s.now, &x) {
		return
	}
	n, isNew := s.add(s.now, parent, x)
	if !isNew || s.plain && byte(s.now[0]) != 0 || !s.ends(s.now) { // in the middle of an escape
		return
	}
	a, b := s.verdicts(s.now)
	switch {
	case b > a && s.found[Closes] < 0:
		s.found[Closes] = n
	case b < a && s.found[Opens] < 0:
		s.found[Opens] = n
	}
}

// useful reports whether a missing counterexample may still be found from here on.
func (s *search) useful(st []int32) bool {
	a, b := &s.of[0], &s.of[1]
	x, y := s.coming(st, a), s.coming(st, b)
	return s.Ways[Closes] && s.found[Closes] < 0 && x.lowest() < y.highest() && !s.over(st, a, b) ||
		s.Ways[Opens] && s.found[Opens] < 0 && y.lowest() < x.highest() && !s.over(st, b, a)
}

// add returns the node of a state. It makes one if the state is new.
func (s *search) add(st []int32, parent int32, x rewrite.Symbol) (n int32, isNew bool) {
	mask := len(s.table) - 1
	i := int(hashState(st)) & mask
	for ; s.table[i] != 0; i = (i + 1) & mask {
		s.work += s.size
		if n := s.table[i] - 1; slices.Equal(s.state(n), st) {
			return n, false
		}
	}
	n = int32(len(s.nodes))
	length := int32(x.Len())
	if parent >= 0 {
		length += s.nodes[parent].length
	}
	s.nodes = append(s.nodes, node{parent, length, x})
	s.states = append(s.states, st...)
	s.table[i] = n + 1
	if 2*len(s.nodes) > len(s.table) {
		s.grow()
	}
	return n, true
}

// resize empties the table.
func (s *search) resize(n int) {
	s.table = slices.Grow(s.table[:0], n)[:n]
	clear(s.table)
}

func (s *search) grow() {
	s.resize(2 * len(s.table))
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
	h := uint64(14695981039346656037)
	for _, x := range st {
		h = (h ^ uint64(uint32(x))) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

func (s *search) path(n int32) (path []byte) {
	var nodes []int32
	for ; n >= 0; n = s.nodes[n].parent {
		nodes = append(nodes, n)
	}
	for _, n := range slices.Backward(nodes) {
		path = s.nodes[n].symbol.AppendTo(path)
	}
	return path
}

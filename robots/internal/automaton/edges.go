package automaton

import (
	"bytes"
	"math/bits"
	"slices"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// runSymbols is run for paths that are read symbol by symbol. An escape has three bytes: so
// it enters states by the lengths of their paths, and, of one length, in the order of these.
// If any path will do, it counts an escape as one byte, and finds one sooner.
func (s *search) runSymbols() (whole bool) {
	var from [3]int32 // the first nodes with paths of a length, and of one and two bytes more
	for end := int32(len(s.nodes)); from[0] < end; {
		short := edges{search: s, n: from[2], end: end}
		long := edges{search: s, n: from[0], end: from[1], escapes: true}
		for a, b := short.next(), long.next(); a || b; {
			e, more := &short, &a
			if !a || b && long.before(&short) {
				e, more = &long, &b
			}
			if s.settled() {
				return true
			}
			if !s.to(e.symbol, e.n-1) {
				return false
			}
			*more = e.next()
		}
		from, end = [3]int32{from[1], from[2], end}, int32(len(s.nodes))
	}
	return true
}

// edges are the symbols that follow some nodes, in their order.
type edges struct {
	*search
	n, end  int32 // the next node, and that behind the last one
	escapes bool  // only those that were left for later

	symbol rewrite.Symbol // that follows the node before n
	table  *symbolTable
	left   choice
	at     int
}

// next goes to the next symbol. It returns false if there is none.
func (e *edges) next() bool {
	for {
		for ; e.at < len(e.left); e.at++ {
			if x := &e.left[e.at]; *x != 0 {
				e.symbol = e.table.symbols[e.at<<6|bits.TrailingZeros64(*x)]
				*x &= *x - 1
				return true
			}
		}
		if e.n == e.end {
			return false
		}
		e.at = len(e.left)
		if e.escapes {
			e.followLong(e.n)
		} else {
			e.follow(e.n)
		}
		e.n++
	}
}

// follow chooses the symbols that follow a node, and leaves the escapes for later.
func (e *edges) follow(n int32) {
	st := e.state(n)
	useful := e.useful(st)
	if useful {
		now := e.modeOf(st)
		e.table = e.symbols.table(&now)
		e.left, e.at = e.choose(st, e.table), 0
		e.work += 2*e.cost + len(e.left)
	}
	switch {
	case e.Any: // nothing is left for later
	case useful:
		e.long = append(e.long, e.left.cut(e.table.long))
	default:
		e.long = append(e.long, choice{})
	}
}

// followLong goes on with those.
func (e *edges) followLong(n int32) {
	if !e.Any && e.long[n] != (choice{}) {
		now := e.modeOf(e.state(n))
		e.table = e.symbols.table(&now)
		e.left, e.at = e.long[n], 0
	}
}

// cut takes the symbols from k on out of a choice, and returns them.
func (c *choice) cut(k int) (rest choice) {
	word := k >> 6
	copy(rest[word:], c[word:])
	clear(c[word:])
	low := uint64(1)<<(k&63) - 1
	c[word] = rest[word] & low
	rest[word] &^= low
	return rest
}

// before reports whether the path to which one edge leads is before another of its length.
func (e *edges) before(o *edges) bool {
	p, q := e.n-1, o.n-1
	a, b := e.symbol.AppendReversed(nil), o.symbol.AppendReversed(nil)
	for p != q {
		x, y := &e.nodes[p], &e.nodes[q]
		switch {
		case x.length == y.length:
			return p < q
		case x.length > y.length:
			a, p = x.symbol.AppendReversed(a), x.parent
		default:
			b, q = y.symbol.AppendReversed(b), y.parent
		}
	}
	slices.Reverse(a)
	slices.Reverse(b)
	return bytes.Compare(a, b) < 0
}

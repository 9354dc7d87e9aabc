package robots

import (
	"bytes"
	"slices"
)

// A starred is a pattern with a * inside as an automaton: the state is how far
// the pattern has been matched. Each literal between stars is sought at its
// first place, as wild.matches does, with what Knuth, Morris and Pratt do on a
// mismatch, so that the automaton is deterministic and has one state for each
// byte of the pattern.
type starred struct {
	view    int32
	slot    int32 // of its state; the one behind it, where it has two forms
	anchor  bool
	path    segments
	query   segments // where forms
	forms   bool     // it looks otherwise in a query
	effects []effect
}

// gone is the state of a pattern that cannot match any more, or whose match
// changes nothing.
const gone = -1

// A table holds patterns one behind the other, so that a state is an index of
// it and a step touches little memory.
type table struct {
	text []byte
	// miss is the state to try next where the byte at a state is not the one
	// read: gone, or -2-p to wait at p, which has read it.
	miss []int32
}

// segments is a pattern of a table without two stars side by side. The state
// to is that of a match; a NUL stands there.
type segments struct {
	*table
	from, to int32
	// starts are the states behind the stars, after the first of all.
	starts []int32
}

// oneStar makes one star of each run of stars.
func oneStar(pattern []byte) []byte {
	if !bytes.Contains(pattern, []byte("**")) {
		return pattern
	}
	out := make([]byte, 0, len(pattern))
	for i, c := range pattern {
		if c != '*' || i == 0 || pattern[i-1] != '*' {
			out = append(out, c)
		}
	}
	return out
}

func (t *table) add(pattern []byte) segments {
	from := int32(len(t.text))
	t.text = append(append(t.text, pattern...), 0)
	t.miss = slices.Grow(t.miss, len(pattern)+1)[:len(t.text)]
	g := segments{table: t, from: from, to: int32(len(t.text)) - 1, starts: []int32{from}}
	first := from + int32(bytes.IndexByte(pattern, '*'))
	for i := from; i < first; i++ {
		t.miss[i] = gone
	}
	for s := first + 1; s <= g.to; {
		n := bytes.IndexByte(t.text[s:g.to], '*')
		if n < 0 {
			n = int(g.to - s)
		}
		g.starts = append(g.starts, s)
		t.fail(s, s+int32(n))
		s += int32(n) + 1
	}
	return g
}

// fail fills miss for the literal that lies in text[s:e] behind a star.
func (t *table) fail(s, e int32) {
	t.miss[s] = -2 - s // to wait there
	c := s             // the border of what is matched before i
	for i := s + 1; i < e; i++ {
		if t.text[i] == t.text[c] {
			t.miss[i] = t.miss[c]
		} else {
			t.miss[i] = c
			for c >= 0 && t.text[i] != t.text[c] {
				c = t.miss[c]
			}
			if c < 0 {
				c = s - 1
			}
		}
		c++
	}
	if e > s {
		t.miss[e] = c
	}
}

// start is the state before the first byte.
func (g *segments) start() int32 {
	if g.text[g.from] == '*' {
		return g.from + 1
	}
	return g.from
}

// step is the state after one more byte, which is no NUL.
func (t *table) step(i int32, c byte) int32 {
	for {
		if t.text[i] == c {
			i++
			if t.text[i] == '*' {
				i++
			}
			return i
		}
		if i = t.miss[i]; i < 0 {
			return -2 - i
		}
	}
}

// stays says whether a byte leaves a pattern waiting where it is.
func (t *table) stays(i int32, c byte) bool { return t.text[i] != c && t.miss[i] == -2-i }

// heed adds the bytes that the next step tells apart.
func (t *table) heed(i int32, set *byteSet) {
	for ; i >= 0; i = t.miss[i] {
		set.add(t.text[i])
	}
}

// segment is the number of the literal that a position is in.
func (g *segments) segment(i int32) int {
	n := 0
	for n+1 < len(g.starts) && g.starts[n+1] <= i {
		n++
	}
	return n
}

// done says whether the pattern matches what has been read.
func (s *starred) done(st []int32) bool {
	return st[s.slot] == s.path.to || s.forms && st[s.slot+1] == s.query.to
}

// step reads one more byte of a pattern of two forms. A literal of two forms is sought in its path form
// where it begins before or at the ?, and else in its query form. So behind
// the ? at most one place of the path form is left, the one whose first ? is
// that of the path, and the query form is sought beside it.
func (s *starred) step(st []int32, c byte, inQuery bool) {
	p, q := &st[s.slot], &st[s.slot+1]
	if !inQuery && c != '?' {
		*p = s.path.step(*p, c)
		return
	}
	if !inQuery {
		k := s.path.segment(*p)
		if k > 0 {
			*q = s.query.starts[k]
		}
		if *p = s.path.step(*p, c); *p <= s.path.starts[k] {
			*p = gone // the ? is no part of what has been found so far
		}
		s.meet(p, q, k)
		return
	}
	if *p != gone {
		k := s.path.segment(*p)
		if s.path.text[*p] != c {
			*p = gone
		} else {
			*p = s.path.step(*p, c)
		}
		if *q != gone {
			*q = s.query.step(*q, c)
		}
		s.meet(p, q, k)
		return
	}
	*q = s.query.step(*q, c)
}

// meet goes on in the query form when literal k has been found in either.
func (s *starred) meet(p, q *int32, k int) {
	switch {
	case *q != gone && s.query.segment(*q) > k:
		*p = gone
	case *p != gone && s.path.segment(*p) > k:
		*q, *p = s.query.starts[k+1], gone
	}
}

func (s *starred) heed(st []int32, set *byteSet) {
	if p := st[s.slot]; p != gone {
		s.path.heed(p, set)
	}
	if s.forms {
		set.add('?')
		if q := st[s.slot+1]; q != gone {
			s.query.heed(q, set)
		}
	}
}

func (s *starred) live(st []int32) bool {
	return st[s.slot] != gone || s.forms && st[s.slot+1] != gone
}

func (s *starred) drop(st []int32) {
	st[s.slot] = gone
	if s.forms {
		st[s.slot+1] = gone
	}
}

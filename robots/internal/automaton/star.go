package automaton

import (
	"bytes"
	"slices"
)

// A starred is a pattern with a * inside as an automaton. The state is the
// length of the pattern matched so far. Each literal between stars is searched
// at its first place, as robots matches it. On a mismatch the automaton falls
// back as Knuth, Morris and Pratt do, so it is deterministic and has one state
// for each byte of the pattern.
type starred struct {
	view    int32
	slot    int32 // slot of its state; if forms, the next slot holds a second one
	anchor  bool
	path    segments
	query   segments // if forms
	forms   bool     // the form in a query differs
	recurs  bool     // each end of a match counts, not only the first
	effects []effect
}

// gone is the state of a pattern that cannot match any more, or whose match
// changes nothing.
const gone = -1

// A table holds patterns one after the other. A state is an index of it, so a
// step touches little memory.
type table struct {
	text []byte
	// miss is the state to try next if the byte at a state is not the one read:
	// gone, or -2-p to consume the byte and wait at p.
	miss []int32
}

// segments is a pattern in a table, with runs of stars reduced to one. The
// state to is a match; text holds a NUL there.
type segments struct {
	*table
	from, to int32
	// starts are the first state and the states after each star.
	starts []int32
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

// fail fills miss for the literal text[s:e], which follows a star.
func (t *table) fail(s, e int32) {
	t.miss[s] = -2 - s // wait at s
	c := s             // the border of the text matched before i
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

// start returns the state before the first byte.
func (g *segments) start() int32 {
	if g.text[g.from] == '*' {
		return g.from + 1
	}
	return g.from
}

// step returns the state after byte c, which must not be NUL.
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

// stays reports whether a byte leaves a pattern waiting at i.
func (t *table) stays(i int32, c byte) bool { return t.text[i] != c && t.miss[i] == -2-i }

// distinguish adds the bytes that the next step distinguishes.
func (t *table) distinguish(i int32, set *byteSet) {
	for ; i >= 0; i = t.miss[i] {
		set.add(t.text[i])
	}
}

// segment returns the index of the literal that contains a position.
func (g *segments) segment(i int32) int {
	n := 0
	for n+1 < len(g.starts) && g.starts[n+1] <= i {
		n++
	}
	return n
}

// done reports whether the pattern matches the path read so far.
func (s *starred) done(st []int32) bool {
	return st[s.slot] == s.path.to || s.forms && st[s.slot+1] == s.query.to
}

// step advances a pattern with two forms by one byte. A literal is searched in
// its path form if it begins before or at the ?, else in its query form. So
// after the ? at most one candidate of the path form is left, the one whose
// first ? is that of the path; the query form is searched beside it.
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
			*p = gone // the candidate does not contain the ?
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

// meet continues in the query form once literal k has been found in either.
func (s *starred) meet(p, q *int32, k int) {
	switch {
	case *q != gone && s.query.segment(*q) > k:
		*p = gone
	case *p != gone && s.path.segment(*p) > k:
		*q, *p = s.query.starts[k+1], gone
	}
}

func (s *starred) distinguish(st []int32, set *byteSet) {
	if p := st[s.slot]; p != gone {
		s.path.distinguish(p, set)
	}
	if s.forms {
		set.add('?')
		if q := st[s.slot+1]; q != gone {
			s.query.distinguish(q, set)
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

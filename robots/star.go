package robots

import "bytes"

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

// segments is a pattern without two stars side by side.
type segments struct {
	text []byte
	// miss is the position to try next where the byte at a position is not
	// the one read: gone, or -2-p to wait at p, which has read it.
	miss []int32
	// starts are the positions behind the stars, after that of the pattern.
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

func newSegments(pattern []byte) segments {
	g := segments{text: pattern}
	n := len(g.text)
	g.miss = make([]int32, n+1)
	first := bytes.IndexByte(g.text, '*')
	for i := range first {
		g.miss[i] = gone
	}
	g.starts = append(g.starts, 0)
	for s := first + 1; s <= n; {
		end := bytes.IndexByte(g.text[s:], '*')
		if end < 0 {
			end = n - s
		}
		g.starts = append(g.starts, int32(s))
		g.fail(s, s+end)
		s += end + 1
	}
	return g
}

// fail fills miss for the literal that lies in text[s:e] behind a star.
func (g *segments) fail(s, e int) {
	wait := int32(-2 - s)
	g.miss[s] = wait
	c := int32(s) // the border of what is matched before i
	for i := s + 1; i < e; i++ {
		if g.text[i] == g.text[c] {
			g.miss[i] = g.miss[c]
		} else {
			g.miss[i] = c
			for c >= 0 && g.text[i] != g.text[c] {
				c = g.miss[c]
			}
			if c < 0 {
				c = int32(s) - 1
			}
		}
		c++
	}
	if e > s {
		g.miss[e] = c
	}
}

// start is the state before the first byte.
func (g *segments) start() int32 {
	if g.text[0] == '*' {
		return 1
	}
	return 0
}

// step is the state after one more byte.
func (g *segments) step(i int32, c byte) int32 {
	for {
		if int(i) < len(g.text) && g.text[i] == c {
			i++
			if int(i) < len(g.text) && g.text[i] == '*' {
				i++
			}
			return i
		}
		if i = g.miss[i]; i < 0 {
			return -2 - i
		}
	}
}

// heed adds the bytes that the next step tells apart.
func (g *segments) heed(i int32, set *byteSet) {
	for ; i >= 0; i = g.miss[i] {
		if int(i) < len(g.text) {
			set.add(g.text[i])
		}
	}
}

func (g *segments) done(i int32) bool { return int(i) == len(g.text) }

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
	return s.path.done(st[s.slot]) || s.forms && s.query.done(st[s.slot+1])
}

// step reads one more byte. A literal of two forms is sought in its path form
// where it begins before or at the ?, and else in its query form. So behind
// the ? at most one place of the path form is left, the one whose first ? is
// that of the path, and the query form is sought beside it.
func (s *starred) step(st []int32, c byte, inQuery bool) {
	p := &st[s.slot]
	if !s.forms {
		*p = s.path.step(*p, c)
		return
	}
	q := &st[s.slot+1]
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
		if s.path.done(*p) || s.path.text[*p] != c {
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

package automaton

import (
	"math"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// An automaton reads the bytes of a path. After each byte it has the verdicts
// of both policies on a path that ends there. Its state is a slice of numbers:
//
//	0                an escape that may have begun: 0 for none, '%', or the
//	                 digit after one; and whether the query has begun
//	view.slot        the plains that may still match: from, to, bytes read; if a
//	                 dialect rewrites the path, also what it has read
//	ladders + i      for ladder i: the key below which nothing matters any
//	                 more, and its label, as key<<2 | label
//	starred.slot     how far the pattern is matched
//
// States with the same future are made equal as far as that is cheap: the
// automaton drops what cannot change an answer any more.
type automaton struct {
	*Language
	ladders  int32               // slot of the first ladder
	size     int                 // numbers in a state
	cost     int                 // numbers and rungs that a step reads
	forms    [Rewritten + 1]bool // the forms in use
	escapes  bool                // a form in use does not compare byte for byte
	plain    bool                // paths have no unwanted escapes; see setPlain
	unwanted [2]byteSet          // then, in the path and in the query
	symbols  *reader             // as in language, or for normalized paths alone
	// decoded holds the escapes that every form in use decodes, parted those
	// that only some do; the first of each is for the path, the second for the
	// query.
	decoded, parted [2]byteSet

	slots   []int32 // slot of each star
	anchors []int32 // the stars with an anchor
	wanted  []bool  // for canonical: the stars that still matter
	flushed []int32 // memory for a copy of a state
	ahead   []int32 // the same
}

const inQueryBit = 1 << 8

// settled is a key above all others.
const settled = math.MaxInt32 >> 2

func newAutomaton(l *Language) *automaton {
	m := &automaton{Language: l, ladders: 1, symbols: l.symbols}
	for i := range l.views {
		l.views[i].slot = m.ladders
		m.ladders += 3
		if m.forms[l.views[i].Form] = true; l.views[i].Form == Rewritten {
			m.ladders += rewriteSlots
		}
	}
	m.escapes = m.forms[UpperHexed] || m.rfc()
	m.learnEscapes()
	n := m.ladders + int32(len(l.ladders))
	for i := range l.stars {
		l.stars[i].slot = n
		m.slots = append(m.slots, n)
		if l.stars[i].anchor {
			m.anchors = append(m.anchors, int32(i))
		}
		n++
		if l.stars[i].forms {
			n++
		}
	}
	m.size = int(n)
	m.cost = m.size
	for i := range l.ladders {
		m.cost += 1 + len(l.ladders[i].stars)
	}
	m.wanted = make([]bool, len(l.stars))
	m.flushed, m.ahead = make([]int32, n), make([]int32, n)
	return m
}

func (m *automaton) rfc() bool { return m.forms[NormalForm] || m.forms[ReservedToo] }

// begin sets st to the state before the first byte.
func (m *automaton) begin(st []int32) {
	st[0] = 0
	for i := range m.Language.ladders {
		d := &m.Language.ladders[i]
		key := int32(-1)
		if d.recent {
			key = 0
		}
		st[m.ladders+int32(i)] = key<<2 | int32(d.initial)
	}
	for i := range m.views {
		v := &m.views[i]
		m.place(st, v, 0, int32(len(v.plains)), 0)
		if v.Form == Rewritten {
			v.setRewrite(st, rewrite.State{})
		}
	}
	for i := range m.stars {
		s := &m.stars[i]
		s.drop(st)
		st[s.slot] = s.path.start()
	}
	m.canonical(st)
}

// place records which plains of a view may still match after n bytes, and
// applies the effects of those that match now.
func (m *automaton) place(st []int32, v *view, from, to, n int32) {
	if from < to && len(v.plains[from].text) == int(n) {
		waits := false
		for _, e := range v.plains[from].effects {
			switch e.when {
			case AtOnce, FromThenOn:
				m.raise(st, e)
			default:
				waits = true
			}
		}
		if to == from+1 && !waits {
			from = to
		}
	}
	if from == to {
		from, to, n = gone, gone, gone
	}
	st[v.slot], st[v.slot+1], st[v.slot+2] = from, to, n
}

func (m *automaton) raise(st []int32, e effect) {
	x := &st[m.ladders+e.ladder]
	if m.Language.ladders[e.ladder].recent {
		*x = raiseRecent(*x, e)
	} else if e.key > *x>>2 {
		*x = e.key<<2 | int32(e.label)
	}
}

// feed gives a view the next byte of its form of the path.
func (m *automaton) feed(st []int32, i int32, c byte, inQuery bool) {
	v := &m.views[i]
	for _, k := range v.recent {
		age(&st[m.ladders+k])
	}
	if from, to, n := st[v.slot], st[v.slot+1], st[v.slot+2]; from != gone {
		if len(v.plains[from].text) == int(n) {
			if c == '/' || c == '?' {
				for _, e := range v.plains[from].effects {
					if e.when == AtBorder {
						m.raise(st, e)
					}
				}
			}
			from++
		}
		less := from
		from += firstAbove(v.plains[from:to], n, int(c)-1)
		for _, k := range v.resets {
			if before := m.Language.ladders[k].before; before[less] != before[from] {
				st[m.ladders+k] = -1<<2 | int32(noLabel)
			}
		}
		to = from + firstAbove(v.plains[from:to], n, int(c))
		m.place(st, v, from, to, n+1)
	}
	for _, k := range v.stars {
		p := st[m.slots[k]]
		s := &m.stars[k]
		switch {
		case s.forms:
			if !s.live(st) {
				continue
			}
			s.step(st, c, inQuery)
		case p == gone || m.text.stays(p, c):
			continue
		default:
			st[m.slots[k]] = m.text.step(p, c)
		}
		if !s.anchor && s.done(st) {
			for _, e := range s.effects {
				m.raise(st, e)
			}
			if !s.recurs {
				s.drop(st)
			}
		}
	}
}

// firstAbove returns the place of the first plain whose byte n is above c. They are sorted, and
// all have it.
func firstAbove(plains []plainPattern, n int32, c int) int32 {
	from, to := 0, len(plains)
	for from < to {
		if mid := int(uint(from+to) >> 1); int(plains[mid].text[n]) > c {
			to = mid
		} else {
			from = mid + 1
		}
	}
	return int32(from)
}

// step advances st by one byte of the path as written in the URL.
func (m *automaton) step(st []int32, c byte) {
	pending, inQuery := byte(st[0]), st[0]&inQueryBit != 0
	for i := range m.views {
		if m.views[i].Form == AsIs {
			m.feed(st, int32(i), c, false)
		}
	}
	if !m.escapes {
		m.canonical(st)
		return
	}
	switch {
	case pending == '%' && rewrite.IsHex(c):
		pending = c
	case pending != 0 && pending != '%' && rewrite.IsHex(c):
		m.feedEscape(st, rewrite.Unhex(pending)<<4|rewrite.Unhex(c), inQuery)
		pending = 0
	default:
		m.flush(st)
		pending = 0
		if c == '%' {
			pending = c
		} else {
			m.feedByte(st, c, inQuery)
		}
	}
	if c == '?' && (m.rfc() || m.plain) {
		inQuery = true
	}
	st[0] = int32(pending)
	if inQuery {
		st[0] |= inQueryBit
	}
	m.canonical(st)
}

// feedByte feeds a byte that is not part of an escape.
func (m *automaton) feedByte(st []int32, c byte, inQuery bool) {
	for i := range m.views {
		k := int32(i)
		switch f := m.views[i].Form; {
		case f == AsIs:
		case f >= NormalForm && (c == '*' || c == '$' || rewrite.IsUnfit(c)):
			m.feedHex(st, k, c, inQuery)
		default:
			m.feed(st, k, c, inQuery)
		}
	}
}

// feedEscape feeds a whole escape of d.
func (m *automaton) feedEscape(st []int32, d byte, inQuery bool) {
	for i := range m.views {
		switch f := m.views[i].Form; {
		case f == AsIs:
		case decodes(f, d, inQuery):
			m.feed(st, int32(i), d, inQuery)
		default:
			m.feedHex(st, int32(i), d, inQuery)
		}
	}
}

func (m *automaton) feedHex(st []int32, i int32, d byte, inQuery bool) {
	m.feed(st, i, '%', inQuery)
	m.feed(st, i, rewrite.HexDigits[d>>4], inQuery)
	m.feed(st, i, rewrite.HexDigits[d&15], inQuery)
}

// decodes reports whether a form replaces the escape of d by the character; see
// rewrite.AppendRFC.
func decodes(f Form, d byte, inQuery bool) bool {
	switch {
	case f < NormalForm:
		return false
	case rewrite.IsUnreserved(d):
		return true
	case !rewrite.IsReserved(d) || d == '*' || d == '$' || d == '#':
		return false
	}
	return inQuery || f == ReservedToo && d != '/' && d != '?'
}

// flush feeds pending bytes that turned out not to be an escape.
func (m *automaton) flush(st []int32) {
	pending, inQuery := byte(st[0]), st[0]&inQueryBit != 0
	if pending == 0 {
		return
	}
	m.feedByte(st, '%', inQuery)
	if pending != '%' {
		m.feedByte(st, pending, inQuery)
	}
	st[0] &^= 0xFF
}

// left reports, by Kind, whether plains on a ladder may still match.
func (m *automaton) left(st []int32, ladder int32) (may [2]bool) {
	d := &m.Language.ladders[ladder]
	v := &m.views[d.view]
	from, to := st[v.slot], st[v.slot+1]
	if from == gone {
		return may
	}
	a, b := d.before[from], d.before[to]
	return [2]bool{a[0] != b[0], a[1] != b[1]}
}

// canonical drops from a state what cannot change an answer any more: stars
// below the key that has matched and, if no plain is left, stars with the label
// that has matched, unless one with another label lies between.
func (m *automaton) canonical(st []int32) {
	clear(m.wanted)
	for i := range m.Language.ladders {
		d := &m.Language.ladders[i]
		x := &st[m.ladders+int32(i)]
		if d.recent {
			m.canonicalRecent(st, int32(i))
			continue
		}
		if d.keyed {
			for _, r := range d.stars {
				m.wanted[r.star] = m.wanted[r.star] || r.key > *x>>2 && !m.dead(st, r.star)
			}
			continue
		}
		key, says := *x>>2, label(*x&3)
		open := m.left(st, int32(i)) != [2]bool{}
		least := int32(settled)
		for _, r := range d.stars {
			if r.key <= key || m.dead(st, r.star) || !open && least == settled && r.label == says {
				continue
			}
			m.wanted[r.star] = true
			least = min(least, r.key)
		}
		if !open {
			if least < settled {
				least--
			}
			*x = least<<2 | int32(says)
		}
	}
	for k, slot := range m.slots {
		if !m.wanted[k] && (st[slot] != gone || m.stars[k].forms) {
			m.stars[k].drop(st)
		}
	}
}

// dead reports whether a star cannot match any more, or need not.
func (m *automaton) dead(st []int32, star int32) bool {
	return st[m.slots[star]] == gone && !(m.stars[star].forms && m.stars[star].live(st))
}

package automaton

import (
	"slices"
	"sort"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte) { s[c>>6] |= 1 << (c & 63) }

func (s *byteSet) has(c byte) bool { return s[c>>6]&(1<<(c&63)) != 0 }

// alphabet returns bytes that together lead from a state to every state that
// follows it: the bytes that the patterns distinguish, and the least of the
// others. Escapes add to it: a % may begin one, and only its last byte shows
// what it stands for.
func (m *automaton) alphabet(st []int32) byteSet {
	if m.plain {
		return m.plainAlphabet(st)
	}
	if !m.escapes {
		set := m.distinguished(st)
		m.addOther(&set, false)
		return set
	}
	pending, inQuery := byte(st[0]), st[0]&inQueryBit != 0
	set := m.distinguished(st)
	if pending == 0 {
		escaped := m.escaped(st, &set, inQuery)
		if m.matters(st, &set, inQuery) {
			set.add('%')
		}
		set.add(m.query(inQuery))
		set.addAll(&escaped)
		m.addOther(&set, false)
		return set
	}
	copy(m.flushed, st)
	m.flush(m.flushed)
	base := set
	set = m.distinguished(m.flushed)
	read := set
	escaped := m.escaped(m.flushed, &read, inQuery)
	set.addAll(&escaped)
	set.add('%')
	set.add(m.query(inQuery))
	m.addOther(&set, true)
	set[0] &^= hexDigits[0]
	set[1] &^= hexDigits[1]
	if pending == '%' {
		m.addFirstDigits(&set, &base, &read, inQuery)
	} else {
		m.addSecondDigits(&set, &base, rewrite.Unhex(pending), inQuery)
	}
	return set
}

var hexDigits = func() (s byteSet) {
	for _, c := range []byte("0123456789ABCDEFabcdef") {
		s.add(c)
	}
	return s
}()

func (s *byteSet) addAll(t *byteSet) {
	for i := range s {
		s[i] |= t[i]
	}
}

// escapedByForm holds the bytes that the form of RFC 9309 escapes in a URL; see feedByte.
// No URL has most of them, but who asks may take a path literally.
var escapedByForm = func() (s byteSet) {
	for c := byte('!'); c <= '~'; c++ {
		if c == '*' || c == '$' || rewrite.IsUnfit(c) {
			s.add(c)
		}
	}
	return s
}()

// addOther adds the least byte that is not in the set and that no form escapes,
// if noHex one that is not a hex digit.
func (m *automaton) addOther(set *byteSet, noHex bool) {
	for c := byte('!'); c <= '~'; c++ {
		if c != '#' && !set.has(c) && !(noHex && rewrite.IsHex(c)) && !(m.rfc() && escapedByForm.has(c)) {
			set.add(c)
			return
		}
	}
}

// query returns the byte that begins the query if that matters, else # which is
// in no URL.
func (m *automaton) query(inQuery bool) byte {
	if m.rfc() && !inQuery {
		return '?'
	}
	return '#'
}

// escaped returns the bytes that a form escapes and that lead to a state that
// other bytes do not reach in as few steps and earlier in byte order. expected
// holds the bytes that patterns distinguish; no escape is pending.
//
// To a form that escapes it, such a byte is a % and two digits. If no pattern
// expects these, it is like !. If one expects only the %, they are all alike.
func (m *automaton) escaped(st []int32, expected *byteSet, inQuery bool) (set byteSet) {
	if !m.rfc() {
		return set
	}
	if expected.has('!') {
		return escapedByForm
	}
	copy(m.ahead, st)
	m.step(m.ahead, '!')
	digits := m.distinguishedBy(m.ahead, NormalForm)
	copy(m.ahead, st)
	for i := range m.views {
		if m.views[i].Form >= NormalForm {
			m.feed(m.ahead, int32(i), '%', inQuery)
		}
	}
	first := m.distinguishedBy(m.ahead, NormalForm)
	if percent := m.distinguishedBy(st, NormalForm); percent.has('%') {
		set.add('"')
	}
	for c := byte('!'); c <= '~'; c++ {
		if high := rewrite.HexDigits[c>>4]; escapedByForm.has(c) && (expected.has(c) || first.has(high) || digits.has(high) ||
			digits.has(rewrite.HexDigits[c&15])) {
			set.add(c)
		}
	}
	return set
}

// matters reports whether a % leads to a state that other bytes do not reach in
// as few steps and earlier in byte order. expected holds the bytes that patterns
// distinguish.
//
// A % that begins no escape is like any byte that no pattern expects, such as
// !. An escape that every form decodes is like its character. One that every
// form keeps is like ! followed by its digits. Two cases remain: a pattern
// expects a %; or some forms decode an escape and some keep it, which is like !
// only if no pattern expects the character or the digits. If a form compares
// byte for byte, the case of the digits distinguishes the forms too.
func (m *automaton) matters(st []int32, expected *byteSet, inQuery bool) bool {
	if expected.has('!') || expected.has('%') {
		return true
	}
	copy(m.flushed, st)
	m.step(m.flushed, '!')
	next := m.distinguished(m.flushed)
	if m.forms[AsIs] && !m.plain && next[0]&hexDigits[0]|next[1]&hexDigits[1] != 0 {
		return true
	}
	parted := m.parted[index(inQuery)]
	for d := byte('!'); d <= '~'; d++ {
		if parted.has(d) && (expected.has(d) || next.has(rewrite.HexDigits[d>>4]) || next.has(rewrite.HexDigits[d&15])) {
			return true
		}
	}
	return false
}

// learnEscapes records, for the path and for the query, which escapes all forms
// in use decode (decoded) and which only some decode (parted).
func (m *automaton) learnEscapes() {
	for d := byte('!'); d <= '~'; d++ {
		for i, inQuery := range [...]bool{false, true} {
			yes, no := false, false
			for f, used := range m.forms {
				if used && decodes(Form(f), d, inQuery) {
					yes = true
				} else if used {
					no = true
				}
			}
			if yes && no {
				m.parted[i].add(d)
			} else if yes {
				m.decoded[i].add(d)
			}
		}
	}
}

// addFirstDigits adds first digits of escapes, one for each meaning that an
// escape can have. base holds the bytes that patterns expect in place of the %,
// read those that they expect after it.
func (m *automaton) addFirstDigits(set, base, read *byteSet, inQuery bool) {
	decoded, parted := m.decoded[index(inQuery)], m.parted[index(inQuery)]
	least, leastKept := false, false
	for _, c := range []byte("0123456789ABCDEFabcdef") {
		expected := read.has(c) || read.has(rewrite.UpperHex(c))
		row := rewrite.Unhex(c) << 4
		parts, kept := false, true // whether forms disagree on some escape; keep every escape
		for d := row; ; d++ {
			if decoded.has(d) {
				kept = false
				if rewrite.IsHex(d) && base.has(d) {
					parts = true // the digit as such could not follow another %
				}
			} else if parted.has(d) {
				parts, kept = true, false
			}
			if d == row|15 {
				break
			}
		}
		switch {
		case expected || parts || !least || kept && !leastKept:
			set.add(c)
		}
		if !expected {
			least = true
			leastKept = leastKept || kept
		}
	}
}

// addSecondDigits does the same for second digits. If no form compares byte for
// byte, their case makes no difference.
func (m *automaton) addSecondDigits(set, base *byteSet, first byte, inQuery bool) {
	for _, c := range []byte("0123456789ABCDEFabcdef") {
		d := first<<4 | rewrite.Unhex(c)
		if c >= 'a' && !m.forms[AsIs] || m.decoded[index(inQuery)].has(d) && !(rewrite.IsHex(d) && base.has(d)) {
			continue
		}
		set.add(c)
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// distinguished returns the bytes that the patterns distinguish, each view in its form;
// all others lead to one state.
func (m *automaton) distinguished(st []int32) byteSet { return m.distinguishedBy(st, AsIs) }

// distinguishedBy does the same for the views of a form or a later one.
func (m *automaton) distinguishedBy(st []int32, least Form) byteSet {
	var set byteSet
	for i := range m.views {
		if m.views[i].Form >= least {
			m.distinguish(st, i, &set)
		}
	}
	return set
}

// distinguish adds the bytes that the patterns of a view distinguish.
func (m *automaton) distinguish(st []int32, i int, set *byteSet) {
	m.continued(st, i, set)
	v := &m.views[i]
	if len(v.resets) == 0 || st[v.slot] == gone {
		return
	}
	// What is greater than one text and less than the next is no longer like any other
	// byte. Of such bytes one that no pattern continues with stands for those that mean the
	// same in all forms.
	var texts, all byteSet
	m.plainBytes(st, v, &texts)
	for k := range m.views {
		m.continued(st, k, &all)
	}
	found := false
	for c := byte('!'); c <= '~'; c++ {
		switch same := rewrite.IsUnreserved(c); {
		case texts.has(c):
			found = false
		case c != '#' && (!same && c != '%' || !found):
			set.add(c)
			found = found || same && !all.has(c)
		}
	}
}

// plainBytes adds the bytes with which the plain patterns of a view continue.
func (m *automaton) plainBytes(st []int32, v *view, set *byteSet) {
	from, to, n := st[v.slot], st[v.slot+1], st[v.slot+2]
	if from == gone {
		return
	}
	if len(v.plains[from].text) == int(n) {
		from++
	}
	for from < to {
		c := v.plains[from].text[n]
		set.add(c)
		from += int32(sort.Search(int(to-from), func(k int) bool { return v.plains[from+int32(k)].text[n] > c }))
	}
}

// continued adds the bytes with which the patterns of a view continue.
func (m *automaton) continued(st []int32, i int, set *byteSet) {
	v := &m.views[i]
	if from, n := st[v.slot], st[v.slot+2]; from != gone {
		if len(v.plains[from].text) == int(n) && slices.ContainsFunc(v.plains[from].effects,
			func(e effect) bool { return e.when == AtBorder }) {
			set.add('/')
			set.add('?')
		}
		m.plainBytes(st, v, set)
	}
	for _, k := range v.stars {
		if s := &m.stars[k]; s.forms {
			s.distinguish(st, set)
		} else if p := st[m.slots[k]]; p != gone {
			m.text.distinguish(p, set)
		}
	}
}

package robots

import (
	"slices"
	"sort"
)

// A byteSet is a set of ASCII bytes.
type byteSet [2]uint64

func (s *byteSet) add(c byte) {
	if c < 128 {
		s[c>>6] |= 1 << (c & 63)
	}
}

func (s *byteSet) has(c byte) bool { return c < 128 && s[c>>6]&(1<<(c&63)) != 0 }

// alphabet is the bytes that lead from a state to all states that follow it:
// those that the patterns tell apart, and the least of the others. Escapes make
// more of them: a % may begin one, and what an escape comes to, only its last
// byte shows.
func (m *automaton) alphabet(st []int32) byteSet {
	if !m.escapes {
		set := m.heed(st)
		set.addOther(false)
		return set
	}
	pending, inQuery := byte(st[0]), st[0]&inQueryBit != 0
	set := m.heed(st)
	if pending == 0 {
		percent, stars := m.matter(st, &set, inQuery)
		set.add(m.query(inQuery))
		if percent {
			set.add('%')
		}
		if stars {
			set.add('*')
			set.add('$')
		}
		set.addOther(false)
		return set
	}
	copy(m.flushed, st)
	m.flush(m.flushed)
	base := set
	set = m.heed(m.flushed)
	read := set
	m.addSpecial(&set, inQuery)
	set.addOther(true)
	set[0] &^= hexDigits[0]
	set[1] &^= hexDigits[1]
	if pending == '%' {
		m.addFirstDigits(&set, &base, &read, inQuery)
	} else {
		m.addSecondDigits(&set, &base, unhex(pending), inQuery)
	}
	return set
}

var hexDigits = func() (s byteSet) {
	for _, c := range []byte("0123456789ABCDEFabcdef") {
		s.add(c)
	}
	return s
}()

// addOther adds the least byte of a URL that is not in the set; it is no hex
// digit if noHex.
func (s *byteSet) addOther(noHex bool) {
	for c := byte('!'); c <= '~'; c++ {
		if c != '#' && !s.has(c) && !(noHex && isHex(c)) {
			s.add(c)
			return
		}
	}
}

// query is a byte that begins the query, where that matters, else one that is
// in no URL.
func (m *automaton) query(inQuery bool) byte {
	if m.rfc() && !inQuery {
		return '?'
	}
	return '#'
}

// addSpecial adds the bytes that are more than themselves.
func (m *automaton) addSpecial(set *byteSet, inQuery bool) {
	set.add('%')
	set.add(m.query(inQuery))
	if m.rfc() {
		set.add('*')
		set.add('$')
	}
}

// matter says whether anything is reached over a %, and over a * or $ that a
// form escapes, that is not reached as soon and earlier in byte order without.
//
// A % that begins no escape is then like any byte that nobody heeds, such as !.
// An escape that each form decodes is like its character. One that each form
// keeps is like ! and its digits. So what is left is where a pattern heeds a %;
// and escapes that some forms decode and some keep, which are like ! only where
// nobody heeds character or digits. Where a form compares byte for byte, the
// digits' case parts the forms too.
func (m *automaton) matter(st []int32, heeded *byteSet, inQuery bool) (percent, stars bool) {
	other := byte('!')
	if heeded.has(other) {
		other = '"'
	}
	if heeded.has(other) || heeded.has('%') {
		return true, m.rfc()
	}
	copy(m.flushed, st)
	m.step(m.flushed, other)
	next := m.heed(m.flushed)
	if m.forms[asIs] {
		percent = next[0]&hexDigits[0]|next[1]&hexDigits[1] != 0
	}
	parted := m.parted[index(inQuery)]
	for d := byte('!'); d <= '~' && !percent; d++ {
		percent = parted.has(d) && (heeded.has(d) || next.has(upperHex[d>>4]) || next.has(upperHex[d&15]))
	}
	stars = m.rfc() && (heeded.has('*') || heeded.has('$') || next.has('2') || next.has('4') || next.has('A'))
	return percent, stars
}

// learnEscapes notes which escapes the forms in use decode, in the path and in
// the query: decoded by all of them, parted by some.
func (m *automaton) learnEscapes() {
	for d := byte('!'); d <= '~'; d++ {
		for i, inQuery := range [...]bool{false, true} {
			yes, no := false, false
			for f, used := range m.forms {
				if used && decodes(form(f), d, inQuery) {
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

// addFirstDigits adds first digits of escapes so that there is one for each
// thing that an escape may come to. base is what is heeded where the % stands,
// read what is heeded behind it.
func (m *automaton) addFirstDigits(set, base, read *byteSet, inQuery bool) {
	decoded, parted := m.decoded[index(inQuery)], m.parted[index(inQuery)]
	least, leastKept := false, false
	for _, c := range []byte("0123456789ABCDEFabcdef") {
		heeded := read.has(c) || read.has(upper(c))
		row := unhex(c) << 4
		parts, kept := false, true // some escape; every escape
		for d := row; ; d++ {
			if decoded.has(d) {
				kept = false
				if isHex(d) && base.has(d) {
					parts = true // the digit itself could not follow another %
				}
			} else if parted.has(d) {
				parts, kept = true, false
			}
			if d == row|15 {
				break
			}
		}
		switch {
		case heeded || parts || !least || kept && !leastKept:
			set.add(c)
		}
		if !heeded {
			least = true
			leastKept = leastKept || kept
		}
	}
}

// addSecondDigits adds second digits likewise. Where no form compares byte for
// byte, their case makes no difference.
func (m *automaton) addSecondDigits(set, base *byteSet, first byte, inQuery bool) {
	for _, c := range []byte("0123456789ABCDEFabcdef") {
		d := first<<4 | unhex(c)
		if c >= 'a' && !m.forms[asIs] || m.decoded[index(inQuery)].has(d) && !(isHex(d) && base.has(d)) {
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

// heed is the set of bytes that the patterns tell apart, each view reading its
// form; all others lead to one state.
func (m *automaton) heed(st []int32) byteSet {
	var set byteSet
	for i := range m.views {
		v := &m.views[i]
		from, to, n := st[v.slot], st[v.slot+1], st[v.slot+2]
		if from == gone {
			continue
		}
		if len(v.plains[from].text) == int(n) {
			if slices.ContainsFunc(v.plains[from].effects, func(e effect) bool { return e.when == atBorder }) {
				set.add('/')
				set.add('?')
			}
			from++
		}
		for from < to {
			c := v.plains[from].text[n]
			set.add(c)
			from += int32(sort.Search(int(to-from), func(k int) bool { return v.plains[from+int32(k)].text[n] > c }))
		}
	}
	for k, slot := range m.slots {
		if p := st[slot]; m.stars[k].forms {
			m.stars[k].heed(st, &set)
		} else if p != gone {
			m.text.heed(p, &set)
		}
	}
	return set
}

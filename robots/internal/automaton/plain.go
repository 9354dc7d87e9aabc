package automaton

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/internal/escape"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// needless holds the characters whose escapes are needless, in the path and in the query.
var needless = func() (sets [2]byteSet) {
	for c := byte('!'); c <= '~'; c++ {
		if escape.IsUnreserved(c) || escape.IsReserved(c) && c != '#' && c != '[' && c != ']' {
			sets[1].add(c)
			if c != '/' && c != '?' {
				sets[0].add(c)
			}
		}
	}
	return sets
}()

// IsPlain reports whether a path has no needless escape, and no % outside an escape.
func IsPlain(path []byte) bool {
	query := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '?':
			query = true
		case c == '%':
			if i+2 >= len(path) || !isUpperHex(path[i+1]) || !isUpperHex(path[i+2]) || needless[index(query)].has(escape.Unhex(path[i+1])<<4|escape.Unhex(path[i+2])) {
				return false
			}
			i += 2
		}
	}
	return true
}

// IsNormal reports whether a path is that of a normalized URL (RFC 3986, 6.2.2): it is
// plain, and has no dot segment and no character that no URL can hold.
func IsNormal(path []byte) bool {
	query := false
	for b := path; len(b) > 0; {
		t, rest := rewrite.Cut(b)
		if !isNormalSymbol(&t, query) {
			return false
		}
		query = query || t.Is('?')
		b = rest
	}
	return bytes.Equal(rewrite.WithoutDots(path), path)
}

func isNormalSymbol(t *rewrite.Symbol, query bool) bool {
	c, escaped := t.Char()
	if !escaped {
		return c != '%' && c != '[' && c != ']' && !escape.IsUnfit(c)
	}
	return !needless[index(query)].has(c) && t.HasUpperDigits()
}

func isUpperHex(c byte) bool { return escape.IsHex(c) && c < 'a' }

// setPlain lets the automaton read only paths without needless escapes.
func (m *automaton) setPlain() {
	if m.symbols != nil {
		m.symbols = newReader(m.Language, true)
		return
	}
	m.plain, m.escapes = true, true
	for i := range m.parted {
		for k := range m.parted[i] {
			m.parted[i][k] &^= needless[i][k]
		}
	}
}

// plainAlphabet is alphabet for paths without needless escapes. Such an escape is
// written in one way, so its digits are all tried.
func (m *automaton) plainAlphabet(st []int32) byteSet {
	pending, inQuery := byte(st[0]), st[0]&inQueryBit != 0
	if pending != 0 {
		var set byteSet
		for _, c := range []byte(escape.Digits) {
			if pending == '%' || !needless[index(inQuery)].has(escape.Unhex(pending)<<4|escape.Unhex(c)) {
				set.add(c)
			}
		}
		return set
	}
	set := m.distinguished(st)
	percent := m.matters(st, &set, inQuery)
	escaped := m.escaped(st, &set, inQuery)
	set.add(m.query(inQuery))
	set.addAll(&escaped)
	m.addOther(&set, false)
	if !percent {
		set['%'>>6] &^= 1 << ('%' & 63)
	}
	return set
}

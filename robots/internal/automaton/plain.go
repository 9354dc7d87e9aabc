package automaton

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// Paths says which paths a search reads.
type Paths uint8

const (
	AllPaths   Paths = iota
	PlainPaths       // without needless escapes; see IsPlain and IsNormal
	// SlashedPaths are plain paths without an escaped slash, which most servers refuse or
	// take for a slash.
	SlashedPaths
)

// needless holds the characters whose escapes are needless, in the path and in the query.
var needless = func() (sets [2]byteSet) {
	for c := byte('!'); c <= '~'; c++ {
		if rewrite.IsUnreserved(c) || rewrite.IsReserved(c) && c != '#' && c != '[' && c != ']' {
			sets[1].add(c)
			if c != '/' && c != '?' {
				sets[0].add(c)
			}
		}
	}
	return sets
}()

// unwanted holds the characters whose escapes such paths do not have.
func (p Paths) unwanted() (sets [2]byteSet) {
	if p != AllPaths {
		sets = needless
	}
	if p == SlashedPaths {
		sets[0].add('/')
	}
	return sets
}

// IsPlain reports whether a path has no needless escape, and no % outside an escape.
func IsPlain(path []byte) bool {
	query := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '?':
			query = true
		case c == '%':
			if i+2 >= len(path) || !isUpperHex(path[i+1]) || !isUpperHex(path[i+2]) ||
				needless[index(query)].has(rewrite.Unhex(path[i+1])<<4|rewrite.Unhex(path[i+2])) {
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
		if !isNormalSymbol(&t, &needless[index(query)]) {
			return false
		}
		query = query || t.Is('?')
		b = rest
	}
	return bytes.Equal(rewrite.WithoutDots(path), path)
}

func isNormalSymbol(t *rewrite.Symbol, unwanted *byteSet) bool {
	c, escaped := t.Char()
	if !escaped {
		return c != '%' && c != '[' && c != ']' && !rewrite.IsUnfit(c)
	}
	return !unwanted.has(c) && t.HasUpperDigits()
}

func isUpperHex(c byte) bool { return rewrite.IsHex(c) && c < 'a' }

// setPlain lets the automaton read only paths without unwanted escapes.
func (m *automaton) setPlain(only Paths) {
	if m.symbols != nil {
		m.symbols = newReader(m.Language, only)
		return
	}
	m.plain, m.escapes, m.unwanted = true, true, only.unwanted()
	for i := range m.parted {
		for k := range m.parted[i] {
			m.parted[i][k] &^= m.unwanted[i][k]
		}
	}
}

// plainAlphabet is alphabet for paths without needless escapes. Such an escape is
// written in one way, so its digits are all tried.
func (m *automaton) plainAlphabet(st []int32) byteSet {
	pending, inQuery := byte(st[0]), st[0]&inQueryBit != 0
	if pending != 0 {
		var set byteSet
		for _, c := range []byte(rewrite.HexDigits) {
			if pending == '%' || !m.unwanted[index(inQuery)].has(rewrite.Unhex(pending)<<4|rewrite.Unhex(c)) {
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
	if set['%'>>6] &^= 1 << ('%' & 63); percent {
		set.add('%')
	}
	return set
}

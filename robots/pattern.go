package robots

import (
	"bytes"
	"encoding/binary"
)

// addRule adds a rule of one path.
func (s *parser) addRule(kind Kind, pattern []byte) {
	n := len(s.Rules)
	if n < cap(s.Rules) {
		s.Rules = s.Rules[:n+1]
	} else {
		s.Rules = append(s.Rules, Rule{})
	}
	r := &s.Rules[n]
	// Assigning field by field is twice as fast as a whole Rule.
	r.Pattern, r.Normalized = pattern, pattern
	r.Line, r.Group, r.Length, r.Kind = s.line, s.group, 0, kind
	r.Wildcard, r.Anchor, r.Effective = false, false, false
	if len(pattern) == 0 {
		return
	}
	foreign, star := scan(pattern)
	if foreign || s.p.AddSlash || s.p.Escapes == EscapesRFC {
		r.Normalized = s.normalize(pattern, foreign)
		if s.p.Escapes == EscapesRFC && s.p.Reserved == ReservedOpen && s.reading == nil && !s.choices.letter {
			s.choices.letter = twoWays(pattern)
		}
	}
	norm := r.Normalized
	length := s.length(norm)
	r.Effective = norm[0] == '/' && s.group >= 0
	if s.p.Wildcards {
		r.Wildcard = star
		r.Anchor = norm[len(norm)-1] == '$'
		r.Effective = (norm[0] == '/' || norm[0] == '*') && s.group >= 0
		if star && !s.p.CountTrailingStar {
			core, anchor := stripStars(norm, r.Anchor)
			length = s.length(core)
			if anchor {
				length++
			}
			// A pattern of stars alone matches at least the slash.
			length = max(length, 1)
		}
	}
	if r.Effective {
		r.Length = int32(length)
	}
}

// length returns the length of a normalized pattern for precedence.
func (s *parser) length(norm []byte) int {
	if s.p.Escapes == EscapesRFC {
		return octets(norm, s.letter)
	}
	return len(norm)
}

// stripStars removes what changes nothing at the end of a pattern: stars, and
// an anchor after a star. It returns the pattern without $ and reports whether
// it is still anchored.
func stripStars(pattern []byte, anchor bool) ([]byte, bool) {
	if anchor {
		pattern = pattern[:len(pattern)-1]
	}
	n := len(pattern)
	for n > 0 && pattern[n-1] == '*' {
		n--
	}
	if n < len(pattern) {
		return pattern[:n], false
	}
	return pattern, anchor
}

// normalize returns the form of a pattern that is compared: usually the pattern
// itself, else scratch memory.
func (s *parser) normalize(pattern []byte, foreign bool) []byte {
	slash := s.p.AddSlash && pattern[0] != '/'
	dollar := -1 // index of a $ that is not an anchor
	if s.p.Escapes == EscapesRFC {
		dollar = bytes.IndexByte(pattern[:len(pattern)-1], '$')
	}
	if !slash && dollar < 0 && (!foreign || s.p.Escapes == EscapesLiteral) {
		return pattern
	}
	from := len(s.scratch)
	if slash {
		s.scratch = append(s.scratch, '/')
	}
	switch s.p.Escapes {
	case EscapesLiteral:
		s.scratch = append(s.scratch, pattern...)
	case EscapesPattern, EscapesBoth:
		s.scratch = appendEscaped(s.scratch, pattern)
	case EscapesRFC:
		s.scratch = appendRFC(s.scratch, pattern, patternSide, false, s.letter)
		s.noteForm(pattern, from, slash)
	}
	return s.scratch[from:len(s.scratch):len(s.scratch)]
}

// noteForm records the query form of a pattern if it differs from the path
// form, which is scratch[from:].
func (s *parser) noteForm(pattern []byte, from int, slash bool) {
	to := len(s.forms)
	if slash {
		s.forms = append(s.forms, '/')
	}
	s.forms = appendRFC(s.forms, pattern, patternSide, true, s.letter)
	form := s.forms[to:len(s.forms):len(s.forms)]
	if bytes.Equal(form, s.scratch[from:]) {
		s.forms = s.forms[:to]
		return
	}
	s.inQuery = append(s.inQuery, queryForm{int32(len(s.Rules) - 1), form})
}

// scan looks at a pattern eight bytes at a time. foreign reports a % or a byte
// from 0x80, which normalizing may change; star reports a *.
func scan(b []byte) (foreign, star bool) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	var f, s uint64
	i := 0
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		x, y := w^ones*'%', w^ones*'*'
		f |= w | (x-ones)&^x
		s |= (y - ones) &^ y
	}
	foreign, star = f&highs != 0, s&highs != 0
	for ; i < len(b); i++ {
		foreign = foreign || b[i] >= 0x80 || b[i] == '%'
		star = star || b[i] == '*'
	}
	return foreign, star
}

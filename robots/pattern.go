package robots

import (
	"bytes"
	"encoding/binary"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// addRule adds a rule of one path.
func (s *parser) addRule(kind Kind, pattern []byte) {
	if s.dialect {
		return
	}
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
	s.compile(r, int32(n))
}

// compile sets what comparing rule number n requires. Its pattern is not empty.
func (s *parser) compile(r *Rule, n int32) {
	foreign, star, reserved := false, false, false
	if s.p.Escapes == EscapesRFC {
		foreign, star, reserved = scanRFC(r.Pattern)
		if (foreign || reserved) && s.p.Reserved == ReservedOpen && s.group >= 0 {
			g := &s.Groups[s.group]
			g.twoPaths = g.twoPaths || foreign && rewrite.TwoPaths(r.Pattern)
			g.twoLengths = g.twoLengths || rewrite.TwoLengths(r.Pattern)
		}
	} else {
		foreign, star = scan(r.Pattern)
	}
	if foreign || reserved || s.p.AddSlash {
		r.Normalized = s.normalize(r.Pattern, n, foreign)
	}
	norm := r.Normalized
	length := len(norm)
	if foreign || reserved {
		length = s.length(norm)
	}
	r.Effective = norm[0] == '/' && s.group >= 0
	if s.p.Wildcards {
		r.Wildcard = star
		r.Anchor = norm[len(norm)-1] == '$'
		r.Effective = (norm[0] == '/' || norm[0] == '*') && s.group >= 0
		if star && !s.p.CountTrailingStar {
			core, anchor := stripStars(norm, r.Anchor)
			length = len(core)
			if foreign || reserved {
				length = s.length(core)
			}
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

// setLetter makes f the reading base with reserved characters in a path equal to
// their escapes. It has what rulesets require: f must not be parsed.
func (f *File) setLetter(base *File, p *Profile) {
	f.base, f.letter = base, true
	f.Groups, f.Rules = base.Groups, append(f.Rules[:0], base.Rules...)
	f.scratch, f.forms, f.inQuery = f.scratch[:0], f.forms[:0], f.inQuery[:0]
	s, forms := parser{File: f, p: p}, base.inQuery
	for i := range f.Rules {
		r, n := &f.Rules[i], int32(i)
		s.group = r.Group
		two := r.Group >= 0 && f.Groups[r.Group].twoWays() && len(r.Pattern) > 0
		if two {
			r.Normalized = r.Pattern
			s.compile(r, n)
		}
		if len(forms) > 0 && forms[0].rule == n {
			if !two {
				f.inQuery = append(f.inQuery, forms[0])
			}
			forms = forms[1:]
		}
	}
}

// twoWays reports whether a rule of the group is another one if reserved
// characters in a path equal their escapes.
func (g *Group) twoWays() bool { return g.twoPaths || g.twoLengths }

// length returns the length of a normalized pattern for precedence.
func (s *parser) length(norm []byte) int {
	if s.p.Escapes == EscapesRFC {
		return rewrite.Octets(norm, s.letter)
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
func (s *parser) normalize(pattern []byte, rule int32, foreign bool) []byte {
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
		s.scratch = rewrite.AppendUpperHex(s.scratch, pattern)
	case EscapesRFC:
		s.scratch = rewrite.AppendRFC(s.scratch, pattern, rewrite.OfPattern, false, s.letter)
		s.noteForm(pattern, rule, from, slash)
	}
	return s.scratch[from:len(s.scratch):len(s.scratch)]
}

// noteForm records the query form of a pattern if it differs from the path
// form, which is scratch[from:].
func (s *parser) noteForm(pattern []byte, rule int32, from int, slash bool) {
	to := len(s.forms)
	if slash {
		s.forms = append(s.forms, '/')
	}
	s.forms = rewrite.AppendRFC(s.forms, pattern, rewrite.OfPattern, true, s.letter)
	form := s.forms[to:len(s.forms):len(s.forms)]
	if bytes.Equal(form, s.scratch[from:]) {
		s.forms = s.forms[:to]
		return
	}
	s.inQuery = append(s.inQuery, queryForm{rule, form})
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// scan looks at a pattern eight bytes at a time. foreign reports a % or a byte
// from 0x80, which normalizing may change; star reports a *.
func scan(b []byte) (foreign, star bool) {
	var f, s uint64
	for {
		w := first8(b)
		x, y := w^ones*'%', w^ones*'*'
		f |= w | (x-ones)&^x
		s |= (y - ones) &^ y
		if len(b) <= 8 {
			return f&highs != 0, s&highs != 0
		}
		b = b[8:]
	}
}

// scanRFC is scan for EscapesRFC, where bytes that no URL can hold are foreign
// too. If reserved is false, then no reserved character is in the pattern but /
// and * and a $ at the end: such a pattern without foreign bytes is its own
// normal form, and as long as it looks.
func scanRFC(pattern []byte) (foreign, star, reserved bool) {
	b := pattern
	if b[len(b)-1] == '$' {
		b = b[:len(b)-1]
	}
	var f, s, r uint64
	for {
		w := first8(b)
		if len(b) < 8 {
			w |= ones * '/' << (8 * len(b)) // pad with a byte that is neither
		}
		f |= w
		high := w & highs
		w &^= highs
		// Each sum has the high bit of a byte that is at least the character.
		noStar := w ^ ones*'*' + ones*0x7F
		s |= ^(noStar | high)
		r |= ^(w+ones*(0x80-'-'))&noStar |
			(w+ones*(0x80-':'))&^(w+ones*(0x80-'A')) |
			(w+ones*(0x80-'['))&^(w+ones*(0x80-'_')) |
			(w+ones*(0x80-'`'))&^(w+ones*(0x80-'a')) |
			(w+ones*(0x80-'{'))&^(w+ones*(0x80-'~')) | (w + ones)
		if len(b) <= 8 {
			break
		}
		b = b[8:]
	}
	reserved = r&highs != 0
	foreign = f&highs != 0
	for i := 0; reserved && !foreign && i < len(pattern); i++ {
		foreign = pattern[i] == '%' || rewrite.IsUnfit(pattern[i])
	}
	return foreign, s&highs != 0, reserved
}

// first8 returns the first eight bytes, padded with zeros.
func first8(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return firstBytes(b)
}

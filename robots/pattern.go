package robots

import (
	"bytes"

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
	core, anchor := r.Pattern, r.Pattern[len(r.Pattern)-1] == '$'
	if anchor {
		core = core[:len(core)-1]
	}
	has := scan(core)
	changes, octets := has&traitForeign != 0, false
	if s.rfc {
		if has&(traitForeign|traitReserved) != 0 && s.p.Reserved == ReservedOpen && s.group >= 0 {
			g := &s.Groups[s.group]
			g.twoPaths = g.twoPaths || changes && rewrite.TwoPaths(r.Pattern)
			g.twoLengths = g.twoLengths || has&traitReserved != 0 && rewrite.TwoLengths(r.Pattern)
		}
		octets = has&traitQuery != 0 || s.letter && has&(traitForeign|traitReserved) != 0
		changes = has&(traitForeign|traitUnfit|traitDollar) != 0
	}
	if changes || s.p.AddSlash {
		r.Normalized = s.normalize(r.Pattern, n, changes)
	}
	norm := r.Normalized
	length := s.length(norm, octets)
	r.Effective = norm[0] == '/' && s.group >= 0
	if s.p.Wildcards {
		r.Wildcard, r.Anchor = has&traitStar != 0, anchor
		r.Effective = (norm[0] == '/' || norm[0] == '*') && s.group >= 0
		if r.Wildcard && !s.p.CountTrailingStar {
			core, anchor := stripStars(norm, anchor)
			length = s.length(core, octets)
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
	s, forms := f.parser(p), base.inQuery
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

// length returns the length of a normalized pattern for precedence: in octets, some
// characters count as their escapes.
func (s *parser) length(norm []byte, octets bool) int {
	if octets {
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
// itself, else scratch memory. It may differ from it by more than a slash only if changes.
func (s *parser) normalize(pattern []byte, rule int32, changes bool) []byte {
	slash := s.p.AddSlash && pattern[0] != '/'
	if !slash && (!changes || s.p.Escapes == EscapesLiteral) {
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

// traits are those of the bytes of a pattern that decide what comparing it requires.
type traits uint8

const (
	traitForeign  traits = 1 << iota // a % or a byte from 0x80
	traitUnfit                       // another byte that no URL can hold
	traitStar                        // *
	traitDollar                      // $ that is not an anchor
	traitQuery                       // ?
	traitReserved                    // another reserved character than these and /
)

var traitsOf = func() (t [256]traits) {
	for i := range t {
		switch c := byte(i); {
		case c == '%', c >= 0x80:
			t[c] = traitForeign
		case c == '*':
			t[c] = traitStar
		case c == '$':
			t[c] = traitDollar
		case c == '?':
			t[c] = traitQuery
		case rewrite.IsUnfit(c):
			t[c] = traitUnfit
		case rewrite.IsReserved(c) && c != '/':
			t[c] = traitReserved
		}
	}
	return t
}()

// scan returns the traits of a pattern without its anchor. One that has none is its own
// normal form, and as long as it looks, under every profile that adds no slash.
func scan(core []byte) (has traits) {
	for _, c := range core {
		has |= traitsOf[c]
	}
	return has
}

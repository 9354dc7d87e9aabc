package robots

import (
	"bytes"
	"encoding/binary"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// content parses a line without its end and comment. It recognises the fields
// of nearly all lines by their first eight bytes.
func (s *parser) content(b []byte) {
	for len(b) > 0 && s.white[b[0]] {
		b = b[1:]
	}
	if len(b) > 8 {
		low := binary.LittleEndian.Uint64(b) | 0x2020202020202020
		switch low {
		case word("disallow"):
			if b[8] == ':' {
				s.rule(Disallow, b[:8], s.trim(b[9:]))
				return
			}
		case word("user-age"):
			if len(b) > 10 && b[8]|0x20 == 'n' && b[9]|0x20 == 't' && b[10] == ':' && b[4] == '-' {
				s.agent(s.trim(b[11:]))
				return
			}
		}
		if low<<24 == word("\x00\x00\x00allow") && b[5] == ':' && s.p.AllowField {
			s.rule(Allow, b[:5], s.trim(b[6:]))
			return
		}
	}
	if b = s.trim(b); len(b) > 0 {
		s.record(b)
	}
}

// word returns eight bytes as the number that they load as.
func word(w string) uint64 { return binary.LittleEndian.Uint64([]byte(w)) }

// record parses any line that is not empty.
func (s *parser) record(b []byte) {
	colon := bytes.IndexByte(b, ':')
	if colon < 0 && s.reject&oddNear != 0 && !beginsField[b[0]] {
		s.invalid(NoField, nil, b) // as most lines of a web page are
		return
	}
	whole, value, odd, ok := split(b, colon)
	key := s.trim(whole)
	value = s.trim(value)
	if !ok || len(key) == 0 {
		s.invalid(NoField, nil, b)
		return
	}
	fld, o := recognise(key)
	if fld == fieldNone && s.reject&oddNear == 0 {
		if fld = near(key); fld != fieldNone {
			o = oddNear
		}
	}
	if fld == fieldAllow && !s.p.AllowField {
		fld, o = fieldNone, 0
	}
	odd |= o
	if len(key) < len(whole) && (fld != fieldNone || recogniseExtension(key) != extNone) {
		s.remark(SpacedColon, key, value)
	}
	if fld == fieldNone {
		s.foreign(key, value, odd, b)
		return
	}
	head := s.head
	if odd != 0 {
		for _, r := range [...]struct {
			odd   oddity
			class RemarkClass
		}{{oddTypo | oddNear, Typo}, {oddPrefix, KeyPrefix}, {oddNoColon, NoColon}} {
			if odd&r.odd != 0 {
				s.remark(r.class, key, value)
			}
		}
		if s.rejects(fld, key, odd) {
			s.InvalidLines++
			s.aside(s.recordOf(key, odd))
			return
		}
	}
	switch fld {
	case fieldAgent:
		s.agent(value)
	case fieldAllow:
		s.rule(Allow, key, value)
	case fieldDisallow:
		s.rule(Disallow, key, value)
	case fieldSitemap:
		x := Sitemap{Line: s.line, URL: value, IsAbsolute: ascii.IsAbsolute(value), IsOdd: isOddSitemap(value)}
		if s.Sitemaps = append(s.Sitemaps, x); x.IsOdd {
			s.remark(SitemapValue, key, value)
		}
		s.aside(validRecord)
	}
	if odd&s.leave != 0 {
		// Another reading drops the line and has an unknown record instead.
		head.open()
		s.head = max(head, s.head)
	}
}

// foreign handles a line whose field is not one of the four.
func (s *parser) foreign(key, value []byte, odd oddity, line []byte) {
	ext := recogniseExtension(key)
	switch {
	case odd&oddNoColon != 0 && (ext == extNone || s.rejects(fieldNone, nil, odd)):
		if ext == extNone {
			s.invalid(NoField, nil, line)
		} else {
			s.invalid(NoColon, key, value)
		}
		return
	case ext == extNone:
		s.InvalidLines++
		s.remark(UnknownField, key, value)
	case !s.signal(ext, key, value):
		s.remark(Extension, key, value)
	}
	if odd != 0 {
		s.remark(NoColon, key, value)
	}
	if s.p.UsageEnds && ext == extContentUsage {
		s.open, s.other, s.head = false, true, headless
		return
	}
	s.aside(s.recordOf(key, 0))
}

// invalid handles a line that is not a record.
func (s *parser) invalid(c RemarkClass, key, value []byte) {
	s.InvalidLines++
	s.remark(c, key, value)
	s.aside(noRecord)
}

// record classifies a line that is neither agent nor rule.
type record uint8

const (
	noRecord      record = iota // not a field, a colon and a value
	unknownRecord               // the document does not define its field
	validRecord                 // a sitemap
)

// recordOf returns the class of a line whose key is not a known field, as far
// as the profile distinguishes it.
func (s *parser) recordOf(key []byte, odd oddity) record {
	if s.p.GroupEnd != EndAtRecord || odd&oddNoColon != 0 || !isToken(key) {
		return noRecord
	}
	return unknownRecord
}

// aside records a line that is neither agent nor rule. It ends the list of
// agents if such a record does.
func (s *parser) aside(r record) {
	s.other = true
	if s.p.GroupEnd != EndAtRecord || r == noRecord {
		return
	}
	if r == validRecord {
		s.open, s.head = false, headless
		return
	}
	if s.p.UnknownEnds == Accept || s.reading != nil && s.reading.unknownEnds {
		s.open = false
	}
	s.head.open()
}

// split splits a line at its first colon or, without one, at the white space
// between its only two words.
func split(b []byte, colon int) (key, value []byte, odd oddity, ok bool) {
	if colon >= 0 {
		return b[:colon], b[colon+1:], 0, true
	}
	i := ascii.IndexBlank(b)
	if i < 0 {
		return nil, nil, 0, false
	}
	value = ascii.TrimBlank(b[i:])
	if ascii.IndexBlank(value) >= 0 {
		return nil, nil, 0, false
	}
	return b[:i], value, oddNoColon, true
}

// agent handles the value of a user-agent line.
func (s *parser) agent(value []byte) {
	if s.group < 0 || !s.open || s.p.GroupEnd == EndAtAgent {
		s.closeGroup()
		s.group = int32(len(s.Groups))
		n, r := int32(len(s.Agents)), int32(len(s.Rules))
		s.Groups = append(s.Groups, Group{Line: s.line, Agents: Span{n, n}, Rules: Span{r, r}})
		s.open = true
	} else if s.other {
		s.Groups[s.group].Joined = true
	}
	s.other = false
	if s.head == headOpen {
		s.choices.unknown = true
	}
	s.head = headAgent
	if !s.p.Lists {
		s.addAgent(value)
		return
	}
	for len(value) > 0 {
		var word []byte
		word, value = ascii.CutWord(value)
		s.addAgent(word)
	}
}

func (s *parser) addAgent(value []byte) {
	if s.dialect {
		return
	}
	a := AgentLine{Line: s.line, Group: s.group, Value: value}
	switch {
	case s.p.AgentMatch == MatchSubstring:
		a.Token, a.Wide = value, value
	case isStar(value):
		a.Token, a.Wide = value[:1], value[:1]
	default:
		a.Token, a.Wide = ascii.Tokens(value)
	}
	s.Agents = append(s.Agents, a)
}

// closeGroup ends the current group, if there is one.
func (s *parser) closeGroup() {
	if s.group >= 0 {
		g := &s.Groups[s.group]
		g.Agents.To, g.Rules.To = int32(len(s.Agents)), int32(len(s.Rules))
	}
}

// rule handles an allow or disallow line.
func (s *parser) rule(kind Kind, key, value []byte) {
	s.open, s.other, s.head = false, true, headless
	if s.group < 0 {
		s.remark(OrphanRule, key, value)
	}
	if !s.p.Lists || len(value) == 0 {
		s.addRule(kind, value)
		return
	}
	for len(value) > 0 {
		var word []byte
		word, value = ascii.CutWord(value)
		s.addRule(kind, word)
	}
}

package robots

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// googleLine is how many bytes of a line Google's parser keeps: eight times
// what browsers allowed a URL, less the byte that ends a C string.
const googleLine = 2083*8 - 1

// Parse reads a body as the profile has it: of a body longer than the
// profile's limit, the part within. Nothing in a body is an error.
func (f *File) Parse(body []byte, p *Profile) {
	f.reset(body, p)
	body = f.body
	s := parser{
		File:   f,
		p:      p,
		group:  -1,
		google: p.Lines == LinesGoogle,
		accept: accepted(p),
		white:  &blank,
	}
	if s.google {
		s.white = &space
	}
	start := bomLength(body)
	f.HasBOM = start == 3
	if !s.google && !f.HasBOM {
		start = 0
	}
	f.IsUTF8 = validUTF8(body, f.Truncated)
	f.IsHTML = IsHTML(body)

	// The next LF, CR, # and NUL are looked up once each and kept until the
	// line passes them: most bodies have no CR or no NUL, and a search for
	// what is not there runs at the speed of memory.
	lf, cr := next(body, start, '\n'), next(body, start, '\r')
	hash, nul := next(body, start, '#'), next(body, start, 0)
	for {
		s.line++
		if lf < start {
			lf = next(body, start, '\n')
		}
		if cr < start {
			cr = next(body, start, '\r')
		}
		end := min(lf, cr)
		stop := end
		remarks := len(f.Remarks)
		if s.google && stop-start > googleLine {
			stop = start + googleLine
		}
		if end-start > googleLine {
			s.remark(TooLong, nil, trim(body[start:stop]))
		}
		if nul < start {
			nul = next(body, start, 0)
		}
		if nul < stop {
			s.remark(NUL, nil, trim(body[start:stop]))
			if s.google {
				stop = nul
			}
		}
		if hash < start {
			hash = next(body, start, '#')
		}
		if hash < stop {
			if f.KeepComments {
				s.remark(Comment, nil, trim(body[hash+1:stop]))
			}
			stop = hash
		}
		s.content(body[start:stop])
		for ; remarks < len(f.Remarks); remarks++ {
			f.Remarks[remarks].Group = s.group
		}
		if end == len(body) {
			break
		}
		if body[end] == '\r' && end+1 < len(body) && body[end+1] == '\n' {
			end++
		}
		start = end + 1
	}
	f.Lines = int(s.line)
	if f.Truncated {
		s.remark(TruncatedLine, nil, trim(body[start:]))
	}
	s.closeGroup()
}

// next is the index of c at or after i, or the length of b.
func next(b []byte, i int, c byte) int {
	if k := bytes.IndexByte(b[i:], c); k >= 0 {
		return i + k
	}
	return len(b)
}

// bomLength is how many bytes of a byte order mark the body begins with.
func bomLength(b []byte) int {
	n := 0
	for n < 3 && n < len(b) && b[n] == "\xef\xbb\xbf"[n] {
		n++
	}
	return n
}

// validUTF8 forgives an incomplete last character to a body that was cut.
func validUTF8(b []byte, cut bool) bool {
	if utf8.Valid(b) {
		return true
	}
	for i := len(b) - 1; cut && i >= 0 && i >= len(b)-3; i-- {
		if utf8.RuneStart(b[i]) {
			return !utf8.FullRune(b[i:]) && utf8.Valid(b[:i])
		}
	}
	return false
}

// accepted is the set of oddities that do not keep a line from counting.
func accepted(p *Profile) oddity {
	var ok oddity
	if p.Typos != Reject {
		ok |= oddTypo
	}
	if p.KeyPrefixes != Reject {
		ok |= oddPrefix
	}
	if p.MissingColon != Reject {
		ok |= oddNoColon
	}
	return ok
}

// parser is the state of one Parse.
type parser struct {
	*File
	p      *Profile
	google bool
	accept oddity
	white  *[256]bool // what is white space
	line   int32
	group  int32 // the current group, -1 before the first
	open   bool  // the group's list of agents goes on
	other  bool  // something stood after the last agent line
}

func (s *parser) remark(c RemarkClass, field, value []byte) {
	s.Remarks = append(s.Remarks, Remark{Line: s.line, Group: s.group, Class: c, Field: field, Value: value})
}

// content takes a line without its end and comment. The fields that make up
// nearly all lines are told apart by their first eight bytes.
func (s *parser) content(b []byte) {
	b = s.trim(b)
	if len(b) > 8 {
		low := binary.LittleEndian.Uint64(b) | 0x2020202020202020
		switch low {
		case word("disallow"):
			if b[8] == ':' {
				s.rule(Disallow, s.trim(b[9:]))
				return
			}
		case word("user-age"):
			if len(b) > 10 && b[8]|0x20 == 'n' && b[9]|0x20 == 't' && b[10] == ':' && b[4] == '-' {
				s.agent(s.trim(b[11:]))
				return
			}
		}
		if low<<16 == word("\x00\x00allow:") && s.p.AllowField {
			s.rule(Allow, s.trim(b[6:]))
			return
		}
	}
	if len(b) == 0 {
		return
	}
	s.record(b)
}

// word is eight bytes as the number they are loaded as.
func word(w string) uint64 { return binary.LittleEndian.Uint64([]byte(w)) }

// record splits any line that is not empty.
func (s *parser) record(b []byte) {
	key, value, odd, ok := split(b)
	key, value = s.trim(key), s.trim(value)
	if !ok || len(key) == 0 {
		s.invalid(NoField, nil, b)
		return
	}
	fld, o := recognise(key)
	if fld == fieldAllow && !s.p.AllowField {
		fld, o = fieldNone, 0
	}
	odd |= o
	if fld == fieldNone {
		s.foreign(key, value, odd, b)
		return
	}
	if odd != 0 {
		s.odd |= odd
		for _, r := range [...]struct {
			odd   oddity
			class RemarkClass
		}{{oddTypo, Typo}, {oddPrefix, KeyPrefix}, {oddNoColon, NoColon}} {
			if odd&r.odd != 0 {
				s.remark(r.class, key, value)
			}
		}
		if odd&^s.accept != 0 {
			s.InvalidLines++
			s.aside(odd&oddNoColon == 0)
			return
		}
	}
	switch fld {
	case fieldAgent:
		s.agent(value)
	case fieldAllow:
		s.rule(Allow, value)
	case fieldDisallow:
		s.rule(Disallow, value)
	case fieldSitemap:
		s.Sitemaps = append(s.Sitemaps, Sitemap{Line: s.line, URL: value, IsAbsolute: isAbsolute(value)})
		s.aside(true)
	}
}

// foreign takes a line whose field is none of the four.
func (s *parser) foreign(key, value []byte, odd oddity, line []byte) {
	ext := recogniseExtension(key)
	switch {
	case odd&oddNoColon != 0 && (ext == extNone || s.accept&oddNoColon == 0):
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
	s.aside(true)
}

// invalid takes a line that is no record.
func (s *parser) invalid(c RemarkClass, key, value []byte) {
	s.InvalidLines++
	s.remark(c, key, value)
	s.aside(false)
}

// aside notes a line that is neither agent nor rule, and ends the list of
// agents where such a record does.
func (s *parser) aside(record bool) {
	s.other = true
	if record && s.p.GroupEnd == EndAtRecord {
		s.open = false
	}
}

// split parts a line at its first colon or, if there is none, at the white
// space between its only two words.
func split(b []byte) (key, value []byte, odd oddity, ok bool) {
	if i := bytes.IndexByte(b, ':'); i >= 0 {
		return b[:i], b[i+1:], 0, true
	}
	i := indexBlank(b)
	if i < 0 {
		return nil, nil, 0, false
	}
	value = trimBlank(b[i:])
	if indexBlank(value) >= 0 {
		return nil, nil, 0, false
	}
	return b[:i], value, oddNoColon, true
}

// agent takes the value of a user-agent line.
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
	if !s.p.Lists {
		s.addAgent(value)
		return
	}
	for len(value) > 0 {
		var word []byte
		word, value = cutWord(value)
		s.addAgent(word)
	}
}

func (s *parser) addAgent(value []byte) {
	a := AgentLine{Line: s.line, Group: s.group, Value: value}
	switch {
	case s.p.AgentMatch == MatchSubstring:
		a.Token, a.Wide = value, value
	case isStar(value):
		a.Token, a.Wide = value[:1], value[:1]
	default:
		a.Token, a.Wide = tokens(value)
	}
	s.Agents = append(s.Agents, a)
}

// closeGroup ends the current group where the file's end or another group
// does.
func (s *parser) closeGroup() {
	if s.group >= 0 {
		g := &s.Groups[s.group]
		g.Agents.To, g.Rules.To = int32(len(s.Agents)), int32(len(s.Rules))
	}
}

// rule takes an allow or disallow line.
func (s *parser) rule(kind Kind, value []byte) {
	s.open, s.other = false, true
	if s.group < 0 {
		s.remark(OrphanRule, nil, value)
	}
	if !s.p.Lists || len(value) == 0 {
		s.addRule(kind, value)
		return
	}
	for len(value) > 0 {
		var word []byte
		word, value = cutWord(value)
		s.addRule(kind, word)
	}
}

// cutWord takes the first word of a value that begins with one.
func cutWord(b []byte) (word, rest []byte) {
	i := indexBlank(b)
	if i < 0 {
		return b, nil
	}
	return b[:i], trimBlank(b[i:])
}

// indexBlank is the index of the first space or tab, or -1.
func indexBlank(b []byte) int {
	for i, c := range b {
		if isBlank(c) {
			return i
		}
	}
	return -1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isSpace is white space in C: blank, or \n, \v, \f, \r.
func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

// trim takes white space of either profile off; it is for remarks, which mean
// the same under all.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func trimBlank(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// trim takes off what is white space to the profile.
func (s *parser) trim(b []byte) []byte {
	white := s.white
	for len(b) > 0 && white[b[0]] {
		b = b[1:]
	}
	for len(b) > 0 && white[b[len(b)-1]] {
		b = b[:len(b)-1]
	}
	return b
}

var (
	blank = [256]bool{' ': true, '\t': true}
	space = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}
)

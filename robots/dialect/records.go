package dialect

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A Record is a line as a dialect reads it.
type Record struct {
	Line  int32 // counted by LF, CR and CRLF, as in every other profile
	Field Field
	Value []byte
	Blank bool // an empty line
}

// A Field is the field of a record.
type Field uint8

const (
	noField       Field = iota
	NamelessField       // what stands before a colon at the start of a line
	UnknownField        // a field that decides nothing
	SiteField           // one of the whole site
	AgentField
	AllowField
	DisallowField
	DelayField
	RateField
)

// A reader reads the lines of a file.
type reader struct {
	*Lines
	allow bool         // allow is a field
	take  func(Record) // what is called for each record
}

// Records calls take with the records of a body, and with its empty lines. A last line
// that is cut does not count. allow says that allow is a field.
func Records(l *Lines, body []byte, cut, allow bool, take func(Record)) {
	p := reader{Lines: l, allow: allow, take: take}
	body = p.decoded(body)
	tags := p.StripTags == TagsAlways || p.StripTags == TagsOfHTML && hasHTMLTag(body)
	number := int32(1)
	for start := 0; ; {
		end, next := p.lineEnd(body, start)
		line := body[start:end]
		if p.LineEnds == EndsLFNUL {
			line = bytes.ReplaceAll(line, []byte{'\r'}, nil)
		}
		if next < 0 && cut {
			return
		}
		if p.OneWord {
			p.pairs(line, number, next < 0)
		} else {
			p.record(line, number, tags)
		}
		if next < 0 {
			return
		}
		number += linesIn(body[start:next])
		start = next
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// linesIn counts the lines that end in b, as every other profile does. b ends after a
// line end of the dialect.
func linesIn(b []byte) (n int32) {
	for i, c := range b {
		if c == '\n' || c == '\r' && (i+1 == len(b) || b[i+1] != '\n') {
			n++
		}
	}
	return n
}

// decoded returns the text that the dialect reads.
func (p *reader) decoded(body []byte) []byte {
	switch {
	case p.BOM == BOMDecoded && len(body) >= 2 && (body[0] == 0xFF && body[1] == 0xFE || body[0] == 0xFE &&
		body[1] == 0xFF):
		units := make([]uint16, 0, len(body)/2)
		for i := 2; i+1 < len(body); i += 2 {
			lo, hi := body[i], body[i+1]
			if body[0] == 0xFE {
				lo, hi = hi, lo
			}
			units = append(units, uint16(hi)<<8|uint16(lo))
		}
		return []byte(string(utf16.Decode(units)))
	case p.BOM != BOMKept && bytes.HasPrefix(body, byteOrderMark):
		body = body[3:]
	}
	switch {
	case p.InvalidBytes == InvalidDropped && !utf8.Valid(body):
		return bytes.ToValidUTF8(body, nil)
	case p.InvalidBytes == InvalidReplaced && !utf8.Valid(body):
		var out []byte // each byte is one U+FFFD
		for len(body) > 0 {
			r, n := utf8.DecodeRune(body)
			out = utf8.AppendRune(out, r)
			body = body[n:]
		}
		return out
	}
	return body
}

// hasHTMLTag reports whether a body has one of the tags html, head and body.
func hasHTMLTag(body []byte) bool {
	for i := range body {
		if body[i] != '<' {
			continue
		}
		for _, tag := range [...]string{"html", "head", "body"} {
			if ascii.HasPrefixFold(body[i+1:], tag) && bytes.HasPrefix(bytes.TrimLeft(body[i+1+len(tag):], " \t\r\n\v\f"),
				[]byte(">")) {
				return true
			}
		}
	}
	return false
}

// lineEnd returns where the line ends that begins at start, and where the next one
// begins, or -1.
func (p *reader) lineEnd(b []byte, start int) (end, next int) {
	n := 0 // bytes that count
	for i := start; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\n', n == p.MaxLine && n > 0, c == 0 && p.LineEnds == EndsLFNUL:
			return i, i + 1
		case p.LineEnds == EndsLF, p.LineEnds == EndsLFNUL:
			if c == '\r' {
				continue
			}
		case c == '\r' && i+1 < len(b) && b[i+1] == '\n':
			return i, i + 2
		case c == '\r', p.LineEnds == EndsPython && (c == '\v' || c == '\f' || c >= 0x1C && c <= 0x1E):
			return i, i + 1
		case p.LineEnds != "" && c == 0xC2 && i+1 < len(b) && b[i+1] == 0x85:
			return i, i + 2
		case p.LineEnds != "" && c == 0xE2 && i+2 < len(b) && b[i+1] == 0x80 && b[i+2]|1 == 0xA9:
			return i, i + 3
		}
		n++
	}
	return len(b), -1
}

// record takes what a line is.
func (p *reader) record(b []byte, number int32, tags bool) {
	if p.BOM == BOMOfLines && bytes.HasPrefix(b, byteOrderMark) {
		b = b[3:]
	}
	if len(b) == 0 {
		p.take(Record{Line: number, Blank: true})
		return
	}
	if tags {
		b = withoutTags(b)
	}
	b = p.withoutComment(b)
	if p.Colon == ColonExact && len(b) > 0 && ascii.IsSpace(b[0]) {
		return
	}
	b = p.trim(b)
	key, value, colon := p.split(b)
	if key == nil {
		if len(b) > 0 && b[0] == ':' {
			p.take(Record{Line: number, Field: NamelessField})
		}
		return
	}
	r := Record{Line: number, Field: p.fieldOf(key), Value: value}
	if r.Field == noField && colon {
		r.Field = UnknownField
	}
	if i := bytes.IndexByte(r.Value, 0); i >= 0 && p.NULEnds {
		r.Value = r.Value[:i]
	}
	if r.Field != noField {
		p.take(r)
	}
}

// trim removes white space. Some of it may end lines: it is gone by then.
func (p *reader) trim(b []byte) []byte {
	switch p.WhiteSpace {
	case SpaceASCII:
		return bytes.Trim(b, " \t\n\v\f\r")
	case SpaceControl:
		return trimmed(b, func(r rune) bool { return r <= ' ' })
	case SpacePython:
		return trimmed(b, isPythonSpace)
	case SpaceECMA:
		return trimmed(b, isECMASpace)
	}
	return bytes.TrimSpace(b)
}

// trimmed is bytes.TrimFunc for white space that includes space and tab. Nearly all values
// begin and end with other ASCII once these are gone.
func trimmed(b []byte, isSpace func(rune) bool) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	graphic := func(c byte) bool { return '!' <= c && c <= '~' }
	if len(b) == 0 || graphic(b[0]) && graphic(b[len(b)-1]) {
		return b
	}
	return bytes.TrimFunc(b, isSpace)
}

func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1C && r <= 0x1F }

func isECMASpace(r rune) bool { return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r) }

func (p *reader) withoutComment(b []byte) []byte {
	for i, c := range b {
		if c == '#' && (p.Comments == "" || i == 0 || ascii.IsSpace(b[i-1])) {
			return b[:i]
		}
	}
	return b
}

// withoutTags removes what stands between < and >, if that is anything.
func withoutTags(b []byte) []byte {
	if bytes.IndexByte(b, '<') < 0 {
		return b
	}
	var out []byte
	for len(b) > 0 {
		i := bytes.IndexByte(b, '<')
		end := -1
		if i >= 0 && i+1 < len(b) && b[i+1] != '>' {
			end = bytes.IndexByte(b[i+1:], '>')
		}
		switch {
		case i < 0:
			return append(out, b...)
		case end < 0 && (i+1 >= len(b) || b[i+1] != '>'):
			return append(out, b...)
		case end < 0:
			out, b = append(out, b[:i+1]...), b[i+1:]
		default:
			out, b = append(out, b[:i]...), b[i+1+end+1:]
		}
	}
	return out
}

// split splits a line into field and value; key is nil if it has no field. colon
// reports whether there is a colon between them.
func (p *reader) split(b []byte) (key, value []byte, colon bool) {
	i := bytes.IndexByte(b, ':')
	switch p.Colon {
	case ColonOrSpace:
		if key, value = p.splitKnown(b); key != nil {
			return key, value, true
		}
	case ColonOrSpaceLower:
		if i < 0 {
			key, value = p.splitLower(b)
			return key, value, key != nil
		}
	case ColonOrWords:
		if key, value = p.splitWords(b, i); key != nil {
			return key, value, true
		}
	case ColonTight, ColonExact:
		if i > 0 && ascii.IsSpace(b[i-1]) {
			return nil, nil, false
		}
	}
	if i < 0 {
		return nil, nil, false
	}
	key = p.trim(b[:i])
	if len(key) == 0 {
		return nil, nil, false
	}
	return key, p.trim(b[i+1:]), true
}

// pairs takes each pair of words of a line: a field and its value. The first colon
// of a line that stands in a word ends it. A last field without value has the end of the
// line, which matches nothing; it has none at the end of the file.
func (p *reader) pairs(b []byte, number int32, last bool) {
	var words [2][]byte
	n, colon := 0, false
	for len(b) > 0 {
		if isBlankOrVT(b[0]) {
			b = b[1:]
			continue
		}
		if b[0] == '#' {
			break
		}
		end := 1
		for end < len(b) && !isBlankOrVT(b[end]) && (b[end] != ':' || colon) {
			end++
		}
		words[n], n = b[:end], n+1
		if b = b[end:]; len(b) > 0 && b[0] == ':' {
			b, colon = b[1:], true
		}
		if n == 2 {
			p.pair(words[0], words[1], number)
			n = 0
		}
	}
	if n == 1 && !last {
		p.pair(words[0], []byte("\n"), number)
	}
}

func (p *reader) pair(key, value []byte, number int32) {
	p.take(Record{Line: number, Field: max(p.fieldOf(key), UnknownField), Value: value})
}

func isBlankOrVT(c byte) bool { return c == ' ' || c == '\t' || c == '\v' }

// splitKnown splits a line after the shortest field that it begins with, if a colon or
// white space follows.
func (p *reader) splitKnown(b []byte) (key, value []byte) {
	for n := 1; n <= len(b) && n <= longestField; n++ {
		if p.fieldOf(b[:n]) == noField {
			continue
		}
		rest := bytes.TrimLeft(b[n:], " \t")
		switch {
		case len(rest) > 0 && rest[0] == ':':
			return b[:n], p.trim(rest[1:])
		case len(rest) < len(b)-n:
			return b[:n], p.trim(rest)
		}
	}
	return nil, nil
}

const longestField = 16

// splitLower splits a line after the known field in lower case that its first words
// are.
func (p *reader) splitLower(b []byte) (key, value []byte) {
	for i, c := range b[:min(len(b), 2*longestField+1)] {
		if c == ' ' && bytes.Equal(b[:i], bytes.ToLower(b[:i])) && p.fieldOf(b[:i]) != noField {
			return b[:i], p.trim(b[i+1:])
		}
	}
	return nil, nil
}

// splitWords splits a line after the known field that its first words are, unless its colon
// at i follows a known field, or is followed by white space or nothing. The words of the
// value come with one space between them.
func (p *reader) splitWords(b []byte, i int) (key, value []byte) {
	if i >= 0 && (p.fieldOf(p.trim(b[:i])) != noField || i+1 == len(b) || len(p.trim(b[i+1:i+2])) == 0) {
		return nil, nil
	}
	words := bytes.FieldsFunc(b, isPythonSpace)
	for n := 1; n <= 2 && n <= len(words); n++ {
		if key = bytes.Join(words[:n], []byte(" ")); p.fieldOf(key) != noField {
			return key, bytes.Join(words[n:], []byte(" "))
		}
	}
	return nil, nil
}

// fieldOf returns the field of a key in any case.
func (p *reader) fieldOf(key []byte) Field {
	if len(key) > 2*longestField {
		return noField
	}
	k := strings.ToLower(string(key))
	switch {
	case len(k) != len(key): // a letter outside of ASCII became one of ASCII; see foldName
		return noField
	case k == "user-agent" || slices.Contains(p.AgentFields, k):
		return AgentField
	case k == "allow" && p.allow || slices.Contains(p.AllowFields, k):
		return AllowField
	case k == "disallow" || slices.Contains(p.DisallowFields, k):
		return DisallowField
	case k == "crawl-delay" || (k == "crawl delay" || k == "crawldelay") && len(p.AgentFields) > 0:
		return DelayField
	case k == "request-rate":
		return RateField
	case slices.Contains(p.SiteFields, k):
		return SiteField
	case p.Colon == ColonOrWords && (k == "visit-time" || k == "visit time"),
		(p.Colon == ColonOrSpaceLower || p.Colon == ColonOrWords) && slices.Contains(protegoFields, k):
		return UnknownField
	}
	return noField
}

// protegoFields are further fields that protego knows.
var protegoFields = []string{"sitemap", "sitemaps", "site-map", "host", "request rate"}

// foldName returns a name in lower case. In lower case a capital I with a dot is two
// characters to all languages but Go, so to no parser but temoto it is the i of a token.
func foldName(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == 'İ' {
			return r
		}
		return unicode.ToLower(r)
	}, string(b))
}

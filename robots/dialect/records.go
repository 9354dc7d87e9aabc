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

// read takes the records of a body whose lines no tape has.
func (p *reader) read(body []byte, cut bool) {
	body = p.decoded(body)
	tags := p.StripTags == TagsAlways || p.StripTags == TagsOfHTML && hasHTMLTag(body)
	number := int32(1)
	for start := 0; ; {
		end, next := p.lineEnd(body, start)
		line := body[start:end]
		if p.LineEnds == EndsLFNUL && bytes.IndexByte(line, '\r') >= 0 {
			line = bytes.ReplaceAll(line, []byte{'\r'}, nil)
		}
		if next < 0 && cut {
			return
		}
		p.line(line, number, tags, next < 0)
		if next < 0 {
			return
		}
		number += linesIn(body[start:next])
		start = next
	}
}

// line takes the records of a line.
func (p *reader) line(b []byte, number int32, tags, last bool) {
	if p.OneWord {
		p.pairs(b, number, last)
	} else {
		p.record(b, number, tags)
	}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// linesIn counts the lines that end in b, as every other profile does. b ends after a
// line end of the dialect.
func linesIn(b []byte) (n int32) {
	if n := len(b); b[n-1] == '\n' && (n == 1 || bytes.IndexByte(b[:n-2], '\r') < 0) {
		return 1 // a dialect's line has no LF before its end
	}
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
	for {
		i := bytes.IndexByte(body, '<')
		if i < 0 {
			return false
		}
		body = body[i+1:]
		for _, tag := range [...]string{"html", "head", "body"} {
			if ascii.HasPrefixFold(body, tag) && bytes.HasPrefix(bytes.TrimLeft(body[len(tag):], " \t\r\n\v\f"), []byte(">")) {
				return true
			}
		}
	}
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
	if b = p.trim(b); len(b) == 0 {
		return
	}
	key, value, colon := p.split(b)
	if key == nil {
		if b[0] == ':' {
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
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '#')
		if i < 0 {
			return b
		}
		if i += from; p.Comments == "" || i == 0 || ascii.IsSpace(b[i-1]) {
			return b[:i]
		}
		from = i + 1
	}
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

// foldName returns a name in lower case. In lower case a capital I with a dot is two
// characters to all languages but Go, so to no parser but temoto it is the i of a token.
func foldName(b []byte) string {
	if !slices.ContainsFunc(b, func(c byte) bool { return c >= utf8.RuneSelf }) {
		return strings.ToLower(string(b))
	}
	return strings.Map(func(r rune) rune {
		if r == 'İ' {
			return r
		}
		return unicode.ToLower(r)
	}, string(b))
}

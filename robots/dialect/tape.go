package dialect

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A Tape holds the lines of a body as all dialects find them, so that several look for them once.
// It is ready for the next body again.
type Tape struct {
	body    []byte
	odd     bool // dialects may part on where its lines are, or it has too many: each reads it for itself
	lines   []line
	longest int // bytes of a line
}

// A line of a tape. Most say no more than a usual field, its colon and the rest of the line.
type line struct {
	from, to   int32 // in the body, without CR and LF
	start, end int32 // of the value
	usual      uint8 // the number of its field, 0 if it is none of those
	isComment  bool
	cr, tag    bool // it has a CR before its LF, or a <
}

// usualNames are the fields that nearly all lines have.
var usualNames = [...]string{1: "disallow", "allow", "user-agent"}

// mostTaped bounds the memory of a tape, by the number of lines.
const mostTaped = 1 << 16

// Read reads the lines of a body, which the tape keeps.
func (t *Tape) Read(body []byte) {
	t.body, t.lines, t.longest = body, t.lines[:0], 0
	if t.odd = endsOddly(body); t.odd {
		return
	}
	lf, cr, hash, less := -1, -1, -1, -1 // where the next one of each is
	find := func(at *int, from int, c byte) {
		if *at < from {
			if *at = len(body); from < len(body) {
				if i := bytes.IndexByte(body[from:], c); i >= 0 {
					*at = from + i
				}
			}
		}
	}
	for from := 0; from <= len(body); from = lf + 1 {
		find(&lf, from, '\n')
		find(&cr, from, '\r')
		find(&hash, from, '#')
		find(&less, from, '<')
		x := line{from: int32(from), to: int32(lf), cr: cr < lf, tag: less < lf, isComment: hash == from && from < lf}
		if x.cr {
			x.to--
		}
		if x.cr && (cr < lf-1 || lf == len(body)) || len(t.lines) == mostTaped {
			t.odd = true
			return
		}
		if hash >= lf {
			x.findUsual(body)
		}
		t.longest = max(t.longest, lf-from)
		t.lines = append(t.lines, x)
	}
}

// endsOddly reports whether a body has bytes that end lines, or are lost, in some dialect, but for CR.
func endsOddly(body []byte) bool {
	for _, c := range "\x00\v\f\x1c\x1d\x1e" {
		if bytes.IndexByte(body, byte(c)) >= 0 {
			return true
		}
	}
	for _, c := range [...]string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(body, []byte(c)) {
			return true
		}
	}
	return bytes.HasPrefix(body, byteOrderMark) || !utf8.Valid(body)
}

// findUsual finds the field and the value of a line without comment that begins with a usual
// field and its colon, and whose value begins and ends with what no dialect trims.
func (x *line) findUsual(body []byte) {
	b := body[x.from:x.to]
	if len(b) == 0 {
		return
	}
	n := 0 // the number of the field
	switch b[0] | 0x20 {
	case 'd':
		n = 1
	case 'a':
		n = 2
	case 'u':
		n = 3
	}
	name := usualNames[n]
	if n == 0 || len(b) <= len(name) || b[len(name)] != ':' || !ascii.HasPrefixFold(b, name) {
		return
	}
	start, end := len(name)+1, len(b)
	for start < end && ascii.IsBlank(b[start]) {
		start++
	}
	for start < end && ascii.IsBlank(b[end-1]) {
		end--
	}
	isGraphic := func(c byte) bool { return '!' <= c && c <= '~' }
	if start == end || isGraphic(b[start]) && isGraphic(b[end-1]) {
		x.usual, x.start, x.end = uint8(n), x.from+int32(start), x.from+int32(end)
	}
}

// Others returns the lines with their numbers that do not begin with a usual field, none if dialects
// may part on where they are. A last line that is cut does not count.
func (t *Tape) Others(cut bool) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if t.odd {
			return
		}
		for i := range t.uncut(cut) {
			if x := &t.lines[i]; x.usual == 0 && !yield(i+1, t.body[x.from:x.to]) {
				return
			}
		}
	}
}

// Lines returns the number of lines, 0 if dialects may part on where they are.
func (t *Tape) Lines() int {
	if t.odd {
		return 0
	}
	return len(t.lines)
}

func (t *Tape) uncut(cut bool) []line {
	if cut {
		return t.lines[:len(t.lines)-1]
	}
	return t.lines
}

// Records calls take with the records of a tape, and with its empty lines. A last line
// that is cut does not count. allow says that allow is a field.
func Records(l *Lines, t *Tape, cut, allow bool, take func(Record)) {
	p := reader{Lines: l, allow: allow, take: take}
	if t.odd || l.MaxLine > 0 && t.longest > l.MaxLine || l.OneWord && l.LineEnds == EndsLF { // there CR is of the word
		p.read(t.body, cut)
		return
	}
	tags := p.StripTags == TagsAlways || p.StripTags == TagsOfHTML && hasHTMLTag(t.body)
	var fields [len(usualNames)]Field
	for i, name := range usualNames {
		fields[i] = p.fieldOf([]byte(name))
	}
	for i := range t.uncut(cut) {
		x, number := &t.lines[i], int32(i+1)
		value := t.body[x.start:x.end]
		if x.isComment {
			continue
		}
		if f := fields[x.usual]; f != noField && !(x.tag && tags) && !(p.OneWord && !isWord(value)) {
			take(Record{Line: number, Field: f, Value: value})
			continue
		}
		b := t.body[x.from:x.to]
		if x.cr && p.LineEnds == EndsLF {
			b = t.body[x.from : x.to+1]
		}
		p.line(b, number, tags, i == len(t.lines)-1)
	}
}

func isWord(b []byte) bool { return len(b) > 0 && ascii.IndexBlank(b) < 0 }

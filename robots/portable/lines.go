package portable

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots"
)

// A lineKind says what google takes a line for.
type lineKind uint8

const (
	otherLine lineKind = iota // another field, or no record
	blankLine                 // nothing, or a comment alone
	agentLine
	ruleLine
)

// A line of a file, with its number in the file as given; 0 for one that a step added.
type line struct {
	number int
	text   []byte
	end    string // "" of a last line that does not end
	kind   lineKind
	allow  bool
	value  []byte // of an agent or a rule
	token  string // of an agent, in lower case
	orphan bool   // a rule before any agent
	heard  string // the field that another parser takes it for, "" for none; see hear
}

// A file is lines, and how google reads them.
type file struct {
	bom   bool
	lines []line
	cut   bool        // the file as given is longer
	tail  []byte      // its last line, which is cut and does not count
	read  robots.File // as google reads it
	text  []byte      // what read is of
	spare *file       // memory for the next clone
}

var utf8BOM = []byte("\xef\xbb\xbf")

// readFile reads the lines of a file as google does. The last line of a file that is cut
// does not count.
func readFile(body []byte, cut bool) *file {
	f := &file{bom: bytes.HasPrefix(body, utf8BOM), cut: cut}
	for text, end := range robots.SplitLines(bytes.TrimPrefix(body, utf8BOM)) {
		f.lines = append(f.lines, line{number: len(f.lines) + 1, text: text, end: string(end)})
	}
	if n := len(f.lines) - 1; cut && n >= 0 && f.lines[n].end == "" {
		f.tail, f.lines = f.lines[n].text, f.lines[:n]
	}
	f.classify()
	return f
}

// clone returns a copy for a step, which classifies it.
func (f *file) clone() *file {
	next := f.spare
	if f.spare = nil; next == nil {
		next = new(file)
	}
	next.bom, next.lines, next.cut, next.tail = f.bom, append(next.lines[:0], f.lines...), f.cut, f.tail
	return next
}

func (f *file) bytes() []byte { return f.appendTo(nil) }

func (f *file) appendTo(out []byte) []byte {
	n := len(utf8BOM) + len(f.tail)
	for i := range f.lines {
		n += len(f.lines[i].text) + len("\r\n")
	}
	out = slices.Grow(out, n)
	if f.bom {
		out = append(out, utf8BOM...)
	}
	for i := range f.lines {
		l := &f.lines[i]
		if out = append(append(out, l.text...), l.end...); l.end == "" && i < len(f.lines)-1 {
			out = append(out, '\n') // it was moved from the end
		}
	}
	return append(out, f.tail...)
}

// textOrBytes returns a file as text, which JSON can hold, or as the bytes that it has.
func textOrBytes(file []byte) (text string, bytes []byte) {
	if utf8.Valid(file) {
		return string(file), nil
	}
	return "", file
}

// classify finds out what google takes each line for.
func (f *file) classify() {
	google, _ := robots.ProfileNamed(robots.DefaultReader)
	f.read.Cut = f.cut
	f.text = f.appendTo(f.text[:0])
	f.read.Parse(f.text, google)
	for i := range f.lines {
		l := &f.lines[i]
		l.kind, l.value, l.token, l.orphan = otherLine, nil, "", false
		if text := bytes.TrimSpace(uncommented(l.text)); len(text) == 0 {
			l.kind = blankLine
		}
	}
	at := func(n int32) *line { return &f.lines[n-1] }
	for i := range f.read.Agents {
		a := &f.read.Agents[i]
		l := at(a.Line)
		l.kind, l.value, l.token = agentLine, a.Value, strings.ToLower(string(a.Wide))
	}
	for i := range f.read.Rules {
		r := &f.read.Rules[i]
		l := at(r.Line)
		l.kind, l.value, l.allow, l.orphan = ruleLine, r.Pattern, r.Kind == robots.Allow, r.Group < 0
	}
}

func uncommented(text []byte) []byte {
	before, _, _ := bytes.Cut(text, []byte("#"))
	return before
}

// field returns the name of the line's field as it should be written.
func (l *line) field() string {
	switch {
	case l.kind == agentLine:
		return "User-agent"
	case l.allow:
		return "Allow"
	}
	return "Disallow"
}

// write sets the line of an agent or a rule.
func (l *line) write(value []byte) {
	l.value = value
	l.text = bytes.TrimRight([]byte(l.field()+": "+string(value)), " ")
}

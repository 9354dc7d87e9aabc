package robots

import (
	"bytes"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// googleLine is the number of bytes of a line that Google's parser keeps: eight
// times the URL length that browsers allowed, less the NUL that ends a C
// string.
const googleLine = 2083*8 - 1

// Parse reads a body by the rules of a profile, up to the profile's size limit.
// Nothing in a body is an error.
func (f *File) Parse(body []byte, p *Profile) {
	f.parse(body, p, nil)
}

// ParseBeside is Parse of a body that g holds too, parsed under another profile. Dialects look
// for its lines once, and g keeps them.
func (f *File) ParseBeside(g *File, body []byte, p *Profile) {
	f.beside = g
	f.parse(body, p, nil)
	f.beside = nil
}

// parse parses a body under one reading of what the profile leaves open. A nil
// reading is the first.
func (f *File) parse(body []byte, p *Profile, r *reading) {
	f.reset(body, p)
	body = f.body
	s := f.parser(p)
	s.reading, s.group, s.white = r, -1, &blank
	s.google, s.dialect = p.Reading == LinesGoogle, p.isDialect()
	s.reject, s.leave = p.leniencies()
	s.letter = p.Reserved == ReservedEqual
	if s.google {
		s.white = &space
	}
	start := bomLength(body)
	f.HasBOM = start == 3
	if !s.google && !f.HasBOM {
		start = 0
	}
	f.IsUTF8 = validUTF8(body, f.Truncated)
	f.IsHTML = answer.IsHTML(body)
	if !s.dialect || !f.JudgeOnly || s.google || !s.others(f.tapeOf()) {
		s.lines(start)
	}
	if f.Lines = int(s.line); endsLine(body) {
		f.Lines--
	}
	s.closeGroup()
	if s.dialect {
		f.parseDialect(p)
	}
}

// lines parses the lines of the body from start on.
func (s *parser) lines(start int) {
	f, body := s.File, s.body
	judging := s.dialect && f.JudgeOnly
	// The next LF, CR, # and NUL are looked up once each and kept until the
	// line passes them. Most bodies have no CR or no NUL, and searching the
	// whole body once for a missing byte is fast.
	lf, cr := next(body, start, '\n'), next(body, start, '\r')
	hash, nul := next(body, start, '#'), next(body, start, 0)
	for {
		s.line++
		if lf < start {
			// Written out for speed: nearly every line passes here.
			if lf = bytes.IndexByte(body[start:], '\n'); lf < 0 {
				lf = len(body)
			} else {
				lf += start
			}
		}
		if cr < start {
			cr = next(body, start, '\r')
		}
		end := min(lf, cr)
		if end == len(body) && f.Truncated {
			// The line's end lies beyond the limit: see Profile.SizeLimit.
			s.remark(TruncatedLine, nil, ascii.Trim(body[start:]))
			break
		}
		stop := end
		remarks, group := len(f.Remarks), s.group
		if s.google && stop-start > googleLine {
			stop = start + googleLine
		}
		if end-start > googleLine {
			s.remark(TooLong, nil, ascii.Trim(body[start:stop]))
		}
		if nul < start {
			nul = next(body, start, 0)
		}
		if nul < stop {
			s.remark(NUL, nil, ascii.Trim(body[start:stop]))
			if s.google {
				stop = nul
			}
		}
		if hash < start {
			hash = next(body, start, '#')
		}
		if hash < stop {
			f.commented = true
			if f.KeepComments {
				s.remark(Comment, nil, ascii.Trim(body[hash+1:stop]))
			}
			stop = hash
		}
		if line := body[start:stop]; !judging || mayStateUse(line) {
			s.content(line)
		}
		if s.group != group {
			for ; remarks < len(f.Remarks); remarks++ {
				f.Remarks[remarks].Group = s.group
			}
		}
		if end == len(body) {
			break
		}
		if body[end] == '\r' && end+1 < len(body) && body[end+1] == '\n' {
			end++
		}
		start = end + 1
	}
}

// others parses what a judge needs of the lines of a tape besides the records of a dialect. It
// reports whether the tape has the lines.
func (s *parser) others(tape *dialect.Tape) bool {
	for n, line := range tape.Others(s.Truncated) {
		if mayStateUse(line) {
			line, _, _ = bytes.Cut(line, []byte("#"))
			s.line = int32(n)
			s.content(line)
		}
	}
	s.line = int32(tape.Lines())
	return s.line > 0
}

// tapeOf returns the tape of the body, which is that of another file if this has the same body.
func (f *File) tapeOf() *dialect.Tape {
	if g := f.beside; g != nil && len(g.body) == len(f.body) && len(f.body) > 0 && &g.body[0] == &f.body[0] {
		f = g
	}
	if !f.taped {
		f.taped = true
		f.tape.Read(f.body)
	}
	return &f.tape
}

// mayStateUse reports whether a line may state a use: its field begins as content-usage,
// content-signal or license do.
func mayStateUse(line []byte) bool {
	for len(line) > 0 && space[line[0]] {
		line = line[1:]
	}
	return len(line) > 0 && (line[0]|0x20 == 'c' || line[0]|0x20 == 'l')
}

// endsLine reports whether no line is open at the end of a body.
func endsLine(body []byte) bool {
	return len(body) == 0 || body[len(body)-1] == '\n' || body[len(body)-1] == '\r'
}

// next returns the index of the first c at or after i, or the length of b.
func next(b []byte, i int, c byte) int {
	if k := bytes.IndexByte(b[i:], c); k >= 0 {
		return i + k
	}
	return len(b)
}

// bomLength returns how many bytes of a byte order mark begin the body.
func bomLength(b []byte) int {
	n := 0
	for n < 3 && n < len(b) && b[n] == "\xef\xbb\xbf"[n] {
		n++
	}
	return n
}

// validUTF8 reports whether b is UTF-8. In a cut body it accepts an incomplete
// last character.
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

// parser is the state of one Parse.
type parser struct {
	*File
	p       *Profile
	reading *reading // nil for the first
	google  bool
	rfc     bool       // EscapesRFC
	dialect bool       // parseDialect finds agents and rules
	reject  oddity     // oddities whose lines do not count
	leave   oddity     // oddities that the profile leaves open
	white   *[256]bool // white space
	line    int32
	group   int32 // the current group, -1 before the first
	open    bool  // the group's list of agents continues
	other   bool  // another line followed the last agent line
	head    head
}

// parser returns what compiles patterns for the file.
func (f *File) parser(p *Profile) parser { return parser{File: f, p: p, rfc: p.Escapes == EscapesRFC} }

func (s *parser) remark(c RemarkClass, field, value []byte) {
	s.Remarks = append(s.Remarks, Remark{Line: s.line, Group: s.group, Class: c, Field: field, Value: value})
}

// trim removes the profile's white space.
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

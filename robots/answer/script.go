package answer

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// scriptRedirects reports whether a script contains one of the common
// statements that set the address of its window: location = …, location.href =
// …, location.replace(…) or location.assign(…), alone or as a property of the
// window. It does not interpret JavaScript: the statement may never run.
func scriptRedirects(script []byte) bool {
	s := scanner{text: script}
	for {
		word, before, dotted := s.word()
		switch {
		case len(word) == 0:
			return false
		case string(word) != "location", dotted && !windows[string(before)], string(before) == "let",
			string(before) == "const":
		case s.redirects():
			return true
		}
	}
}

// windows are the names of objects whose location is a window's.
var windows = map[string]bool{
	"window": true, "document": true, "self": true, "top": true, "parent": true, "globalThis": true, "this": true,
}

// scanner finds the words of a script outside strings and comments.
type scanner struct {
	text []byte
	at   int
	last []byte // last word, if only white space and dots followed
}

// redirects reports whether the text after the word location sets it.
func (s *scanner) redirects() bool {
	here := *s
	if here.skip('.') {
		switch string(here.name()) {
		case "href":
		case "replace", "assign":
			return here.skip('(')
		default:
			return false
		}
	}
	return here.skip('=') && !here.follows('=') && !here.follows('>')
}

// word returns the next word, empty at the end; the word before it, if only
// white space and dots separate the two; and whether a dot does.
func (s *scanner) word() (word, before []byte, dotted bool) {
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case isNameByte(c):
			before = s.last
			s.last = s.name()
			return s.last, before, dotted
		case ascii.IsSpace(c):
			s.at++
			continue
		case c == '.':
			s.at++
			dotted = true
			continue
		case c == '/' && s.comment():
			continue
		case c == '"' || c == '\'' || c == '`':
			s.quoted(c)
		default:
			s.at++
		}
		s.last, dotted = nil, false
	}
	return nil, nil, false
}

// name reads the name bytes at this point, after any white space.
func (s *scanner) name() []byte {
	s.space()
	from := s.at
	for s.at < len(s.text) && isNameByte(s.text[s.at]) {
		s.at++
	}
	return s.text[from:s.at]
}

// skip skips white space and one byte c. It reports whether c was there.
func (s *scanner) skip(c byte) bool {
	s.space()
	if !s.follows(c) {
		return false
	}
	s.at++
	return true
}

func (s *scanner) follows(c byte) bool { return s.at < len(s.text) && s.text[s.at] == c }

func (s *scanner) space() {
	for s.at < len(s.text) && ascii.IsSpace(s.text[s.at]) {
		s.at++
	}
}

// quoted skips a string. Only a template literal may continue on the next line.
func (s *scanner) quoted(quote byte) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == quote:
			s.at++
			return
		case c == '\\':
			s.at++
		case c == '\n' && quote != '`':
			return
		}
	}
}

// comment skips a comment, if one begins here.
func (s *scanner) comment() bool {
	end := "\n"
	switch {
	case bytes.HasPrefix(s.text[s.at:], []byte("/*")):
		end = "*/"
	case !bytes.HasPrefix(s.text[s.at:], []byte("//")):
		return false
	}
	n := bytes.Index(s.text[s.at+2:], []byte(end))
	if n < 0 {
		s.at = len(s.text)
		return true
	}
	s.at += 2 + n + len(end)
	return true
}

func isNameByte(c byte) bool {
	return c|0x20-'a' < 26 || c-'0' < 10 || c == '_' || c == '$' || c >= 0x80
}

package client

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/fetch"
)

// Head is the header of an HTTP/1 answer, live or stored, read as leniently as browsers
// and curl do. It points into the text that it was parsed from.
//
// A line that is no field is dropped, with a remark, and status and body count. It
// has no colon; or its name is no token, as one that is empty, has a parenthesis or
// a letter beyond ASCII, or begins with a blank and continues no line (RFC 9110
// section 5.1); or its value has a control character other than a tab (section 5.5).
// Two fields have other readers for their values, and are kept: Location, which
// browsers escape, and Transfer-Encoding, without which chunks would be taken for text.
//
// These are read without a remark: lines that end with LF alone, blanks before a
// colon, a folded line, a status line without reason, with more blanks than one,
// in lower case or of any version 1 to 3, and NCSA's "HTTP 200 Document follows".
type Head struct {
	Status  int    // 0: the text begins with no status line
	Version string // "1.1", "2"; "" if the status line names none
	Fields  []Field

	dropped int
	why     string // the first line was dropped
}

// Field is a field of a header, with its name in lower case.
type Field struct{ Name, Value []byte }

// HeadMagic begins every answer, in any case.
const HeadMagic = "HTTP"

// IsAnswer reports whether text may begin an answer.
func IsAnswer(text []byte) bool {
	return len(text) > len(HeadMagic) && strings.EqualFold(string(text[:len(HeadMagic)]), HeadMagic) &&
		(text[len(HeadMagic)] == '/' || text[len(HeadMagic)] == ' ')
}

// Parse reads the header at the start of text, which it changes: folded lines are
// joined, names become lower case.
func (h *Head) Parse(text []byte) {
	*h = Head{Fields: h.Fields[:0]}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	h.parseStatus(bytes.TrimRight(line, "\r"))
	for len(rest) > 0 {
		var name, value []byte
		if rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n")) {
			return
		}
		name, value, rest = CutField(rest)
		switch {
		case value == nil:
			h.drop("has no colon", nil)
		case !isToken(name):
			h.drop("begins with no name of a field", name)
		case hasControl(value) && !isJudged(name):
			h.drop("has a control character in the value of", name)
		default:
			h.Fields = append(h.Fields, Field{name, value})
		}
	}
}

func (h *Head) drop(why string, name []byte) {
	if h.dropped++; h.dropped > 1 {
		return
	}
	if h.why = why; name != nil {
		h.why = fmt.Sprintf("%s %q", why, fetch.Clip(string(name)))
	}
}

// Remark says which lines were dropped, nil for none.
func (h *Head) Remark() error {
	switch h.dropped {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("header: a line is dropped: it %s", h.why)
	}
	return fmt.Errorf("header: %d lines are dropped: the first %s", h.dropped, h.why)
}

// isJudged reports whether a field has a reader that judges its value.
func isJudged(name []byte) bool {
	return string(name) == "location" || string(name) == "transfer-encoding"
}

// Values returns the values of a field, whose name is in any case.
func (h *Head) Values(name string) (values []string) {
	for _, f := range h.Fields {
		if strings.EqualFold(string(f.Name), name) {
			values = append(values, string(f.Value))
		}
	}
	return values
}

// parseStatus parses a status line. Digits after the third are none of a status;
// anything else begins the reason.
func (h *Head) parseStatus(line []byte) {
	if !IsAnswer(line) {
		return
	}
	version, rest, _ := bytes.Cut(line[len(HeadMagic):], []byte(" "))
	rest = bytes.TrimLeft(rest, " ")
	isDigit := func(i int) bool { return i < len(rest) && rest[i] >= '0' && rest[i] <= '9' }
	if !isDigit(0) || !isDigit(1) || !isDigit(2) || isDigit(3) || rest[0] == '0' {
		return
	}
	if len(version) > 0 {
		v := string(version[1:])
		switch v {
		case "2.0", "3.0":
			v = v[:1]
		}
		if !IsVersion(v) {
			return
		}
		h.Version = v
	}
	h.Status = int(rest[0]-'0')*100 + int(rest[1]-'0')*10 + int(rest[2]-'0')
}

// IsVersion reports whether a version of HTTP is one that answers name: 2, 3, or 1
// and more, such as 1.1.
func IsVersion(v string) bool {
	isDigit := func(i int) bool { return v[i] >= '0' && v[i] <= '9' }
	switch len(v) {
	case 1:
		return v == "2" || v == "3"
	case 3:
		return isDigit(0) && v[0] != '0' && v[0] <= '3' && v[1] == '.' && isDigit(2)
	}
	return false
}

// HeadEnd returns the end of the first blank line after from, or -1. Lines end with LF,
// with or without CR.
func HeadEnd(text []byte, from int) int {
	for i := from; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return -1
		}
		i += n + 1
		if i < len(text) && text[i] == '\n' {
			return i + 1
		}
		if i+1 < len(text) && text[i] == '\r' && text[i+1] == '\n' {
			return i + 2
		}
	}
}

// CutField splits off the first field of a header, including its folded lines. It changes
// the name to lower case in place. The value is nil for a line without a colon.
func CutField(h []byte) (name, value, rest []byte) {
	end := 0
	for {
		n := bytes.IndexByte(h[end:], '\n')
		if n < 0 {
			end = len(h)
			break
		}
		end += n + 1
		if end == len(h) || h[end] != ' ' && h[end] != '\t' {
			break
		}
		h[end-1] = ' '
		if end > 1 && h[end-2] == '\r' {
			h[end-2] = ' '
		}
	}
	colon := bytes.IndexByte(h[:end], ':')
	if colon < 0 {
		return nil, nil, h[end:]
	}
	name = bytes.TrimRight(h[:colon], " \t") // RFC 9112, section 5.1
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			name[i] = c + 'a' - 'A'
		}
	}
	if value = bytes.Trim(h[colon+1:end], " \t\r\n"); value == nil {
		value = h[colon:colon] // empty, but there
	}
	return name, value, h[end:]
}

// tokens holds the characters of a token (RFC 9110, section 5.6.2).
var tokens = func() (set [256]bool) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		set[c] = true
	}
	return set
}()

func isToken(name []byte) bool {
	for _, c := range name {
		if !tokens[c] {
			return false
		}
	}
	return len(name) > 0
}

func hasControl(value []byte) bool {
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return true
		}
	}
	return false
}

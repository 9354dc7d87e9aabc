package cdx

import (
	"bufio"
	"io"

	"github.com/robocensus/robocensus/pipeline/source/input"
)

// beginsJSON reports whether an index begins like JSON.
func beginsJSON(in *bufio.Reader) bool {
	for n := 1; n <= in.Size(); n++ {
		head, _ := in.Peek(n)
		if len(head) < n {
			return false
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n':
		case '{', '[':
			return true
		default:
			return false
		}
	}
	return false
}

// elements reads the objects and the rows of a JSON index: one to a line, in an array, or
// over several lines. A damaged one costs itself, or its line.
type elements struct {
	in   *bufio.Reader
	line int64
	text []byte
}

const (
	cutOff  = "not_a_capture: the JSON object is cut off"
	notJSON = "not_a_capture: not JSON"
)

// next returns the next element and the line where it begins, and what is wrong with it.
func (e *elements) next() (text string, line int64, reason string, err error) {
	e.text = e.text[:0]
	depth, quoted, escaped, first := 0, false, false, false // first: in the first column
	for {
		b, err := e.in.ReadByte()
		switch {
		case err == io.EOF && depth > 0 && string(e.text) != "[":
			return string(e.text), line, cutOff, nil
		case err != nil:
			return "", e.line, "", err
		case depth > 0 && first && !quoted && (b == '{' || b == '[') && string(e.text) != "[":
			e.in.UnreadByte() // what is printed over several lines is indented
			return string(e.text), line, cutOff, nil
		}
		first = b == '\n'
		if first {
			if e.line++; quoted {
				return string(e.text), line, cutOff, nil
			}
		}
		isBlank := b == ' ' || b == '\t' || b == '\r' || b == '\n'
		switch {
		case depth == 0 && (isBlank || b == ',' || b == ']'): // of an array of elements
			continue
		case depth == 0 && b != '{' && b != '[':
			e.in.UnreadByte()
			text, err := e.rest()
			return text, e.line - 1, notJSON, err
		case string(e.text) == "[" && isBlank:
			continue
		case string(e.text) == "[" && (b == '{' || b == '['):
			e.text, depth = e.text[:0], 0
		}
		if depth == 0 {
			line = e.line
		}
		if e.text = append(e.text, b); len(e.text) > input.MaxLine {
			_, err := e.rest()
			return string(e.text[:200]), line, tooLong, err
		}
		switch {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 && string(e.text) != "[]" {
				return string(e.text), line, "", nil
			}
			if depth == 0 {
				e.text = e.text[:0]
			}
		}
	}
}

// rest reads the rest of a line, and returns its beginning.
func (e *elements) rest() (string, error) {
	text, _, err := input.ReadLine(e.in)
	e.line++
	if err == io.EOF {
		err = nil
	}
	return text, err
}

package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
)

// readResponse reads an answer's header as browsers do where package net/http is
// stricter: a line without a colon is passed over, and so is a transfer coding
// of "identity", which RFC 2616 section 3.6 had and RFC 9112 has not. What else
// the package refuses stays an error, since it may make two readers see two
// answers: lengths that contradict each other, bytes
// that no header may hold, and other transfer codings.
func readResponse(r *bufio.Reader) (*http.Response, error) {
	buffered, _ := r.Peek(r.Buffered())
	if isPlain(buffered) {
		return http.ReadResponse(r, getRequest)
	}
	var header []byte
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		last := !first && !long && len(bytes.TrimRight(line, "\r\n")) == 0
		if first || long || err != nil || !isPassedOver(line) {
			header = append(header, line...)
		}
		for long {
			line, err = r.ReadSlice('\n')
			long = errors.Is(err, bufio.ErrBufferFull)
			header = append(header, line...)
		}
		if err != nil || last {
			break // at an error, what r says next says it again
		}
	}
	return http.ReadResponse(bufio.NewReaderSize(io.MultiReader(bytes.NewReader(header), r), 4<<10), getRequest)
}

// isPlain says of what is there of an answer that it holds the whole header, and
// no line of that is passed over.
func isPlain(text []byte) bool {
	for first := true; ; first = false {
		line, rest, ok := bytes.Cut(text, []byte{'\n'})
		switch {
		case !ok:
			return false
		case first:
		case len(bytes.TrimRight(line, "\r")) == 0:
			return true
		case isPassedOver(line):
			return false
		}
		text = rest
	}
}

func isPassedOver(line []byte) bool {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 || line[0] == ' ' || line[0] == '\t' {
		return false // the end, or the rest of the line before
	}
	name, value, ok := bytes.Cut(line, []byte{':'})
	return !ok || bytes.EqualFold(name, []byte("Transfer-Encoding")) && bytes.EqualFold(bytes.TrimSpace(value), []byte("identity"))
}

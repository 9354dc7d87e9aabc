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
// of "identity", which RFC 2616 section 3.6 had and RFC 9112 has not. The package
// itself takes lines that end with LF alone, folded lines, a status without a
// reason, a space before a colon, one length said twice, and a length beside
// chunks, which win; an unfinished trailer is taken by [chunks].
//
// What it refuses besides stays an error, with these reasons:
//
//   - no status line, one of another protocol, or a status that is not three
//     digits: nothing says that what follows is a file;
//   - two lengths that differ, or one that is no number; a transfer coding but
//     chunked; a chunk whose size is no number: where the body ends is a guess,
//     two readers would see two files (RFC 9112 section 6.3), and half a rule is
//     another rule;
//   - no name before a colon, a control character in a name or a value, or a
//     first line that continues none: two readers may split the header at different
//     places, and see different headers.
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

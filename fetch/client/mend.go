package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
)

// readResponse reads an answer's header as leniently as browsers do. It skips a
// line without a colon and a transfer coding of "identity", which RFC 2616
// section 3.6 defined and RFC 9112 dropped. Package net/http itself accepts
// lines that end with LF alone, folded lines, a status without a reason, a
// space before a colon, a repeated equal length, and a length beside chunks,
// which win. [chunks] accepts an unfinished trailer.
//
// Everything else that net/http refuses stays an error:
//
//   - no status line, one of another protocol, or a status that is not three
//     digits: nothing shows that a file follows;
//   - two different lengths, or one that is not a number; a transfer coding
//     other than chunked; a chunk size that is not a number: the end of the body
//     is a guess, two readers would see two files (RFC 9112 section 6.3), and
//     half a rule is another rule;
//   - no name before a colon, a control character in a name or a value, or a
//     first line that continues another: two readers may split the header
//     differently and see different headers.
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
			break // r returns the error again on the next read
		}
	}
	return http.ReadResponse(bufio.NewReaderSize(io.MultiReader(bytes.NewReader(header), r), 4<<10), getRequest)
}

// isPlain reports whether text is a whole header with no line to skip.
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

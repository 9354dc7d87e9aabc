package client

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/fetch"
)

// Framing says where the body of an answer ends.
type Framing struct {
	Chunked bool
	Length  int64 // of a body that is not chunked; -1: it ends with the connection
}

// HasBody reports whether an answer with the status may have a body, whatever its header says.
func (h *Head) HasBody() bool { return h.Status >= 200 && h.Status != 204 && h.Status != 304 }

// Framing returns how the body is framed (RFC 9112, section 6.3). Chunks win over a
// length. Lengths that are equal are one, in a list or in several lines (RFC 9110,
// section 8.6), and so are chunked and chunked; identity, none and nothing are no
// transfer coding.
//
// An error means that the end of the body is a guess, where two readers would see
// two files, and half a rule is another rule: of two lengths that differ, of a
// length that is no number, of another transfer coding.
func (h *Head) Framing() (f Framing, err error) {
	f.Length = -1
	var lengths error
	for _, field := range h.Fields {
		switch string(field.Name) {
		case "transfer-encoding":
			for coding := range strings.SplitSeq(string(field.Value), ",") {
				switch coding = strings.Trim(coding, " \t"); strings.ToLower(coding) {
				case "chunked":
					f.Chunked = true
				case "", "identity", "none":
				default:
					return f, fmt.Errorf("header: transfer coding %q", fetch.Clip(coding))
				}
			}
		case "content-length":
			if lengths == nil {
				lengths = f.addLengths(string(field.Value))
			}
		}
	}
	if f.Chunked {
		f.Length, lengths = -1, nil
	}
	return f, lengths
}

func (f *Framing) addLengths(value string) error {
	any := false
	for length := range strings.SplitSeq(value, ",") {
		if length = strings.Trim(length, " \t"); length == "" {
			continue
		}
		any = true
		n, err := strconv.ParseUint(strings.TrimPrefix(length, "+"), 10, 62)
		switch {
		case err != nil:
			return fmt.Errorf("header: a content length of %q", fetch.Clip(length))
		case f.Length >= 0 && f.Length != int64(n):
			return fmt.Errorf("header: content lengths of %d and %d", f.Length, n)
		}
		f.Length = int64(n)
	}
	if !any {
		return fmt.Errorf("header: a content length of %q", "")
	}
	return nil
}

// IsChunk reports whether text begins with the line of a chunk: a length in
// hexadecimal, with or without an extension.
func IsChunk(text []byte) bool {
	line, _, ok := bytes.Cut(text[:min(len(text), MaxChunkLine)], []byte("\n"))
	size, _, _ := bytes.Cut(bytes.TrimRight(line, " \t\r"), []byte(";"))
	size = bytes.TrimSpace(size)
	return ok && len(size) > 0 && len(size) <= 8 && len(bytes.Trim(size, "0123456789abcdefABCDEF")) == 0
}

// MaxChunkLine bounds the line of a chunk for [IsChunk].
const MaxChunkLine = 256

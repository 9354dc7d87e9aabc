package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots/answer"
)

// brokenBody is a body that does not decode.
type brokenBody struct {
	class answer.ErrorClass
	err   error
}

func (b *brokenBody) Error() string { return "body: " + b.err.Error() }

func (b *brokenBody) Unwrap() error { return b.err }

// readBody reads the body as its server meant it. Common Crawl stores bodies
// decoded and says so. Other writers store bodies as they came, and some decode
// them and leave the headers unchanged.
func (w *reader) readBody(in *bufio.Reader) (body []byte, truncated bool, err error) {
	h := &w.answer
	if w.asStored = !h.isEncoded() && !h.isChunked(); w.asStored {
		truncated = w.left > int64(w.MaxBody)
		body = make([]byte, min(w.left, int64(w.MaxBody)))
		return body, truncated, w.readFull(in, body)
	}
	// An encoded body may be longer than its decoded form, but not by much.
	w.stored = slices.Grow(w.stored[:0], int(min(w.left, int64(4*w.MaxBody)+64<<10)))
	w.stored = w.stored[:min(w.left, int64(4*w.MaxBody)+64<<10)]
	rest := w.left > int64(len(w.stored))
	if err := w.readFull(in, w.stored); err != nil {
		return nil, false, err
	}
	body, truncated, err = h.decode(w.stored, w.MaxBody, int64(len(w.stored))+w.left)
	if err != nil && rest {
		return body, true, nil
	}
	return body, truncated, err
}

func (w *reader) readFull(in *bufio.Reader, b []byte) error {
	n, err := io.ReadFull(in, b)
	w.left -= int64(n)
	if err == io.ErrUnexpectedEOF {
		_, err = in.Peek(1) // distinguishes a cut file from the end of a member
	}
	return err
}

// decode decodes a body that is stored as it came, or its start; it has a size. If its chunks
// or the length that the server sent are still right, then the writer of the archive has not
// undone an encoding either.
func (h *answerHead) decode(stored []byte, limit int, size int64) (body []byte, truncated bool, err error) {
	asSent := h.Length == size
	if h.isChunked() && client.IsChunk(stored) {
		asSent = true
		if stored, err = io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(stored))); err != nil {
			class := answer.ErrorProtocol
			if errors.Is(err, io.ErrUnexpectedEOF) {
				class = answer.ErrorTruncatedBody
			}
			err = &brokenBody{class, err}
		}
	}
	if encoding := string(h.encoding); h.isEncoded() {
		d, e := client.Decode(stored, encoding, limit)
		switch {
		case e == nil:
			if asSent {
				h.plain = d.Plain
			}
			return d.Body, d.Truncated, err
		case errors.Is(e, io.ErrUnexpectedEOF) && !isUndone(encoding, stored):
			return d.Body, d.Truncated, &brokenBody{answer.ErrorTruncatedBody, e}
		case asSent || !isUndone(encoding, stored):
			return d.Body, d.Truncated, &brokenBody{answer.ErrorUndecodableBody, e}
		}
	}
	return append([]byte{}, stored[:min(len(stored), limit)]...), len(stored) > limit, err
}

// isUndone reports whether the first bytes of b show that it is not in the last of
// the encodings.
func isUndone(encodings string, b []byte) bool {
	last := encodings[strings.LastIndexByte(encodings, ',')+1:]
	switch strings.ToLower(strings.TrimSpace(last)) {
	case "gzip", "x-gzip":
		return !bytes.HasPrefix(b, []byte("\x1f\x8b"))
	case "zstd":
		return !bytes.HasPrefix(b, []byte(zstdMagic)) && !isSkippable(b)
	}
	return false // br and deflate have no magic number
}

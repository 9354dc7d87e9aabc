package fetch

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errEncoding means that a body is not in its Content-Encoding.
var errEncoding = errors.New("the body does not decode by its content encoding")

// zstdWindow bounds the memory that a zstd frame can make us allocate.
const zstdWindow = 8 << 20

// readBody reads the body and decodes its content encoding as [Decode] does. It
// decodes an encoded body only once it is complete: otherwise a few bytes that
// ask for a window of megabytes, on thousands of connections that then hang,
// would take all memory. An encoded body is at most slightly larger than its
// decoded form. If a connection fails after the bytes that decode to the limit,
// that is not a failure.
func (lease *Lease) readBody(resp *http.Response, paused func(time.Duration)) (body *text, truncated bool, err error) {
	limit := lease.client.config.MaxBody
	var r io.Reader = resp.Body
	if len(resp.TransferEncoding) > 0 {
		r = chunks{r}
	}
	expect := 4095
	if n := resp.ContentLength; n >= 0 && n < int64(limit) {
		expect = int(n)
	}
	coding, err := codingOf(strings.Join(resp.Header["Content-Encoding"], ","))
	resp.Header = nil // free it: it may be large, and the body may take long
	body = lease.text(min(expect, limit), paused)
	if err != nil || coding == "" {
		if err == nil {
			truncated, err = body.fill(r, limit)
		}
		return body, truncated, err
	}
	stored := newText(lease.client.spool, min(expect, limit), paused)
	defer stored.release()
	end := io.EOF
	more, err := stored.fill(r, limit+64<<10)
	switch {
	case more:
		end = errTooMuch
	case err != nil:
		end = err
	}
	truncated, err = decode(body, io.MultiReader(stored.reader(), failing{end}), coding, limit)
	return body, truncated, err
}

// Decode decodes a content encoding, given as the value of the header, and
// returns at most limit bytes. An unknown encoding leaves the bytes as they
// are. truncated reports whether the body was longer. expect is a guess at the
// size, for the initial memory. An error comes with the bytes decoded before
// it.
//
// The limit bounds memory and time whatever the size of the decoded body:
// Decode reads a bomb no further than the limit.
func Decode(r io.Reader, encoding string, expect, limit int) (body []byte, truncated bool, err error) {
	coding, err := codingOf(encoding)
	if err != nil {
		return []byte{}, false, err
	}
	t := newText(new(spool), min(expect, limit), nil)
	if coding == "" {
		truncated, err = t.fill(r, limit)
	} else {
		truncated, err = decode(t, r, coding, limit)
	}
	return t.tail, truncated, err
}

// decode fills a text with the decoded bytes of r.
func decode(t *text, r io.Reader, coding string, limit int) (truncated bool, err error) {
	b := bufio.NewReader(r)
	if _, err := b.Peek(1); err != nil { // an empty body is not encoded, and harmless
		return t.fill(b, limit)
	}
	windows <- struct{}{}
	defer func() { <-windows }()
	plain, closer, err := decoder(b, coding)
	if err != nil {
		return false, err
	}
	defer closer()
	return t.fill(plain, limit)
}

// codingOf returns the content encoding to decode: one that we ask for, or
// deflate, which some servers send unasked. It ignores other words (names of
// character sets, "identity"), which leave the bytes as they came. Two
// encodings on top of each other are an error: between them a few kilobytes can
// expand to a terabyte.
func codingOf(encodings string) (coding string, err error) {
	for _, word := range strings.Split(encodings, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		switch word {
		case "gzip", "x-gzip", "br", "zstd", "deflate":
			if coding != "" {
				return "", fmt.Errorf("%w: encoded twice", errEncoding)
			}
			coding = word
		}
	}
	return coding, nil
}

func decoder(b *bufio.Reader, coding string) (io.Reader, func(), error) {
	none := func() {}
	switch coding {
	case "br":
		return decoding{brotli.NewReader(b)}, none, nil
	case "zstd":
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, none, decodeError(err)
		}
		return decoding{z}, z.Close, nil
	case "deflate":
		// RFC 9110 section 8.4.1.2: deflate means zlib, but some servers send
		// raw deflate.
		if head, err := b.Peek(2); err == nil && head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			z, err := zlib.NewReader(b)
			if err != nil {
				return nil, none, decodeError(err)
			}
			return decoding{z}, func() { z.Close() }, nil
		}
		return decoding{flate.NewReader(b)}, none, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, none, decodeError(err)
	}
	z.Multistream(false)
	return decoding{&members{z: z, b: b}}, func() { z.Close() }, nil
}

// windows limits the decoders in use, each of which may have a window of
// megabytes.
var windows = make(chan struct{}, runtime.GOMAXPROCS(0))

// failing is a reader that returns its error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// members reads the members of a gzip file. It ignores other data after them,
// as gzip and browsers do.
type members struct {
	z     *gzip.Reader
	b     *bufio.Reader
	empty int // empty members in a row
}

// maxEmpty bounds empty members in a row, which could go on forever without a
// byte of output.
const maxEmpty = 1000

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 {
			m.empty = 0
		}
		if n > 0 || err != io.EOF {
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		if m.empty++; m.empty > maxEmpty {
			return 0, fmt.Errorf("more than %d empty gzip members in a row", maxEmpty)
		}
		if head, _ := m.b.Peek(2); len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
			return 0, io.EOF
		}
		if err := m.z.Reset(m.b); err != nil {
			return 0, err
		}
		m.z.Multistream(false)
	}
}

// decoding marks errors of the encoding, to distinguish them from errors of the
// connection.
type decoding struct{ r io.Reader }

func (d decoding) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && err != io.EOF {
		err = decodeError(err)
	}
	return n, err
}

func decodeError(err error) error {
	if errors.Is(err, errTooMuch) || errors.Is(err, io.ErrUnexpectedEOF) || isNetwork(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errEncoding, err)
}

// chunks reads a chunked body. The body is complete once its last chunk, of
// size 0, has arrived (RFC 9112 section 8); the line after it may be missing.
// The library has no named error for that.
type chunks struct{ r io.Reader }

func (c chunks) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && strings.HasSuffix(err.Error(), "unexpected EOF reading trailer") {
		err = io.EOF
	}
	return n, err
}

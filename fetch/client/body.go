package client

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/robocensus/robocensus/fetch"
)

// errEncoding means that a body is not in its Content-Encoding.
var errEncoding = errors.New("the body does not decode by its content encoding")

// IsUndecodable reports whether an error of [Decode] or [Remark] is one of the encoding, not of
// the connection.
func IsUndecodable(err error) bool { return errors.Is(err, errEncoding) }

// zstdWindow bounds the memory that a zstd frame can make us allocate.
const zstdWindow = 8 << 20

// readBody reads the body into a and decodes its content encodings as [Decode] does. It
// decodes an encoded body only once it is complete: otherwise a few bytes that
// ask for a window of megabytes, on thousands of connections that then hang,
// would take all memory. An encoded body is at most slightly larger than its
// decoded form. If a connection fails after the bytes that decode to the limit,
// that is not a failure. encodings is the value of the header. The remark is that of
// [Remark].
func (lease *Lease) readBody(resp *response, encodings string, paused func(time.Duration), a *received) (remark,
	err error) {
	limit := lease.maxBody()
	expect := 4095
	if n := resp.Length; n >= 0 && n < int64(limit) {
		expect = int(n)
	}
	isLean := lease.question != nil && lease.question.Read != nil
	if isLean {
		expect = min(expect, leanBytes-1)
	}
	codings, _ := codingsOf(encodings)
	a.body = lease.text(min(expect, limit), paused)
	a.body.isLean = isLean
	plain := ""
	if len(codings) == 0 {
		a.truncated, err = a.body.fill(resp.body, limit)
	} else {
		stored := newText(lease.client.spool, min(expect, limit), paused)
		stored.isLean = isLean
		defer stored.release()
		more, broken := stored.fill(resp.body, limit+encodedExcess)
		a.truncated, plain, err = decode(a.body, func() io.Reader { return stored.again(more, broken) }, codings, "", limit)
	}
	if err != nil {
		return nil, err
	}
	return Remark(encodings, plain, a.body.reader(), a.truncated)
}

// encodedExcess is more than what an encoding adds to the bytes that decode to
// the limit.
const encodedExcess = 64 << 10

// again returns a reader of a text that ends as its filling did.
func (t *text) again(more bool, err error) io.Reader {
	switch {
	case more:
		err = fetch.ErrTooMuch
	case err == nil:
		err = io.EOF
	}
	return io.MultiReader(t.reader(), failing{err})
}

// Decoded is a body without its content encodings.
type Decoded struct {
	Body      []byte
	Truncated bool
	// Plain is an encoding that is named and that the body is not in: it is text as it
	// is. It is "" if there is none.
	Plain string
}

// Decode decodes up to three content encodings, given as the value of the header,
// and returns at most limit bytes. It passes over an encoding that it does not
// know; see [Remark]. An empty body has no encoding. A body that is not in an encoding, and
// looks like text, is taken as it is: a server, or the writer of an archive, has left the
// header of another form of it. So is a body that is in an encoding once where the header
// repeats it. An error comes with the bytes decoded before it.
//
// The limit bounds memory and time whatever the size of the decoded body:
// Decode reads a bomb no further than the limit, at each encoding of several.
func Decode(stored []byte, encoding string, limit int) (d Decoded, err error) {
	codings, _ := codingsOf(encoding)
	t := newText(new(spool), min(4*len(stored), limit), nil)
	d.Truncated, d.Plain, err = decode(t, func() io.Reader { return bytes.NewReader(stored) }, codings, "", limit)
	d.Body = t.tail
	return d, err
}

// Remark judges a body after [Decode], of which it gets plain. If the value of the header names an
// encoding that Decode does not know (there are names of character sets, or "none"), a body that
// is text was taken as it is. Any other is an error, and so is text that is not UTF-8. A remark
// says what a reader of the file might not expect, such as a gzip file without an encoding, which
// crawlers do not unpack. truncated reports whether the body is cut.
func Remark(encoding, plain string, body io.Reader, truncated bool) (remark, err error) {
	b := readers.Get().(*bufio.Reader)
	b.Reset(body)
	defer func() { b.Reset(nil); readers.Put(b) }()
	if start, _ := b.Peek(len(gzipMagic)); string(start) == gzipMagic {
		remark = errors.New("body: it is a gzip file, which no content encoding says, and stays packed")
	}
	if plain != "" {
		remark = fetch.JoinRemarks(remark,
			fmt.Errorf("body: it is not in its content encoding %q; the body is text and taken as it is", plain))
	}
	_, unknown := codingsOf(encoding)
	if unknown == "" {
		return remark, nil
	}
	ok, empty, err := isText(b, truncated)
	switch {
	case err != nil || empty:
		return nil, err
	case ok:
		taken := fmt.Errorf("body: content encoding %q is unknown; the body is text and taken as it is",
			fetch.Clip(unknown))
		return fetch.JoinRemarks(remark, taken), nil
	}
	return nil, fmt.Errorf("%w: %q is unknown, and the body is not text", errEncoding, fetch.Clip(unknown))
}

const gzipMagic = "\x1f\x8b\x08"

// isText reports whether a body is UTF-8 without NUL. The last character of one
// that is cut may be incomplete.
func isText(b *bufio.Reader, cut bool) (ok, empty bool, err error) {
	for empty = true; ; empty = false {
		switch c, size, err := b.ReadRune(); {
		case err == io.EOF:
			return true, empty, nil
		case err != nil:
			return false, false, err
		case c == 0:
			return false, false, nil
		case c == utf8.RuneError && size == 1:
			b.UnreadRune()
			rest, _ := b.Peek(utf8.UTFMax)
			return cut && !utf8.FullRune(rest), false, nil
		}
	}
}

// maxCodings is the number of encodings on top of each other that are undone.
const maxCodings = 3

// decode fills a text with the decoded bytes of stored, which may be read again. Each
// encoding is undone before the next, so that one window is in use at a time, and to no
// more than what decodes to the limit: a few kilobytes encoded twice can expand to a
// terabyte. undone is the encoding that was undone before these. plain is that of [Decoded].
func decode(t *text, stored func() io.Reader, codings []string, undone string, limit int) (truncated bool,
	plain string, err error) {
	b := bufio.NewReader(stored())
	last := len(codings) - 1
	if _, err := b.Peek(1); err != nil || last < 0 { // an empty body is not encoded, and harmless
		truncated, err = t.fill(b, limit)
		return truncated, "", err
	}
	if last >= maxCodings {
		return false, "", fmt.Errorf("%w: more than %d on top of each other", errEncoding, maxCodings)
	}
	start, _ := b.Peek(textStart)
	mayBePlain := looksLikeText(start)
	inner, most := t, limit
	if last > 0 {
		inner, most = newText(t.spool, 4095, t.paused), limit+encodedExcess
		defer inner.release()
	}
	truncated, err = undo(inner, b, codings[last], most)
	switch {
	case mayBePlain && (IsUndecodable(err) || errors.Is(err, io.ErrUnexpectedEOF)): // a short text looks cut
		inner.release()
		truncated, plain, err = decode(t, stored, codings[:last], "", limit)
		if plain == "" && codings[last] != undone {
			plain = codings[last]
		}
		return truncated, plain, err
	case last == 0:
		return truncated, "", err
	}
	again := func() io.Reader { return inner.again(truncated, err) }
	return decode(t, again, codings[:last], codings[last], limit)
}

// textStart is the length of the start of a body that [looksLikeText] judges.
const textStart = 512

// looksLikeText reports whether the start of a body has no control characters, as no
// compressed data does. Text of any character set counts.
func looksLikeText(start []byte) bool {
	for _, c := range start {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return false
		}
	}
	return true
}

// undo fills a text with what b decodes to.
func undo(t *text, b *bufio.Reader, coding string, limit int) (truncated bool, err error) {
	windows <- struct{}{}
	defer func() { <-windows }()
	plain, closer, err := decoder(b, coding)
	if err != nil {
		return false, err
	}
	defer closer()
	return t.fill(plain, limit)
}

// codingsOf returns the content encodings to decode, in the order in which they
// were applied: those that we ask for, and deflate, which some servers send
// unasked. unknown is the first other word, as written; "identity" is none.
func codingsOf(encodings string) (codings []string, unknown string) {
	for written := range strings.SplitSeq(encodings, ",") {
		written = strings.TrimSpace(written)
		switch word := strings.ToLower(written); word {
		case "gzip", "x-gzip", "br", "zstd", "deflate":
			codings = append(codings, word)
		case "", "identity":
		default:
			unknown = cmp.Or(unknown, written)
		}
	}
	return codings, unknown
}

func decoder(b *bufio.Reader, coding string) (io.Reader, func(), error) {
	none := func() {}
	switch coding {
	case "br":
		return decoding{brotli.NewReader(b)}, none, nil
	case "zstd":
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow),
			zstd.WithDecoderLowmem(true))
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
	if start, _ := b.Peek(2); !strings.HasPrefix(gzipMagic, string(start)) {
		return nil, none, decodeError(gzip.ErrHeader) // which a short body would not show
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
	if errors.Is(err, fetch.ErrTooMuch) || errors.Is(err, errEncoding) || errors.Is(err, io.ErrUnexpectedEOF) ||
		fetch.IsNetwork(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errEncoding, err)
}

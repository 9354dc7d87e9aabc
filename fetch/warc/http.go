package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots/answer"
)

const (
	// maxStoredHeader bounds each header value kept.
	maxStoredHeader = 2 << 10
	// maxInterim bounds 1xx answers before the final one.
	maxInterim = 8
)

// answerHead holds the header of a stored HTTP answer. The values point into
// its text.
type answerHead struct {
	text    []byte
	version string
	status  int

	contentType, server, etag, lastModified, cacheControl, retryAfter, location, contentRange []byte

	encoding, transfer, length []byte // headers that describe the body as stored

	// Common Crawl stores the payload decoded and, if it is too long, cut. It puts
	// X-Crawler- before the names of the headers that then no longer describe it.
	undone, sent       []byte // Content-Encoding and Content-Length as the server sent them
	decoded, dechunked bool
}

// readAnswer reads the HTTP answer in the record's block into c. A fault of the
// answer is a fact about the capture; an error is a fault of the record.
func (w *reader) readAnswer(in *bufio.Reader, c *Capture) error {
	h := &w.answer
	ended, err := w.readHead(in)
	if err != nil {
		return err
	}
	if h.status == 0 {
		if c.Revisit == nil {
			c.Error, c.Err = answer.ErrorProtocol, errors.New("header: the stored answer is not HTTP/1 or HTTP/2")
		}
		return nil
	}
	c.Hops[0].Status, c.HTTPVersion, c.Headers = h.status, h.version, h.keep()
	declared, stored := parseLength(h.length), w.left
	if h.sent != nil {
		declared = parseLength(h.sent)
	}
	if declared >= 0 {
		c.PayloadLength = declared
	} else if c.Revisit == nil && ended && h.isAsSent() {
		c.PayloadLength = stored
	}
	if c.Hops[0].IsRedirect() {
		var to fetch.Origin
		var target string
		if to, target, c.Error, c.Err = fetch.Redirect(c.Hops[0].URL, string(h.location)); c.Err == nil {
			c.Location = to.String() + target
		}
	}
	if h.status < 200 || h.status > 299 || c.Revisit != nil || w.headOnly {
		page, err := w.errorPage(in, c) // the bodies of errors and redirects hold no rules
		c.Challenge = w.challenges.Find(h.status, h.values, page)
		return err
	}
	if !ended && w.left > 0 {
		c.Error, c.Err = answer.ErrorHeaderTooLarge, errLongHeader
		return nil
	}
	if c.Body, c.Truncated, err = w.readBody(in); err != nil {
		broken, ok := errors.AsType[*brokenBody](err)
		if !ok {
			return err
		}
		c.Error, c.Err = broken.class, broken
	}
	switch {
	case c.Cut == "time" || c.Cut == "disconnect":
		c.Truncated = true
		c.Error, c.Err = answer.ErrorTruncatedBody, fmt.Errorf("body: truncated by the archive: %s", c.Cut)
	case c.Cut != "":
		// The writer's own limit cut the body, or it gives no reason.
		c.Truncated = true
		if c.Error == answer.ErrorTruncatedBody {
			c.Error, c.Err = "", nil
		}
	case c.Error != "":
	case !ended:
		c.Error, c.Err = answer.ErrorTruncatedBody, errNoEnd
	case declared > stored && h.isAsSent() && h.sent != nil && stored > 0 && stored%(1<<20) == 0:
		c.Truncated = true // Common Crawl's own limit, which it did not always record
	case declared > stored && h.isAsSent() && len(c.Body) < w.limit:
		c.Error, c.Err = answer.ErrorTruncatedBody, fmt.Errorf("body: %d of %d bytes are stored", stored, declared)
	}
	if w.asStored && !c.Truncated && c.Error == "" {
		// Not for a chunked or encoded body: its digest may be of either form.
		c.Mismatch, c.Digest = compareDigest(c.PayloadDigest, c.Body)
	}
	if c.Error == "" {
		c.Challenge = w.challenges.Find(h.status, h.values, c.Body)
	}
	if h.status == http.StatusPartialContent && c.Error == "" {
		beyond, err := fetch.Partial(string(h.contentRange), c.Truncated || len(c.Body) == w.limit)
		if err != nil {
			c.Error, c.Err = answer.ErrorTruncatedBody, fmt.Errorf("body: %w", err)
		} else {
			c.Truncated = c.Truncated || beyond
		}
	}
	if c.Error == "" {
		c.Err, err = client.Unknown(string(h.sentEncoding()), bytes.NewReader(c.Body), c.Truncated)
		if err != nil {
			c.Error, c.Err = answer.ErrorProtocol, &brokenBody{answer.ErrorProtocol, err}
		}
	}
	return nil
}

// errorPage returns the beginning of the body of an error, decoded as far as possible, if
// it can show a wall. It keeps the body if it may be that of a revisit record.
func (w *reader) errorPage(in *bufio.Reader, c *Capture) ([]byte, error) {
	h := &w.answer
	if c.Revisit != nil || w.headOnly {
		return nil, nil
	}
	wantsPage, size := w.challenges.WantsBody(h.status, h.values), int64(0)
	if wantsPage {
		size = answer.ChallengeBytes
	}
	keeps := w.errorBodies && h.status >= 400
	if keeps {
		size = max(size, int64(4*w.limit)+64<<10)
	}
	stored := make([]byte, min(w.left, size))
	if err := w.readFull(in, stored); err != nil {
		return nil, err
	}
	if keeps {
		body, truncated, err := h.decode(stored, w.limit)
		if err == nil {
			c.Body, c.Truncated = body, truncated || w.left > 0
		}
	}
	if !wantsPage {
		return nil, nil
	}
	page, _, _ := h.decode(stored[:min(len(stored), answer.ChallengeBytes)], answer.ChallengeBytes)
	return page, nil
}

// values returns the values of a header.
func (h *answerHead) values(name string) (values []string) {
	_, rest, _ := bytes.Cut(h.text, []byte("\n"))
	for len(rest) > 0 {
		var key, value []byte
		if key, value, rest = cutField(rest); strings.EqualFold(string(key), name) {
			values = append(values, string(value))
		}
	}
	return values
}

// readHead reads the header of the final answer. ended reports whether a blank
// line follows it. The status is 0 if there is no answer.
func (w *reader) readHead(in *bufio.Reader) (ended bool, err error) {
	h := &w.answer
	h.status = 0
	for range maxInterim + 1 {
		start, err := in.Peek(int(min(w.left, int64(len(httpMagic)))))
		if err != nil || string(start) != httpMagic && string(start) != ncsaMagic {
			return ended, err
		}
		var b []byte
		if b, ended, err = peekHead(in, int(min(w.left, maxRecordHead))); err != nil {
			return false, err
		}
		h.parse(b)
		in.Discard(len(b))
		w.left -= int64(len(b))
		if h.status < 100 || h.status > 199 || h.status == 101 {
			break
		}
	}
	return ended, nil
}

// NCSA's server 1.5 began answers without a version: "HTTP 200 Document follows".
const httpMagic, ncsaMagic = "HTTP/", "HTTP "

func (h *answerHead) parse(text []byte) {
	*h = answerHead{text: append(h.text[:0], text...)}
	line, rest, _ := bytes.Cut(h.text, []byte("\n"))
	h.parseStatus(line)
	for len(rest) > 0 {
		var name, value []byte
		name, value, rest = cutField(rest)
		var to *[]byte
		switch string(name) {
		case "content-type":
			to = &h.contentType
		case "server":
			to = &h.server
		case "etag":
			to = &h.etag
		case "last-modified":
			to = &h.lastModified
		case "cache-control":
			to = &h.cacheControl
		case "retry-after":
			to = &h.retryAfter
		case "location":
			to = &h.location
		case "content-range":
			to = &h.contentRange
		case "content-length":
			to = &h.length
		case "content-encoding":
			to = &h.encoding
		case "transfer-encoding":
			to = &h.transfer
		case "x-crawler-content-encoding":
			to, h.decoded = &h.undone, true
		case "x-crawler-content-length":
			to = &h.sent
		case "x-crawler-transfer-encoding":
			h.dechunked = true
			continue
		default:
			continue
		}
		if value == nil {
			value = line[:0] // present but empty
		}
		switch {
		case *to == nil:
			*to = value
		case (to == &h.cacheControl || to == &h.encoding || to == &h.undone) && len(*to) < maxStoredHeader: // a list, RFC 9110 section 5.3
			*to = slices.Concat(*to, []byte(", "), value)
		} // of several others the first counts, as in a client
	}
}

// parseStatus parses "HTTP/1.1 200 OK", with or without the reason, and "HTTP/2
// 200", which some writers store for protocols without such a line.
func (h *answerHead) parseStatus(line []byte) {
	version, rest, _ := bytes.Cut(line[len(httpMagic)-1:], []byte(" "))
	code := bytes.TrimLeft(rest, " ")
	if len(code) > 3 && (code[3] == ' ' || code[3] == '\r') {
		code = code[:3]
	}
	status := parseLength(code)
	if len(code) != 3 || status < 100 || len(version) > 4 {
		return
	}
	switch string(version) {
	case "/1.1":
		h.version = "1.1"
	case "/1.0":
		h.version = "1.0"
	case "/2", "/2.0":
		h.version = "2"
	case "/3", "/3.0":
		h.version = "3"
	case "": // NCSA
	default:
		return
	}
	h.status = int(status)
}

func (h *answerHead) keep() fetch.Headers {
	one := func(value []byte) *string {
		if value == nil {
			return nil
		}
		s := string(value[:min(len(value), maxStoredHeader)])
		return &s
	}
	return fetch.Headers{
		ContentType: one(h.contentType), ContentEncoding: one(h.sentEncoding()), Server: one(h.server), ETag: one(h.etag),
		LastModified: one(h.lastModified), CacheControl: one(h.cacheControl), RetryAfter: one(h.retryAfter),
	}
}

// isChunked reports whether the last coding is chunked, as a client does: some
// servers name it twice.
func (h *answerHead) isChunked() bool {
	last := h.transfer[bytes.LastIndexByte(h.transfer, ',')+1:]
	return !h.dechunked && bytes.EqualFold(bytes.TrimSpace(last), []byte("chunked"))
}

// sentEncoding returns the Content-Encoding as the server sent it.
func (h *answerHead) sentEncoding() []byte {
	if h.encoding == nil {
		return h.undone
	}
	return h.encoding
}

func (h *answerHead) isEncoded() bool { return !h.decoded && len(h.encoding) > 0 }

// isAsSent reports whether the body is stored as the server sent it, without
// coding.
func (h *answerHead) isAsSent() bool {
	return !h.decoded && !h.dechunked && !h.isEncoded() && !h.isChunked()
}

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
		truncated = w.left > int64(w.limit)
		body = make([]byte, min(w.left, int64(w.limit)))
		return body, truncated, w.readFull(in, body)
	}
	// An encoded body may be longer than its decoded form, but not by much.
	w.stored = slices.Grow(w.stored[:0], int(min(w.left, int64(4*w.limit)+64<<10)))
	w.stored = w.stored[:min(w.left, int64(4*w.limit)+64<<10)]
	rest := w.left > int64(len(w.stored))
	if err := w.readFull(in, w.stored); err != nil {
		return nil, false, err
	}
	body, truncated, err = h.decode(w.stored, w.limit)
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

// decode decodes a body that is stored as it came.
func (h *answerHead) decode(stored []byte, limit int) (body []byte, truncated bool, err error) {
	if h.isChunked() && looksChunked(stored) {
		if stored, err = io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(stored))); err != nil {
			err = broken(err)
		}
	}
	if encoding := string(h.encoding); h.isEncoded() && !isUndone(encoding, stored) {
		decoded, more, e := client.Decode(bytes.NewReader(stored), encoding, 4*len(stored), limit)
		if e == nil {
			return decoded, more, err
		}
		if !isText(stored) {
			return decoded, more, broken(e)
		}
	}
	return append([]byte{}, stored[:min(len(stored), limit)]...), len(stored) > limit, err
}

func broken(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &brokenBody{answer.ErrorTruncatedBody, err}
	}
	return &brokenBody{answer.ErrorProtocol, err}
}

// looksChunked reports whether the first line is a length in hexadecimal, with
// or without an extension.
func looksChunked(b []byte) bool {
	line, _, ok := bytes.Cut(b[:min(len(b), 256)], []byte("\n"))
	size, _, _ := bytes.Cut(bytes.TrimRight(line, " \t\r"), []byte(";"))
	size = bytes.TrimSpace(size)
	return ok && len(size) > 0 && len(size) <= 8 && len(bytes.Trim(size, "0123456789abcdefABCDEF")) == 0
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

// isText reports whether b begins without control characters, as no compressed
// data does.
func isText(b []byte) bool {
	for _, c := range b[:min(len(b), 512)] {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			return false
		}
	}
	return true
}

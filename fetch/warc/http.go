package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

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
	client.Head
	text []byte
	client.Framing
	framing error // why the end of the body is a guess

	contentType, server, etag, lastModified, cacheControl, retryAfter, location, contentRange []byte

	encoding []byte // of the body as stored

	// Common Crawl stores the payload decoded and, if it is too long, cut. It puts
	// X-Crawler- before the names of the headers that then no longer describe it.
	undone, sent       []byte // Content-Encoding and Content-Length as the server sent them
	decoded, dechunked bool

	plain string // see [client.Decoded]; "" if the writer of the archive may have undone the encoding
}

// readAnswer reads the HTTP answer in the record's block into c. A fault of the
// answer is a fact about the capture; an error is a fault of the record.
func (w *reader) readAnswer(in *bufio.Reader, c *Capture) error {
	h := &w.answer
	ended, err := w.readHead(in)
	if err != nil {
		return err
	}
	if w.answers != nil {
		return w.send(in, c, ended)
	}
	if h.Status == 0 {
		if c.Revisit == nil {
			c.Error, c.Err = answer.ErrorProtocol, errors.New("header: the stored answer is not HTTP/1 or HTTP/2")
		}
		return nil
	}
	c.Hops[0].Status, c.HTTPVersion, c.Headers = h.Status, h.Version, h.keep()
	c.CDN = w.CDNs.Find(h.Values)
	c.Err = h.Remark()
	declared, stored := h.Length, w.left
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
		if to, target, c.Error, err = fetch.Redirect(c.Hops[0].URL, string(h.location)); err == nil {
			c.Location = to.String() + target
		} else {
			c.Err = err
		}
	}
	if h.Status < 200 || h.Status > 299 || c.Revisit != nil || w.headOnly {
		page, err := w.errorPage(in, c) // the bodies of errors and redirects hold no rules
		c.Challenge = w.Challenges.Find(h.Status, h.Values, page)
		return err
	}
	if !ended && w.left > 0 {
		c.Error, c.Err = answer.ErrorHeaderTooLarge, errLongHeader
		return nil
	}
	if !h.HasBody() {
		c.Body = []byte{}
		return nil
	}
	if c.Body, c.Truncated, err = w.readBody(in); err != nil {
		broken, ok := errors.AsType[*brokenBody](err)
		if !ok {
			return err
		}
		c.Error, c.Err = broken.class, broken
	}
	if h.framing != nil && h.sent == nil && !h.decoded && !h.dechunked {
		c.Error, c.Err = answer.ErrorProtocol, h.framing
	}
	switch {
	case brokeOff(c.Cut) && len(c.Body) < w.MaxBody:
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
	case declared > stored && h.isAsSent() && len(c.Body) < w.MaxBody:
		c.Error, c.Err = answer.ErrorTruncatedBody, fmt.Errorf("body: %d of %d bytes are stored", stored, declared)
	}
	if (w.asStored || c.PayloadDigest == "") && !c.Truncated && c.Error == "" {
		// Not with that of a chunked or encoded body, which may be of either form.
		c.Mismatch, c.Digest = compareDigest(c.PayloadDigest, c.Body)
	}
	if c.Error == "" {
		c.Challenge = w.Challenges.Find(h.Status, h.Values, c.Body)
	}
	if h.Status == http.StatusPartialContent && c.Error == "" {
		beyond, err := fetch.Partial(string(h.contentRange), c.Truncated || len(c.Body) == w.MaxBody)
		if err != nil {
			c.Error, c.Err = answer.ErrorTruncatedBody, fmt.Errorf("body: %w", err)
		} else {
			c.Truncated = c.Truncated || beyond
		}
	}
	if c.Error == "" {
		remark, err := client.Remark(string(h.sentEncoding()), h.plain, bytes.NewReader(c.Body), c.Truncated)
		c.Err = fetch.JoinRemarks(c.Err, remark)
		if err != nil {
			c.Error, c.Err = answer.ErrorUndecodableBody, &brokenBody{answer.ErrorUndecodableBody, err}
		}
	}
	return nil
}

// send gives the answer in the record's block as its server sent it.
func (w *reader) send(in *bufio.Reader, c *Capture, ended bool) error {
	h, stored := &w.answer, &blockReader{w, in, nil}
	c.Hops[0].Status = h.Status
	sent := io.Reader(stored)
	switch {
	case h.Status != 0 && !ended:
		sent = io.MultiReader(bytes.NewReader(h.text), stored)
	case h.Status != 0:
		sent = io.MultiReader(bytes.NewReader(w.sentHead(in, c.Cut)), stored)
	}
	w.answers(c, sent)
	return stored.err
}

// sentHead returns the header of an answer with the framing and the encoding of its body as
// it is stored. A body that broke off has its length, or a greater one.
func (w *reader) sentHead(in *bufio.Reader, cut string) []byte {
	h, length := &w.answer, w.left
	out := fmt.Appendf(nil, "HTTP/1.1 %d\r\n", h.Status)
	start, _ := in.Peek(int(min(w.left, client.MaxChunkLine)))
	isChunked, declared := h.isChunked() && client.IsChunk(start), h.Length
	if h.sent != nil && !(w.left > 0 && w.left%(1<<20) == 0) { // Common Crawl's own limit
		declared = parseLength(h.sent)
	}
	switch {
	case brokeOff(cut):
		length++
	case cut == "" && declared > length && h.isAsSent():
		length = declared
	}
	isFaulty := h.framing != nil && h.sent == nil && !h.decoded && !h.dechunked
	isPlain := h.isEncoded() && !isChunked && h.Length != w.left && isUndone(string(h.encoding), start)
	for _, f := range h.Fields {
		switch name := string(f.Name); {
		case (name == "content-length" || name == "transfer-encoding") && !isFaulty, name == "content-encoding" && isPlain:
		default:
			out = fmt.Appendf(out, "%s: %s\r\n", name, f.Value)
		}
	}
	switch {
	case isFaulty:
		return append(out, "\r\n"...)
	case isChunked:
		return append(out, "transfer-encoding: chunked\r\n\r\n"...)
	}
	return fmt.Appendf(out, "content-length: %d\r\n\r\n", length)
}

// errorPage returns the beginning of the body of an error, decoded as far as possible, if
// it can show a wall. It keeps the body if it may be that of a revisit record.
func (w *reader) errorPage(in *bufio.Reader, c *Capture) ([]byte, error) {
	h := &w.answer
	if c.Revisit != nil || w.headOnly {
		return nil, nil
	}
	wantsPage, size := w.Challenges.WantsBody(h.Status, h.Values), int64(0)
	if wantsPage {
		size = answer.ChallengeBytes
	}
	keeps := w.ErrorBodies && h.Status >= 300 && (h.Status >= 400 || len(h.location) == 0)
	if keeps && !h.HasBody() {
		c.Body = []byte{}
		return nil, nil
	}
	if keeps {
		size = max(size, int64(4*w.MaxBody)+64<<10)
	}
	stored := make([]byte, min(w.left, size))
	if err := w.readFull(in, stored); err != nil {
		return nil, err
	}
	whole := int64(len(stored)) + w.left
	if keeps {
		body, truncated, err := h.decode(stored, w.MaxBody, whole)
		if err == nil {
			c.Body, c.Truncated = body, truncated || w.left > 0
		}
	}
	if !wantsPage {
		return nil, nil
	}
	page, _, _ := h.decode(stored[:min(len(stored), answer.ChallengeBytes)], answer.ChallengeBytes, whole)
	return page, nil
}

// readHead reads the header of the final answer. ended reports whether a blank
// line follows it. The status is 0 if there is no answer.
func (w *reader) readHead(in *bufio.Reader) (ended bool, err error) {
	h := &w.answer
	h.Status = 0
	for range maxInterim + 1 {
		start, err := in.Peek(int(min(w.left, int64(len(client.HeadMagic)+1))))
		if err != nil || !client.IsAnswer(start) {
			return ended, err
		}
		var b []byte
		if b, ended, err = peekHead(in, int(min(w.left, maxRecordHead))); err != nil {
			return false, err
		}
		h.parse(b)
		in.Discard(len(b))
		w.left -= int64(len(b))
		if h.Status < 100 || h.Status > 199 || h.Status == 101 {
			break
		}
	}
	return ended, nil
}

func (h *answerHead) parse(text []byte) {
	*h = answerHead{Head: h.Head, text: append(h.text[:0], text...)}
	h.Head.Parse(h.text)
	h.Framing, h.framing = h.Head.Framing()
	for _, f := range h.Fields {
		var to *[]byte
		switch string(f.Name) {
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
		case "content-encoding":
			to = &h.encoding
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
		switch {
		case *to == nil:
			*to = f.Value
		// a list, RFC 9110 section 5.3
		case (to == &h.cacheControl || to == &h.encoding || to == &h.undone) && len(*to) < maxStoredHeader:
			*to = slices.Concat(*to, []byte(", "), f.Value)
		} // of several others the first counts, as in a client
	}
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

func (h *answerHead) isChunked() bool { return h.Chunked && !h.dechunked }

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

package warc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// fetched collects the records of a fetch that [Evidence] has written.
type fetched struct {
	id       string // of its metadata record
	block    evidenced
	bodies   [][]byte   // those that were read, nil for the others
	revisits []*Revisit // those that stand in the place of a body

	// Of the record of the first body, which is that of the capture if it has one.
	bodyID, bodyDigest string
	bodyDate           time.Time

	// Where the records are, as in [Capture].
	offset, length int64
	shared         bool
}

// grow notes that the record which ends here is one of the fetch.
func (f *fetched) grow(w *reader) {
	f.shared = f.shared || w.shared
	if f.length = w.offset() - f.offset; f.shared {
		f.length = 0
	}
}

var (
	errFacts    = errors.New("the facts of the capture are not those of a fetch")
	errNoAnswer = errors.New("the record with the body of the capture is missing or damaged")
)

// ofFetch reads a record that belongs to a fetch, or begins one. ok is false for others.
func (w *reader) ofFetch(in *bufio.Reader) (ok bool, err error) {
	h := &w.head
	kind := string(h.kind)
	mayBegin := kind == "metadata" && string(h.contentType) == evidenceType && len(h.id) > 0
	if w.fetched != nil && (mayBegin || !w.fetched.has(h)) {
		w.ended, w.fetched = w.fetched, nil
	}
	switch {
	case kind == "warcinfo":
		block, err := w.block(in, maxRecordHead)
		w.ours = bytes.Contains(block, []byte(ourSoftware))
		return true, err
	case mayBegin:
		b, err := in.Peek(int(min(w.left, int64(len(evidenceMagic)))))
		if err != nil || string(b) != evidenceMagic {
			return false, err
		}
		return true, w.readFacts(in)
	case w.fetched != nil:
		return true, w.readPart(in)
	}
	// A record of a fetch whose facts are damaged is not a capture of its own.
	return w.ours && len(h.concurrent) > 0, nil
}

// has reports whether a record is one of the fetch.
func (f *fetched) has(h *recordHead) bool {
	return h.isConcurrentTo(f.id) || f.exchangeOf(h) != nil
}

// exchangeOf returns the exchange whose request or answer a record has, nil for none. Tools
// that deduplicate write a revisit record in place of an answer; some give it another ID,
// so that its URL and its date are all that it has of the answer.
func (f *fetched) exchangeOf(h *recordHead) (x *exchanged) {
	date, within, isDate := parseDate(h.date)
	for i := range f.block.Exchanges {
		other := &f.block.Exchanges[i]
		if id := string(h.id); id != "" && (id == other.Request || id == other.Response) {
			return other
		}
		if x == nil && !other.found && isDate && string(h.uri) == other.URL && !date.After(other.Date) &&
			other.Date.Before(date.Add(within)) {
			x = other
		}
	}
	return x
}

// ourSoftware begins the name of the software in a warcinfo record that is ours.
const ourSoftware = "software: robocensus"

// Software names the writer of a file for [Evidence.Info].
func Software(version string) Field { return Field{"software", "robocensus " + version} }

// block reads the block of the record, or its first bytes.
func (w *reader) block(in *bufio.Reader, most int64) ([]byte, error) {
	b := make([]byte, min(w.left, most))
	return b, w.readFull(in, b)
}

// readFacts reads the metadata record of a fetch.
func (w *reader) readFacts(in *bufio.Reader) error {
	if w.left > maxEvidence {
		return errFacts
	}
	block, err := w.block(in, maxEvidence)
	if err != nil {
		return err
	}
	f := &fetched{id: string(w.head.id), offset: w.start}
	if err := json.Unmarshal(block, &f.block); err != nil || f.block.Version != evidenceVersion ||
		len(f.block.Bodies) > maxBodies || f.block.MaxBody < 0 || f.block.MaxBody > maxMaxBody ||
		slices.ContainsFunc(f.block.Exchanges, func(x exchanged) bool { return x.MaxBody < 0 || x.MaxBody > maxMaxBody }) {
		return errFacts
	}
	f.bodies, f.revisits = make([][]byte, len(f.block.Bodies)), make([]*Revisit, len(f.block.Bodies))
	w.fetched = f
	return nil
}

// Bounds of what facts may ask for.
const (
	maxBodies  = 64 + 2*fetch.MaxFurther
	maxMaxBody = 64 << 20
	maxReading = 64 << 20
)

// readPart reads another record of the fetch: its block is a body, or of no interest.
func (w *reader) readPart(in *bufio.Reader) error {
	f, h, id := w.fetched, &w.head, string(w.head.id)
	x := f.exchangeOf(h)
	if x != nil && id != x.Request && string(h.kind) != "request" {
		x.found, id = true, x.Response
	}
	i := slices.Index(f.block.Bodies, id)
	if i < 0 || f.bodies[i] != nil {
		return nil
	}
	if i == 0 {
		f.bodyID, f.bodyDigest = string(h.id), string(h.digest)
		f.bodyDate, _, _ = parseDate(h.date)
	}
	if f.revisits[i] = h.revisit(); f.revisits[i] != nil {
		return nil
	}
	stored := &blockReader{w, in, nil}
	var body []byte
	var err error
	// The bytes of an answer over HTTP are read as they were when they came, whatever the
	// record is called.
	if x != nil && !x.overFTP() {
		most := f.block.MaxBody
		if x.Further > 0 {
			most = x.MaxBody
		}
		body, err = client.Replay(stored, most)
	} else {
		most := f.block.MaxBody
		if string(h.contentType) == readingType {
			most = maxReading
		}
		body, err = io.ReadAll(io.LimitReader(stored, int64(most)))
	}
	if stored.err != nil {
		return stored.err // of the record, not of the answer in it
	}
	if err == nil {
		f.bodies[i] = body
	}
	return nil
}

// blockReader reads the block of the record and keeps the error of the file.
type blockReader struct {
	w   *reader
	in  *bufio.Reader
	err error
}

func (b *blockReader) Read(p []byte) (int, error) {
	if b.w.left == 0 {
		return 0, io.EOF
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.w.left)])
	b.w.left -= int64(n)
	if err != nil && b.w.left > 0 {
		b.err = err
		if err == io.EOF {
			b.err = io.ErrUnexpectedEOF
		}
	}
	return n, err
}

// deliver emits the capture of a fetch whose records have ended.
func (w *reader) deliver(f *fetched) error {
	if f == nil {
		return nil
	}
	c, err := w.assemble(f)
	if err != nil {
		w.counts.Damaged++
		return w.damaged(f.offset, err.Error())
	}
	w.counts.Captures++
	return w.emit(c)
}

// assemble makes the capture of a fetch.
func (w *reader) assemble(f *fetched) (*Capture, error) {
	i, missing := 0, false
	made, err := fetch.Assemble(f.block.Facts, func(bytes int) (body []byte, unstored bool) {
		if i < len(f.bodies) {
			body, unstored = f.bodies[i], f.revisits[i] != nil
		}
		i++
		missing = missing || body == nil && !unstored
		if len(body) != bytes {
			body = nil
		}
		return body, unstored
	})
	switch {
	case missing:
		return nil, errNoAnswer
	case err != nil || !isFetch(made):
		return nil, errFacts
	}
	c := &Capture{Capture: *made, OfFetch: true, PayloadLength: -1, File: w.name, Offset: f.offset, Length: f.length}
	if c.Unstored {
		c.Revisit = f.revisits[0]
	}
	if c.Body != nil || c.Unstored { // as other records may refer to it
		c.ID, c.PayloadDigest, c.Within = f.bodyID, f.bodyDigest, max(0, f.bodyDate.Sub(c.Start))+time.Microsecond
	}
	if c.Body != nil && f.block.Digest != "" {
		c.Mismatch, c.Digest = compareDigest("sha1:"+f.block.Digest, c.Body)
	}
	if c.Remembered {
		c.Remembered, c.Times = false, fetch.Times{} // those of an earlier run
	}
	if len(c.Body) > w.MaxBody {
		c.Body, c.Truncated, c.Digest = c.Body[:w.MaxBody], true, ""
	}
	for i := range c.Also {
		if other := c.Also[i].Capture; len(other.Body) > w.MaxBody {
			other.Body, other.Truncated = other.Body[:w.MaxBody], true
		}
	}
	if c.Copy != nil && len(c.Copy.Body) > w.MaxBody {
		c.Copy.Body, c.Copy.Truncated = c.Copy.Body[:w.MaxBody], true
	}
	return c, nil
}

// isFetch reports whether facts can be those of a fetch. Anybody may write a file.
func isFetch(c *fetch.Capture) bool {
	class := func(e answer.ErrorClass) bool { return e == "" || isClass(e) }
	o, target, err := fetch.Parse(c.Origin.RobotsURL(), "")
	ok := err == nil && o == c.Origin && target == "/robots.txt" && len(c.Hops) > 0 && len(c.Hops) <= maxHops &&
		c.Hops[0].URL == c.Origin.RobotsURL() &&
		len(c.Also) <= fetch.MaxIdentities && (c.Challenge == "" || slices.Contains(answer.Vendors, c.Challenge)) &&
		(c.CDN == "" || fetch.IsCDN(c.CDN)) && class(c.Error) && class(c.Fallback) && c.Attempts > 0 &&
		c.Attempts <= maxAttempts && isStatus(c.Probe.Front) && isStatus(c.Probe.Missing) &&
		(c.HTTPVersion == "" || client.IsVersion(c.HTTPVersion)) && slices.Contains(tlsVersions, c.TLSVersion) &&
		(c.Cut == nil || *c.Cut >= 0) && (c.Copy == nil || c.Memory != nil)
	for _, h := range c.Hops {
		ok = ok && isStatus(h.Status) && len(h.URL) <= maxHopURL
	}
	for _, v := range c.Headers.Values() {
		ok = ok && (v == nil || len(*v) <= maxStoredHeader)
	}
	for _, d := range []*time.Duration{c.Times.DNS, c.Times.Connect, c.Times.TLS, c.Times.FirstByte, c.Times.Total} {
		ok = ok && (d == nil || *d >= 0)
	}
	ok = ok && (c.Front == nil || isFront(c.Front))
	ok = ok && len(c.Further) <= fetch.MaxFurther &&
		!slices.ContainsFunc(c.Further, func(f *fetch.Further) bool { return !isFurther(f) })
	names := make(map[string]bool)
	for _, also := range c.Also {
		ok = ok && also.Identity.Validate() == nil && !names[also.Identity.Name] && isFetch(also.Capture)
		names[also.Identity.Name] = true
		if p := also.Price; p != nil {
			ok = ok && slices.Contains(consent.PriceHeaders, p.Header) && len(p.Text) <= maxStoredHeader
		}
	}
	if c.Memory != nil {
		ok = ok && len(c.Memory.Seen) <= answer.MaxSeen
		for _, s := range c.Memory.Seen {
			ok = ok && slices.Contains(answer.Classes, s.Kind.Class) && s.Kind.Redirects >= 0 && s.Kind.Redirects < maxHops
		}
	}
	return ok
}

// isFront reports whether facts can be those of a front page.
func isFront(f *fetch.Front) bool {
	n := len(f.Hops)
	isShut := f.Outcome == usage.PageUnread || f.Outcome == usage.PageDisallowed || f.Outcome == usage.PageSpared
	ok := slices.Contains(usage.PageOutcomes, f.Outcome) && f.Outcome != usage.PageUncaptured && n <= maxHops &&
		(n == 0 && isShut || n > 0 && (!isShut || f.Hops[n-1].IsRedirect())) &&
		len(f.Header) <= maxFrontLines &&
		(f.Outcome == usage.PageFailed) == (f.Error != "") && (f.Error == "" || isClass(f.Error)) &&
		(f.Outcome == usage.PageRead || f.Header == nil)
	for _, h := range f.Hops {
		ok = ok && isStatus(h.Status) && len(h.URL) <= maxHopURL
	}
	for _, h := range f.Header {
		ok = ok && slices.Contains(usage.PageHeaders, h.Name) && (h.Value == nil || len(*h.Value) <= maxStoredHeader)
	}
	return ok
}

// isFurther reports whether facts can be those of a further request.
func isFurther(f *fetch.Further) bool {
	ok := slices.Contains(fetch.Kinds, f.Kind) &&
		(slices.Contains(usage.PageOutcomes, f.Outcome) || slices.Contains(usage.UnaskedOutcomes, f.Outcome)) &&
		len(f.Hops) <= maxHops && len(f.Header) <= maxFrontLines &&
		len(f.Name) <= maxStoredHeader && len(f.URL) <= maxHopURL && (f.Outcome == usage.PageFailed) == (f.Error != "") &&
		(f.Error == "" || isClass(f.Error)) &&
		(f.Challenge == "" || slices.Contains(answer.Vendors, f.Challenge)) &&
		(f.Outcome != usage.PageRead || len(f.Hops) > 0) &&
		(f.Body == nil || f.Outcome == usage.PageRead || f.Outcome == usage.PageChallenge ||
			f.Status() == http.StatusPaymentRequired) &&
		(f.Identity == nil || f.Identity.Validate() == nil)
	for _, h := range f.Hops {
		ok = ok && isStatus(h.Status) && len(h.URL) <= maxHopURL
	}
	for _, h := range f.Header {
		ok = ok && len(h.Name) <= maxStoredHeader && (h.Value == nil || len(*h.Value) <= maxStoredHeader)
	}
	return ok
}

func isStatus(s int) bool { return s >= 0 && s <= 999 }

// isClass reports whether a failure is one of a fetch.
func isClass(e answer.ErrorClass) bool {
	return slices.Contains(answer.ErrorClasses, e) && e != answer.ErrorCanceled && e != answer.ErrorServerError &&
		e != answer.ErrorUnexpectedStatus
}

// Bounds of a fetch, above those of any run.
const (
	maxHops       = 1000
	maxAttempts   = 1 << 20
	maxHopURL     = 2<<10 + 3
	maxFrontLines = 64
)

var tlsVersions = []string{"", "1.0", "1.1", "1.2", "1.3"}

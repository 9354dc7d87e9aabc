package warc

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
)

// maxRecordHead bounds the header of a record, and the HTTP header inside it.
const maxRecordHead = 64 << 10

// recordHead holds the fields of a record's header that matter here. They point
// into its text.
type recordHead struct {
	text   []byte
	length int64 // -1: invalid
	joined bool  // the text holds two headers: the end of the first is missing

	kind, id, uri, date, address, truncated, digest []byte
	contentType                                     []byte
	concurrent                                      [][]byte
	profile, refersTo, refersToURI, refersToDate    []byte
}

func (h *recordHead) parse(text []byte) {
	*h = recordHead{text: append(h.text[:0], text...), length: -1, concurrent: h.concurrent[:0]}
	_, rest, _ := bytes.Cut(h.text, []byte("\n"))
	isSegment := false
	for len(rest) > 0 {
		var name, value []byte
		name, value, rest = client.CutField(rest)
		switch string(name) {
		case "warc-type":
			h.joined = h.kind != nil
			h.kind = value
		case "warc-record-id":
			h.id = unbracket(value)
		case "warc-concurrent-to":
			if len(h.concurrent) < maxConcurrent {
				h.concurrent = append(h.concurrent, unbracket(value))
			}
		case "content-type":
			h.contentType = value
		case "content-length":
			h.length = parseLength(value)
		case "warc-target-uri":
			h.uri = unbracket(value)
		case "warc-date":
			h.date = value
		case "warc-ip-address":
			h.address = value
		case "warc-truncated":
			h.truncated = value
		case "warc-segment-number":
			isSegment = true
		case "warc-payload-digest":
			h.digest = value
		case "warc-profile":
			h.profile = unbracket(value)
		case "warc-refers-to":
			h.refersTo = unbracket(value)
		case "warc-refers-to-target-uri":
			h.refersToURI = unbracket(value)
		case "warc-refers-to-date":
			h.refersToDate = value
		}
	}
	if isSegment { // and another reason may be that of its last segment
		h.truncated = []byte(segmented)
	}
}

// segmented is the reason why a block ends that is continued in other records, as the
// standard allows for those of more than a gigabyte. They are not joined.
const segmented = "segmented"

// brokeOff reports whether a block that ends for a reason lacks what its server sent, or
// would have sent. For other reasons its writer keeps no more.
func brokeOff(reason string) bool {
	return reason == "time" || reason == "disconnect" || reason == segmented
}

// maxConcurrent is more than the records that a record of ours names.
const maxConcurrent = 4

// revisit returns what a revisit record says of another one, nil for other records.
func (h *recordHead) revisit() *Revisit {
	if string(h.kind) != "revisit" {
		return nil
	}
	return &Revisit{string(h.profile), string(h.refersTo), string(h.refersToURI), string(h.refersToDate)}
}

// isConcurrentTo reports whether the record names another one as made with it.
func (h *recordHead) isConcurrentTo(id string) bool {
	return slices.ContainsFunc(h.concurrent, func(other []byte) bool { return string(other) == id })
}

// unbracket removes angle brackets. The grammar of WARC 1.0 puts a URI in them,
// which not all writers do; that of WARC 1.1 does not.
func unbracket(uri []byte) []byte {
	if n := len(uri); n > 1 && uri[0] == '<' && uri[n-1] == '>' {
		return uri[1 : n-1]
	}
	return uri
}

// parseLength parses a length. It returns -1 if b is not one.
func parseLength(b []byte) int64 {
	if n, err := strconv.ParseUint(string(b), 10, 62); err == nil {
		return int64(n)
	}
	return -1
}

func (h *recordHead) robotsOf() (o fetch.Origin, ok bool) { return RobotsOf(h.uri) }

// RobotsOf returns the origin of a robots.txt, by its URL in an archive. ok is false if
// the URL is not that of the robots.txt of an origin that can be fetched.
func RobotsOf(url []byte) (o fetch.Origin, ok bool) {
	uri, _, _ := bytes.Cut(url, []byte("#"))
	if !bytes.HasSuffix(uri, []byte("/robots.txt")) || !bytes.Contains(uri, []byte("://")) {
		return o, false
	}
	o, target, err := fetch.Parse(string(uri), "")
	return o, err == nil && target == "/robots.txt"
}

// parseDate parses a WARC-Date. Since WARC 1.1 its precision ranges from a year to a
// nanosecond: the date is any from t on, before t+within.
func parseDate(b []byte) (t time.Time, within time.Duration, ok bool) {
	if t.UnmarshalText(b) == nil {
		within = time.Second
		if _, fraction, ok := bytes.Cut(b, []byte(".")); ok {
			for i := 0; i < len(fraction) && fraction[i] >= '0' && fraction[i] <= '9' && within > 1; i++ {
				within /= 10
			}
		}
		return t.UTC(), within, true
	}
	for _, form := range []struct {
		layout              string
		years, months, days int
	}{{"2006-01-02T15:04Z07:00", 0, 0, 0}, {"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.Parse(form.layout, string(b)); err == nil {
			within := max(time.Minute, t.AddDate(form.years, form.months, form.days).Sub(t))
			return t.UTC(), within, true
		}
	}
	return t, 0, false
}

// peekHead returns the header at the start of in, including the blank line that
// ends it, or limit bytes without one.
func peekHead(in *bufio.Reader, limit int) (b []byte, ended bool, err error) {
	for seen := 0; ; seen = max(len(b)-3, 0) {
		b, _ = in.Peek(min(in.Buffered(), limit))
		if n := client.HeadEnd(b, seen); n >= 0 {
			return b[:n], true, nil
		}
		if len(b) >= limit {
			return b, false, nil
		}
		if _, err := in.Peek(len(b) + 1); err != nil {
			return b, false, err
		}
	}
}

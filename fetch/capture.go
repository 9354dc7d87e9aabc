package fetch

import (
	"net/netip"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// Capture is the facts about one request for a robots.txt: what was asked,
// each hop, status, error class, times and body. A field that is not known is
// its zero value or nil.
type Capture struct {
	Origin   Origin // the origin that answered, or the first one asked
	Start    time.Time
	Hops     []robots.Hop // every request of the last attempt, in order
	Attempts int          // chains begun, over all schemes and retries

	// Error is the class of what ended the last attempt, "" where an answer
	// was read whole; Err tells it in words.
	Error robots.ErrorClass
	Err   error

	// Fallback is why an earlier scheme was given up, "" where none was.
	Fallback robots.ErrorClass

	// Of the last hop.
	Remote      netip.AddrPort
	HTTPVersion string // "1.1"
	TLSVersion  string // "1.3"
	Headers     Headers
	Times       Times

	// Body is the decoded body of a 2xx answer, as far as the limit; nil
	// where there was no such answer. Truncated tells that more was there.
	Body      []byte
	Truncated bool
}

// Status is that of the last hop, 0 where it got no answer.
func (c *Capture) Status() int {
	if len(c.Hops) == 0 {
		return 0
	}
	return c.Hops[len(c.Hops)-1].Status
}

// Headers are those that matter to a census, nil where absent.
type Headers struct {
	ContentType, ContentEncoding, Server, ETag, LastModified, CacheControl, RetryAfter *string
}

// Times of the last hop by phase, nil where the phase did not take place or
// did not end. Total is that of the whole fetch, from the first dial to the
// last byte, retries and their waits included.
type Times struct {
	DNS, Connect, TLS, FirstByte, Total *time.Duration
}

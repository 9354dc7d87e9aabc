package fetch

import (
	"net/netip"
	"slices"
	"strings"
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

	// Local is a failure of this machine (no more files, no memory): the facts
	// then say nothing about the host, and the run should stop.
	Local error

	// Fallback is why an earlier scheme was given up, "" where none was.
	Fallback robots.ErrorClass

	// Of the last hop.
	Remote      netip.AddrPort
	HTTPVersion string // "1.1"
	TLSVersion  string // "1.3"
	Headers     Headers
	Times       Times

	// Body is the decoded body of a 2xx answer, as far as the limit; nil
	// where there was no such answer. Truncated tells that more was there. Of a
	// body that the network cut short, Cut is how many bytes came, and they are
	// not kept.
	Body      []byte
	Truncated bool
	Cut       *int

	// Misconfigured says that the origin answers 5xx for what cannot exist,
	// and well for its front page; only with Config.ProbeMisconfigured.
	Misconfigured bool

	// Of a stored capture: Location is where a redirect leads whose target is
	// another capture, "" where it is none or leads nowhere, and Unstored says
	// that the body is that of another capture, which is not at hand.
	Location string
	Unstored bool

	// Of the memory, where there is one. Remembered says that the answer is an
	// earlier run's, and still fresh. Memory is what earlier answers were. Copy
	// is the last whole copy, where some profile may ask for it.
	Remembered bool
	Memory     *robots.Memory
	Copy       *WholeCopy

	at   Origin // of the last hop
	text *text  // the body, until it lands
}

// WholeCopy is a body that an earlier request has got whole.
type WholeCopy struct {
	Fetched   time.Time
	Body      []byte
	Truncated bool
}

// Status is that of the last hop, 0 where it got no answer: of HTTP, or the
// reply of FTP that ended the exchange.
func (c *Capture) Status() int {
	if len(c.Hops) == 0 {
		return 0
	}
	return c.Hops[len(c.Hops)-1].Status
}

// Whole is the body of an answer that was read whole, as far as the limit, and
// nil where there is none. A body that was cut short is no file: half a rule
// is another rule.
func (c *Capture) Whole() []byte {
	if c.Error != "" {
		return nil
	}
	return c.Body
}

// Facts are what the meaning of the answer depends on. The copy of an earlier
// answer is named there where it is at hand.
func (c *Capture) Facts() robots.Facts {
	body := c.Whole()
	f := robots.Facts{
		Hops: c.Hops, Error: c.Error, Misconfigured: c.Misconfigured, Unfollowed: c.Location != "", Unstored: c.Unstored,
		HTMLRedirect: body != nil && robots.HTMLRedirect(body), Time: c.Start,
	}
	if c.Memory != nil {
		m := *c.Memory
		m.HasCopy = c.Copy != nil
		f.Memory = &m
	}
	return f
}

// IsDoubtful says that nothing in the capture proves that this machine is
// connected to the network at all.
func (c *Capture) IsDoubtful() bool {
	return isDoubtful(c.Error) && !slices.ContainsFunc(c.Hops, func(h robots.Hop) bool { return h.Status != 0 })
}

// overFTP tells whether the last hop was one of FTP, whose replies look like
// statuses of HTTP and mean something else.
func (c *Capture) overFTP() bool {
	return len(c.Hops) > 0 && strings.HasPrefix(c.Hops[len(c.Hops)-1].URL, "ftp:")
}

// Weight is about how many bytes of memory hops and headers take, which a
// server may fill as it likes: with five redirects some 28 KB.
func (c *Capture) Weight() int {
	bytes := 0
	for _, h := range c.Hops {
		bytes += len(h.URL)
	}
	h := &c.Headers
	for _, value := range []*string{h.ContentType, h.ContentEncoding, h.Server, h.ETag, h.LastModified, h.CacheControl, h.RetryAfter} {
		if value != nil {
			bytes += len(*value)
		}
	}
	return bytes
}

// Headers are those that matter to a census, nil where absent.
type Headers struct {
	ContentType, ContentEncoding, Server, ETag, LastModified, CacheControl, RetryAfter *string
}

// Times of the last hop by phase, nil where the phase did not take place or
// did not end. Total is that of the whole fetch, from the first dial to the
// last byte, retries and their waits included, but not the waits for a place
// or a pace, which are our doing.
type Times struct {
	DNS, Connect, TLS, FirstByte, Total *time.Duration
}

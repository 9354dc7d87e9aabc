package fetch

import (
	"net/netip"
	"slices"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// Capture holds the facts about one request for a robots.txt. A field that is
// not known is its zero value or nil.
type Capture struct {
	Origin   Origin       `json:"origin,omitzero"` // the origin that answered, or the first one asked
	Start    time.Time    `json:"fetch_time"`
	Hops     []answer.Hop `json:"hops,omitempty" raw:""` // every request of the last attempt, in order
	Attempts int          `json:"attempts,omitempty"`    // chains begun, over all schemes and retries

	// Error is the class of the failure that ended the last attempt, "" if an
	// answer was read completely; Err is its text, or else a remark about the
	// answer.
	Error answer.ErrorClass `json:"error_class,omitempty"`
	Err   error             `json:"-"`

	// Local is a failure of this machine (no more files, no memory). The facts
	// then say nothing about the host, and the run should stop.
	Local error `json:"-"`

	// Fallback is the class of the failure of an earlier scheme, "" if there
	// was none.
	Fallback answer.ErrorClass `json:"fallback_error_class,omitempty"`

	// Remote to Times describe the last hop.
	Remote      netip.AddrPort `json:"remote_address,omitzero"`
	HTTPVersion string         `json:"http_version,omitempty" raw:""` // "1.1"
	TLSVersion  string         `json:"tls_version,omitempty" raw:""`  // "1.3"
	Headers     Headers        `json:"headers,omitzero" raw:""`
	Times       Times          `json:"nanoseconds,omitzero"`

	// Body is the decoded body of a 2xx answer, up to the limit; nil without such an answer. Of another
	// answer it is kept only if the client or the reader of the archive was told to; see [Capture.Page].
	// Truncated reports whether the body was longer. If the network cut a body short, Cut is the number
	// of bytes that came; they are not kept.
	Body      []byte `json:"-"`
	Truncated bool   `json:"body_truncated,omitempty"`
	Cut       *int   `json:"broken_off_bytes,omitempty"`

	// Probe has the answers for two more pages, zero unless the origin answered
	// 5xx or 429 and Config.ProbeMisconfigured is set.
	Probe Probe `json:"probe,omitzero"`

	// Challenge is the vendor of the wall that answered instead of a robots.txt, "" if
	// none was found; see [answer.Challenges].
	Challenge string `json:"challenge,omitempty"`

	// CDN is the network that delivered the answer of the last hop, "" if no header names
	// one; see [CDNs].
	CDN string `json:"cdn,omitempty"`

	// Front is what came of the request for the front page, nil if the client was not
	// configured to ask for one, or the origin gave no answer.
	Front *Front `json:"front_page,omitempty" raw:""`

	// Further is what came of the requests of each [Plan], in order.
	Further []*Further `json:"-"`

	// Also are the answers to further identities, in the order in which they were asked;
	// none if the origin gave no answer.
	Also []Also `json:"-"`

	// Only stored captures set these three. Location is the target of a redirect
	// that is another capture, else "". Unstored reports whether the body is
	// that of another capture, which is not available. Digest is the SHA-1 of Body
	// in base32 if it was computed: to check that of the archive, or because it has none.
	Location string `json:"-"`
	Unstored bool   `json:"-"`
	Digest   string `json:"-"`

	// Only a memory of earlier runs sets these three. Remembered reports whether
	// the answer is an earlier run's and still fresh. Memory is the history of
	// answers. Copy is the last whole copy, if some profile may ask for it.
	Remembered bool           `json:"remembered,omitempty"`
	Memory     *answer.Memory `json:"memory,omitempty"`
	Copy       *WholeCopy     `json:"-"`
}

// WholeCopy is a complete body that an earlier request got.
type WholeCopy struct {
	Fetched   time.Time
	Body      []byte
	Truncated bool
}

// Status returns the status of the last hop, 0 if it got no answer: that of
// HTTP, or the FTP reply that ended the exchange.
func (c *Capture) Status() int {
	if len(c.Hops) == 0 {
		return 0
	}
	return c.Hops[len(c.Hops)-1].Status
}

// Whole returns the body of a 2xx answer, up to the limit, if it was read completely, else
// nil. A body that was cut short is not usable: half a rule is another rule.
func (c *Capture) Whole() []byte {
	if c.Error != "" || c.isPage() {
		return nil
	}
	return c.Body
}

// Page returns the body of an answer other than 2xx, up to the limit, if it was kept, else
// nil. Some programs read it.
func (c *Capture) Page() []byte {
	if !c.isPage() {
		return nil
	}
	return c.Body
}

func (c *Capture) isPage() bool { return c.Body != nil && c.Status()/100 != 2 }

// Read returns the body that decides, if an answer reads one, and whether it was longer; else
// that of a 2xx.
func (c *Capture) Read(a answer.Answer) (body []byte, truncated bool) {
	switch page := c.Page(); {
	case a.UseCopy:
		return c.Copy.Body, c.Copy.Truncated
	case page != nil && a.Outcome == answer.ConditionalAllow:
		return page, c.Truncated
	}
	return c.Whole(), c.Truncated
}

// Facts returns the facts that decide what the answer means, as precise as the
// tables hold them: dates in microseconds. Its memory is that up to this answer,
// which c.Memory may lack.
func (c *Capture) Facts() answer.Facts {
	body := c.Whole()
	f := answer.Facts{
		Hops: c.Hops, Error: c.Error, Misconfigured: c.Probe.misconfigured(c.Status()), Unfollowed: c.Location != "",
		Unstored:     c.Unstored,
		HTMLRedirect: body != nil && answer.RedirectsByHTML(body), Time: c.Start.UTC().Truncate(time.Microsecond),
		Walled: c.Challenge != "", Site: c.site(), HasPage: c.isPage(), ContentType: c.Headers.ContentType,
	}
	if f.ContentType == nil && c.HTTPVersion != "" { // there was a header
		f.ContentType = new(string)
	}
	if c.Memory != nil {
		m := c.Memory.After(f.Kind(), f.Time)
		m.First, m.HasCopy = m.First.UTC().Truncate(time.Microsecond), c.Copy != nil
		for i := range m.Seen {
			m.Seen[i].Next = m.Seen[i].Next.UTC().Truncate(time.Microsecond)
		}
		f.Memory = &m
	}
	return f
}

// site returns whether the front page answers.
func (c *Capture) site() answer.Site {
	switch f := c.Front; {
	case f == nil || len(f.Hops) == 0:
		return answer.SiteOf(c.Probe.Front)
	case f.Outcome == usage.PageFailed:
		return answer.SiteFails
	default:
		return answer.SiteOf(f.Hops[len(f.Hops)-1].Status)
	}
}

// IsDoubtful reports whether nothing in the capture proves that this machine is
// connected to the network at all.
func (c *Capture) IsDoubtful() bool {
	return c.Error.MayBeOurs() && !slices.ContainsFunc(c.Hops, func(h answer.Hop) bool { return h.Status != 0 })
}

// alsoBytes is the memory of the answer to an identity without its hops and body.
const alsoBytes = 700

// Weight returns the approximate bytes of memory that hops and headers take. A
// server chooses them: with five redirects some 28 KB.
func (c *Capture) Weight() int {
	bytes := 0
	for _, h := range c.Hops {
		bytes += len(h.URL)
	}
	for i := range c.Also {
		bytes += alsoBytes + c.Also[i].Capture.Weight()
		if p := c.Also[i].Price; p != nil {
			bytes += len(p.Text)
		}
	}
	if c.Front != nil {
		bytes += 200 + weightOf(c.Front.Hops, c.Front.Header)
	}
	for _, f := range c.Further {
		bytes += f.weight()
	}
	for _, value := range c.Headers.Values() {
		if value != nil {
			bytes += len(*value)
		}
	}
	return bytes
}

// A Probe has the statuses of two pages of an origin, 0 if a page was not
// requested or gave no answer: its front page, and one that cannot exist.
type Probe struct {
	Front   int `json:"front_status,omitempty"`
	Missing int `json:"random_status,omitempty"`
}

// misconfigured reports whether the front page exists, and a page that cannot
// exist gets the same 5xx as robots.txt.
func (p Probe) misconfigured(status int) bool {
	return p.HasFront() && status >= 500 && status <= 599 && p.Missing == status
}

// HasFront reports whether the front page exists.
func (p Probe) HasFront() bool { return p.Front >= 200 && p.Front <= 399 }

// Front is what came of the request for the front page, of which only headers about use
// are kept.
type Front struct {
	Outcome usage.PageOutcome `json:"outcome"`
	// every request, in order; none if the page was not asked for
	Hops   []answer.Hop        `json:"hops,omitempty" raw:""`
	Error  answer.ErrorClass   `json:"error_class,omitempty"` // of [usage.PageFailed], else ""
	Header []usage.HeaderField `json:"header,omitempty" raw:""`
}

// Headers are the headers that matter to a census, nil if absent.
//
// To add a header: its field here, called as in HTTP, and in Values; keep in client/http.go,
// which reads it from an answer; answerHead in warc/http.go (field, parse, keep), which reads
// it from an archive. Tests of each miss it otherwise. Both that read it join the lines of a
// list, such as Cache-Control. Then its column (see package schema).
type Headers struct {
	ContentType     *string `json:"content_type,omitempty" raw:""`
	ContentEncoding *string `json:"content_encoding,omitempty" raw:""`
	Server          *string `json:"server,omitempty" raw:""`
	ETag            *string `json:"etag,omitempty" raw:""`
	LastModified    *string `json:"last_modified,omitempty" raw:""`
	CacheControl    *string `json:"cache_control,omitempty" raw:""`
	RetryAfter      *string `json:"retry_after,omitempty" raw:""`
}

// Values returns the values of all headers.
func (h *Headers) Values() []*string {
	return []*string{h.ContentType, h.ContentEncoding, h.Server, h.ETag, h.LastModified, h.CacheControl, h.RetryAfter}
}

// Times of the last hop by phase, nil if the phase did not happen or did not
// end. Total covers the whole fetch, from the first dial to the last byte,
// including retries and their waits but not the waits for our own limits.
type Times struct {
	DNS       *time.Duration `json:"dns,omitempty"`
	Connect   *time.Duration `json:"connect,omitempty"`
	TLS       *time.Duration `json:"tls,omitempty"`
	FirstByte *time.Duration `json:"first_byte,omitempty"`
	Total     *time.Duration `json:"total,omitempty"`
}

package fetch

import (
	"io"
	"net/http"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// A Plan asks a host for more than its robots.txt, once that has answered. It is the one way
// to do so: the client that runs the plan keeps what every request has to keep to, and the
// answers lie in [Capture.Further], which is encoded, spilled, resumed, and kept in WARC files
// with the rest of the capture.
//
// The client asks one request of a host at a time, a pause after the one before, and never again
// after a Retry-After that is too long: what is wanted then is [usage.PageSpared]. Unless
// [Question.Permitted], it asks only where the robots.txt of its origin lets our own agent, or
// [Question.Agent], fetch the URL. It runs no plan if the host gave no answer, nor, unless
// [Plan.AsOthers], one that does not say what may be fetched, such as a 503.
type Plan struct {
	// Ask calls ask for each request, one after the other, until it wants no more or ask
	// returns nil: the fetch has ended. What to ask for is thus a function of the answers so
	// far. What it notes must depend on them alone.
	Ask  func(host *Answered, ask func(*Question) *Further)
	Name string // what it asks for, such as sitemaps
	// Most is the largest number of requests for a host. It counts the robots.txt of other
	// origins that the plan names, and neither redirects nor the robots.txt of origins that
	// they lead to. Keeps is the largest number of bytes of [Further.Body] and
	// [Further.Reading] in one.
	Most, Keeps int
	// AsOthers says that it asks under further identities, so that it runs after these have
	// been answered for robots.txt. It runs for every host that has answered; where that does
	// not say what may be fetched, it must only note why it does not ask: see
	// [Answered.Unread] and [Question.Unasked].
	AsOthers bool
}

// Answered is a host that has answered for its robots.txt.
type Answered struct {
	*Capture // without its body
	// Parse calls each with the file as a profile reads it, which is valid until each
	// returns. It does not call it if there is no file. An error ends the fetch.
	Parse func(p *robots.Profile, each func(*robots.File)) error
	// Unread reports that the answer does not say what may be fetched.
	Unread bool
}

// A Kind says what a further request is for.
type Kind string

const (
	KindPage     Kind = "page"
	KindSitemap  Kind = "sitemap"
	KindDocument Kind = "document" // states what may be done with the site
	KindControl  Kind = "control"  // a page that cannot exist, to compare with
)

// Kinds lists the kinds.
var Kinds = []Kind{KindPage, KindSitemap, KindDocument, KindControl}

// MaxFurther bounds the further requests to a host, and the notes why there are none. Plans of
// the largest bounds stay below it.
const MaxFurther = 512

// A Question is a further request to a host.
type Question struct {
	Kind     Kind
	Name     string // the plan's own, such as that of a document
	Identity int    // under which it is asked: 0 for our own, else one more than the index of a further identity
	Origin   Origin
	Target   string // path and query, as in a request

	// Agent is by whose rules it is asked, nil for our own agent. The robots.txt of its origin
	// must let it fetch the URL, and that of each origin where a redirect leads: it is asked for
	// first if it is not that of the host. None leads beyond what [Question.Reaches].
	Agent *robots.Agent
	// Permitted says that no robots.txt need let it.
	Permitted bool
	// Elsewhere says that the URL may be of another registered domain than the host's.
	Elsewhere bool
	// Unasked, if not "", says why the plan does not want the URL asked for: that is noted, and
	// nothing is asked.
	Unasked usage.PageOutcome
	// Follow reports whether a redirect may lead to a URL, in addition; nil for any.
	Follow func(o Origin, target string) bool

	Headers []string // names, in lower case, of the headers whose lines are kept
	MaxBody int      // bytes of the decoded body of a 2xx answer to keep; 0 reads none
	Head    bool     // HEAD is sent; MaxBody must be 0
	// Read, if not nil, reads the body instead, as far as it came, and writes to keep what is
	// kept in its place: a body of many megabytes is on disk by then, not in memory. An error
	// is one of this machine. It is called in the place of ask, once.
	Read func(body io.Reader, keep io.Writer) error
	// Priced keeps the body of a 402 as well, up to MaxBody: a price may stand in it.
	Priced bool
}

// Reaches reports whether a question to a host, or a redirect from there, may lead to an
// origin: one of the host's registered domain or, if it may be elsewhere, of that of the URL.
func (q *Question) Reaches(host, o Origin) bool {
	domain := DomainOf(o.Host)
	return domain == DomainOf(host.Host) || q.Elsewhere && domain == DomainOf(q.Origin.Host)
}

// URL returns the URL that is asked for.
func (q *Question) URL() string { return q.Origin.String() + q.Target }

// Further is what came of a further request.
type Further struct {
	Kind     Kind      `json:"kind"`
	Name     string    `json:"name,omitempty" raw:""` // of the question
	Identity *Identity `json:"identity,omitempty"`    // the further identity that asked, or would have; nil for our own
	URL      string    `json:"url" raw:""`            // of the question; redirects are in Hops
	// Outcome is read if the last answer is 2xx, and otherwise why there is none: an answer
	// of another kind, a failure, or a URL that may not be asked for, of the question or of
	// a redirect.
	Outcome   usage.PageOutcome   `json:"outcome"`
	Start     time.Time           `json:"fetch_time,omitzero"`
	Hops      []answer.Hop        `json:"hops,omitempty" raw:""` // every request, in order; none if there was none
	Error     answer.ErrorClass   `json:"error_class,omitempty"` // of a failure, else ""
	Challenge string              `json:"challenge,omitempty"`   // as in [Capture]
	Header    []usage.HeaderField `json:"header,omitempty" raw:""`
	// of a 2xx or, if wanted, a 402; nil without one, or if it broke off
	Body []byte `json:"-"`
	// what [Question.Read] kept, also of a body that broke off; nil without a body
	Reading   []byte `json:"-"`
	Truncated bool   `json:"body_truncated,omitempty"` // the body was longer than MaxBody
}

// Status returns the status of the last hop, 0 if it got no answer.
func (f *Further) Status() int {
	if len(f.Hops) == 0 {
		return 0
	}
	return f.Hops[len(f.Hops)-1].Status
}

// FinalURL returns the URL of the last hop, or the one that was not asked for.
func (f *Further) FinalURL() string {
	if len(f.Hops) == 0 {
		return f.URL
	}
	return f.Hops[len(f.Hops)-1].URL
}

// Lines returns the headers that were kept of the last answer.
func (f *Further) Lines() http.Header { return LinesOf(f.Header) }

// LinesOf returns lines of a header that were kept.
func LinesOf(kept []usage.HeaderField) http.Header {
	h := make(http.Header)
	for _, line := range kept {
		if line.Value != nil {
			h.Add(line.Name, *line.Value)
		}
	}
	return h
}

// MarshalJSON encodes all but the body and the reading.
func (f *Further) MarshalJSON() ([]byte, error) {
	p := plainOf(f)
	return encode(&p)
}

// UnmarshalJSON reverses [Further.MarshalJSON].
func (f *Further) UnmarshalJSON(text []byte) error {
	*f = Further{}
	return decode(text, (*plainFurther)(f))
}

// weight returns the approximate bytes of memory of all but the body and the reading.
func (f *Further) weight() int {
	return 300 + len(f.URL) + weightOf(f.Hops, f.Header)
}

// weightOf returns the approximate bytes of memory that hops and headers take.
func weightOf(hops []answer.Hop, header []usage.HeaderField) (bytes int) {
	for _, h := range hops {
		bytes += len(h.URL)
	}
	for _, h := range header {
		if h.Value != nil {
			bytes += len(*h.Value)
		}
	}
	return bytes
}

// storedFurther is a Further as it is stored, without its body and reading, which follow the other
// bodies of its capture.
type storedFurther struct {
	plainFurther `raw:""`
	Body         *int `json:"body_bytes,omitempty"`
	Reading      *int `json:"reading_bytes,omitempty"`
}

type plainFurther Further // without methods

func plainOf(f *Further) plainFurther {
	p := plainFurther(*f)
	p.Start = f.Start.UTC()
	return p
}

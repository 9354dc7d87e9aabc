package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots"
)

// recordVersion is the first byte of a record: the format of a folder. Format 1
// told of outages as Google's profile saw them.
const recordVersion = 2

// A record is what the memory holds about an origin: version, digest of the
// last answer's body, digest of the whole copy, and the rest in JSON. Zeros
// are no digest. The digests stand in front so that a sweep reads nothing
// else.
type record struct {
	body, copy digest
	rest       struct {
		Run raw
		facts
		Memory robots.Memory
		Copy   *good `json:",omitempty"`
	}
}

// facts are a capture of the network as it is stored, without its origin, its
// bodies, and what is known of the past.
type facts struct {
	Start         time.Time
	Hops          []hop             `json:",omitempty"`
	Attempts      int               `json:",omitempty"`
	Error         robots.ErrorClass `json:",omitempty"`
	Err           *raw              `json:",omitempty"`
	Fallback      robots.ErrorClass `json:",omitempty"`
	Remote        netip.AddrPort    `json:",omitzero"`
	HTTPVersion   raw               `json:",omitempty"`
	TLSVersion    raw               `json:",omitempty"`
	Headers       headers           `json:",omitzero"`
	Times         times             `json:",omitzero"`
	Truncated     bool              `json:",omitempty"`
	Cut           *int              `json:",omitempty"`
	Misconfigured bool              `json:",omitempty"`
}

type hop struct {
	URL    raw
	Status int
}

type headers struct {
	ContentType, ContentEncoding, Server, ETag, LastModified, CacheControl, RetryAfter *raw `json:",omitempty"`
}

type times struct {
	DNS, Connect, TLS, FirstByte, Total *time.Duration `json:",omitempty"`
}

type good struct {
	Fetched   time.Time
	Truncated bool `json:",omitempty"`
}

func factsOf(c *Capture) facts {
	f := facts{
		Start: c.Start.UTC(), Attempts: c.Attempts, Error: c.Error, Fallback: c.Fallback,
		Remote: c.Remote, HTTPVersion: raw(c.HTTPVersion), TLSVersion: raw(c.TLSVersion), Times: times(c.Times),
		Truncated: c.Truncated, Cut: c.Cut, Misconfigured: c.Misconfigured,
	}
	for _, h := range c.Hops {
		f.Hops = append(f.Hops, hop{raw(h.URL), h.Status})
	}
	if c.Err != nil {
		text := raw(c.Err.Error())
		f.Err = &text
	}
	h := &c.Headers
	f.Headers = headers{
		(*raw)(h.ContentType), (*raw)(h.ContentEncoding), (*raw)(h.Server), (*raw)(h.ETag),
		(*raw)(h.LastModified), (*raw)(h.CacheControl), (*raw)(h.RetryAfter),
	}
	return f
}

// capture is what the facts were made of. Its Err has the text and nothing
// else.
func (f *facts) capture(o Origin) *Capture {
	c := &Capture{
		Origin: o, Start: f.Start, Attempts: f.Attempts, Error: f.Error, Fallback: f.Fallback,
		Remote: f.Remote, HTTPVersion: string(f.HTTPVersion), TLSVersion: string(f.TLSVersion), Times: Times(f.Times),
		Truncated: f.Truncated, Cut: f.Cut, Misconfigured: f.Misconfigured,
	}
	for _, h := range f.Hops {
		c.Hops = append(c.Hops, robots.Hop{URL: string(h.URL), Status: h.Status})
	}
	if f.Err != nil {
		c.Err = errors.New(string(*f.Err))
	}
	h := &f.Headers
	c.Headers = Headers{
		(*string)(h.ContentType), (*string)(h.ContentEncoding), (*string)(h.Server), (*string)(h.ETag),
		(*string)(h.LastModified), (*string)(h.CacheControl), (*string)(h.RetryAfter),
	}
	return c
}

// followed is the record after c, with the meaning that Keep documents.
func (r *record) followed(run string, c *Capture) *record {
	n := &record{}
	a := &n.rest
	a.Run, a.facts = raw(run), factsOf(c)
	if c.Body != nil {
		n.body = digestOf(c.Body)
	}
	kind := c.Facts().Kind()
	a.Memory = r.rest.Memory.After(kind, a.Start)
	switch {
	case !a.Memory.WholeCopy():
	case !kind.Settled():
		n.copy, a.Copy = r.copy, r.rest.Copy
	case c.Whole() != nil:
		n.copy, a.Copy = n.body, &good{a.Start, c.Truncated}
	}
	return n
}

func (r *record) past(o Origin) history {
	a := &r.rest
	p := history{Run: string(a.Run), Last: a.capture(o), Memory: a.Memory}
	if r.body != (digest{}) {
		p.LastBody = &r.body
	}
	if a.Copy != nil {
		p.Copy = &goodCopy{a.Copy.Fetched, r.copy, a.Copy.Truncated}
	}
	return p
}

func (r *record) encode() ([]byte, error) {
	rest, err := json.Marshal(&r.rest)
	if err != nil {
		return nil, err
	}
	value := make([]byte, 0, 1+2*len(digest{})+len(rest))
	value = append(value, recordVersion)
	value = append(value, r.body[:]...)
	value = append(value, r.copy[:]...)
	return append(value, rest...), nil
}

// recordDigests reads the front of a record and returns what follows it.
func recordDigests(value []byte) (body, copy digest, rest []byte, err error) {
	const n = len(digest{})
	switch {
	case len(value) > 0 && value[0] > 0 && value[0] != recordVersion:
		return body, copy, nil, fmt.Errorf("has format %d, but this program reads only format %d", value[0], recordVersion)
	case len(value) < 1+2*n || value[0] != recordVersion:
		return body, copy, nil, errors.New("is damaged")
	}
	return digest(value[1:]), digest(value[1+n:]), value[1+2*n:], nil
}

func decodeRecord(value []byte) (*record, error) {
	r := &record{}
	var rest []byte
	var err error
	if r.body, r.copy, rest, err = recordDigests(value); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(rest, &r.rest); err != nil {
		return nil, fmt.Errorf("is damaged (%w)", err)
	}
	if (r.copy != digest{}) != (r.rest.Copy != nil) {
		return nil, errors.New("is damaged (a copy without its digest)")
	}
	return r, nil
}

// raw is a string of any bytes. In JSON each byte stands as the code point of
// its value: JSON's strings are text, and would not bring all bytes back.
type raw string

func (s raw) MarshalText() ([]byte, error) {
	text := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		text = utf8.AppendRune(text, rune(s[i]))
	}
	return text, nil
}

func (s *raw) UnmarshalText(text []byte) error {
	bytes := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if r > 0xff {
			return fmt.Errorf("%q is not a byte", r)
		}
		bytes = append(bytes, byte(r))
	}
	*s = raw(bytes)
	return nil
}

package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// facts is a capture from the network as it is stored, without its origin, its
// bodies and its history. Names are those of the columns of fetches, where there are
// any.
type facts struct {
	Start       time.Time         `json:"fetch_time"`
	Hops        []hop             `json:"hops,omitempty"`
	Attempts    int               `json:"attempts,omitempty"`
	Error       answer.ErrorClass `json:"error_class,omitempty"`
	Err         *raw              `json:"error,omitempty"`
	Fallback    answer.ErrorClass `json:"fallback_error_class,omitempty"`
	Remote      netip.AddrPort    `json:"remote_address,omitzero"`
	HTTPVersion raw               `json:"http_version,omitempty"`
	TLSVersion  raw               `json:"tls_version,omitempty"`
	Headers     headers           `json:"headers,omitzero"`
	Times       times             `json:"nanoseconds,omitzero"`
	Truncated   bool              `json:"body_truncated,omitempty"`
	Cut         *int              `json:"broken_off_bytes,omitempty"`
	Probe       probe             `json:"probe,omitzero"`
	Challenge   string            `json:"challenge,omitempty"`
	CDN         string            `json:"cdn,omitempty"`
	Front       *front            `json:"front_page,omitempty"`
}

type front struct {
	Outcome usage.PageOutcome `json:"outcome"`
	Hops    []hop             `json:"hops,omitempty"`
	Error   answer.ErrorClass `json:"error_class,omitempty"`
	Header  []headerField     `json:"header,omitempty"`
}

type headerField struct {
	Name  string `json:"name"`
	Value *raw   `json:"value,omitempty"` // nil for one that is too long
}

type hop struct {
	URL    raw `json:"url"`
	Status int `json:"status,omitempty"`
}

type headers struct {
	ContentType     *raw `json:"content_type,omitempty"`
	ContentEncoding *raw `json:"content_encoding,omitempty"`
	Server          *raw `json:"server,omitempty"`
	ETag            *raw `json:"etag,omitempty"`
	LastModified    *raw `json:"last_modified,omitempty"`
	CacheControl    *raw `json:"cache_control,omitempty"`
	RetryAfter      *raw `json:"retry_after,omitempty"`
}

type times struct {
	DNS       *time.Duration `json:"dns,omitempty"`
	Connect   *time.Duration `json:"connect,omitempty"`
	TLS       *time.Duration `json:"tls,omitempty"`
	FirstByte *time.Duration `json:"first_byte,omitempty"`
	Total     *time.Duration `json:"total,omitempty"`
}

type probe struct {
	Front   int `json:"front_status,omitempty"`
	Missing int `json:"random_status,omitempty"`
}

func factsOf(c *Capture) facts {
	f := facts{
		Start: c.Start.UTC(), Attempts: c.Attempts, Error: c.Error, Fallback: c.Fallback,
		Remote: c.Remote, HTTPVersion: raw(c.HTTPVersion), TLSVersion: raw(c.TLSVersion), Times: times(c.Times),
		Truncated: c.Truncated, Cut: c.Cut, Probe: probe(c.Probe), Challenge: c.Challenge, CDN: c.CDN,
	}
	f.Hops = storedHops(c.Hops)
	if c.Front != nil {
		f.Front = &front{c.Front.Outcome, storedHops(c.Front.Hops), c.Front.Error, storedHeader(c.Front.Header)}
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

// capture reverses factsOf. The Err of the capture has only the text of the
// original.
func (f *facts) capture(o Origin) *Capture {
	c := &Capture{
		Origin: o, Start: f.Start, Attempts: f.Attempts, Error: f.Error, Fallback: f.Fallback,
		Remote: f.Remote, HTTPVersion: string(f.HTTPVersion), TLSVersion: string(f.TLSVersion), Times: Times(f.Times),
		Truncated: f.Truncated, Cut: f.Cut, Probe: Probe(f.Probe), Challenge: f.Challenge, CDN: f.CDN,
	}
	c.Hops = hopsOf(f.Hops)
	if f.Front != nil {
		c.Front = &Front{f.Front.Outcome, hopsOf(f.Front.Hops), f.Front.Error, headerOf(f.Front.Header)}
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

func storedHops(hops []answer.Hop) (out []hop) {
	for _, h := range hops {
		out = append(out, hop{raw(h.URL), h.Status})
	}
	return out
}

func hopsOf(hops []hop) (out []answer.Hop) {
	for _, h := range hops {
		out = append(out, answer.Hop{URL: string(h.URL), Status: h.Status})
	}
	return out
}

func storedHeader(header []usage.HeaderField) (out []headerField) {
	for _, h := range header {
		out = append(out, headerField{h.Name, (*raw)(h.Value)})
	}
	return out
}

func headerOf(header []headerField) (out []usage.HeaderField) {
	for _, h := range header {
		out = append(out, usage.HeaderField{Name: h.Name, Value: (*string)(h.Value)})
	}
	return out
}

// raw is a string of any bytes. In JSON each byte is the code point of its
// value, because a JSON string cannot hold bytes that are not UTF-8.
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

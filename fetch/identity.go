package fetch

import (
	"errors"
	"fmt"
	"github.com/robocensus/robocensus/robots/consent"
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/http/httpguts"
)

// Identity is a further name under which an origin is asked for its robots.txt, once,
// after it has answered us.
type Identity struct {
	Name      string `json:"name"`       // unique within a run; letters, digits, dot, underscore and hyphen
	UserAgent string `json:"user_agent"` // as sent
	// it is our own once more, to tell what a second request gets under any name
	IsControl bool `json:"is_control,omitempty"`
	// the agent of the registry whose policy is compared, "" for one that no group names
	Agent   string   `json:"agent,omitempty"`
	Headers []Header `json:"headers,omitempty"` // further headers of its requests, in order
}

// Header is one header of a request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Also is the answer to a further identity. Its capture has no headers, no memory and no
// answers of its own; its body is that of the host's own answer if both are equal.
type Also struct {
	Identity Identity
	Capture  *Capture
	Price    *consent.Price // that the headers of the answer name, nil without one
	Awaits   bool           // the body is that of the host's own answer, which is unstored
}

// Restore gives an unstored capture its body, and with it the answers that have the same.
func (c *Capture) Restore(from *Capture) {
	c.Body, c.Truncated, c.Digest, c.Unstored = from.Body, c.Truncated || from.Truncated, from.Digest, from.Unstored
	if c.Error = from.Error; c.Err == nil || c.Error != "" {
		c.Err = from.Err
	}
	for i := range c.Also {
		if also := &c.Also[i]; also.Awaits && !c.Unstored {
			also.Capture.Body, also.Capture.Unstored, also.Awaits = c.Body, false, false
		}
	}
}

// MaxHeaderValue bounds each header value that is kept, and that is sent under an identity.
const MaxHeaderValue = 2 << 10

// MaxIdentities bounds the identities of a run, each of which is a request to each host.
const MaxIdentities = 16

// maxAgentName bounds the name of an identity's agent, in bytes. An archive may give any.
const maxAgentName = 256

// Validate returns why the identity cannot be asked under, nil if it can.
func (i *Identity) Validate() error {
	switch {
	case i.Name == "":
		return errors.New("an identity needs a name")
	case len(i.Name) > 64 || strings.Trim(i.Name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "":
		return fmt.Errorf("the name %q: use at most 64 letters, digits, dots, underscores and hyphens", Clip(i.Name))
	case i.UserAgent == "":
		return fmt.Errorf("identity %s has no user agent", i.Name)
	case len(i.Agent) > maxAgentName || !utf8.ValidString(i.Agent) || strings.ContainsFunc(i.Agent, unicode.IsControl):
		return fmt.Errorf("identity %s: the name of its agent has a control character, is not UTF-8 or "+
			"has more than %d bytes", i.Name, maxAgentName)
	}
	if err := CheckUserAgent(i.UserAgent); err != nil {
		return fmt.Errorf("identity %s: %w", i.Name, err)
	}
	for k, h := range i.Headers {
		if err := h.validate(); err != nil {
			return fmt.Errorf("identity %s: %w", i.Name, err)
		}
		if slices.ContainsFunc(i.Headers[:k], func(other Header) bool { return strings.EqualFold(other.Name, h.Name) }) {
			return fmt.Errorf("identity %s: header %s stands twice", i.Name, h.Name)
		}
	}
	return nil
}

// ours are the headers that the client sets, or that would change what the answer means:
// where the request goes, how the answer is framed, or that it may be part of a file, or
// none.
var ours = []string{
	"Host", "User-Agent", "Accept-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Content-Length",
	"Transfer-Encoding", "Te",
	"Trailer", "Upgrade", "Expect", "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since",
	"If-Unmodified-Since", "Content-Type",
}

// validate returns an error for a header that could end the line and begin another, or
// that is not the user's to set.
func (h *Header) validate() error {
	switch name := http.CanonicalHeaderKey(h.Name); {
	case !httpguts.ValidHeaderFieldName(h.Name):
		return fmt.Errorf("%q is not the name of a header", Clip(h.Name))
	case slices.Contains(ours, name) || strings.HasPrefix(name, "Proxy-"):
		return fmt.Errorf("header %s cannot be set", name)
	case len(h.Value) > MaxHeaderValue:
		return fmt.Errorf("header %s is longer than %d bytes", h.Name, MaxHeaderValue)
	}
	for i := 0; i < len(h.Value); i++ {
		if c := h.Value[i]; c < ' ' || c > '~' {
			return fmt.Errorf("header %s contains byte %#x; use printable ASCII", h.Name, c)
		}
	}
	return nil
}

// CheckUserAgent returns an error for a user agent that cannot stand in a header.
func CheckUserAgent(agent string) error {
	for i := 0; i < len(agent); i++ {
		if c := agent[i]; c < ' ' || c > '~' {
			return fmt.Errorf("the user agent contains byte %#x; use printable ASCII", c)
		}
	}
	return nil
}

package fetch

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/robocensus/robocensus/robots/answer"
)

// Identity is a further name under which an origin is asked for its robots.txt, once,
// after it has answered us.
type Identity struct {
	Name      string   `json:"name"`                 // unique within a run; letters, digits, dot, underscore and hyphen
	UserAgent string   `json:"user_agent"`           // as sent
	IsControl bool     `json:"is_control,omitempty"` // it is our own once more, to tell what a second request gets under any name
	Agent     string   `json:"agent,omitempty"`      // the agent of the registry whose policy is compared, "" for one that no group names
	Headers   []Header `json:"headers,omitempty"`    // further headers of its requests, in order
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
}

// MaxIdentities bounds the identities of a run, each of which is a request to each host.
const MaxIdentities = 16

// Validate returns why the identity cannot be asked under, nil if it can.
func (i *Identity) Validate() error {
	switch {
	case i.Name == "":
		return errors.New("an identity needs a name")
	case len(i.Name) > 64 || strings.Trim(i.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "":
		return fmt.Errorf("the name %q: use at most 64 letters, digits, dots, underscores and hyphens", clip(i.Name))
	case i.UserAgent == "":
		return fmt.Errorf("identity %s has no user agent", i.Name)
	}
	if err := checkUserAgent(i.UserAgent); err != nil {
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
	"Host", "User-Agent", "Accept-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Content-Length", "Transfer-Encoding", "Te",
	"Trailer", "Upgrade", "Expect", "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Content-Type",
}

// validate returns an error for a header that could end the line and begin another, or
// that is not the user's to set.
func (h *Header) validate() error {
	switch name := http.CanonicalHeaderKey(h.Name); {
	case !httpguts.ValidHeaderFieldName(h.Name):
		return fmt.Errorf("%q is not the name of a header", clip(h.Name))
	case slices.Contains(ours, name) || strings.HasPrefix(name, "Proxy-"):
		return fmt.Errorf("header %s cannot be set", name)
	case len(h.Value) > maxHeaderValue:
		return fmt.Errorf("header %s is longer than %d bytes", h.Name, maxHeaderValue)
	}
	for i := 0; i < len(h.Value); i++ {
		if c := h.Value[i]; c < ' ' || c > '~' {
			return fmt.Errorf("header %s contains byte %#x; use printable ASCII", h.Name, c)
		}
	}
	return nil
}

// checkUserAgent returns an error for a user agent that cannot stand in a header.
func checkUserAgent(agent string) error {
	for i := 0; i < len(agent); i++ {
		if c := agent[i]; c < ' ' || c > '~' {
			return fmt.Errorf("the user agent contains byte %#x; use printable ASCII", c)
		}
	}
	return nil
}

// tail returns the headers of a request under an identity, from User-Agent on.
func (i *Identity) tail() string {
	accept, more := "text/plain, */*;q=0.5", ""
	for _, h := range i.Headers {
		if strings.EqualFold(h.Name, "Accept") {
			accept = h.Value
			continue
		}
		more += h.Name + ": " + h.Value + "\r\n"
	}
	return "\r\nUser-Agent: " + i.UserAgent + "\r\nAccept: " + accept + "\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\n" + more
}

// IdentityPause is the least time between the end of a request to a host and the next
// one, under another identity.
const IdentityPause = time.Second

// askAlso asks the origin that answered once under each identity, one after the other: no
// retries, no other scheme, redirects followed as for the host's own answer. It asks
// nobody if there was no answer, or over FTP, which has no user agents. It returns early
// if the context ends or this machine fails; got then says so.
func (lease *Lease) askAlso(got *Capture) {
	config := &lease.client.config
	if !got.answered() {
		return
	}
	defer func() { lease.identity = 0 }()
	for i := range config.Identities {
		b := &budget{deadline: time.Now().Add(IdentityPause + config.Timeout)}
		if !lease.pause(b, IdentityPause) {
			got.stop(lease.ctx.Err())
			return
		}
		lease.identity = i + 1
		began := time.Now()
		waited := b.waited
		a := lease.attempt(b, 1, got.Origin, robotsRoute)
		if got.stoppedBy(lease, a) {
			return
		}
		total := time.Since(began) - (b.waited - waited)
		a.Attempts, a.Headers, a.Times = 1, Headers{}, Times{Total: &total}
		got.Also = append(got.Also, Also{Identity: config.Identities[i], Capture: a})
	}
}

// answered reports whether an origin answered over HTTP, so that it may be asked again.
func (c *Capture) answered() bool {
	return (c.Status() != 0 || len(c.Hops) > 1) && c.Local == nil && c.Error != answer.ErrorCanceled && c.Origin.Scheme != "ftp"
}

// stop makes a fetch one that did not end.
func (c *Capture) stop(err error) {
	c.Error, c.Err = answer.ErrorCanceled, fmt.Errorf("stopped: %w", err)
}

// stoppedBy reports whether another request to the origin did not end, and stops the fetch
// then.
func (c *Capture) stoppedBy(lease *Lease, other *Capture) bool {
	switch {
	case other.Local != nil:
		c.Local, c.Error, c.Err = other.Local, answer.ErrorCanceled, other.Err
		return true
	case other.Error == answer.ErrorCanceled || lease.ctx.Err() != nil && other.Error != "":
		c.stop(lease.ctx.Err())
		return true
	}
	return false
}

// share makes bodies that equal that of the host's own answer one in memory.
func (c *Capture) share() {
	for _, other := range c.Also {
		if b := other.Capture.Body; b != nil && c.Body != nil && bytes.Equal(b, c.Body) {
			other.Capture.Body = c.Body
		}
	}
}

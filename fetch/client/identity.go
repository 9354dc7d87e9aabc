package client

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
)

// tail returns the headers of a request under an identity, from User-Agent on.
func tail(i *fetch.Identity) string {
	accept, more := "text/plain, */*;q=0.5", ""
	for _, h := range i.Headers {
		if strings.EqualFold(h.Name, "Accept") {
			accept = h.Value
			continue
		}
		more += h.Name + ": " + h.Value + "\r\n"
	}
	return "\r\nUser-Agent: " + i.UserAgent + "\r\nAccept: " + accept +
		"\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\n" + more
}

// IdentityPause is the least time between the end of a request to a host and the next
// one, under another identity.
const IdentityPause = time.Second

// askAlso asks the origin that answered once under each identity, one after the other: no
// retries, no other scheme, redirects followed as for the host's own answer. It asks
// nobody if there was no answer, or over FTP, which has no user agents, and nobody any
// more after an error whose Retry-After is beyond maxRetryAfter. It returns early if the
// context ends or this machine fails; got then says so.
func (lease *Lease) askAlso(got *heard) {
	config := &lease.client.config
	if !got.answered() {
		return
	}
	defer func() { lease.identity = 0 }()
	pause, again := got.next()
	defer func() { got.rest(pause, again) }()
	for i := range config.Identities {
		if !again {
			return
		}
		b := &budget{deadline: time.Now().Add(pause + config.Timeout)}
		if !lease.pause(b, pause) {
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
		pause, again = a.pause(IdentityPause)
		a.Attempts, a.Headers, a.Times = 1, fetch.Headers{}, fetch.Times{Total: &total}
		also := fetch.Also{Identity: config.Identities[i]}
		if price, ok := consent.PriceOf(a.Status(), fetch.LinesOf(a.header), nil); ok {
			also.Price = &consent.Price{Header: price.Header, Text: price.Text}
		}
		got.Also = append(got.Also, also)
		got.also = append(got.also, a)
	}
}

// answered reports whether an origin answered over HTTP, so that it may be asked again.
func (got *heard) answered() bool {
	return (got.Status() != 0 || len(got.Hops) > 1) && got.Local == nil && got.Error != answer.ErrorCanceled &&
		got.Origin.Scheme != "ftp"
}

// stop makes a fetch one that did not end.
func (got *heard) stop(err error) {
	got.Error, got.Err = answer.ErrorCanceled, fmt.Errorf("stopped: %w", err)
}

// stoppedBy reports whether another request to the origin did not end, and stops the fetch
// then.
func (got *heard) stoppedBy(lease *Lease, other *heard) bool {
	switch {
	case other.Local != nil:
		got.Local, got.Error, got.Err = other.Local, answer.ErrorCanceled, other.Err
		return true
	case other.Error == answer.ErrorCanceled || lease.ctx.Err() != nil && other.Error != "":
		got.stop(lease.ctx.Err())
		return true
	}
	return false
}

// share makes bodies that equal that of the host's own answer one in memory.
func share(c *fetch.Capture) {
	for _, other := range c.Also {
		if b := other.Capture.Body; b != nil && c.Body != nil && bytes.Equal(b, c.Body) {
			other.Capture.Body = c.Body
		}
	}
}

// identity returns the one in memory of equal identities, nil for none.
func (c *Config) identity(equal *fetch.Identity) *fetch.Identity {
	for i := range c.Identities {
		if equal != nil && c.Identities[i].Name == equal.Name {
			return &c.Identities[i]
		}
	}
	return equal
}

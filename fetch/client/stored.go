package client

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// Find finds the stored answer of a URL, of several the one that is nearest to a time, and
// calls use with its date and its bytes as a server would have sent them. found is false if
// none is stored. An error is one of this machine, or that of the context.
type Find func(ctx context.Context, url string, near time.Time, use func(date time.Time, answer io.Reader)) (found bool,
	err error)

// Archive runs plans for captures that somebody else made: what a [Client] would ask for, it
// finds among stored answers, and reads as the client does. It asks nobody, and so it waits
// for nobody. It is safe for concurrent use.
type Archive struct{ client *Client }

// NewArchive returns an archive that runs the plans of a configuration.
func NewArchive(config Config, b Backing) *Archive {
	config.Record, config.Identities = false, nil
	return &Archive{&Client{config: config, spool: newSpool(b, config.mostKept()), rules: newOwnRules(config.UserAgent)}}
}

// Complete adds to the capture of a robots.txt what its host answered besides: its front page, and
// what plans ask for under our own identity. Whether a page may be read is judged as if it
// were asked for, but that a robots.txt of another origin that is not stored closes nothing.
func (a *Archive) Complete(ctx context.Context, c *fetch.Capture, find Find) error {
	if c.Location != "" {
		return nil // nobody knows what the host allows
	}
	lease := &Lease{client: a.client, ctx: ctx, find: find, near: c.Start}
	defer lease.settle()
	got := &heard{Capture: c}
	if c.Body != nil && c.Error == "" {
		got.text = lease.text(min(len(c.Body), blockBytes), nil)
		if _, err := got.text.Write(c.Body); err != nil {
			return err
		}
	}
	lease.askFront(got)
	lease.askFurther(got, false)
	if got.isStopped() {
		return errors.Join(got.Local, ctx.Err())
	}
	got.text = nil // the body is in memory already
	if landed := lease.land(got); landed.Local != nil || landed.Error == answer.ErrorCanceled {
		return errors.Join(landed.Local, ctx.Err())
	}
	return nil
}

// recall finds the answer of a URL among stored ones.
func (lease *Lease) recall(o fetch.Origin, target string) (a received, fail *fetch.Failure) {
	found, err := lease.find(lease.ctx, o.String()+target, lease.near, func(date time.Time, stored io.Reader) {
		fail = lease.receive(new(budget), new(weighed), &playback{r: stored}, time.Now(), &a)
		a.date, a.times = date, fetch.Times{}
	})
	if err != nil {
		return a, &fetch.Failure{Class: answer.ErrorCanceled, Err: err, Local: err}
	}
	a.missing = !found
	return a, fail
}

// Replay returns the body of an answer from the bytes of [fetch.Exchange.Received], decoded
// and cut as the fetch did that received it with the same limit.
func Replay(from io.Reader, maxBody int) ([]byte, error) {
	lease := &Lease{client: &Client{config: Config{Limits: fetch.Limits{MaxBody: maxBody}}, spool: new(spool)},
		ctx:   context.Background(),
		pages: true}
	var a received
	if fail := lease.receive(new(budget), new(weighed), &playback{r: from}, time.Now(), &a); fail != nil {
		return nil, fail
	}
	if a.body == nil {
		return nil, errors.New("the answer has no body to read")
	}
	return a.body.bytes()
}

// playback is a connection that gives what one has given before.
type playback struct {
	net.Conn
	r io.Reader
}

func (p *playback) Read(b []byte) (int, error) { return p.r.Read(b) }

func (p *playback) SetReadDeadline(time.Time) error { return nil }

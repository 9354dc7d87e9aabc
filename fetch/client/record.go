package client

import (
	"errors"
	"io"
	"iter"
	"net"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// recording is an exchange while its bytes are on the tape of the lease.
type recording struct {
	*fetch.Exchange            // nil while its facts lie on the tape
	sent, received, facts span // of the tape
	whole                 bool // the answer was read to its end
	header                int  // the end of its header on the tape, 0 without one
}

// span is a range of bytes of a text.
type span struct{ from, to int }

// noText is not even an empty one.
var noText = span{-1, -1}

// ask requests target of o by the scheme of o, and records the exchange if the client is
// configured to.
func (lease *Lease) ask(b *budget, o fetch.Origin, target string) (received, *fetch.Failure) {
	if lease.find != nil {
		return lease.recall(o, target)
	}
	get := lease.get
	if o.Scheme == "ftp" {
		get = lease.getFTP
	}
	if !lease.client.config.Record && lease.sharing == "" {
		return get(b, o, target)
	}
	x := lease.begin(o.String() + target)
	lease.recording, lease.last = x, x
	a, fail := get(b, o, target)
	lease.recording, lease.tape.paused = nil, nil
	if fail == nil && o.Scheme == "ftp" && a.body != nil {
		fail = lease.recordFile(x, &a)
	}
	if x.Kind != "" && x.MaxBody == 0 && x.header > 0 {
		x.whole, x.received.to = x.whole && x.received.to == x.header, x.header
	}
	x.Remote, x.TLSVersion, x.Status, x.Cut = a.remote, a.tls, a.status, x.cut(&a, fail)
	if fail != nil {
		x.Error, x.Err = fail.Class, fail.Err
	}
	if lease.client.config.Record {
		lease.exchanges = append(lease.exchanges, x)
	}
	return a, fail
}

// begin begins the recording of an exchange.
func (lease *Lease) begin(url string) *recording {
	if lease.tape == nil {
		lease.tape = lease.text(1023, nil)
	}
	x := &recording{Exchange: &fetch.Exchange{URL: url, Start: lease.client.config.Now()}}
	if lease.identity > 0 {
		x.Identity = lease.client.config.Identities[lease.identity-1].Name
	}
	x.sent = span{lease.tape.size(), lease.tape.size()}
	x.received = x.sent
	if q := lease.question; q != nil {
		x.Kind, x.Further, x.MaxBody = q.Kind, lease.number, q.MaxBody
	} else if lease.meets {
		x.Kind, x.Further, x.MaxBody = fetch.KindControl, lease.number, lease.maxBody()
	}
	return x
}

// recordFile records the file of an answer over FTP.
func (lease *Lease) recordFile(x *recording, a *received) *fetch.Failure {
	x.received = span{lease.tape.size(), lease.tape.size()}
	_, err := io.Copy(lease.tape, a.body.reader())
	x.received.to, x.whole = lease.tape.size(), !a.truncated
	ours, _ := errors.AsType[*fetch.Failure](err)
	return ours
}

// cut returns the value of Cut.
func (x *recording) cut(a *received, fail *fetch.Failure) string {
	switch {
	case x.whole || x.received.to == x.received.from:
		return ""
	case fail == nil && a.truncated:
		return "length"
	case fail == nil:
		return "unspecified"
	}
	switch fail.Class {
	case answer.ErrorTimeout:
		return "time"
	case answer.ErrorReset, answer.ErrorTruncatedBody:
		return "disconnect"
	case answer.ErrorHeaderTooLarge:
		return "length"
	}
	return "unspecified"
}

// record returns a connection that records what is sent and received on it. paused is
// called with waits for the disk. Without a recording, it returns the connection.
func (lease *Lease) record(conn net.Conn, paused func(time.Duration)) net.Conn {
	if lease.recording == nil {
		return conn
	}
	lease.tape.paused = paused
	lease.recording.Start = lease.client.config.Now()
	return &recordedConn{conn, lease.tape, lease.recording}
}

// recordedConn is a connection whose request and answer are recorded, or whose
// conversation.
type recordedConn struct {
	net.Conn
	tape *text
	x    *recording
}

func (c *recordedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if e := c.put(p[:n], &c.x.sent); e != nil {
		err = e
	}
	return n, err
}

func (c *recordedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	to := &c.x.received
	if c.x.talks() {
		to = &c.x.sent
	}
	if e := c.put(p[:n], to); e != nil {
		err = e
	}
	return n, err
}

// talks reports whether the exchange is a conversation.
func (x *recording) talks() bool { return len(x.URL) > 4 && x.URL[:4] == "ftp:" }

func (c *recordedConn) put(p []byte, to *span) error {
	if to.from == to.to {
		to.from = c.tape.size()
	}
	_, err := c.tape.Write(p)
	to.to = c.tape.size()
	return err
}

// Exchanges yields the requests that [Lease.Fetch] made, in order: of all attempts,
// redirects, schemes, probes, front pages, plans and identities, but those that an outage of this machine has voided.
// There are none unless the client records them, or if a memory has answered. They are
// valid until Leave. An error is one of the disk.
func (lease *Lease) Exchanges() iter.Seq2[*fetch.Exchange, error] {
	return func(yield func(*fetch.Exchange, error) bool) {
		if len(lease.exchanges) == 0 {
			return
		}
		for _, x := range lease.exchanges {
			e, err := x.exchange(lease.tape)
			if !yield(&e, err) || err != nil {
				return
			}
		}
	}
}

// exchange returns the exchange with its bytes.
func (x *recording) exchange(tape *text) (e fetch.Exchange, err error) {
	take := func(s span) (p []byte) {
		if s.to > s.from && err == nil {
			p, err = tape.part(s)
		}
		return p
	}
	if x.Exchange != nil {
		e = *x.Exchange
	} else if err = factsAt(tape, x.facts, &e); err != nil {
		return e, err
	}
	e.Sent = take(x.sent)
	e.Received = take(x.received)
	e.Header = max(0, x.header-x.received.from)
	return e, err
}

package client

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// others lets hosts share the origins to which they lead: many name one licence. A URL of another
// origin is asked for once, and its answer read again for each host that wants it. An origin gets
// one request at a time, with a pause after each. That holds for a host's own origin, too.
//
// A host takes the place of a URL first and that of its origin second. It holds neither while it
// waits for that of another, and a host that waits holds no slot.
type others struct {
	urls  *limiter
	turns *limiter      // of origins
	wait  time.Duration // the longest for another origin: a host that waits takes part of the run's room

	backing Backing
	mu      sync.Mutex
	kept    map[string]*list.Element
	recent  *list.List // of *told, the last used first
	bytes   int
}

// told is what an origin has told.
type told struct {
	key string
	fetch.Exchange
	fail  *fetch.Failure // of a request that failed
	until time.Time      // of an origin that wants to be left alone: when it no longer does
}

// Bounds of what is kept of answers. What is dropped is asked for again.
const (
	maxTold      = 4 << 10
	maxToldBytes = 8 << 20
)

func newOthers(timeout time.Duration, b Backing) *others {
	return &others{urls: newLimiter(1, 0), turns: newLimiter(1, 0), wait: max(timeout, maxRetryAfter), backing: b,
		kept: make(map[string]*list.Element), recent: list.New()}
}

// find returns what is kept under a key, nil if nothing is.
func (s *others) find(key string) *told {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.kept[key]
	if e == nil {
		return nil
	}
	s.recent.MoveToFront(e)
	return e.Value.(*told)
}

// keep keeps what an origin has told.
func (s *others) keep(t *told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.size() > maxToldBytes/8 {
		return
	}
	if e := s.kept[t.key]; e != nil {
		s.drop(e)
	}
	s.kept[t.key] = s.recent.PushFront(t)
	s.bytes += t.size()
	for len(s.kept) > maxTold || s.bytes > maxToldBytes {
		s.drop(s.recent.Back())
	}
}

func (s *others) drop(e *list.Element) {
	t := s.recent.Remove(e).(*told)
	delete(s.kept, t.key)
	s.bytes -= t.size()
}

// size returns the approximate bytes of memory.
func (t *told) size() int { return 500 + 2*len(t.key) + len(t.Sent) + len(t.Received) }

func tiredKey(o fetch.Origin) string { return "tired " + o.String() }

// tire keeps that an origin wants to be left alone.
func (s *others) tire(o fetch.Origin, after time.Duration) {
	until := time.Now().Add(after)
	s.keep(&told{key: tiredKey(o), until: until})
	if s.backing.Spare != nil {
		s.backing.Spare(o, until) // a memory that fails says so again when the answer is kept
	}
}

// isTired reports whether an origin wants to be left alone by other hosts than its own.
func (s *others) isTired(o fetch.Origin, isOwn bool) (_ bool, err error) {
	if isOwn {
		return false, nil
	}
	until := time.Time{}
	if t := s.find(tiredKey(o)); t != nil {
		until = t.until
	} else if s.backing.Spared != nil {
		until, err = s.backing.Spared(o)
	}
	return err == nil && time.Now().Before(until), err
}

// sharedAs returns the key of the request for a URL whose answer others may want, "" if none do.
func (lease *Lease) sharedAs(o fetch.Origin, target string) string {
	q := lease.question
	switch {
	case lease.identity > 0 || strings.TrimPrefix(o.Host, "www.") == strings.TrimPrefix(lease.home.Host, "www."):
		return "" // all that a host has may be redirected there
	case lease.meets:
		return "robots.txt " + o.String() + target
	case q != nil && q.Read == nil:
		return fmt.Sprint(lease.method(), " ", q.MaxBody, " ", o, target)
	}
	return ""
}

// turn is the place of a chain at the origin that it asks.
type turn struct {
	lease *Lease
	at    fetch.Origin // zero without a place
	last  *heard       // the chain, with the last answer
	asked bool
}

// end gives the place back after a pause.
func (t *turn) end() {
	if t.at == (fetch.Origin{}) {
		return
	}
	s, at := t.lease.client.others, t.at
	pause, again := t.last.pause(IdentityPause)
	if !again {
		pause = IdentityPause
		after, _ := retryAfter(*t.last.Headers.RetryAfter)
		s.tire(at, after)
	}
	time.AfterFunc(pause, func() { s.turns.release(at.String()) })
	t.at = fetch.Origin{}
}

// askInTurn asks for the target of an origin, or takes what it has told another host. Where the
// robots.txt of a host is redirected to, it is asked at once, as by all that do not ask for more.
func (lease *Lease) askInTurn(t *turn, b *budget, o fetch.Origin, target string) (a received, fail *fetch.Failure) {
	s := lease.client.others
	isFile := lease.question == nil && !lease.meets
	if s == nil || lease.find != nil || o.Scheme == "ftp" || isFile && t.asked {
		t.end()
		return lease.ask(b, o, target)
	}
	t.asked = true
	ctx, key, isOwn := lease.ctx, "", isFile || o == lease.home
	if !isOwn {
		bounded, cancel := context.WithTimeout(lease.ctx, s.wait)
		defer cancel()
		ctx, key = bounded, lease.sharedAs(o, target)
	}
	if key != "" || t.at != o {
		t.end() // those who wait for the place of a URL may need it
	}
	if key != "" {
		if a, fail, isOver := lease.takeURL(ctx, b, key); isOver {
			return a, fail
		}
	}
	if t.at != o {
		if a, fail, isOver := t.take(ctx, b, o, isOwn); isOver {
			return a, fail
		}
	}
	a, fail = lease.ask(b, o, target)
	if key == "" {
		return a, fail
	}
	x, err := lease.copied()
	switch {
	case err != nil:
		return a, &fetch.Failure{Class: answer.ErrorCanceled, Err: err, Local: err}
	case fail == nil:
		lease.share(&told{key: key, Exchange: x})
	case fail.Class != answer.ErrorCanceled && fail.Local == nil:
		lease.failed = &told{key: key, Exchange: x, fail: fail}
	}
	return a, fail
}

// takeURL takes the place of a URL, or what its origin has told another host: then it is over.
func (lease *Lease) takeURL(ctx context.Context, b *budget, key string) (a received, fail *fetch.Failure,
	isOver bool) {
	s := lease.client.others
	known := s.find(key)
	if known == nil {
		err := lease.acquire(ctx, b, s.urls, key)
		if err != nil && lease.ctx.Err() != nil {
			return a, fetch.FailureOf(lease.ctx, fetch.Waiting, err), true
		}
		if known = s.find(key); err == nil {
			lease.sharing = key
		} else if known == nil {
			return received{retold: true}, fetch.NewFailure(answer.ErrorTimeout, "what is asked for another host has not come"),
				true
		}
	}
	if known == nil {
		return a, nil, false
	}
	lease.share(nil)
	a, fail = lease.retell(known)
	return a, fail, true
}

// take takes the place of an origin. It is over if that takes too long, or the origin wants to be
// left alone.
func (t *turn) take(ctx context.Context, b *budget, o fetch.Origin, isOwn bool) (a received, fail *fetch.Failure,
	isOver bool) {
	s := t.lease.client.others
	if err := t.lease.acquire(ctx, b, s.turns, o.String()); err == nil {
		isTired, err := s.isTired(o, isOwn)
		if !isTired && err == nil {
			t.at = o
			return a, nil, false
		}
		s.turns.release(o.String())
		if err != nil {
			return a, &fetch.Failure{Class: answer.ErrorCanceled, Err: err, Local: err}, true
		}
	} else if t.lease.ctx.Err() != nil {
		return a, fetch.FailureOf(t.lease.ctx, fetch.Connecting, err), true
	}
	t.lease.share(nil)
	return received{spared: true}, nil, true
}

// share lets others have what was asked for, nil if they must ask themselves.
func (lease *Lease) share(t *told) {
	if lease.sharing == "" {
		return
	}
	if t != nil {
		lease.client.others.keep(t)
	}
	lease.client.others.urls.release(lease.sharing)
	lease.sharing, lease.failed = "", nil
}

// retell receives an answer once more, and records it as if it had come.
func (lease *Lease) retell(t *told) (a received, fail *fetch.Failure) {
	if len(t.Received) > 0 {
		fail = lease.receive(new(budget), new(weighed), &playback{r: bytes.NewReader(t.Received)}, time.Now(), &a)
	}
	if t.fail != nil {
		fail = t.fail
	}
	a.retold, a.remote, a.tls, a.times = true, t.Remote, t.TLSVersion, fetch.Times{}
	if !lease.client.config.Record {
		return a, fail
	}
	x := lease.begin(t.URL)
	x.Start, x.Remote, x.TLSVersion, x.Status, x.Error, x.Err, x.Cut = t.Start, t.Remote, t.TLSVersion, t.Status, t.Error,
		t.Err, t.Cut
	for _, part := range []struct {
		bytes []byte
		to    *span
	}{{t.Sent, &x.sent}, {t.Received, &x.received}} {
		part.to.from = lease.tape.size()
		if _, err := lease.tape.Write(part.bytes); err != nil {
			return a, &fetch.Failure{Class: answer.ErrorCanceled, Err: err, Local: err}
		}
		part.to.to = lease.tape.size()
	}
	if t.Header > 0 {
		x.header = x.received.from + t.Header
	}
	lease.exchanges = append(lease.exchanges, x)
	return a, fail
}

// copied returns the last exchange with its bytes.
func (lease *Lease) copied() (fetch.Exchange, error) {
	x, err := lease.last.exchange(lease.tape)
	if !lease.client.config.Record {
		lease.tape.release()
		lease.tape = nil
	}
	return x, err
}

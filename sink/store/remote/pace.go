package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"sync"
	"time"
)

// Limits says how a server of archives is asked: at most Rate requests a second (0 for no
// limit) and AtOnce at the same time. A server that answers 403, 408, 429 or 5xx is
// left alone for as long as it asks, or for a doubling time, by all readers.
type Limits struct {
	Rate   float64
	AtOnce int
	Stores bool // object stores too, which are built for more
}

const (
	// firstWait is the wait after a server's first such answer if it asks for none.
	firstWait = time.Second
	// longestAsked bounds the wait that a server may ask for. Beyond it a read fails.
	longestAsked = time.Hour
	// busyAttempts are the attempts at a server that says it is busy: with doubling
	// waits they take a quarter of an hour.
	busyAttempts = 12
)

// Servers opens objects within limits. All objects of a server share it.
type Servers struct {
	limits  Limits
	wait    time.Duration // the first one
	mu      sync.Mutex
	by      map[string]*server
	buckets map[string]*Bucket // by their URL
}

// NewServers returns servers without memory of earlier requests.
func NewServers(l Limits) *Servers {
	return &Servers{limits: l, wait: firstWait, by: make(map[string]*server), buckets: make(map[string]*Bucket)}
}

// Open opens an object to read it once, from its beginning, and takes a single request
// at an https URL. The size of the object is known.
func (s *Servers) Open(ctx context.Context, rawURL string) (io.ReadSeekCloser, *Object, error) {
	at, err := s.of(rawURL)
	if err != nil {
		return nil, nil, err
	}
	var o *Object
	https := schemeOf(rawURL) == "https"
	if https {
		o = newHTTPS(rawURL)
	} else if o, err = Open(ctx, rawURL); err != nil {
		return nil, nil, err
	}
	if https || s.limits.Stores {
		o.server = at
	}
	r := &reader{ctx: ctx, object: o, fresh: https}
	if err = r.open(); err == nil && o.Size < 0 {
		err = permanent{fmt.Errorf("read %s: the server does not say how large it is; download it", o.URL)}
	}
	if err != nil {
		r.Close()
		o.Close()
		return nil, nil, err
	}
	return r, o, nil
}

// OpenRange opens the bytes of an object from an offset up to another, with a single
// request. What is read is shorter if the object is.
func (s *Servers) OpenRange(ctx context.Context, rawURL string, from, to int64) (io.ReadCloser, error) {
	at, err := s.of(rawURL)
	if err != nil {
		return nil, err
	}
	var o *Object
	if schemeOf(rawURL) == "https" {
		o = newHTTPS(rawURL)
		o.server = at
	} else {
		b, name, err := s.bucket(ctx, rawURL)
		if err != nil {
			return nil, err
		}
		if o = b.unseen(name); s.limits.Stores {
			o.server = at
		}
	}
	r := &reader{ctx: ctx, object: o, at: from, to: to, fresh: true}
	if err := r.open(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// bucket returns the bucket of an object, which stays open, and the object's name there.
func (s *Servers) bucket(ctx context.Context, rawURL string) (b *Bucket, name string, err error) {
	root, name := split(rawURL)
	s.mu.Lock()
	defer s.mu.Unlock()
	if b = s.buckets[root]; b == nil {
		if b, err = OpenBucket(ctx, root); err == nil {
			s.buckets[root] = b
		}
	}
	return b, name, err
}

// Close closes what OpenRange has opened.
func (s *Servers) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for root, b := range s.buckets {
		b.Close()
		delete(s.buckets, root)
	}
}

// of returns the server of a URL that this build can read.
func (s *Servers) of(rawURL string) (*server, error) {
	if err := check(rawURL); err != nil {
		return nil, err
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: Name(rawURL), Err: errors.Unwrap(err)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := u.Scheme + "://" + u.Host
	if s.by[name] == nil {
		at := &server{slots: make(chan struct{}, max(1, s.limits.AtOnce)), first: s.wait}
		if s.limits.Rate > 0 {
			at.every = time.Duration(float64(time.Second) / s.limits.Rate)
		}
		s.by[name] = at
	}
	return s.by[name], nil
}

// server keeps the pace of one server. The nil server has none.
type server struct {
	slots chan struct{} // of requests under way
	every time.Duration // least time between the beginnings of two requests
	first time.Duration

	mu      sync.Mutex
	next    time.Time // no request begins earlier, for the sake of the pace
	until   time.Time // nor earlier than this: the server is busy
	refused int       // waits since the last request that was served
}

// enter waits until a request may begin. Each enter without an error needs a leave.
func (s *server) enter(ctx context.Context) error {
	if s == nil {
		return nil
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		s.mu.Lock()
		now := time.Now()
		begin := s.next
		if s.until.After(begin) {
			begin = s.until
		}
		wait := begin.Sub(now)
		if wait <= 0 {
			s.next = now.Add(s.every)
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		// The server may meanwhile tell another reader to wait longer.
		if err := sleep(ctx, wait); err != nil {
			s.leave()
			return err
		}
	}
}

func (s *server) leave() {
	if s != nil {
		<-s.slots
	}
}

// answered takes note of what became of a request.
func (s *server) answered(err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	busy, isBusy := errors.AsType[*busyError](err)
	if !isBusy {
		if err == nil {
			s.refused = 0
		}
		return
	}
	now := time.Now()
	wait := min(busy.wait, longestAsked)
	// An answer to a request that began before the wait does not double it.
	if !now.Before(s.until) {
		if wait == 0 {
			wait = min(s.first<<min(s.refused, 20), longestWait)
		}
		s.refused++
	}
	if until := now.Add(wait); until.After(s.until) {
		s.until = until
	}
}

// patience returns the number of attempts after an error.
func (s *server) patience(err error) int {
	busy, isBusy := errors.AsType[*busyError](err)
	if s == nil || !isBusy || busy.refusal {
		return attempts
	}
	return busyAttempts
}

// pause waits before a repetition; see [pause]. A server that is busy is waited for in
// [server.enter], together with all other readers.
func (s *server) pause(ctx context.Context, n int, after error) error {
	busy, isBusy := errors.AsType[*busyError](after)
	if s == nil || !isBusy {
		return pause(ctx, n, after)
	}
	if busy.wait > longestAsked {
		return waitError{busy.wait.Round(time.Minute)}
	}
	return nil
}

// waitError reports a server that asks to wait longer than a run should last. It is an
// [ErrTransfer], although nothing was tried several times.
type waitError struct{ wait time.Duration }

func (w waitError) Error() string {
	return fmt.Sprintf("the server asks to wait %s: try again then", w.wait)
}
func (w waitError) Unwrap() error { return ErrTransfer }

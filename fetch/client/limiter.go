package client

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiter admits at most n at once under each key, first come first served, and
// at most rate a second. An unused key costs nothing once its pace is not ahead
// of the clock.
type limiter struct {
	n    int
	rate rate.Limit // 0: no limit

	mu    sync.Mutex
	keys  map[string]*queue
	sweep int // the number of keys that triggers removing idle ones
}

type queue struct {
	held    int
	waiting []*waiter
	pace    *rate.Limiter // nil without a rate
}

// A waiter waits for its turn under a key.
type waiter struct {
	come chan struct{}
	gone bool // it has left; guarded by limiter.mu
}

// newLimiter returns a limiter. At a rate of 0 it has none.
func newLimiter(n int, perSecond float64) *limiter {
	return &limiter{n: n, rate: rate.Limit(perSecond), keys: make(map[string]*queue), sweep: 1024}
}

// join takes a place, or returns a turn to wait for.
func (l *limiter) join(key string) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.keys[key]
	if q == nil {
		l.forget()
		q = &queue{}
		if l.rate > 0 {
			q.pace = rate.NewLimiter(l.rate, 1)
		}
		l.keys[key] = q
	}
	if q.held < l.n {
		q.held++
		return nil
	}
	t := &waiter{come: make(chan struct{})}
	q.waiting = append(q.waiting, t)
	return t
}

// pause returns how long the holder of a place under key must wait before using
// it.
func (l *limiter) pause(key string) time.Duration {
	if l.rate == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[key].pace.Reserve().Delay()
}

// await waits for the turn, if there is one.
func (l *limiter) await(ctx context.Context, key string, t *waiter) error {
	if t == nil {
		return nil
	}
	select {
	case <-t.come:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	t.gone = true
	l.mu.Unlock()
	select {
	case <-t.come: // the turn came before we left
		l.release(key)
	default:
	}
	return ctx.Err()
}

// acquire takes a place, and waits for it.
func (l *limiter) acquire(ctx context.Context, key string) error {
	return l.await(ctx, key, l.join(key))
}

// release gives a place to the first waiter.
func (l *limiter) release(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.keys[key]
	for len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting[0] = nil
		q.waiting = q.waiting[1:]
		if !t.gone {
			close(t.come)
			return
		}
	}
	if q.held--; q.held == 0 && q.idle() {
		delete(l.keys, key)
	}
}

// idle reports whether the queue can be dropped without letting anyone go
// faster.
func (q *queue) idle() bool {
	return q.held == 0 && (q.pace == nil || q.pace.Tokens() >= 1)
}

// forget drops idle keys.
func (l *limiter) forget() {
	if len(l.keys) < l.sweep {
		return
	}
	for key, q := range l.keys {
		if q.idle() {
			delete(l.keys, key)
		}
	}
	l.sweep = max(1024, 2*len(l.keys))
}

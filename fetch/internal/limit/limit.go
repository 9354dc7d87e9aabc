// Package limit admits a number at once, and a number a second, under each of many keys.
package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limiter admits at most n at once under each key, first come first served, and
// at most rate a second. An unused key costs nothing once its pace is not ahead
// of the clock.
type Limiter struct {
	n    int
	rate rate.Limit // 0: no limit

	mu    sync.Mutex
	keys  map[string]*queue
	sweep int // the number of keys that triggers removing idle ones
}

type queue struct {
	held    int
	waiting []*Turn
	pace    *rate.Limiter // nil without a rate
}

// Turn is one waiter's turn.
type Turn struct {
	come chan struct{}
	gone bool // the waiter has left; guarded by Limiter.mu
}

// New returns a limiter. At a rate of 0 it has none.
func New(n int, perSecond float64) *Limiter {
	return &Limiter{n: n, rate: rate.Limit(perSecond), keys: make(map[string]*queue), sweep: 1024}
}

// Join takes a place, or returns a turn to wait for.
func (l *Limiter) Join(key string) *Turn {
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
	t := &Turn{come: make(chan struct{})}
	q.waiting = append(q.waiting, t)
	return t
}

// Pause returns how long the holder of a place under key must wait before using
// it.
func (l *Limiter) Pause(key string) time.Duration {
	if l.rate == 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[key].pace.Reserve().Delay()
}

// Await waits for the turn, if there is one.
func (l *Limiter) Await(ctx context.Context, key string, t *Turn) error {
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
		l.Release(key)
	default:
	}
	return ctx.Err()
}

// Acquire takes a place, and waits for it.
func (l *Limiter) Acquire(ctx context.Context, key string) error {
	return l.Await(ctx, key, l.Join(key))
}

// Release gives a place to the first waiter.
func (l *Limiter) Release(key string) {
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
func (l *Limiter) forget() {
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

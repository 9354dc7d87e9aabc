package fetch

import (
	"context"
	"sync"
)

// limiter holds at most n at once per key. Keys in nobody's use cost nothing.
type limiter struct {
	n    int
	mu   sync.Mutex
	keys map[string]*slot
}

type slot struct {
	places chan struct{}
	users  int // holders and waiters
}

func newLimiter(n int) *limiter { return &limiter{n: n, keys: make(map[string]*slot)} }

// acquire waits for a place under key, or for the end of ctx. The release
// must be called once.
func (l *limiter) acquire(ctx context.Context, key string) (release func(), err error) {
	l.mu.Lock()
	s := l.keys[key]
	if s == nil {
		s = &slot{places: make(chan struct{}, l.n)}
		l.keys[key] = s
	}
	s.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		if s.users--; s.users == 0 {
			delete(l.keys, key)
		}
		l.mu.Unlock()
	}
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

package fetch

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// politeness enforces the limits on requests. A request in flight holds a slot,
// a place under the registered domain of its host and a place under the address
// that it dials. A request that waits, for a place, for the pace or before a
// retry, releases its slot meanwhile, so that a busy address costs the others
// nothing.
//
// A request takes the place of its domain first, that of its address second and
// a slot last. A request that holds a slot waits for nothing, so requests
// cannot deadlock.
type politeness struct {
	inside    *limiter // origins between Enter and the end of Fetch
	slots     *limiter
	domains   *limiter
	addresses *limiter
	pace      *rate.Limiter // limits all requests together; nil: no limit
	starts    *limiter      // admits one origin at a time to its first request
}

func newPoliteness(c Config, waiting int) *politeness {
	m := &politeness{
		inside:    newLimiter(2*c.Concurrency+waiting, 0),
		slots:     newLimiter(c.Concurrency, 0),
		domains:   newLimiter(c.PerDomain, 0),
		addresses: newLimiter(c.PerAddress, c.AddressRate),
	}
	if c.Rate > 0 {
		m.starts = newLimiter(1, 0)
		m.pace = rate.NewLimiter(rate.Limit(c.Rate), 1)
	}
	return m
}

// Lease is the right to ask one origin now. It holds one of the client's slots,
// serves one [Lease.Fetch] and ends with [Lease.Leave].
type Lease struct {
	client    *Client
	ctx       context.Context // the context begin of Enter; onceBegun once a connection is dialled
	onceBegun context.Context
	held      bool   // holds a slot
	asked     bool   // the first request has kept the pace
	front     *Front // what is asked for is a front page; nil for robots.txt
	identity  int    // under which it asks: 0 for our own, else one more than the index in Config.Identities

	tape      *text        // bytes of the exchanges, nil unless they are recorded
	exchanges []*recording // in order
	recording *recording   // the exchange in progress

	texts  []*text // texts of its answers
	landed bool    // holds a place in spool.landing
}

// Enter waits until a slot is free. The context begin bounds the waits up to
// the first connection, here and in [Lease.Fetch], and Enter returns its error.
// After that ctx applies, which must not end earlier.
func (c *Client) Enter(begin, ctx context.Context) (*Lease, error) {
	lease := &Lease{client: c, ctx: begin, onceBegun: ctx}
	if err := c.politeness.inside.acquire(begin, ""); err != nil {
		return nil, err
	}
	if err := lease.takeSlot(); err != nil {
		c.politeness.inside.release("")
		return nil, err
	}
	return lease, nil
}

// Leave ends the lease. It must be called once.
func (lease *Lease) Leave() {
	lease.settle()
	lease.giveSlot()
	lease.client.politeness.inside.release("")
}

func (lease *Lease) takeSlot() error {
	err := lease.client.politeness.slots.acquire(lease.ctx, "")
	lease.held = err == nil
	return err
}

func (lease *Lease) giveSlot() {
	if lease.held {
		lease.held = false
		lease.client.politeness.slots.release("")
	}
}

// acquire takes a place under key. It gives up the slot if that takes time. The
// wait is ours, not the host's: it moves the deadline.
func (lease *Lease) acquire(b *budget, l *limiter, key string) error {
	began := time.Now()
	if turn := l.join(key); turn != nil {
		lease.giveSlot()
		if err := l.await(lease.ctx, key, turn); err != nil {
			return err
		}
	}
	err := lease.rest(l.pause(key))
	b.wait(time.Since(began))
	if err != nil {
		l.release(key)
	}
	return err
}

// rest sleeps without a slot and takes one afterwards.
func (lease *Lease) rest(d time.Duration) error {
	if d > 0 {
		lease.giveSlot()
		if err := sleep(lease.ctx, d); err != nil {
			return err
		}
	}
	if lease.held {
		return nil
	}
	return lease.takeSlot()
}

// keepPace waits for the turn of one more request among all. Origins that have
// not begun wait in a separate queue, of which one at a time draws a turn, so a
// redirect or a retry waits for at most one of them.
func (lease *Lease) keepPace(b *budget) error {
	m := lease.client.politeness
	if m.pace == nil {
		return nil
	}
	began := time.Now()
	defer func() { b.wait(time.Since(began)) }()
	if lease.asked {
		return lease.rest(m.pace.Reserve().Delay())
	}
	lease.asked = true
	if turn := m.starts.join(""); turn != nil {
		lease.giveSlot()
		if err := m.starts.await(lease.ctx, "", turn); err != nil {
			return err
		}
	}
	defer m.starts.release("")
	return lease.rest(m.pace.Reserve().Delay())
}

// pause waits before another attempt and reports whether there is time for one.
// The wait is the host's; getting a slot again is ours.
func (lease *Lease) pause(b *budget, wait time.Duration) bool {
	if time.Until(b.deadline) <= wait {
		return false
	}
	lease.giveSlot()
	if sleep(lease.ctx, wait) != nil {
		return false
	}
	began := time.Now()
	err := lease.takeSlot()
	b.wait(time.Since(began))
	return err == nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
	waiting []*turn
	pace    *rate.Limiter // nil without a rate
}

// turn is one waiter's turn.
type turn struct {
	come chan struct{}
	gone bool // the waiter has left; guarded by limiter.mu
}

func newLimiter(n int, perSecond float64) *limiter {
	return &limiter{n: n, rate: rate.Limit(perSecond), keys: make(map[string]*queue), sweep: 1024}
}

// join takes a place, or returns a turn to wait for.
func (l *limiter) join(key string) *turn {
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
	t := &turn{come: make(chan struct{})}
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
func (l *limiter) await(ctx context.Context, key string, t *turn) error {
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

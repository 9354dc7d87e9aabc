package client

import (
	"context"
	"time"

	"github.com/robocensus/robocensus/fetch"
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
	held      bool            // holds a slot
	asked     bool            // the first request has kept the pace
	question  *fetch.Question // the further request that is made; nil for robots.txt
	number    int             // of that request, from 1; 0 for the front page
	strangers []*heard        // answers of other origins for their robots.txt; see [Lease.speaker]
	led       int             // of these, those that redirects have led to
	meets     bool            // the robots.txt of another origin is asked for
	pages     bool            // the bodies of errors are kept
	// under which it asks: 0 for our own, else one more than the index in Config.Identities
	identity int

	tape      *text        // bytes of the exchanges, nil unless they are recorded
	exchanges []*recording // in order
	recording *recording   // the exchange in progress
	last      *recording   // the last one that was recorded

	home    fetch.Origin // whose further requests are the host's own, zero before there are any
	sharing string       // the key under which others wait for what is asked for; see [others]
	failed  *told        // that it failed, if that counts

	find Find      // where answers are stored, so that nobody is asked; nil to ask
	near time.Time // with find: of several answers of a URL the nearest counts

	more   []*more // further answers
	kept   *text   // bodies and readings of these, and their facts while the lease waits
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
func (lease *Lease) acquire(ctx context.Context, b *budget, l *limiter, key string) error {
	began := time.Now()
	if turn := l.join(key); turn != nil {
		lease.giveSlot()
		if err := l.await(ctx, key, turn); err != nil {
			if lease.ctx.Err() == nil { // only the wait has ended
				lease.rest(0)
				b.wait(time.Since(began))
			}
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
	if lease.find != nil {
		return true
	}
	if time.Until(b.deadline) <= wait {
		return false
	}
	lease.giveSlot()
	began := time.Now()
	lease.shrink() // most hosts in flight wait
	b.wait(time.Since(began))
	if sleep(lease.ctx, wait) != nil {
		return false
	}
	began = time.Now()
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

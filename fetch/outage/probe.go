package outage

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

const (
	maxRecent   = 32 // hosts kept
	probed      = 8  // of them in one probe
	probedFirst = 64 // hosts of the list, if nothing has been reached yet
)

// host is one that has proved that this machine is connected. No two of those kept share
// a registered domain or an address block.
type host struct {
	origin fetch.Origin
	domain string
	block  netip.Prefix
}

// Exchange is a request to a host, as far as it came.
type Exchange struct {
	Status         int               // 0 without an answer
	Class          answer.ErrorClass // of its failure, else ""
	Looked, Dialed time.Time         // when its look-up began, zero without one, and its connection
	Remote         netip.Addr
}

// Notice records what an exchange with a host proves.
func (l *Uplink) Notice(o fetch.Origin, x Exchange) {
	if l.Times.Patience == 0 {
		return
	}
	switch {
	case x.Status != 0 && !(l.config.Proxied && x.Status >= 500):
	case x.Class == answer.ErrorConnectRefused && !l.config.Proxied:
	case x.Class.IsNoHost() && !x.Looked.IsZero():
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unknown = []fetch.Origin{o}
		l.proof(x.Looked, x.Looked)
		return
	default:
		return
	}
	w := host{origin: o, domain: fetch.DomainOf(o.Host), block: block(x.Remote)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent = slices.DeleteFunc(l.recent, func(other host) bool {
		return other.domain == w.domain || w.block.IsValid() && other.block == w.block
	})
	if len(l.recent) == maxRecent {
		l.recent = slices.Delete(l.recent, 0, 1)
	}
	l.recent = append(l.recent, w)
	l.proof(x.Looked, x.Dialed)
}

// block returns the addresses that are probably routed together: the /16 of
// IPv4, the /32 of IPv6.
func block(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is4() {
		bits = 16
	}
	p, _ := addr.Prefix(bits) // an unknown address has none
	return p
}

// Proof is what a probe of a host shows.
type Proof struct {
	Proved         bool // that this machine is connected
	Local          bool // this machine has run out of something
	Looked, Dialed time.Time
}

// probe tries to reach hosts until one proves that this machine is connected.
// If none does, it declares an outage.
func (l *Uplink) probe(ctx context.Context, stop context.CancelFunc) {
	defer stop()
	targets := l.targets(ctx)
	results := make(chan Proof, len(targets))
	for i, o := range targets {
		go func() {
			// Stagger the dials: the first few probably suffice.
			select {
			case <-time.After(time.Duration(i%probed) * l.Times.Stagger):
				results <- l.config.Reach(ctx, o)
			case <-ctx.Done():
				results <- Proof{}
			}
		}()
	}
	var got Proof
	for range targets {
		r := <-results
		if !got.Proved {
			r.Local = r.Local || got.Local
			got = r
		}
		if got.Proved {
			stop() // and wait for the others to end
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probing = false
	l.next = time.Now().Add(l.Times.Gap)
	switch {
	case got.Proved:
		l.pause = 0
		l.proof(got.Looked, got.Dialed)
	case got.Local || errors.Is(ctx.Err(), context.Canceled) || !l.isHolding() && l.active == 0:
		// Out of descriptors, or no attempt waits any more: the probe shows
		// nothing.
	default:
		l.pause = min(max(2*l.pause, l.Times.Pause), l.Times.MaxPause)
		l.next = time.Now().Add(l.pause)
		l.declare()
	}
}

// targets returns the hosts to probe: those that answered last, in turn, and, if they are
// few, others of the list.
func (l *Uplink) targets(ctx context.Context) (targets []fetch.Origin) {
	if l.config.Target != (fetch.Origin{}) {
		return []fetch.Origin{l.config.Target}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(probed, len(l.recent))
	for _, w := range l.recent[len(l.recent)-n:] {
		targets = append(targets, w.origin)
	}
	slices.Reverse(targets)
	if n > 0 {
		// The next probe begins with another host, so that none is contacted
		// all the time.
		last := len(l.recent) - 1
		l.recent = append([]host{l.recent[last]}, l.recent[:last]...)
	}
	if len(targets) == probed {
		return targets
	}
	if !l.sampled && l.config.Others != nil {
		l.mu.Unlock()
		sample := l.config.Others(ctx)
		l.mu.Lock()
		l.sample, l.sampled = sample, true
	}
	want := probed
	if len(targets) == 0 && l.pause > 0 {
		want = probedFirst
	}
	more := min(want-len(targets), len(l.sample))
	targets = append(targets, l.sample[:more]...)
	l.sample = append(slices.Clone(l.sample[more:]), l.sample[:more]...)
	if len(targets) == 0 {
		return l.unknown // last, because a resolver that is cut off may have it cached
	}
	return targets
}

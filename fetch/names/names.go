// Package names asks DNS servers for the addresses of hosts, and keeps the answers.
package names

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// Names resolves host names and caches the results. It looks up each name only
// once at a time; retries, the second scheme and hosts that redirect to one
// place need no further look-up. The cache is bounded in number and age.
// Temporary failures are not cached.
type Names struct {
	resolvers *resolvers

	mu     sync.Mutex
	young  map[string]*lookup
	old    map[string]*lookup
	turned time.Time // when young began
}

// MaxLookups bounds the questions to resolvers in flight. Each has two sockets.
const MaxLookups = 1024

const (
	namesAge  = 2 * time.Minute // length of a generation; an entry lives for at most two
	namesMost = 50_000          // most entries of a generation
)

type lookup struct {
	begun time.Time
	asked chan struct{} // closed when it has a place
	done  chan struct{}
	addrs []netip.Addr
	fail  *fetch.Failure
}

// New returns names that it asks of resolvers, or of the system's if there are none:
// at most perResolver at once of each, unless that is 0. Questions are sent with dialer.
func New(resolvers []netip.AddrPort, perResolver int, dialer *net.Dialer) *Names {
	return &Names{resolvers: newResolvers(resolvers, perResolver, dialer), young: make(map[string]*lookup),
		turned: time.Now()}
}

// Addresses returns the addresses of host. took is nil if no look-up was made. waited is
// the time without a place for a question, which moves the deadline.
func (n *Names) Addresses(ctx context.Context, host string, deadline time.Time) (addrs []netip.Addr,
	took *time.Duration, waited time.Duration, fail *fetch.Failure) {
	for {
		l, ours := n.find(host)
		began := time.Now()
		if ours {
			var without time.Duration
			l.addrs, without, l.fail = n.look(ctx, host, deadline.Add(waited), false, sync.OnceFunc(func() { close(l.asked) }))
			if l.fail != nil && !l.fail.Class.IsNoHost() {
				n.drop(host, l)
			}
			close(l.done)
			asking := time.Since(began) - without
			return l.addrs, &asking, waited + without, l.fail
		}
		select {
		case <-l.asked:
		case <-l.done:
		case <-ctx.Done():
			return nil, nil, waited, fetch.LookUpFailure(ctx, host, ctx.Err())
		}
		waited += time.Since(began)
		late := time.NewTimer(time.Until(deadline.Add(waited)))
		select {
		case <-l.done:
			late.Stop()
			if l.fail != nil && !l.fail.Class.IsNoHost() {
				continue // the other caller may have run out of time; we have not
			}
			return l.addrs, nil, waited, l.fail
		case <-ctx.Done():
			late.Stop()
			return nil, nil, waited, fetch.LookUpFailure(ctx, host, ctx.Err())
		case <-late.C:
			return nil, nil, waited, fetch.LookUpFailure(ctx, host, context.DeadlineExceeded)
		}
	}
}

// Probe asks for the addresses of host whatever is known, and without a place for a
// question.
func (n *Names) Probe(ctx context.Context, host string) (addrs []netip.Addr, fail *fetch.Failure) {
	deadline, _ := ctx.Deadline()
	addrs, _, fail = n.look(ctx, host, deadline, true, func() {})
	return addrs, fail
}

// look asks the resolvers; see [resolvers.look].
func (n *Names) look(ctx context.Context, host string, deadline time.Time, probe bool, begun func()) (
	addrs []netip.Addr, waited time.Duration, fail *fetch.Failure) {
	if !fetch.IsAsked(host) { // a redirect led here; the library would report that it does not exist
		return nil, 0, fetch.NewFailure(answer.ErrorDNSFailure,
			"resolve %s: not looked up, because a label begins or ends with a hyphen", host)
	}
	return n.resolvers.look(ctx, host, deadline, probe, begun)
}

// find returns the known or pending look-up of host, or a new one that the
// caller must make.
func (n *Names) find(host string) (l *lookup, ours bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if time.Since(n.turned) > namesAge || len(n.young) >= namesMost {
		n.old, n.young, n.turned = n.young, make(map[string]*lookup), time.Now()
	}
	for _, generation := range []map[string]*lookup{n.young, n.old} {
		if l := generation[host]; l != nil && time.Since(l.begun) < 2*namesAge {
			return l, false
		}
	}
	l = &lookup{begun: time.Now(), asked: make(chan struct{}), done: make(chan struct{})}
	n.young[host] = l
	return l, true
}

// drop removes a failed look-up.
func (n *Names) drop(host string, l *lookup) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.young[host] == l {
		delete(n.young, host)
	}
	if n.old[host] == l {
		delete(n.old, host)
	}
}

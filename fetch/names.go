package fetch

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// names resolves host names and caches the results. It looks up each name only
// once at a time; retries, the second scheme and hosts that redirect to one
// place need no further look-up. The cache is bounded in number and age.
// Temporary failures are not cached.
type names struct {
	resolver *net.Resolver
	asking   chan struct{} // a place for each look-up in flight

	mu     sync.Mutex
	young  map[string]*lookup
	old    map[string]*lookup
	turned time.Time // when young began
}

// MaxLookups bounds the look-ups in flight. Each has two sockets.
const MaxLookups = 1024

const (
	namesAge  = 2 * time.Minute // length of a generation; an entry lives for at most two
	namesMost = 50_000          // most entries of a generation
)

type lookup struct {
	begun time.Time
	done  chan struct{}
	addrs []netip.Addr
	fail  *failure
}

func newNames(resolver netip.AddrPort) *names {
	dial := func(ctx context.Context, network, server string) (net.Conn, error) {
		if resolver.IsValid() {
			server = resolver.String()
		}
		conn, err := new(net.Dialer).DialContext(ctx, network, server)
		if ours, ok := ctx.Value(localKey{}).(*atomic.Pointer[error]); ok && isLocal(err) {
			ours.Store(&err)
		}
		if err == nil {
			// The library waits five seconds whatever ctx says. A list full of
			// dead name servers would pile up sockets.
			context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
		}
		return conn, err
	}
	return &names{
		resolver: &net.Resolver{PreferGo: true, Dial: dial}, asking: make(chan struct{}, MaxLookups),
		young: make(map[string]*lookup), turned: time.Now(),
	}
}

// addresses returns the addresses of host. took is nil if no look-up was made.
func (n *names) addresses(ctx context.Context, host string, deadline time.Time) (addrs []netip.Addr, took *time.Duration, fail *failure) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for {
		l, ours := n.find(host)
		if ours {
			began := time.Now()
			l.addrs, l.fail = n.ask(ctx, host)
			if l.fail != nil && l.fail.class != robots.ErrorDNSNotFound {
				n.drop(host, l)
			}
			close(l.done)
			return l.addrs, since(began), l.fail
		}
		select {
		case <-l.done:
			if l.fail != nil && l.fail.class != robots.ErrorDNSNotFound {
				continue // the other caller may have run out of time; we have not
			}
			return l.addrs, nil, l.fail
		case <-ctx.Done():
			return nil, nil, classifyDNS(ctx, host, ctx.Err())
		}
	}
}

// ask looks up IPv4 and IPv6 separately. Asked for both, the library reports
// only the error of the last one, and "no addresses" would hide a failing name
// server. The result alternates IPv4 and IPv6, so that a machine without one of
// them reaches the other.
func (n *names) ask(ctx context.Context, host string) (addrs []netip.Addr, fail *failure) {
	select {
	case n.asking <- struct{}{}:
		defer func() { <-n.asking }()
	case <-ctx.Done():
		return nil, classifyDNS(ctx, host, ctx.Err())
	}
	return n.look(ctx, host)
}

// look does what ask does without waiting for a place.
func (n *names) look(ctx context.Context, host string) (addrs []netip.Addr, fail *failure) {
	if !IsAsked(host) { // a redirect led here; the library would report that it does not exist
		return nil, failed(robots.ErrorDNSFailure, "resolve %s: not looked up, because a label begins or ends with a hyphen", host)
	}
	// If no socket can be opened, the library returns only the text of the
	// error.
	var ours atomic.Pointer[error]
	ctx = context.WithValue(ctx, localKey{}, &ours)
	var six []netip.Addr
	var errSix error
	done := make(chan struct{})
	go func() {
		defer close(done)
		six, errSix = n.resolver.LookupNetIP(ctx, "ip6", host+".")
	}()
	four, err := n.resolver.LookupNetIP(ctx, "ip4", host+".")
	<-done
	for len(four)+len(six) > 0 {
		for _, list := range []*[]netip.Addr{&four, &six} {
			if len(*list) > 0 {
				addrs, *list = append(addrs, (*list)[0]), (*list)[1:]
			}
		}
	}
	if len(addrs) > 0 {
		return addrs, nil
	}
	for _, err := range []error{err, errSix} {
		if err == nil {
			continue
		}
		if f := classifyDNS(ctx, host, err); fail == nil || fail.class == robots.ErrorDNSNotFound {
			fail = f
		}
	}
	if fail == nil {
		fail = failed(robots.ErrorDNSNotFound, "resolve %s: no addresses", host)
	}
	if err := ours.Load(); err != nil {
		fail = failed(robots.ErrorDNSFailure, "resolve %s: %w", host, *err)
		fail.local = fail.err
	}
	return nil, fail
}

type localKey struct{}

// find returns the known or pending look-up of host, or a new one that the
// caller must make.
func (n *names) find(host string) (l *lookup, ours bool) {
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
	l = &lookup{begun: time.Now(), done: make(chan struct{})}
	n.young[host] = l
	return l, true
}

// drop removes a failed look-up.
func (n *names) drop(host string, l *lookup) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.young[host] == l {
		delete(n.young, host)
	}
	if n.old[host] == l {
		delete(n.old, host)
	}
}

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

// names resolves host names, asks for each only once at a time, and remembers
// what it was told for a while: retries, the second scheme and hosts that
// redirect to one place need no look-up of their own. What it remembers is
// bounded in number and in age; a failure that may pass is not remembered.
type names struct {
	resolver *net.Resolver
	asking   chan struct{} // a place for each look-up under way

	mu     sync.Mutex
	young  map[string]*lookup
	old    map[string]*lookup
	turned time.Time // when young was begun
}

// MaxLookups bounds the look-ups under way, of which each has two sockets.
const MaxLookups = 1024

const (
	namesAge  = 2 * time.Minute // of a generation; an answer lives for two at most
	namesMost = 50_000          // in a generation
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
			// The library waits its own five seconds and not ctx. A list full
			// of dead name servers would pile sockets up.
			context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
		}
		return conn, err
	}
	return &names{
		resolver: &net.Resolver{PreferGo: true, Dial: dial}, asking: make(chan struct{}, MaxLookups),
		young: make(map[string]*lookup), turned: time.Now(),
	}
}

// addresses are those of host. took is nil where no look-up was made for it.
func (n *names) addresses(ctx context.Context, host string, deadline time.Time) (addrs []netip.Addr, took *time.Duration, fail *failure) {
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for {
		l, ours := n.find(host)
		if ours {
			began := time.Now()
			l.addrs, l.fail = n.ask(ctx, host)
			if l.fail != nil && l.fail.class != robots.DNSNotFound {
				n.drop(host, l)
			}
			close(l.done)
			return l.addrs, since(began), l.fail
		}
		select {
		case <-l.done:
			if l.fail != nil && l.fail.class != robots.DNSNotFound {
				continue // the other's time may have been up; ours is not
			}
			return l.addrs, nil, l.fail
		case <-ctx.Done():
			return nil, nil, classifyDNS(ctx, host, ctx.Err())
		}
	}
}

// ask looks both kinds of addresses up by themselves: asked for both, the
// library tells what became of the one that came last, and "no addresses"
// would hide a name server that fails. IPv4 and IPv6 take turns, so that a
// machine without the one gets to the other.
func (n *names) ask(ctx context.Context, host string) (addrs []netip.Addr, fail *failure) {
	select {
	case n.asking <- struct{}{}:
		defer func() { <-n.asking }()
	case <-ctx.Done():
		return nil, classifyDNS(ctx, host, ctx.Err())
	}
	return n.look(ctx, host)
}

// look asks without waiting for a place.
func (n *names) look(ctx context.Context, host string) (addrs []netip.Addr, fail *failure) {
	if !IsAsked(host) { // of a redirect: the library would say that it does not exist
		return nil, failed(robots.DNSFailure, "resolve %s: not asked for, since a label begins or ends with a hyphen", host)
	}
	// Of a socket that could not be had the library tells the text alone.
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
		if f := classifyDNS(ctx, host, err); fail == nil || fail.class == robots.DNSNotFound {
			fail = f
		}
	}
	if fail == nil {
		fail = failed(robots.DNSNotFound, "resolve %s: no addresses", host)
	}
	if err := ours.Load(); err != nil {
		fail = failed(robots.DNSFailure, "resolve %s: %w", host, *err)
		fail.local = fail.err
	}
	return nil, fail
}

type localKey struct{}

// find returns what is known or being asked about host, or a new look-up that
// is the caller's to make.
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

// drop forgets a look-up that failed.
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

package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

const (
	maxWitnesses = 32 // witnesses kept
	probed       = 8  // witnesses in one probe
	probedFirst  = 64 // hosts of the list, if nothing has been reached yet
)

// witness is a host that has proved that this machine is connected. No two
// witnesses share a registered domain or an address block.
type witness struct {
	origin Origin
	domain string
	block  netip.Prefix
}

// notice records what an exchange proves.
func (l *uplink) notice(o Origin, a *received, fail *failure) {
	if l.times.patience == 0 {
		return
	}
	proxied := l.client.config.Proxy != nil
	switch {
	case a.status != 0 && !(proxied && a.status >= 500):
	case fail != nil && fail.class == answer.ErrorConnectRefused && !proxied:
	case fail != nil && fail.class == answer.ErrorDNSNotFound && !a.looked.IsZero():
		l.mu.Lock()
		defer l.mu.Unlock()
		l.unknown = []Origin{o}
		l.proof(a.looked, a.looked)
		return
	default:
		return
	}
	w := witness{origin: o, domain: domainOf(o.Host), block: block(a.remote.Addr())}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.witnesses = slices.DeleteFunc(l.witnesses, func(other witness) bool {
		return other.domain == w.domain || w.block.IsValid() && other.block == w.block
	})
	if len(l.witnesses) == maxWitnesses {
		l.witnesses = slices.Delete(l.witnesses, 0, 1)
	}
	l.witnesses = append(l.witnesses, w)
	l.proof(a.looked, a.dialed)
}

// domainOf returns the registered domain of a host, or the host if it has none.
func domainOf(host string) string {
	if domain, _ := RegisteredDomain(host); domain != "" {
		return domain
	}
	return host
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

// probe tries to reach hosts until one proves that this machine is connected.
// If none does, it declares an outage.
func (l *uplink) probe(ctx context.Context, stop context.CancelFunc) {
	defer stop()
	targets := l.targets(ctx)
	type result struct {
		proved, local  bool
		looked, dialed time.Time
	}
	results := make(chan result, len(targets))
	for i, o := range targets {
		go func() {
			var r result
			// Stagger the dials: the first few probably suffice.
			if sleep(ctx, time.Duration(i%probed)*l.times.stagger) == nil {
				r.looked, r.dialed, r.proved, r.local = l.reach(ctx, o)
			}
			results <- r
		}()
	}
	var got result
	for range targets {
		r := <-results
		if !got.proved {
			r.local = r.local || got.local
			got = r
		}
		if got.proved {
			stop() // and wait for the others to end
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.probing = false
	l.next = time.Now().Add(l.times.gap)
	switch {
	case got.proved:
		l.pause = 0
		l.proof(got.looked, got.dialed)
	case got.local || errors.Is(ctx.Err(), context.Canceled) || !l.isHolding() && l.active == 0:
		// Out of descriptors, or no attempt waits any more: the probe shows
		// nothing.
	default:
		l.pause = min(max(2*l.pause, l.times.pause), l.times.maxPause)
		l.next = time.Now().Add(l.pause)
		l.declare()
	}
}

// targets returns the hosts to probe: the witnesses in turn and, if they are
// few, other hosts of the list.
func (l *uplink) targets(ctx context.Context) (targets []Origin) {
	config := &l.client.config
	if config.ConnectTo.IsValid() {
		return []Origin{{Scheme: "http", Host: config.ConnectTo.Addr().String(), Port: config.ConnectTo.Port()}}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(probed, len(l.witnesses))
	for _, w := range l.witnesses[len(l.witnesses)-n:] {
		targets = append(targets, w.origin)
	}
	slices.Reverse(targets)
	if n > 0 {
		// The next probe begins with another host, so that none is contacted
		// all the time.
		last := len(l.witnesses) - 1
		l.witnesses = append([]witness{l.witnesses[last]}, l.witnesses[:last]...)
	}
	if len(targets) == probed {
		return targets
	}
	if !l.sampled && l.client.backing.Others != nil {
		l.mu.Unlock()
		sample := l.client.backing.Others(ctx)
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

// reach resolves and connects to a host, bypassing the name cache and the
// politeness limits, and sends no request.
func (l *uplink) reach(ctx context.Context, o Origin) (looked, dialed time.Time, proved, local bool) {
	c := l.client
	if c.config.Proxy != nil {
		return l.reachByProxy(ctx, o)
	}
	addrs := []netip.Addr{c.config.ConnectTo.Addr()}
	if !c.config.ConnectTo.IsValid() {
		literal, ok := literalOf(o.Host)
		addrs[0] = literal
		if !ok {
			looked = time.Now()
			var fail *failure
			deadline, _ := ctx.Deadline()
			if addrs, _, fail = c.names.look(ctx, o.Host, deadline, true, func() {}); fail != nil {
				return looked, looked, fail.class == answer.ErrorDNSNotFound, fail.local != nil
			}
		}
	}
	tries := 0
	for _, addr := range addrs {
		addr = addr.Unmap()
		if !c.config.ConnectTo.IsValid() && c.refused(addr) {
			continue
		}
		if tries++; tries > maxTries {
			break
		}
		dialed = time.Now()
		conn, err := c.dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(addr, o.Port).String())
		if err == nil {
			conn.Close()
		}
		if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
			return looked, dialed, true, false
		}
		local = local || isLocal(err)
	}
	return looked, dialed, false, local
}

// reachByProxy asks the proxy to connect to a host. A proxy that refuses has
// asked the host, or did not need to.
func (l *uplink) reachByProxy(ctx context.Context, o Origin) (looked, dialed time.Time, proved, local bool) {
	if literal, ok := literalOf(o.Host); ok && l.client.refused(literal) {
		return looked, dialed, false, false
	}
	dialed = time.Now()
	conn, err := l.client.dialer.DialContext(ctx, "tcp", proxyAddress(l.client.config.Proxy))
	if err != nil {
		return looked, dialed, false, isLocal(err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	defer expire(ctx, conn, deadline)()
	status, fail := l.client.askTunnel(ctx, conn, o)
	return looked, dialed, fail == nil && status < http.StatusInternalServerError, false
}

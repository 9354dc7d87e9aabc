package client

import (
	"bufio"
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// maxTries bounds the addresses of one host that are dialled.
const maxTries = 3

// connect opens a connection to o: through --connect-to or the proxy, else to
// the addresses that its name resolves to. The guard checks each address right
// before it is dialled. connect holds the places of o's domain and address
// until release is called.
func (lease *Lease) connect(b *budget, o fetch.Origin, a *received) (conn net.Conn, release func(),
	fail *fetch.Failure) {
	c := lease.client
	domain := fetch.DomainOf(o.Host)
	if err := lease.acquire(lease.ctx, b, c.politeness.domains, domain); err != nil {
		return nil, nil, fetch.FailureOf(lease.ctx, fetch.Connecting, err)
	}
	conn, leave, fail := lease.reach(b, o, a)
	if fail != nil {
		c.politeness.domains.release(domain)
		return nil, nil, fail
	}
	return conn, func() { leave(); c.politeness.domains.release(domain) }, nil
}

func (lease *Lease) reach(b *budget, o fetch.Origin, a *received) (net.Conn, func(), *fetch.Failure) {
	c := lease.client
	literal, isLiteral := literalOf(o.Host)
	switch {
	case c.config.ConnectTo.IsValid():
		return lease.dial(b, c.config.ConnectTo, o.Host, a)
	case c.config.Proxy != nil:
		if isLiteral && c.refused(literal) {
			return nil, nil, blocked(literal)
		}
		return lease.dialProxy(b, o, a)
	}
	addrs := []netip.Addr{literal}
	if !isLiteral {
		var fail *fetch.Failure
		began := time.Now()
		c.uplink.Waiting(1)
		var waited time.Duration
		addrs, a.times.DNS, waited, fail = c.names.Addresses(lease.ctx, o.Host, b.deadline)
		c.uplink.Waiting(-1)
		b.wait(waited)
		if a.times.DNS != nil {
			a.looked = began.Add(waited)
		}
		if fail != nil {
			return nil, nil, fail
		}
	}
	fail := fetch.NewFailure(answer.ErrorDNSNoAddress, "resolve %s: no addresses", o.Host)
	tries := 0
	for _, addr := range addrs {
		addr = addr.Unmap()
		if c.refused(addr) {
			if tries == 0 {
				fail = blocked(addr)
			}
			continue
		}
		if tries++; tries > maxTries {
			break
		}
		conn, release, why := lease.dial(b, netip.AddrPortFrom(addr, o.Port), addr.String(), a)
		if why == nil {
			return conn, release, nil
		}
		if why.Class != answer.ErrorNoRoute || tries == 1 {
			fail = why // prefer the failure of an address with a route
		}
		if lease.ctx.Err() != nil || b.spent() {
			break
		}
	}
	return nil, nil, fail
}

// literalOf returns the address that a host denotes without a resolver.
func literalOf(host string) (addr netip.Addr, ok bool) {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true // RFC 6761 section 6.3: not looked up
	}
	addr, err := netip.ParseAddr(host)
	return addr, err == nil
}

func blocked(addr netip.Addr) *fetch.Failure {
	return fetch.NewFailure(answer.ErrorAddressBlocked, "%s is a special address; give --allow-private to dial it", addr)
}

// dial opens one connection, with a place under the politeness key.
func (lease *Lease) dial(b *budget, to netip.AddrPort, key string, a *received) (net.Conn, func(), *fetch.Failure) {
	return lease.open(b, key, to, a)
}

// proxyTimeout bounds the connection to the proxy, in place of the origin's
// deadline. A failure to reach the proxy is this machine's: counted as the
// origins', it would make the whole web unreachable.
const proxyTimeout = 10 * time.Second

// dialProxy connects to the proxy, which resolves the host itself. The guard
// then sees no address; the proxy's own address is the user's choice.
func (lease *Lease) dialProxy(b *budget, o fetch.Origin, a *received) (net.Conn, func(), *fetch.Failure) {
	if o.Scheme == "ftp" {
		return nil, nil, fetch.NewFailure(answer.ErrorConnectFailure, "connect: ftp does not go through a proxy")
	}
	conn, release, fail := lease.open(b, o.Host, netip.AddrPort{}, a)
	if fail != nil && fail.Class != answer.ErrorCanceled && fail.Local == nil {
		fail = fetch.OurFailure(fail.Class, "connect to the proxy: %w", fail.Err)
	}
	return conn, release, fail
}

func proxyAddress(proxy *url.URL) string {
	port := proxy.Port()
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

// open dials once a connection under key is free and the limits on requests per
// second allow one more. remote is the host's address, invalid to dial the proxy.
func (lease *Lease) open(b *budget, key string, remote netip.AddrPort, a *received) (net.Conn, func(),
	*fetch.Failure) {
	c := lease.client
	if err := lease.acquire(lease.ctx, b, c.politeness.addresses, key); err != nil {
		return nil, nil, fetch.FailureOf(lease.ctx, fetch.Connecting, err)
	}
	release := func() { c.politeness.addresses.release(key) }
	if err := lease.keepPace(b); err != nil {
		release()
		return nil, nil, fetch.FailureOf(lease.ctx, fetch.Connecting, err)
	}
	if err := lease.ctx.Err(); err != nil {
		release()
		return nil, nil, fetch.FailureOf(lease.ctx, fetch.Connecting, err)
	}
	lease.ctx = lease.onceBegun
	c.uplink.Waiting(1)
	release = func() { c.uplink.Waiting(-1); c.politeness.addresses.release(key) }
	a.remote = remote
	began := time.Now()
	a.dialed = began
	deadline := b.deadline
	if !remote.IsValid() {
		deadline = began.Add(proxyTimeout)
	}
	for wait, waited := firstLocalWait, time.Duration(0); ; wait = min(2*wait, time.Second) {
		conn, err := c.dialBefore(lease.ctx, deadline, remote)
		if err == nil {
			a.times.Connect = since(began)
			return conn, release, nil
		}
		fail := fetch.FailureOf(lease.ctx, fetch.Connecting, err)
		if fetch.IsRoute(err) && remote.IsValid() && !c.hasRoute(remote) {
			fail = fetch.NewFailure(answer.ErrorNoRoute, "connect: this machine has no route to %s", remote.Addr())
		}
		if fail.Local == nil || waited >= maxLocalWait {
			release()
			return nil, nil, fail
		}
		// Ports and files that are used up become free when other fetches end.
		select {
		case <-time.After(wait):
		case <-lease.ctx.Done():
		}
		waited += wait
		b.wait(wait)
		began, deadline = began.Add(wait), deadline.Add(wait)
	}
}

// How long to wait for ports or files of this machine before the failure ends
// the run.
const (
	firstLocalWait = 20 * time.Millisecond
	maxLocalWait   = time.Minute
)

// dialBefore dials an address, or the proxy if that is invalid, until a deadline, zero for none
// but that of the dialer, which would make a context and a timer of its own.
func (c *Client) dialBefore(ctx context.Context, deadline time.Time, to netip.AddrPort) (net.Conn, error) {
	if own := time.Now().Add(c.dialer.Timeout); deadline.IsZero() || own.Before(deadline) {
		deadline = own
	}
	if to.IsValid() {
		return c.dialer.DialContext(until{ctx, deadline}, "tcp", to.String())
	}
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return c.dialer.DialContext(bounded, "tcp", proxyAddress(c.config.Proxy))
}

// until is a context with a deadline, but without its timer: for a connection to an address, which
// has one itself. A name must not be resolved with it.
type until struct {
	context.Context
	deadline time.Time
}

func (u until) Deadline() (time.Time, bool) { return u.deadline, true }

// hasRoute reports whether this machine could send to an address. Connecting a
// UDP socket sends nothing.
func (c *Client) hasRoute(to netip.AddrPort) bool {
	conn, err := c.dialer.Dial("udp", to.String())
	if err != nil {
		return !fetch.IsRoute(err)
	}
	conn.Close()
	return true
}

// tunnel opens a tunnel to o through the proxy.
func (c *Client) tunnel(ctx context.Context, conn net.Conn, o fetch.Origin) *fetch.Failure {
	status, fail := c.askTunnel(ctx, conn, o)
	if fail == nil && status/100 != 2 {
		fail = fetch.NewFailure(answer.ErrorConnectFailure, "connect: the proxy answers %d", status)
		if status == http.StatusProxyAuthRequired {
			fail.Local = fail.Err
		}
	}
	return fail
}

// askTunnel asks the proxy for a tunnel to o (RFC 9110 section 9.3.6) and
// returns the status of its answer.
func (c *Client) askTunnel(ctx context.Context, conn net.Conn, o fetch.Origin) (status int, fail *fetch.Failure) {
	to := net.JoinHostPort(o.Host, strconv.Itoa(int(o.Port)))
	if _, err := conn.Write([]byte("CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n" + c.proxyAuth +
		"\r\n")); err != nil {
		return 0, fetch.FailureOf(ctx, fetch.Connecting, err)
	}
	// Read one byte at a time, to read nothing after the header.
	in := &bounded{Conn: conn, left: maxHeader}
	resp, err := http.ReadResponse(bufio.NewReaderSize(oneByte{in}, 16), connectRequest)
	if err != nil {
		return 0, fetch.FailureOf(ctx, fetch.Connecting, err)
	}
	return resp.StatusCode, nil
}

var connectRequest = &http.Request{Method: "CONNECT"}

type oneByte struct{ net.Conn }

func (o oneByte) Read(p []byte) (int, error) { return o.Conn.Read(p[:1]) }

func proxyAuthorization(proxy *url.URL) string {
	if proxy.User == nil {
		return ""
	}
	password, _ := proxy.User.Password()
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString(
		[]byte(proxy.User.Username()+":"+password)) + "\r\n"
}

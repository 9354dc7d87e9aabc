package client

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/robots/answer"
)

// maxAgain bounds how often an attempt is repeated because of this machine.
// Otherwise a dead host would never end on a machine whose clock keeps jumping.
const maxAgain = 10

// sure makes an attempt and repeats it while it fails and the failure is not
// believed. Only the last attempt counts against the host's time. The error is
// that of an ended context, or that this machine is cut off.
func (lease *Lease) sure(b *budget, attempt func() answer.ErrorClass) error {
	l := lease.client.uplink
	for n := 1; ; n++ {
		began, waited := time.Now(), b.waited
		l.Begin()
		class := attempt()
		ended := time.Now()
		believed, err := l.Believe(lease.ctx, began, class)
		if err != nil || believed || n == maxAgain {
			b.wait(time.Since(ended))
			return err
		}
		b.wait(time.Since(began) - (b.waited - waited))
	}
}

// probeHost resolves and connects to a host, bypassing what is known of names and the
// politeness limits, and sends no request.
func (c *Client) probeHost(ctx context.Context, o fetch.Origin) (p outage.Proof) {
	if c.config.Proxy != nil {
		return c.probeByProxy(ctx, o)
	}
	addrs := []netip.Addr{c.config.ConnectTo.Addr()}
	if !c.config.ConnectTo.IsValid() {
		literal, ok := literalOf(o.Host)
		addrs[0] = literal
		if !ok {
			p.Looked = time.Now()
			var fail *fetch.Failure
			if addrs, fail = c.names.Probe(ctx, o.Host); fail != nil {
				p.Dialed, p.Proved, p.Local = p.Looked, fail.Class.IsNoHost(), fail.Local != nil
				return p
			}
		}
	}
	deadline, _ := ctx.Deadline()
	tries := 0
	for _, addr := range addrs {
		addr = addr.Unmap()
		if !c.config.ConnectTo.IsValid() && c.refused(addr) {
			continue
		}
		if tries++; tries > maxTries {
			break
		}
		p.Dialed = time.Now()
		conn, err := c.dialBefore(ctx, deadline, netip.AddrPortFrom(addr, o.Port))
		if err == nil {
			conn.Close()
		}
		if err == nil || errors.Is(err, syscall.ECONNREFUSED) {
			p.Proved, p.Local = true, false
			return p
		}
		p.Local = p.Local || fetch.IsLocal(err)
	}
	return p
}

// probeByProxy asks the proxy to connect to a host. A proxy that refuses has
// asked the host, or did not need to.
func (c *Client) probeByProxy(ctx context.Context, o fetch.Origin) (p outage.Proof) {
	if literal, ok := literalOf(o.Host); ok && c.refused(literal) {
		return p
	}
	p.Dialed = time.Now()
	deadline, _ := ctx.Deadline()
	conn, err := c.dialBefore(ctx, deadline, netip.AddrPort{})
	if err != nil {
		p.Local = fetch.IsLocal(err)
		return p
	}
	defer conn.Close()
	defer expire(ctx, conn, deadline)()
	status, fail := c.askTunnel(ctx, conn, o)
	p.Proved = fail == nil && status < http.StatusInternalServerError
	return p
}

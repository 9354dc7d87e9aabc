package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/robocensus/robocensus/robots"
)

const (
	// maxHeader bounds status line, headers and 1xx answers together.
	maxHeader = 64 << 10
	// maxHeaderValue bounds a header value that is kept.
	maxHeaderValue = 2 << 10
	// maxInterim bounds 1xx answers before the final one.
	maxInterim = 8
	// maxTries bounds the addresses of one host that are dialled in turn.
	maxTries = 3
)

// answer is what one request gave. What is known stays filled in when it
// ends in a failure.
type answer struct {
	status    int
	remote    netip.AddrPort
	http, tls string
	headers   Headers
	location  string
	times     Times
	body      []byte
	truncated bool
	bodyRead  bool
}

// bounded ends reads of a connection after left bytes, and knows whether the
// peer ended them before.
type bounded struct {
	net.Conn
	left  int64
	ended bool
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooMuch
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.Conn.Read(p)
	b.left -= int64(n)
	b.ended = b.ended || err == io.EOF
	return n, err
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// get asks o for target (path and query) over a connection of its own.
func (c *Client) get(ctx context.Context, b *budget, o Origin, target string) (answer, *failure) {
	var a answer
	conn, release, fail := c.connect(ctx, b, o, &a)
	if fail != nil {
		return a, fail
	}
	defer release()
	defer conn.Close()
	conn.SetDeadline(b.deadline)
	// A context that ends early (Ctrl-C) must wake a blocked read.
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	if o.Scheme == "https" {
		began := time.Now()
		secure := tls.Client(conn, c.tlsConfig(o.Host))
		if err := secure.HandshakeContext(ctx); err != nil {
			return a, classify(ctx, handshake, err)
		}
		a.times.TLS = since(began)
		a.tls = strings.TrimPrefix(tls.VersionName(secure.ConnectionState().Version), "TLS ")
		conn = secure
	}
	return a, c.exchange(ctx, conn, o, target, &a)
}

func (c *Client) exchange(ctx context.Context, conn net.Conn, o Origin, target string, a *answer) *failure {
	began := time.Now()
	request := make([]byte, 0, 256)
	request = append(request, "GET "...)
	request = append(request, target...)
	request = append(request, " HTTP/1.1\r\nHost: "...)
	request = append(request, o.Authority()...)
	request = append(request, c.requestTail...)
	if _, err := conn.Write(request); err != nil {
		return classify(ctx, waiting, err)
	}
	in := &bounded{Conn: conn, left: maxHeader}
	r := readers.Get().(*bufio.Reader)
	r.Reset(in)
	defer func() { r.Reset(nil); readers.Put(r) }()
	if _, err := r.Peek(1); err != nil {
		return classify(ctx, waiting, err)
	}
	a.times.FirstByte = since(began)
	if start, err := r.Peek(len("HTTP/")); string(start) != "HTTP/" {
		if err != nil {
			return classify(ctx, waiting, err)
		}
		return failed(robots.Protocol, "header: the answer is not HTTP/1")
	}

	resp, err := http.ReadResponse(r, getRequest)
	for interim := 0; err == nil && resp.StatusCode >= 100 && resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols; interim++ {
		a.status, a.http = resp.StatusCode, strings.TrimPrefix(resp.Proto, "HTTP/")
		if interim == maxInterim {
			return nil
		}
		if _, e := r.Peek(1); e == io.EOF {
			return nil // 1xx only: a status of its own in SPEC's table
		}
		resp, err = http.ReadResponse(r, getRequest)
	}
	if err != nil {
		// The line that the end, or the bound, cut off is reported as
		// malformed.
		switch {
		case in.ended:
			err = io.ErrUnexpectedEOF
		case in.left <= 0:
			err = errTooMuch
		}
		return classify(ctx, waiting, err)
	}
	if resp.StatusCode < 100 {
		return failed(robots.Protocol, "header: status %03d", resp.StatusCode)
	}
	a.status, a.http = resp.StatusCode, strings.TrimPrefix(resp.Proto, "HTTP/")
	a.headers = keep(resp.Header)
	a.location = resp.Header.Get("Location")
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil // the bodies of errors and redirects are nobody's rules
	}
	// What is sent may be larger than what it decodes to, but not by much.
	in.left = int64(c.config.MaxBody)*4 + 64<<10
	a.bodyRead = true
	a.body, a.truncated, err = readBody(resp, c.config.MaxBody)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errEncoding):
		return failed(robots.Protocol, "body: %w", err)
	}
	return classify(ctx, reading, err)
}

// getRequest tells ReadResponse that a body may follow; it is only read.
var getRequest = &http.Request{Method: "GET"}

func keep(h http.Header) Headers {
	one := func(name string) *string {
		values := h[name]
		if len(values) == 0 {
			return nil
		}
		v := values[0]
		if len(v) > maxHeaderValue {
			v = v[:maxHeaderValue]
		}
		v = strings.Clone(v) // not the whole block, which ReadResponse keeps as one string
		return &v
	}
	return Headers{
		ContentType: one("Content-Type"), ContentEncoding: one("Content-Encoding"), Server: one("Server"),
		ETag: one("Etag"), LastModified: one("Last-Modified"), CacheControl: one("Cache-Control"),
		RetryAfter: one("Retry-After"),
	}
}

// connect dials o: through --connect-to, else the addresses that its name
// resolves to, each judged by the guard right before it is dialled.
func (c *Client) connect(ctx context.Context, b *budget, o Origin, a *answer) (net.Conn, func(), *failure) {
	if c.config.ConnectTo.IsValid() {
		return c.dial(ctx, b, c.config.ConnectTo, o.Host, a)
	}
	var addrs []netip.Addr
	if literal, err := netip.ParseAddr(o.Host); err == nil {
		addrs = []netip.Addr{literal}
	} else if o.Host == "localhost" || strings.HasSuffix(o.Host, ".localhost") {
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})} // RFC 6761 section 6.3: nobody is asked
	} else {
		began := time.Now()
		bounded, cancel := context.WithDeadline(ctx, b.deadline)
		addrs, err = c.resolver.LookupNetIP(bounded, "ip", o.Host+".")
		cancel()
		if err != nil {
			return nil, nil, classifyDNS(ctx, o.Host, err)
		}
		a.times.DNS = since(began)
	}
	fail := failed(robots.DNSNotFound, "resolve %s: no addresses", o.Host)
	tries := 0
	for _, addr := range addrs {
		addr = addr.Unmap()
		if !c.config.AllowPrivate && isSpecial(addr) {
			if tries == 0 {
				fail = failed(robots.AddressBlocked, "%s is a special address, not dialled without leave", addr)
			}
			continue
		}
		if tries++; tries > maxTries {
			break
		}
		var conn net.Conn
		var release func()
		conn, release, fail = c.dial(ctx, b, netip.AddrPortFrom(addr, o.Port), addr.String(), a)
		if fail == nil {
			return conn, release, nil
		}
		if ctx.Err() != nil || b.spent() {
			break
		}
	}
	return nil, nil, fail
}

// dial opens one connection under the politeness key.
func (c *Client) dial(ctx context.Context, b *budget, to netip.AddrPort, key string, a *answer) (net.Conn, func(), *failure) {
	began := time.Now()
	release, err := c.perAddress.acquire(ctx, key)
	if err != nil {
		return nil, nil, classify(ctx, connecting, err)
	}
	b.wait(time.Since(began))
	a.remote = to
	began = time.Now()
	bounded, cancel := context.WithDeadline(ctx, b.deadline)
	defer cancel()
	conn, err := c.dialer.DialContext(bounded, "tcp", to.String())
	if err != nil {
		release()
		return nil, nil, classify(ctx, connecting, err)
	}
	a.times.Connect = since(began)
	return conn, release, nil
}

func since(t time.Time) *time.Duration {
	d := time.Since(t)
	return &d
}

package client

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

const (
	// maxHeader bounds status line, headers and 1xx answers together.
	maxHeader = 64 << 10
	// maxInterim bounds 1xx answers before the final one.
	maxInterim = 8
)

// received is the result of one request. After a failure it holds what is known.
type received struct {
	status    int
	remote    netip.AddrPort
	date      time.Time // of an answer that is stored, zero for others
	missing   bool      // no answer is stored
	spared    bool      // nobody was asked: the origin wants to be left alone, or others ask it
	retold    bool      // it is the answer to another host
	looked    time.Time // before the look-up, zero without one
	dialed    time.Time // before the connection was opened
	http, tls string
	headers   fetch.Headers
	location  string
	times     fetch.Times
	body      *text // nil without a body
	truncated bool
	remark    error // about the answer
	challenge string
	kept      []usage.HeaderField // lines that the question wants
	cdn       string
}

// asProof returns what the request may prove of this machine's connection.
func (a *received) asProof(fail *fetch.Failure) outage.Exchange {
	x := outage.Exchange{Status: a.status, Looked: a.looked, Dialed: a.dialed, Remote: a.remote.Addr()}
	if fail != nil {
		x.Class = fail.Class
	}
	return x
}

// bounded ends reads of a connection after left bytes.
type bounded struct {
	net.Conn
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fetch.ErrTooMuch
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.Conn.Read(p)
	b.left -= int64(n)
	return n, err
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 4<<10) }}

// get asks o for target (path and query) over a new connection. The deadline of
// b bounds the handshake, the request and the answer. It is read only after
// connect, whose waits for the politeness limits move it; waits for memory or
// the disk move it again (see paused).
func (lease *Lease) get(b *budget, o fetch.Origin, target string) (received, *fetch.Failure) {
	var a received
	conn, release, fail := lease.connect(b, o, &a)
	if fail != nil {
		return a, fail
	}
	c, ctx := lease.client, lease.ctx // connect replaces lease.ctx when it dials
	defer release()
	defer conn.Close()
	defer expire(ctx, conn, b.deadline)()
	paused := pausing(ctx, b, conn)
	in := &weighed{Conn: conn, ctx: ctx, spool: c.spool, paused: paused}
	defer in.leave()
	conn = in

	if c.config.Proxy != nil {
		if o.Scheme == "http" {
			fail := lease.exchange(b, in, conn, o, o.String()+target, c.proxyAuth, &a)
			if a.status == http.StatusProxyAuthRequired { // no origin may send it, RFC 9110 section 15.5.8
				fail = fetch.OurFailure(answer.ErrorConnectFailure, "connect: the proxy answers %d", a.status)
			}
			return a, fail
		}
		if fail := c.tunnel(ctx, conn, o); fail != nil {
			return a, fail
		}
	}
	if o.Scheme == "https" {
		began := time.Now()
		secure := tls.Client(conn, c.tlsConfig(o.Host))
		if err := secure.HandshakeContext(ctx); err != nil {
			return a, fetch.FailureOf(ctx, fetch.Handshake, err)
		}
		a.times.TLS = since(began)
		a.tls = strings.TrimPrefix(tls.VersionName(secure.ConnectionState().Version), "TLS ")
		conn = secure
	}
	return a, lease.exchange(b, in, conn, o, target, "", &a)
}

// exchange sends the request, with the extra headers, and reads the answer.
// below is conn or the connection under its TLS.
func (lease *Lease) exchange(b *budget, below *weighed, conn net.Conn, o fetch.Origin, target, headers string,
	a *received) *fetch.Failure {
	c := lease.client
	conn = lease.record(conn, below.paused)
	began := time.Now()
	request := make([]byte, 0, 256)
	request = append(request, lease.method()...)
	request = append(request, ' ')
	request = append(request, target...)
	request = append(request, " HTTP/1.1\r\nHost: "...)
	request = append(request, o.Authority()...)
	request = append(request, c.requestTails[lease.identity]...)
	request = append(request, headers...)
	request = append(request, "\r\n"...)
	if _, err := conn.Write(request); err != nil {
		// A peer that hung up may have said why, such as that it wants a certificate.
		if _, why := conn.Read(make([]byte, 1)); fetch.IsAlert(why) {
			err = why
		}
		return fetch.FailureOf(lease.ctx, fetch.Waiting, err)
	}
	return lease.receive(b, below, conn, began, a)
}

// method returns the method of the request.
func (lease *Lease) method() string {
	if q := lease.question; q != nil && q.Head {
		return "HEAD"
	}
	return "GET"
}

// receive reads the answer to a request that was sent at a time.
func (lease *Lease) receive(b *budget, below *weighed, conn net.Conn, began time.Time, a *received) *fetch.Failure {
	c, ctx := lease.client, lease.ctx
	in := &bounded{Conn: conn, left: maxHeader}
	r := readers.Get().(*bufio.Reader)
	r.Reset(in)
	defer func() { r.Reset(nil); readers.Put(r) }()
	if _, err := r.Peek(1); err != nil {
		return fetch.FailureOf(ctx, fetch.Waiting, err)
	}
	a.times.FirstByte = since(began)
	if start, err := r.Peek(len(HeadMagic) + 1); !IsAnswer(start) {
		if err != nil {
			return fetch.FailureOf(ctx, fetch.Waiting, err)
		}
		return fetch.NewFailure(answer.ErrorProtocol, "header: the answer is not HTTP/1")
	}

	resp, err := readResponse(r)
	for interim := 0; err == nil && resp.isInterim(); interim++ {
		a.status, a.http, a.remark = resp.Status, resp.Version, resp.Remark()
		if interim == maxInterim {
			return nil
		}
		if _, e := r.Peek(1); e == io.EOF {
			return nil // nothing but 1xx: profiles read that status as other_status
		}
		resp, err = readResponse(r)
	}
	if err != nil {
		return fetch.FailureOf(ctx, fetch.Waiting, err)
	}
	a.status, a.http, a.remark = resp.Status, resp.Version, resp.Remark()
	a.headers, a.cdn = keep(resp.header), c.config.CDNs.Find(resp.header.Values)
	a.location = resp.header.Get("Location")
	isHead := lease.method() == "HEAD"
	if x := lease.recording; x != nil {
		x.whole = isHead || resp.Status/100 != 2 && resp.Length >= 0 && int64(r.Buffered()) >= resp.Length
		x.header = lease.tape.size() - r.Buffered()
		resp.body = &ending{resp.body, x}
	}
	q := lease.question
	if q != nil {
		a.kept = headerLines(resp.header, q.Headers)
	} else if lease.identity > 0 {
		a.kept = headerLines(resp.header, consent.PriceHeaders)
	}
	isPage := lease.pages && resp.Status >= 300 &&
		(resp.Status >= 400 || a.location == "" || resp.Status == http.StatusNotModified)
	switch {
	case q == nil && isPage, q != nil && q.Priced && q.MaxBody > 0 && resp.Status == http.StatusPaymentRequired:
		return lease.errorPage(resp, below, in, a)
	// the bodies of errors and redirects hold no rules
	case q != nil && q.MaxBody == 0 || resp.Status < 200 || resp.Status > 299:
		var page []byte
		if !isHead && c.config.Challenges.WantsBody(resp.Status, resp.header.Values) {
			page = lease.beginning(b, conn, resp)
		}
		a.challenge = c.config.Challenges.Find(resp.Status, resp.header.Values, page)
		return nil
	}
	if resp.framing != nil {
		a.body = lease.text(0, below.paused)
		return fetch.NewFailure(answer.ErrorProtocol, "%w", resp.framing)
	}
	header := challengeHeaders(c.config.Challenges, resp.header)
	// The wire form may be larger than the decoded body: a chunk of one byte
	// takes six bytes.
	contentRange := strings.Clone(resp.header.Get("Content-Range"))
	encodings := strings.Clone(resp.header.Get("Content-Encoding"))
	resp.header, resp.Fields = nil, nil // free it: it may be large, and the body may take long
	in.left = int64(lease.maxBody())*8 + 64<<10
	below.body = true
	remark, err := lease.readBody(resp, encodings, below.paused, a)
	a.remark = fetch.JoinRemarks(a.remark, remark)
	var page []byte
	if err == nil {
		if page, err = a.body.beginning(); err == nil {
			a.challenge = c.config.Challenges.Find(resp.Status, header.Values, page)
		}
	}
	if ours, ok := errors.AsType[*fetch.Failure](err); ok { // of our disk
		return ours
	}
	switch {
	case err == nil && resp.Status == http.StatusPartialContent:
		beyond, err := fetch.Partial(contentRange, a.truncated || a.body.size() == lease.maxBody())
		if err != nil {
			return fetch.NewFailure(answer.ErrorTruncatedBody, "body: %w", err)
		}
		a.truncated = a.truncated || beyond
		return nil
	case err == nil:
		return nil
	case IsUndecodable(err):
		return fetch.NewFailure(answer.ErrorUndecodableBody, "body: %w", err)
	}
	return fetch.FailureOf(ctx, fetch.Reading, err)
}

// ending is a body that notes its end in a recording.
type ending struct {
	r io.Reader
	x *recording
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.x.whole = e.x.whole || err == io.EOF
	return n, err
}

func keep(h http.Header) fetch.Headers {
	one := func(name string) *string {
		values := h[name]
		if len(values) == 0 {
			return nil
		}
		v := values[0]
		if len(v) > fetch.MaxHeaderValue {
			v = strings.Clone(v[:fetch.MaxHeaderValue])
		}
		return &v
	}
	for _, name := range [...]string{"Cache-Control", "Content-Encoding"} {
		if lines := h[name]; len(lines) > 1 {
			h.Set(name, strings.Join(lines, ", ")) // a list, RFC 9110 section 5.3
		}
	}
	return fetch.Headers{
		ContentType: one("Content-Type"), ContentEncoding: one("Content-Encoding"), Server: one("Server"),
		ETag: one("Etag"), LastModified: one("Last-Modified"), CacheControl: one("Cache-Control"),
		RetryAfter: one("Retry-After"),
	}
}

func since(t time.Time) *time.Duration {
	d := time.Since(t)
	return &d
}

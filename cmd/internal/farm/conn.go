package farm

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxRequest = 64 << 10 // bytes a client may send per request
	bufferSize = 4 << 10  // bytes of a pooled read buffer
)

// conn is a connection, served by one goroutine.
type conn struct {
	srv *Server
	at  *address
	raw *net.TCPConn
	io  net.Conn // raw, or a TLS connection over it
	r   *bufio.Reader
	in  *host // host of the request in flight, or nil; guarded by srv.mu

	left  int         // bytes that the client may still send
	wire  *handshaker // nil without TLS
	gone  bool        // closed
	drip  drip
	hung  bool // already counted as a hang
	spent bool // serve no further request
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufferSize) }}

// Read feeds c.r and enforces c.left.
func (c *conn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooMuch
	}
	n, err := c.io.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

var errTooMuch = errors.New("request too large")

func (c *conn) serve() {
	c.io = c.raw
	c.left = maxRequest
	c.r = readers.Get().(*bufio.Reader)
	c.r.Reset(c)
	defer func() {
		c.end()
		c.r.Reset(nil)
		readers.Put(c.r)
	}()
	if c.at.scheme == overHTTPS && !c.handshake() {
		return
	}
	for !c.spent {
		c.left = maxRequest
		req, err := http.ReadRequest(c.r)
		if err != nil {
			c.refuse(err)
			return
		}
		c.respond(req)
	}
}

// end closes the connection gracefully, unless it is already closed.
func (c *conn) end() {
	c.srv.forget(c)
	if !c.gone {
		c.gone = true
		c.io.Close()
	}
}

// reset closes the connection with a TCP RST.
func (c *conn) reset() {
	c.gone = true
	c.raw.SetLinger(0)
	c.srv.forget(c)
	c.raw.Close()
}

const badRequest = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

// refuse answers a malformed request with 400. It sends nothing after a
// network error or EOF, when the client is already gone.
func (c *conn) refuse(err error) {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		return
	}
	c.srv.settle(c, "400")
	io.WriteString(c.io, badRequest)
}

// handshaker is the connection that crypto/tls writes to. mute drops the
// writes: a fault in the handshake must happen before any byte of the server,
// and crypto/tls would send an alert.
type handshaker struct {
	*net.TCPConn
	c     *conn
	mute  bool
	fault *fault
	host  *host
}

func (h *handshaker) Write(p []byte) (int, error) {
	if h.mute {
		return len(p), nil
	}
	return h.TCPConn.Write(p)
}

var errFault = errors.New("a fault")

// handshake performs the TLS handshake, or the fault in its place, and
// reports whether requests can follow.
func (c *conn) handshake() bool {
	c.wire = &handshaker{TCPConn: c.raw, c: c}
	secure := tls.Server(c.wire, c.srv.hello)
	err := secure.Handshake()
	if err == nil {
		c.io = secure
		return true
	}
	f, h := c.wire.fault, c.wire.host
	if h == nil {
		return false // no hello
	}
	c.srv.mu.Lock()
	h.steps[overHTTPS]++ // a failed handshake uses up a request of the fault's sequence
	c.srv.mu.Unlock()
	switch {
	case f != nil && f.tls == "plain":
		c.srv.settle(c, "plain")
		io.WriteString(c.raw, badRequest)
	case f != nil && f.cut.at == inHandshake:
		if c.wait(h.delay) && c.wait(f.delay) {
			c.cutOff(f.cut.how)
		}
	case f != nil:
		c.srv.settle(c, f.tls) // the client rejected the faulty TLS, as it should
	default:
		c.srv.settle(c, "handshake")
	}
	return false
}

// hello returns the TLS configuration for the host that the client's hello
// names.
func (c *conn) hello(info *tls.ClientHelloInfo) (*tls.Config, error) {
	s := c.srv
	s.mu.Lock()
	h := s.find(hostPort(helloName(info)), c.at)
	f, _ := h.entry.pick(h.name, overHTTPS, h.steps[overHTTPS])
	s.enter(c, h)
	s.mu.Unlock()
	c.wire.host, c.wire.fault = h, f
	if f == nil {
		return s.tls[""], nil
	}
	if f.cut.at == inHandshake || f.tls == "plain" {
		c.wire.mute = true
		return nil, errFault
	}
	return s.tls[f.tls], nil
}

// hostPort returns a name as it stands before a port: an IPv6 address is in brackets.
func hostPort(name string) string {
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// wait waits for d and reports whether the client is still there. It waits in
// a read, so that it notices at once when the client closes the connection.
func (c *conn) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	began := time.Now()
	if d < forever {
		c.raw.SetReadDeadline(began.Add(d))
		defer c.raw.SetReadDeadline(time.Time{})
	}
	err := c.watch()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return true
	case !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, errTooMuch):
		c.abandoned()
		return false
	}
	// The client has sent all that it may, so there is no read to wait in.
	var after <-chan time.Time
	if d < forever {
		timer := time.NewTimer(d - time.Since(began))
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return true
	case <-c.srv.done:
		c.abandoned()
		return false
	}
}

// watch reads until an error and returns it. Bytes of a next request stay in
// the buffer.
func (c *conn) watch() error {
	c.left = maxRequest
	for {
		var err error
		if c.wire != nil && c.io == net.Conn(c.raw) {
			// The handshake failed: only the end of the connection matters.
			_, err = c.raw.Read(make([]byte, 512))
		} else {
			_, err = c.r.Peek(c.r.Buffered() + 1)
		}
		if err != nil {
			return err
		}
	}
}

// abandoned settles a request whose client is gone.
func (c *conn) abandoned() {
	c.spent = true
	kind := "abandoned"
	if c.hung {
		kind = ""
	}
	c.srv.settle(c, kind)
}

// cutOff ends the request and the connection: how is reset, close or hang, or
// a kind of answer, after which the connection closes.
func (c *conn) cutOff(how string) {
	c.spent = true
	switch how {
	case "reset":
		c.srv.settle(c, how)
		c.reset()
	case "hang":
		c.srv.count(how)
		c.hung = true
		c.wait(forever)
	default:
		c.srv.settle(c, how)
		if c.wire != nil {
			c.raw.CloseWrite() // without the TLS close_notify alert
		}
		c.end()
	}
}

// respond answers one request.
func (c *conn) respond(req *http.Request) {
	s := c.srv
	if req.ContentLength != 0 || req.Close || !req.ProtoAtLeast(1, 1) {
		c.spent = true // the request's body is never read, so no request can follow
	}
	path := req.URL.Path
	if path == "/_farm" || strings.HasPrefix(path, "/_farm/") {
		c.control(req)
		return
	}
	authority := req.Host
	if authority == "" {
		authority, _, _ = net.SplitHostPort(c.raw.LocalAddr().String())
		authority = hostPort(authority)
	}
	scheme := c.at.scheme
	forRobots := path == "/robots.txt"

	s.mu.Lock()
	h := s.find(authority, c.at)
	s.enter(c, h)
	f, n := h.entry.pick(h.name, scheme, h.steps[scheme])
	if forRobots {
		h.steps[scheme]++
		if req.URL.RawQuery == "" {
			h.counted.begun()
		}
	} else {
		f, n = f.forPath(path), 0
	}
	f = f.forAgent(req.UserAgent())
	if len(req.Header["Cookie"]) > 0 {
		s.cookies++
	}
	s.mu.Unlock()

	if h.delay == forever {
		c.cutOff("hang")
		return
	}
	if !c.wait(h.delay) {
		return
	}
	if f != nil {
		hop, _ := strconv.Atoi(req.URL.Query().Get("hop"))
		c.misbehave(h, f, asked{n: n, hop: hop, head: req.Method == "HEAD", robots: forRobots})
		return
	}
	c.behave(h, forRobots && h.known, req.Method == "HEAD")
}

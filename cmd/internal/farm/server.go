package farm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Config holds the inputs of a farm. All are optional.
type Config struct {
	Hosts   Hosts
	Faults  *Faults
	Latency *Latency
}

// Server is a farm. Its methods may be called concurrently.
type Server struct {
	hosts   Hosts
	names   []string // names of hosts, sorted
	faults  *Faults
	latency *Latency
	ca      *authority
	tls     map[string]*tls.Config // configurations by kind of fault
	hello   *tls.Config            // selects one of tls by the client's hello
	done    chan struct{}
	running sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
	conns     map[*net.TCPConn]struct{}
	asked     map[string]*host // hosts requested, by authority
	domains   map[string]*tally
	addresses []*address
	requests  tally
	open      tally // open connections
	answers   map[string]int64
	cookies   int64
}

// address is an address that the farm listens on.
type address struct {
	name     string
	port     string
	scheme   int
	requests tally
	open     tally
}

// host is the state of a requested name.
type host struct {
	name    string // with the port, if body or entry applies only to that port
	bare    string // name without a port
	body    []byte
	known   bool
	entry   *entry
	delay   time.Duration
	domain  *tally
	counted tally
	steps   [2]int // requests for robots.txt, by scheme
}

// New returns a farm that does not listen yet. A fault whose body_from names a
// host that is not in config.Hosts is an error.
func New(config Config) (*Server, error) {
	s := &Server{
		hosts:   config.Hosts,
		faults:  config.Faults,
		latency: config.Latency,
		done:    make(chan struct{}),
		conns:   map[*net.TCPConn]struct{}{},
		asked:   map[string]*host{},
		domains: map[string]*tally{},
		answers: map[string]int64{},
	}
	for name := range s.hosts {
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	if err := s.faults.check(s.hosts); err != nil {
		return nil, err
	}
	ca, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	untrusted, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	s.ca, s.tls = ca, configs(ca, untrusted)
	s.hello = &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		return info.Conn.(*handshaker).c.hello(info)
	}}
	return s, nil
}

// ListenHTTP serves http on addr, a loopback address such as "127.0.0.1:0", and
// returns the address with its actual port. It may be called more than once.
func (s *Server) ListenHTTP(addr string) (string, error) { return s.listen(addr, overHTTP) }

// ListenHTTPS is like [Server.ListenHTTP] but serves https. Clients must trust
// [Server.CA].
func (s *Server) ListenHTTPS(addr string) (string, error) { return s.listen(addr, overHTTPS) }

// CA returns the certificate of the server's certificate authority, PEM
// encoded. Each Server has a different one.
func (s *Server) CA() []byte { return s.ca.pem }

func (s *Server) listen(addr string, scheme int) (string, error) {
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen on %q: %w", addr, err)
	}
	if err := checkLoopback(addr, resolved.IP, resolved.Port); err != nil {
		return "", err
	}
	// Without keep-alive probes a connection costs four fewer system calls.
	config := net.ListenConfig{KeepAlive: -1}
	l, err := config.Listen(context.Background(), "tcp", resolved.String())
	if err != nil {
		return "", err
	}
	a := &address{name: l.Addr().String(), scheme: scheme}
	_, a.port = splitPort(a.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		l.Close()
		return "", fmt.Errorf("listen on %q: %w", addr, net.ErrClosed)
	}
	s.listeners = append(s.listeners, l)
	s.addresses = append(s.addresses, a)
	s.running.Go(func() { s.accept(l, a) })
	return a.name, nil
}

// checkLoopback refuses an address that others could reach.
func checkLoopback(addr string, ip net.IP, port int) error {
	if ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("listen on %q: a farm stays on the loopback interface; use 127.0.0.1:%d", addr, port)
	}
	return nil
}

func (s *Server) accept(l net.Listener, a *address) {
	for {
		raw, err := l.Accept()
		switch {
		case err == nil:
			s.start(raw.(*net.TCPConn), a)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// Most likely no file descriptors are left: wait until other
			// connections end.
			select {
			case <-s.done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

func (s *Server) start(raw *net.TCPConn, a *address) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		raw.Close()
		return
	}
	s.conns[raw] = struct{}{}
	for _, t := range [...]*tally{&s.open, &a.open} {
		t.asked++
		t.enter(raw)
	}
	c := &conn{srv: s, at: a, raw: raw}
	s.running.Go(c.serve)
}

// forget stops counting a connection. It must run before the connection closes,
// so that a client that sees the end is no longer counted.
func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(c)
	if _, open := s.conns[c.raw]; open {
		delete(s.conns, c.raw)
		s.open.leave(c.raw)
		c.at.open.leave(c.raw)
	}
}

// Close closes all listeners and connections, hanging ones included, and waits
// for their goroutines.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
		for _, l := range s.listeners {
			l.Close()
		}
		for c := range s.conns {
			c.Close()
		}
	}
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// find returns the host for authority, as in a Host header, of a request that
// arrived at a. The caller holds s.mu.
func (s *Server) find(authority string, a *address) *host {
	bare, port := splitPort(strings.ToLower(authority))
	if port == "" || port == a.port {
		// The farm's port stands for the default port of the scheme.
		port = [...]string{"80", "443"}[a.scheme]
	}
	name, full := bare, withPort(bare, port)
	body, known := s.hosts[full]
	if known || s.faults != nil && s.faults.exact[full] != nil {
		name = full
	}
	if !known {
		body, known = s.hosts[bare]
	}
	h := s.asked[name]
	if h == nil {
		h = &host{
			name: name, bare: bare, body: body, known: known,
			entry: s.faults.find(full, bare), delay: s.latency.of(bare), domain: s.domain(bare),
		}
		s.asked[name] = h
	}
	return h
}

func (s *Server) domain(name string) *tally {
	domain, err := publicsuffix.EffectiveTLDPlusOne(name)
	if err != nil || net.ParseIP(name) != nil {
		domain = name
	}
	t := s.domains[domain]
	if t == nil {
		t = &tally{}
		s.domains[domain] = t
	}
	return t
}

// splitPort splits an authority into host and port, which may be empty. It
// removes the brackets of an IPv6 address and the trailing dot of a name.
func splitPort(authority string) (host, port string) {
	host = authority
	first, last := strings.IndexByte(host, ':'), strings.LastIndexByte(host, ':')
	bracketed := strings.HasPrefix(host, "[")
	if i := last; i >= 0 && (first == last || bracketed && !strings.HasSuffix(host, "]")) {
		host, port = host[:i], host[i+1:]
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.TrimSuffix(host, "."), port
}

func withPort(host, port string) string {
	if port == "" {
		return host
	}
	return host + "_" + port
}

// enter counts a request of c to h as in flight. The caller holds s.mu.
func (s *Server) enter(c *conn, h *host) {
	if c.in == h {
		return
	}
	s.leave(c)
	c.in = h
	for _, t := range s.talliesOf(c) {
		t.asked++
		t.enter(c.raw)
	}
}

// talliesOf returns what counts the request of c that is in flight.
func (s *Server) talliesOf(c *conn) [4]*tally {
	return [...]*tally{&c.in.counted, c.in.domain, &c.at.requests, &s.requests}
}

// leave undoes enter. The caller holds s.mu.
func (s *Server) leave(c *conn) {
	if c.in == nil {
		return
	}
	for _, t := range s.talliesOf(c) {
		t.leave(c.raw)
	}
	c.in = nil
}

// settle ends the request in flight and counts its answer under kind, unless
// kind is "".
func (s *Server) settle(c *conn, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.in != nil && kind != "" {
		s.answers[kind]++
	}
	s.leave(c)
}

// count counts an answer whose request stays in flight.
func (s *Server) count(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[kind]++
}

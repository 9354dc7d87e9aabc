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

// Config is what a farm is made of. Each part may be left out.
type Config struct {
	Hosts   Hosts
	Faults  *Faults
	Latency *Latency
}

// Server is a farm at work. Its methods may be called from any goroutine.
type Server struct {
	hosts   Hosts
	names   []string // of hosts, sorted
	faults  *Faults
	latency *Latency
	ca      *authority
	tls     map[string]*tls.Config // by kind of fault
	hello   *tls.Config            // leads to one of tls
	done    chan struct{}
	running sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
	conns     map[*net.TCPConn]struct{}
	asked     map[string]*host // by authority
	domains   map[string]*tally
	addresses []*address
	requests  tally
	open      tally // connections
	answers   map[string]int64
	cookies   int64
}

// address is one that the farm listens on.
type address struct {
	name     string
	port     string
	scheme   int
	requests tally
	open     tally
}

// host is what the farm knows of a name that was asked for.
type host struct {
	name    string // with the port, if it is that of one port alone
	bare    string // without
	body    []byte
	known   bool
	entry   *entry
	delay   time.Duration
	domain  *tally
	counted tally
	steps   [2]int // requests for robots.txt so far, by scheme
}

// New returns a farm that does not listen yet. It is an error if a fault
// borrows the body of a host that is not there.
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
	stranger, err := newAuthority()
	if err != nil {
		return nil, fmt.Errorf("make a certificate authority: %w", err)
	}
	s.ca, s.tls = ca, configs(ca, stranger)
	s.hello = &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		return info.Conn.(*handshaker).c.hello(info)
	}}
	return s, nil
}

// ListenHTTP serves http on addr, an address of the loopback interface such
// as "127.0.0.1:0", and returns the address with its true port. It may be
// called again for further addresses.
func (s *Server) ListenHTTP(addr string) (string, error) { return s.listen(addr, overHTTP) }

// ListenHTTPS does for https what [Server.ListenHTTP] does for http. Clients
// find the certificates sound if they trust [Server.CA].
func (s *Server) ListenHTTPS(addr string) (string, error) { return s.listen(addr, overHTTPS) }

// CA returns the certificate of the authority that signs for all hosts, as
// PEM. Each Server has its own.
func (s *Server) CA() []byte { return s.ca.pem }

func (s *Server) listen(addr string, scheme int) (string, error) {
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen on %q: %w", addr, err)
	}
	if resolved.IP == nil || !resolved.IP.IsLoopback() {
		return "", fmt.Errorf("listen on %q: a farm stays on the loopback interface; use 127.0.0.1:%d", addr, resolved.Port)
	}
	// Without keep-alive probes a connection costs four system calls less.
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

func (s *Server) accept(l net.Listener, a *address) {
	for {
		raw, err := l.Accept()
		switch {
		case err == nil:
			s.start(raw.(*net.TCPConn), a)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// No descriptors left, most likely: others must end first.
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

// forget is the end of a connection, before it is closed, so that a client
// that has seen the end is no longer counted.
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

// Close ends everything, what hangs included, and returns when all is gone.
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

// find returns the host that authority (as in a Host header) names to who
// has dialled a. Called under the lock.
func (s *Server) find(authority string, a *address) *host {
	bare, port := splitPort(strings.ToLower(authority))
	if port == "" || port == a.port {
		// Who names the farm's own port means the port that it stands for.
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

// splitPort takes an authority apart. An IPv6 address loses its brackets, a
// name the dot at its end.
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

// enter opens a request of c to h: from here on it counts as in flight.
func (s *Server) enter(c *conn, h *host) {
	if c.in == h {
		return
	}
	s.leave(c)
	c.in = h
	for _, t := range [...]*tally{&h.counted, h.domain, &c.at.requests, &s.requests} {
		t.asked++
		t.enter(c.raw)
	}
}

// leave ends what enter began. Both are called under the lock.
func (s *Server) leave(c *conn) {
	if c.in == nil {
		return
	}
	for _, t := range [...]*tally{&c.in.counted, c.in.domain, &c.at.requests, &s.requests} {
		t.leave(c.raw)
	}
	c.in = nil
}

// settle ends a request, or the part of it that a client can see, under the
// name that the report gives its answer; "" if that is counted already.
func (s *Server) settle(c *conn, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.in != nil && kind != "" {
		s.answers[kind]++
	}
	s.leave(c)
}

// count notes an answer whose request stays in flight.
func (s *Server) count(kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[kind]++
}

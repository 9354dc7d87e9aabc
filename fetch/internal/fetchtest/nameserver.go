package fetchtest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// A Zone holds the scripts of a name server, by name without the final dot. A
// name without a script does not exist.
type Zone map[string]*Script

// A Script says how a name server answers questions for one name.
type Script struct {
	RCode dnsmessage.RCode
	A     [][]string // addresses of the first answer, the second …; the last one repeats
	AAAA  []string
	CNAME []string // the chain in the answer, from the name itself
	// FailA answers A questions with SERVFAIL, FailAAAA AAAA questions.
	FailA, FailAAAA bool
	Silent          bool // no answer at all
	Garbage         bool // an answer that is not a DNS message
	// Truncated sends UDP answers that refer to TCP (RFC 1035 section 4.2.1), and CutOff
	// the same over TCP.
	Truncated, CutOff bool
	OnAsk             func()

	mu    sync.Mutex
	asked int // A questions so far
}

// At returns a script with these IPv4 and IPv6 addresses.
func At(addrs ...string) *Script {
	s := &Script{A: [][]string{nil}}
	for _, addr := range addrs {
		if strings.Contains(addr, ":") {
			s.AAAA = append(s.AAAA, addr)
		} else {
			s.A[0] = append(s.A[0], addr)
		}
	}
	return s
}

// Serve starts a name server on loopback, over UDP and, on the same port,
// over TCP. Unless tcp is set, it hangs up on TCP connections.
func Serve(t *testing.T, z Zone, tcp bool) netip.AddrPort {
	t.Helper()
	var udp *net.UDPConn
	var stream net.Listener
	for try := 0; ; try++ {
		var err error
		if udp, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			t.Fatal(err)
		}
		if stream, err = net.Listen("tcp", udp.LocalAddr().String()); err == nil {
			break
		}
		udp.Close() // the port is taken over TCP
		if try == 20 {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	var open unanswered
	running.Go(func() {
		packet := make([]byte, 4096)
		for {
			n, from, err := udp.ReadFromUDPAddrPort(packet)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue // an ICMP error about an earlier answer
			}
			reply, final := z.answer(t, packet[:n], true)
			if !final {
				open.keep(packet[:n], from)
			}
			if reply != nil {
				udp.WriteToUDPAddrPort(reply, from)
			}
		}
	})
	running.Go(func() {
		for {
			c, err := stream.Accept()
			if err != nil {
				return
			}
			if tcp {
				c.SetDeadline(time.Now().Add(20 * time.Second))
				z.answerStream(t, c)
			}
			c.Close()
		}
	})
	t.Cleanup(func() {
		open.answer(udp)
		udp.Close()
		stream.Close()
		running.Wait()
	})
	return netip.MustParseAddrPort(udp.LocalAddr().String())
}

// NoServer returns an address that refuses questions: a socket that listens
// to only one peer.
func NoServer(t *testing.T) netip.AddrPort {
	t.Helper()
	c, err := net.Dial("udp", Serve(t, Zone{}, false).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return netip.MustParseAddrPort(c.LocalAddr().String())
}

// unanswered holds questions that a script leaves open. They are answered in
// the end, because the library waits for seconds after its caller has left.
type unanswered struct {
	mu   sync.Mutex
	list []func(*net.UDPConn)
}

func (u *unanswered) keep(packet []byte, from netip.AddrPort) {
	var m dnsmessage.Message
	if m.Unpack(packet) != nil {
		return
	}
	m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeServerFailure, nil
	reply, err := m.Pack()
	if err != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = append(u.list, func(c *net.UDPConn) { c.WriteToUDPAddrPort(reply, from) })
}

func (u *unanswered) answer(c *net.UDPConn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, f := range u.list {
		f(c)
	}
}

// answerStream answers one question over TCP, each message after its length.
func (z Zone) answerStream(t *testing.T, c net.Conn) {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return
	}
	packet := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, packet); err != nil {
		return
	}
	if reply, _ := z.answer(t, packet, false); reply != nil {
		c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
	}
}

// answer returns the reply to a question, nil for none. final reports whether
// the client will stop waiting.
func (z Zone) answer(t *testing.T, packet []byte, udp bool) (reply []byte, final bool) {
	var q dnsmessage.Message
	if err := q.Unpack(packet); err != nil || len(q.Questions) != 1 {
		t.Errorf("name server: not a question: %v", err)
		return nil, true
	}
	question := q.Questions[0]
	m := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: q.ID, Response: true, Authoritative: true, RecursionDesired: q.RecursionDesired, RecursionAvailable: true,
		},
		Questions: q.Questions,
	}
	name := strings.TrimSuffix(strings.ToLower(question.Name.String()), ".")
	s := z[name]
	switch {
	case s == nil:
		m.RCode = dnsmessage.RCodeNameError
	case s.Silent || s.Garbage:
		if s.OnAsk != nil {
			s.OnAsk()
		}
		if s.Garbage {
			return []byte("\x00\x01 no DNS message"), false
		}
		return nil, false
	case s.Truncated && udp, s.CutOff:
		m.Truncated = true
	default:
		s.fill(&m, question)
	}
	reply, err := m.Pack()
	if err != nil {
		t.Errorf("name server: %v", err)
	}
	return reply, true
}

// Asked returns how many A questions came so far.
func (s *Script) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *Script) fill(m *dnsmessage.Message, question dnsmessage.Question) {
	m.RCode = s.RCode
	owner := question.Name
	add := func(body dnsmessage.ResourceBody) {
		// A TTL of 0: no cache may answer.
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET}, Body: body,
		})
	}
	for _, alias := range s.CNAME {
		to := dnsmessage.MustNewName(alias + ".")
		add(&dnsmessage.CNAMEResource{CNAME: to})
		owner = to
	}
	switch {
	case question.Type == dnsmessage.TypeA && s.FailA, question.Type == dnsmessage.TypeAAAA && s.FailAAAA:
		m.RCode = dnsmessage.RCodeServerFailure
	case question.Type == dnsmessage.TypeA && len(s.A) > 0:
		s.mu.Lock()
		addrs := s.A[min(s.asked, len(s.A)-1)]
		s.asked++
		s.mu.Unlock()
		for _, addr := range addrs {
			add(&dnsmessage.AResource{A: netip.MustParseAddr(addr).As4()})
		}
	case question.Type == dnsmessage.TypeAAAA:
		for _, addr := range s.AAAA {
			add(&dnsmessage.AAAAResource{AAAA: netip.MustParseAddr(addr).As16()})
		}
	}
}

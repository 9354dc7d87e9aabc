package farm

import (
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// ListenDNS answers DNS queries over UDP on addr, a loopback address, and
// returns the address with its actual port. Every name has one A record: the
// IPv4 address of one of the farm's listeners, chosen by a hash of the name,
// so that the hosts spread over the addresses. Queries for other types get an
// empty answer.
func (s *Server) ListenDNS(addr string) (string, error) {
	resolved, err := net.ResolveUDPAddr("udp", addr)
	if err != nil {
		return "", fmt.Errorf("listen on %q: %w", addr, err)
	}
	if err := checkLoopback(addr, resolved.IP, resolved.Port); err != nil {
		return "", err
	}
	conn, err := net.ListenUDP("udp", resolved)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return "", fmt.Errorf("listen on %q: %w", addr, net.ErrClosed)
	}
	s.running.Go(func() { s.answerNames(conn) })
	s.running.Go(func() {
		<-s.done
		conn.Close()
	})
	return conn.LocalAddr().String(), nil
}

func (s *Server) answerNames(conn *net.UDPConn) {
	question := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(question)
		if err != nil {
			return // closed
		}
		if answer := s.resolve(question[:n]); answer != nil {
			conn.WriteToUDPAddrPort(answer, from)
		}
	}
}

// resolve returns the answer to a DNS message, or nil if the message is not a
// query.
func (s *Server) resolve(message []byte) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(message)
	if err != nil || head.Response {
		return nil
	}
	q, err := p.Question()
	if err != nil {
		return nil
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{
		ID: head.ID, Response: true, RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
	})
	b.EnableCompression()
	b.StartQuestions()
	b.Question(q)
	if at := s.addressOf(q.Name.String()); q.Type == dnsmessage.TypeA && at.Is4() {
		b.StartAnswers()
		b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 60}, dnsmessage.AResource{A: at.As4()})
	}
	answer, err := b.Finish()
	if err != nil {
		return nil
	}
	return answer
}

// addressOf returns the IPv4 address of name, or the zero Addr if the farm
// listens on none.
func (s *Server) addressOf(name string) netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	var places []netip.Addr
	for _, a := range s.addresses {
		if at, err := netip.ParseAddrPort(a.name); err == nil && at.Addr().Is4() && !slices.Contains(places, at.Addr()) {
			places = append(places, at.Addr())
		}
	}
	if len(places) == 0 {
		return netip.Addr{}
	}
	sum := fnv.New32a()
	sum.Write([]byte(strings.ToLower(name)))
	return places[sum.Sum32()%uint32(len(places))]
}

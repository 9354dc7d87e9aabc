package names

import (
	"context"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// dialResolver returns a function that dials server instead of the system's, if it is
// valid. Unless it repeats, it refuses to ask a question twice over UDP.
func dialResolver(dialer *net.Dialer, server netip.AddrPort, repeats bool) func(ctx context.Context, network,
	address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if server.IsValid() {
			address = server.String()
		}
		q, _ := ctx.Value(questionKey{}).(*question)
		if q != nil && !repeats && network == "udp" && q.dials.Add(1) > 1 {
			if !q.heard.Load() {
				return nil, os.ErrDeadlineExceeded
			}
			return nil, errAnother
		}
		conn, err := dialer.DialContext(ctx, network, address)
		if q != nil && fetch.IsLocal(err) {
			q.local.Store(&err)
		}
		if err == nil {
			// The library waits five seconds whatever ctx says. A list full of
			// dead name servers would pile up sockets.
			socket := conn // conn changes below
			context.AfterFunc(ctx, func() { socket.SetDeadline(time.Unix(1, 0)) })
		}
		switch socket := conn.(type) {
		case *net.UDPConn:
			if q != nil {
				conn = &listener{socket, q}
			}
		case *net.TCPConn:
			if q != nil {
				conn = &streamListener{socket, q, nil}
			}
		}
		return conn, err
	}
}

// listener is a connection that notes whether an answer or an error came, and the answer.
type listener struct {
	*net.UDPConn
	question *question
}

func (l *listener) Read(b []byte) (int, error) {
	n, err := l.UDPConn.Read(b)
	if err == nil || !fetch.IsTimeout(err) {
		l.question.heard.Store(true)
	}
	l.question.note(b[:n])
	return n, err
}

// streamListener notes the answer over TCP, which comes after its length.
type streamListener struct {
	*net.TCPConn
	question *question
	text     []byte
}

func (l *streamListener) Read(b []byte) (int, error) {
	n, err := l.TCPConn.Read(b)
	l.text = append(l.text, b[:n]...)
	if len(l.text) > 2 {
		l.question.note(l.text[2:])
	}
	return n, err
}

// question is what the dials for one question for addresses of one family tell.
type question struct {
	dials atomic.Int32
	heard atomic.Bool
	local atomic.Pointer[error] // the library returns only its text
	reply atomic.Pointer[reply] // the last one; the library reads on after what is none
}

// reply is what the library does not tell of an answer.
type reply struct {
	exists    bool         // the name: it only lacks what was asked for
	truncated bool         // over TCP too, if it is the last one
	mapped    []netip.Addr // IPv4 addresses in AAAA records, which the library drops
}

// note keeps what an answer says, as far as it has come.
func (q *question) note(message []byte) {
	var p dnsmessage.Parser
	header, err := p.Start(message)
	if err != nil || !header.Response {
		return
	}
	r := &reply{exists: header.RCode == dnsmessage.RCodeSuccess, truncated: header.Truncated}
	if p.SkipAllQuestions() == nil {
		for {
			answer, err := p.AnswerHeader()
			if err != nil {
				break
			}
			if answer.Type != dnsmessage.TypeAAAA {
				if p.SkipAnswer() != nil {
					break
				}
				continue
			}
			record, err := p.AAAAResource()
			if err != nil {
				break
			}
			if addr := netip.AddrFrom16(record.AAAA); addr.Is4In6() {
				r.mapped = append(r.mapped, addr)
			}
		}
	}
	q.reply.Store(r)
}

// failure returns the class of an error of the library.
func (q *question) failure(ctx context.Context, host string, err error) *fetch.Failure {
	if local := q.local.Load(); local != nil {
		return fetch.OurFailure(answer.ErrorDNSFailure, "resolve %s: %w", host, *local)
	}
	f := fetch.LookUpFailure(ctx, host, err)
	if r := q.reply.Load(); r != nil && f.Class == answer.ErrorDNSNotFound {
		switch {
		case r.truncated:
			return fetch.NewFailure(answer.ErrorDNSFailure, "resolve %s: the resolver's answer is cut off", host)
		case r.exists:
			return fetch.NewFailure(answer.ErrorDNSNoAddress, "resolve %s: the name has no address", host)
		}
	}
	return f
}

type questionKey struct{}

var errAnother = fetch.NewFailure(answer.ErrorDNSFailure, "another resolver is asked")

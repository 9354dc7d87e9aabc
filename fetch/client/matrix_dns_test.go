//go:build unix

package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
)

// resolved fetches a.example, whose name server follows the script. A server on
// 127.0.0.1 answers.
func resolved(answers *fetchtest.Script) stage {
	return func(t *testing.T, s *scene) {
		to := serve(t, write("HTTP/1.1 200 OK\r\n"+nothing))
		s.AllowPrivate = true
		// A script counts, so the two fetches of a row get separate ones.
		s.Resolvers = []netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{"a.example": &fetchtest.Script{
			RCode: answers.RCode, A: answers.A, AAAA: answers.AAAA, CNAME: answers.CNAME,
			FailA: answers.FailA, FailAAAA: answers.FailAAAA,
			Silent: answers.Silent, Garbage: answers.Garbage, Truncated: answers.Truncated, CutOff: answers.CutOff,
			OnAsk: answers.OnAsk,
		}}, true)}
		s.ask = []fetch.Origin{origin(t, fmt.Sprintf("http://a.example:%d", to.Port()))}
	}
}

var dnsRows = []row{
	{"a name that resolves", resolved(fetchtest.At("127.0.0.1")), want{200, "", 1, once, rulesDecide}},
	{"a name with aliases", resolved(&fetchtest.Script{A: [][]string{{"127.0.0.1"}}, CNAME: []string{"b.example",
		"c.example"}}),
		want{200, "", 1, once, rulesDecide}},
	{"an address that refuses before one that answers", resolved(fetchtest.At("127.0.0.2", "127.0.0.3", "127.0.0.1")),
		want{200, "", 1, once, rulesDecide}},
	{"IPv6 that refuses before IPv4 that answers", resolved(fetchtest.At("::1", "127.0.0.1")),
		want{200, "", 1, once, rulesDecide}},
	{"all addresses refuse", resolved(fetchtest.At("127.0.0.2", "127.0.0.3")), want{0, answer.ErrorConnectRefused, 1,
		again, networkFailure}},
	{"A, while AAAA fails", resolved(&fetchtest.Script{A: [][]string{{"127.0.0.1"}}, FailAAAA: true}),
		want{200, "", 1, once, rulesDecide}},
	{"more than UDP holds", resolved(&fetchtest.Script{A: [][]string{{"127.0.0.1"}}, Truncated: true}),
		want{200, "", 1, once, rulesDecide}},

	{"NXDOMAIN", resolved(&fetchtest.Script{RCode: dnsmessage.RCodeNameError}), want{0, answer.ErrorDNSNotFound, 1, once,
		networkFailure}},
	{"no addresses", resolved(&fetchtest.Script{}), want{0, answer.ErrorDNSNoAddress, 1, once, networkFailure}},
	{"aliases in a circle", resolved(&fetchtest.Script{CNAME: []string{"b.example", "a.example"}}),
		want{0, answer.ErrorDNSNoAddress, 1, once, networkFailure}},
	{"more than TCP holds", resolved(&fetchtest.Script{CutOff: true}), want{0, answer.ErrorDNSFailure, 1, again,
		networkFailure}},
	{"IPv4 in IPv6", resolved(fetchtest.At("::ffff:127.0.0.1")), want{200, "", 1, once, rulesDecide}},
	{"SERVFAIL", resolved(&fetchtest.Script{RCode: dnsmessage.RCodeServerFailure}), want{0, answer.ErrorDNSFailure, 1,
		again, networkFailure}},
	{"no A, while AAAA fails", resolved(&fetchtest.Script{FailAAAA: true}), want{0, answer.ErrorDNSFailure, 1, again,
		networkFailure}},
	{"no AAAA, while A fails", resolved(&fetchtest.Script{FailA: true}), want{0, answer.ErrorDNSFailure, 1, again,
		networkFailure}},
	{"REFUSED", resolved(&fetchtest.Script{RCode: dnsmessage.RCodeRefused}), want{0, answer.ErrorDNSFailure, 1, again,
		networkFailure}},
	{"more than UDP holds, and no TCP", func(t *testing.T, s *scene) {
		s.Resolvers = []netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{"a.example": {Truncated: true}}, false)}
	}, want{0, answer.ErrorDNSFailure, 1, again, networkFailure}},
	{"no name server", func(t *testing.T, s *scene) { s.Resolvers = []netip.AddrPort{fetchtest.NoServer(t)} },
		want{0, answer.ErrorDNSFailure, 1, again, networkFailure}},
	{"a name server without an answer", brief(resolved(&fetchtest.Script{Silent: true})), want{0, answer.ErrorDNSFailure,
		1, once, networkFailure}},
	{"a name server that talks nonsense", brief(resolved(&fetchtest.Script{Garbage: true})),
		want{0, answer.ErrorDNSFailure, 1, once, networkFailure}},
	{"canceled while a name is looked up", func(t *testing.T, s *scene) {
		resolved(&fetchtest.Script{Silent: true, OnAsk: func() { s.cancel() }})(t, s)
	}, want{0, answer.ErrorCanceled, 1, once, stopped}},
	{"a redirect to a name that does not exist", func(t *testing.T, s *scene) {
		to := serve(t, write("HTTP/1.1 302 Found\r\nLocation: http://gone.example/\r\n"+nothing))
		s.AllowPrivate = true
		s.Resolvers = []netip.AddrPort{fetchtest.Serve(t, fetchtest.Zone{"a.example": fetchtest.At("127.0.0.1")}, true)}
		s.ask = []fetch.Origin{origin(t, fmt.Sprintf("http://a.example:%d", to.Port()))}
	}, want{0, answer.ErrorDNSNotFound, 2, once, networkFailure}},
}

// public is an address that the guard permits.
const public = "1.2.3.4"

// guarded fetches a.example, at a public address, which redirects to location.
// $PORT in it is the port of a server on loopback that must not be reached.
// names are the other names of the name server.
func guarded(location string, names fetchtest.Zone) stage {
	return func(t *testing.T, s *scene) {
		victim := serve(t, func(_ *net.TCPConn, r *http.Request, _ int) {
			t.Errorf("%s was reached past the guard", r.Host)
		})
		location := strings.ReplaceAll(location, "$PORT", fmt.Sprint(victim.Port()))
		z := fetchtest.Zone{"a.example": fetchtest.At(public)}
		for name, answers := range names {
			z[name] = &fetchtest.Script{A: answers.A, AAAA: answers.AAAA}
		}
		s.Resolvers = []netip.AddrPort{fetchtest.Serve(t, z, true)}
		s.client = onlyPublic(t, serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
			if r.Host == "a.example" && r.URL.Path == "/robots.txt" {
				fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nLocation: %s\r\n%s", location, nothing)
			} else {
				io.WriteString(c, "HTTP/1.1 200 OK\r\n"+nothing)
			}
		}))
	}
}

// onlyPublic connects the public address to the server at `to`, below the
// dialer, so that the guard works as in production: connecting a socket that is
// already connected succeeds. Dialling any other address is an error.
func onlyPublic(t *testing.T, to netip.AddrPort) func(*Client) {
	control := func(_, address string, socket syscall.RawConn) error {
		if !strings.HasPrefix(address, public+":") {
			t.Errorf("%s was dialled", address)
			return syscall.EPERM
		}
		var err error
		return errors.Join(socket.Control(func(fd uintptr) {
			err = syscall.Connect(int(fd), &syscall.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
			if err == syscall.EINPROGRESS {
				err = nil
			}
		}), err)
	}
	return func(c *Client) { c.dialer.Control = control }
}

var guardRows = []row{
	{"a public address", guarded("http://b.example/", fetchtest.Zone{"b.example": fetchtest.At(public)}),
		want{200, "", 2, once, rulesDecide}},
	{"an address of loopback is asked", func(t *testing.T, s *scene) {
		guarded("", nil)(t, s)
		s.ask = []fetch.Origin{origin(t, "http://127.0.0.1")}
	}, want{0, answer.ErrorAddressBlocked, 1, once, refused}},
	{"a name on loopback is asked", func(t *testing.T, s *scene) {
		guarded("", fetchtest.Zone{"b.example": fetchtest.At("127.0.0.1", "::1")})(t, s)
		s.ask = []fetch.Origin{origin(t, "http://b.example")}
	}, want{0, answer.ErrorAddressBlocked, 1, once, refused}},

	{"a name on loopback inside IPv6 is asked", func(t *testing.T, s *scene) {
		guarded("", fetchtest.Zone{"b.example": fetchtest.At("::ffff:127.0.0.1")})(t, s)
		s.ask = []fetch.Origin{origin(t, "http://b.example")}
	}, want{0, answer.ErrorAddressBlocked, 1, once, refused}},

	{"to an address of loopback", guarded("http://127.0.0.1:$PORT/robots.txt", nil), want{0, answer.ErrorAddressBlocked,
		2, once, refused}},
	{"to IPv6 loopback", guarded("http://[::1]:$PORT/robots.txt", nil), want{0, answer.ErrorAddressBlocked, 2, once,
		refused}},
	{"to loopback inside IPv6", guarded("http://[::ffff:127.0.0.1]:$PORT/", nil), want{0, answer.ErrorAddressBlocked, 2,
		once, refused}},
	{"to loopback inside NAT64", guarded("http://[64:ff9b::7f00:1]:$PORT/", nil), want{0, answer.ErrorAddressBlocked, 2,
		once, refused}},
	{"to the unspecified address", guarded("http://0.0.0.0:$PORT/", nil), want{0, answer.ErrorAddressBlocked, 2, once,
		refused}},
	{"to localhost", guarded("http://localhost:$PORT/robots.txt", nil), want{0, answer.ErrorAddressBlocked, 2, once,
		refused}},
	{"to a name under localhost", guarded("https://x.localhost:$PORT/", nil), want{0, answer.ErrorAddressBlocked, 2, once,
		refused}},
	{"to a name on loopback", guarded("http://b.example:$PORT/", fetchtest.Zone{"b.example": fetchtest.At("127.0.0.1")}),
		want{0, answer.ErrorAddressBlocked, 2, once, refused}},
	{"to a name on IPv6 loopback", guarded("http://b.example:$PORT/", fetchtest.Zone{"b.example": fetchtest.At("::1")}),
		want{0, answer.ErrorAddressBlocked, 2, once, refused}},
	{"to a name on a private network", guarded("http://b.example:$PORT/",
		fetchtest.Zone{"b.example": fetchtest.At("10.0.0.1", "fd00::1")}), want{0, answer.ErrorAddressBlocked, 2, once,
		refused}},
	{"to the metadata of a cloud", guarded("http://169.254.169.254/latest/meta-data/", nil),
		want{0, answer.ErrorAddressBlocked, 2, once, refused}},
	{"to a name with a public address among special ones", guarded("http://b.example/",
		fetchtest.Zone{"b.example": fetchtest.At("127.0.0.1", public, "10.0.0.1", "::1")}),
		want{200, "", 2, once, rulesDecide}},
	// The first look-up is for the hop requested, the second finds another
	// address (DNS rebinding).
	{"to a name that has turned to loopback", func(t *testing.T, s *scene) {
		guarded("http://b.example:$PORT/", fetchtest.Zone{"b.example": {A: [][]string{{public}, {"127.0.0.1"}}}})(t, s)
		first := s.client
		s.client = func(c *Client) {
			first(c)
			// A second client, with a separate name cache.
			before, err := New(s.Config, Backing{})
			if err != nil {
				t.Fatal(err)
			}
			first(before)
			if got := before.Fetch(s.ctx, origin(t, "http://b.example")); got.Status() != 200 {
				t.Fatalf("the first look-up: status %d, %v", got.Status(), got.Err)
			}
		}
	}, want{0, answer.ErrorAddressBlocked, 2, once, refused}},
}

// TestANameThatTurnsInAChain redirects a host to itself while its address
// changes to loopback. The name may be looked up again or cached; loopback is
// never dialled.
func TestANameThatTurnsInAChain(t *testing.T) {
	s := &scene{Config: newClient(t, netip.AddrPort{}, nil).config}
	guarded("http://a.example/next", fetchtest.Zone{"a.example": {A: [][]string{{public}, {"127.0.0.1"}}}})(t, s)
	c, err := New(s.Config, Backing{})
	if err != nil {
		t.Fatal(err)
	}
	s.client(c)
	got := c.Fetch(t.Context(), origin(t, "http://a.example"))
	if len(got.Hops) != 2 || got.Error != answer.ErrorAddressBlocked && got.Status() != 200 {
		t.Errorf("hops %v, error %q (%v)", got.Hops, got.Error, got.Err)
	}
}

package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
)

func TestTheNextSchemeIsAskedOnlyWithoutAnAnswer(t *testing.T) {
	both := func(t *testing.T) []fetch.Origin {
		return []fetch.Origin{origin(t, "https://a.example"), origin(t, "http://a.example")}
	}
	plain := serve(t, write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")) // no TLS there
	got := newClient(t, plain, nil).Fetch(context.Background(), both(t)...)
	if got.Origin.Scheme != "http" || got.Fallback != answer.ErrorTLS || got.Attempts != 2 || got.Error != "" {
		t.Errorf("http answers: %v, fallback %q, %d attempts, error %q", got.Origin, got.Fallback, got.Attempts, got.Error)
	}
	dead := serve(t, func(c *net.TCPConn, _ *http.Request, _ int) { reset(c) })
	got = newClient(t, dead, nil).Fetch(context.Background(), both(t)...)
	if got.Origin.Scheme != "https" || got.Fallback != "" || got.Error == "" {
		t.Errorf("neither answers: %v, fallback %q, error %q; want the first one's", got.Origin, got.Fallback, got.Error)
	}
}

// A name that does not exist, and addresses that are special or have no route
// from here, fail the same way under every scheme.
func TestHopelessFailuresSkipTheNextScheme(t *testing.T) {
	server := fetchtest.Serve(t, fetchtest.Zone{"inside.example": fetchtest.At("127.0.0.1")}, false)
	for host, class := range map[string]answer.ErrorClass{
		"none.example": answer.ErrorDNSNotFound, "inside.example": answer.ErrorAddressBlocked,
		"[2a00::1]": answer.ErrorNoRoute,
	} {
		c := newClient(t, netip.AddrPort{}, func(c *settings) { c.Resolvers, c.Retries = []netip.AddrPort{server}, 2 })
		c.dialer.Control = func(string, string, syscall.RawConn) error { return syscall.ENETUNREACH }
		got := c.Fetch(t.Context(), origin(t, "https://"+host), origin(t, "http://"+host), origin(t, "ftp://"+host))
		if got.Error != class || got.Origin.Scheme != "https" || got.Attempts != 1 || got.Fallback != "" || got.Local != nil {
			t.Errorf("%s: %q (%v) of %s after %d attempts, fallback %q", host, got.Error, got.Err, got.Origin, got.Attempts,
				got.Fallback)
		}
	}
}

// The facts are those of the candidate that is preferred, even if the first one's
// failure leaves no hope: its history is kept under that origin.
func TestAPreferredSchemeIsAskedWithoutHope(t *testing.T) {
	server := fetchtest.Serve(t, fetchtest.Zone{}, false)
	c := newClient(t, netip.AddrPort{}, func(c *settings) { c.Resolvers = []netip.AddrPort{server} })
	for prefer, scheme := range []string{"https", "http", "ftp"} {
		lease, err := c.Enter(t.Context(), t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := lease.Fetch(prefer, origin(t, "https://none.example"), origin(t, "http://none.example"),
			origin(t, "ftp://none.example"))
		lease.Leave()
		if got.Error != answer.ErrorDNSNotFound || got.Origin.Scheme != scheme || got.Attempts != prefer+1 {
			t.Errorf("%s is preferred: %q (%v) of %s after %d attempts", scheme, got.Error, got.Err, got.Origin, got.Attempts)
		}
	}
}

func TestASchemeThatHangsLeavesTimeForTheNext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := bufio.NewReader(c)
				if first, err := in.Peek(1); err != nil || first[0] == 0x16 {
					io.Copy(io.Discard, in) // a TLS hello that is never answered
					return
				}
				if _, err := http.ReadRequest(in); err == nil {
					io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				}
			}()
		}
	}()
	defer func() { l.Close(); <-done }()
	c := newClient(t, netip.MustParseAddrPort(l.Addr().String()), func(c *settings) { c.Timeout = time.Second })
	got := c.Fetch(context.Background(), origin(t, "https://a.example"), origin(t, "http://a.example"))
	if got.Origin.Scheme != "http" || got.Status() != 200 || got.Fallback != answer.ErrorTimeout {
		t.Errorf("%v, status %d, fallback %q (%v)", got.Origin, got.Status(), got.Fallback, got.Err)
	}
}

func TestFallbackIsRememberedOverRetries(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, n int) {
		fmt.Fprintf(c, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", []int{503, 200}[min(n, 2)-1])
	}), func(c *settings) {
		c.Retries = 1
		c.Now = func() time.Time { now = now.Add(time.Hour); return now }
	})
	got := c.Fetch(context.Background(), origin(t, "https://a.example"), origin(t, "http://a.example"))
	if got.Status() != 200 || got.Fallback != answer.ErrorTLS || got.Attempts != 3 {
		t.Errorf("status %d, fallback %q, %d attempts", got.Status(), got.Fallback, got.Attempts)
	}
	if began := now.Add(-2 * time.Hour); !got.Start.Equal(began) {
		t.Errorf("it begins at %v, want %v, the first of three attempts", got.Start, began)
	}
}

func TestAFailureBehindARedirectIsNoReasonForAnotherScheme(t *testing.T) {
	c := newClient(t, serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		if r.Host == "dead.example" {
			reset(c)
			return
		}
		io.WriteString(c, "HTTP/1.1 301 Moved\r\nLocation: http://dead.example/robots.txt\r\n\r\n")
	}), nil)
	got := c.Fetch(context.Background(), origin(t, "http://a.example"), origin(t, "http://b.example"))
	if got.Origin.Host != "a.example" || len(got.Hops) != 2 || got.Error != answer.ErrorReset || got.Fallback != "" {
		t.Errorf("%v, hops %v, error %q, fallback %q", got.Origin, got.Hops, got.Error, got.Fallback)
	}
}

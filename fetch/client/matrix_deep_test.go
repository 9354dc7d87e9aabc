//go:build unix

package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// deepRows are failures in the middle of something that usually fails as a
// whole.
var deepRows = []row{
	// bufio returns the partial line and drops the error after it.
	{"reset in the status line", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 20")
		reset(c)
	}), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"reset in a header", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nServ")
		reset(c)
	}), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"a hang in the status line", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 20")
		hang(c)
	})), want{0, answer.ErrorTimeout, 1, once, networkFailure}},
	{"a drip in the header", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		drip(c, "Server: x\r\n")
	})), want{0, answer.ErrorTimeout, 1, once, networkFailure}},
	// Go reports a connection closed without TLS's closing alert as io.EOF, and
	// as unexpected only within a record, the rest of which is lost.
	{"closed in a record of the body", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n")
		io.WriteString(c.(*tls.Conn).NetConn(), "\x17\x03\x03\x00\x40half a record")
	}), want{200, answer.ErrorTruncatedBody, 1, again, incompleteBody}},
	{"closed in a record of the header", secureAnswer(nil, func(c net.Conn, _ *http.Request) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nServ")
		io.WriteString(c.(*tls.Conn).NetConn(), "\x17\x03\x03\x00\x40half a record")
	}), want{0, answer.ErrorReset, 1, again, networkFailure}},

	// RFC 9112 section 8: a body is incomplete until the last chunk, of size 0,
	// is received. Here it was received.
	{"chunking without its last line", plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n"),
		want{200, "", 1, once, rulesDecide}},
	// As for gzip and zstd.
	{"br of nothing", plain("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n" + nothing), want{200, "", 1, once, rulesDecide}},
	{"deflate of nothing", plain("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n" + nothing),
		want{200, "", 1, once, rulesDecide}},
	{"gzip with something behind it", plain("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("abc")) +
		"\x00\x00\r\n"), want{200, "", 1, once, rulesDecide}},
	{"a body of the limit in chunks of a byte", func(t *testing.T, s *scene) {
		plain("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+strings.Repeat("1\r\n#\r\n", s.MaxBody)+"0\r\n\r\n")(t,
			s)
		s.also = func(t *testing.T, got *fetch.Capture) {
			if len(got.Body) != s.MaxBody || got.Truncated {
				t.Errorf("limit %d: kept %d bytes, truncated: %v", s.MaxBody, len(got.Body), got.Truncated)
			}
		}
	}, want{200, "", 1, once, rulesDecide}},

	// The library returns the error of its last question.
	{"SERVFAIL for A, no addresses for AAAA", resolved(&fetchtest.Script{FailA: true}), want{0, answer.ErrorDNSFailure, 1,
		again, networkFailure}},

	// The library's text contains the current time.
	{"expired", func(t *testing.T, s *scene) {
		certified(testCA, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		})(t, s)
		s.also = func(t *testing.T, got *fetch.Capture) {
			if strings.Contains(got.Err.Error(), "current time") {
				t.Errorf("two equal answers differ: %v", got.Err)
			}
		}
	}, want{0, answer.ErrorTLS, 1, once, networkFailure}},
}

// TestACutAtTheLargestLimitIsSeen_NoRace checks that a profile knows that its limit
// cut a body, even if the capture cut it at the same byte.
func TestACutAtTheLargestLimitIsSeen_NoRace(t *testing.T) {
	for _, name := range robots.ProfileNames() {
		t.Run(name, func(t *testing.T) {
			p, _ := robots.ProfileNamed(name)
			body := bodyAround(p.SizeLimit, 1, "Disallow: /é")
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			c := newClient(t, serve(t, write(answer)), func(c *settings) { c.MaxBody = sizeLimit })
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			var f robots.File
			f.Cut = got.Truncated
			f.Parse(got.Body, p)
			if !f.Truncated || !f.IsUTF8 {
				t.Errorf("truncated %v, UTF-8 but for the character that was cut %v; want both", f.Truncated, f.IsUTF8)
			}
			for _, m := range f.Remarks {
				if m.Class == robots.TruncatedLine {
					return
				}
			}
			t.Error("no remark on the cut line")
		})
	}
}

// TestALookUpLeavesNothingBehind checks that giving up on a name that nobody
// answers for releases sockets and goroutines before the library's timeout of
// several seconds. A run over a list with dead name servers would pile them up.
func TestALookUpLeavesNothingBehind(t *testing.T) {
	for _, name := range []string{"timeout", "canceled"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			silent := &fetchtest.Script{Silent: true}
			if name == "canceled" {
				silent.OnAsk = cancel
			}
			server := fetchtest.Serve(t, fetchtest.Zone{"a.example": silent}, true)
			c := newClient(t, netip.AddrPort{}, func(c *settings) {
				c.Resolvers, c.Timeout = []netip.AddrPort{server},
					500*time.Millisecond
			})
			before := goleak.IgnoreCurrent()
			c.Fetch(ctx, origin(t, "a.example"))
			if err := goleak.Find(before); err != nil {
				t.Error(err)
			}
		})
	}
}

//go:build unix

package client

import (
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// networkRows are the row "connect, timeout, reset, invalid HTTP", before the
// body.
var networkRows = []row{
	{"connection refused", func(t *testing.T, s *scene) { s.ConnectTo = closedPort(t) },
		want{0, answer.ErrorConnectRefused, 1, again, networkFailure}},
	{"no route", func(t *testing.T, s *scene) {
		// The broadcast address of loopback accepts no connection.
		s.AllowPrivate, s.ask = true, []fetch.Origin{origin(t, "http://127.255.255.255")}
	}, want{0, answer.ErrorConnectFailure, 1, again, networkFailure}},
	{"no route for this address family", func(t *testing.T, s *scene) {
		s.ask = []fetch.Origin{origin(t, "http://[2a00::1]")}
		s.client = func(c *Client) {
			c.dialer.Control = func(string, string, syscall.RawConn) error { return syscall.ENETUNREACH }
		}
	}, want{0, answer.ErrorNoRoute, 1, once, same(answer.Undefined, answer.NoRoute)}},
	{"a router far away has no route", func(t *testing.T, s *scene) {
		s.AllowPrivate, s.ask = true, []fetch.Origin{origin(t, "http://127.0.0.1:9")}
		s.client = func(c *Client) {
			c.dialer.Control = func(network, _ string, _ syscall.RawConn) error {
				if strings.HasPrefix(network, "udp") {
					return nil
				}
				return syscall.ENETUNREACH
			}
		}
	}, want{0, answer.ErrorConnectFailure, 1, again, networkFailure}},
	{"no answer to a connection", func(t *testing.T, s *scene) {
		fullBacklog(t, s)
		s.Timeout = 6 * time.Second
	}, want{0, answer.ErrorConnectTimeout, 1, again, networkFailure}},

	{"closed before a word", served(func(*net.TCPConn, *http.Request, int) {}), want{0, answer.ErrorReset, 1, again,
		networkFailure}},
	{"closed in the status line", plain("HTTP/1.1 20"), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"closed in the header", plain("HTTP/1.1 200 OK\r\nContent-Le"), want{0, answer.ErrorReset, 1, again, networkFailure}},
	{"reset before a word", served(func(c *net.TCPConn, _ *http.Request, _ int) { reset(c) }), want{0, answer.ErrorReset,
		1, again, networkFailure}},
	{"reset between two headers", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nServer: x\r\n")
		reset(c)
	}), want{0, answer.ErrorReset, 1, again, networkFailure}},

	{"a hang before the header", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) { hang(c) })),
		want{0, answer.ErrorTimeout, 1, once, networkFailure}},
	{"a hang between two headers", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nServer: x\r\n")
		hang(c)
	})), want{0, answer.ErrorTimeout, 1, once, networkFailure}},
	{"a hang after a 1xx", brief(served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 103 Early Hints\r\n\r\n")
		hang(c)
	})), want{103, answer.ErrorTimeout, 1, once, networkFailure}},
	{"a hang after the body", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
		hang(c)
	}), want{200, "", 1, once, rulesDecide}},

	{"an answer before the request", func(t *testing.T, s *scene) {
		s.ConnectTo = listen(t, func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 403 Go away\r\n"+nothing) })
	}, want{403, "", 1, once, asIfMissing}},
	{"HTTP/0.9", plain("User-agent: *\nDisallow: /\n"), want{0, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"SSH", plain("SSH-2.0-OpenSSH_9.2\r\n"), want{0, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"HTTP/2", plain("\x00\x00\x00\x04\x00\x00\x00\x00\x00"), want{0, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"a status line that is none", plain("HTTP/1.1 OK\r\n\r\n"), want{0, answer.ErrorProtocol, 1, once, invalidResponse}},
	{"a header without colon", plain("HTTP/1.1 200 OK\r\nServer x\r\n\r\n"), want{200, "", 1, once, rulesDecide}},

	{"one header of 10 MB", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nX-Giant: ")
		io.Copy(c, io.LimitReader(endless("x"), 10<<20))
		io.WriteString(c, "\r\n"+nothing)
	}), want{0, answer.ErrorHeaderTooLarge, 1, once, invalidResponse}},
	{"10 MB of headers", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\n")
		io.Copy(c, io.LimitReader(endless("X-Filler: 12345\r\n"), 10<<20))
		io.WriteString(c, nothing)
	}), want{0, answer.ErrorHeaderTooLarge, 1, once, invalidResponse}},
	{"a status line of 10 MB", served(func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 ")
		io.Copy(c, io.LimitReader(endless("OK"), 10<<20))
	}), want{0, answer.ErrorHeaderTooLarge, 1, once, invalidResponse}},

	{"canceled before the header", canceled(func(c *net.TCPConn, cancel func()) { cancel(); hang(c) }),
		want{0, answer.ErrorCanceled, 1, once, stopped}},
	{"canceled in the header", canceled(func(c *net.TCPConn, cancel func()) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nServ")
		cancel()
		hang(c)
	}), want{0, answer.ErrorCanceled, 1, once, stopped}},
	{"canceled in the body", roomy(canceled(func(c *net.TCPConn, cancel func()) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n")
		flood(c)
		cancel()
		hang(c)
	})), want{200, answer.ErrorCanceled, 1, once, stopped}},
	{"canceled before a dial", func(t *testing.T, s *scene) {
		s.ConnectTo = closedPort(t)
		s.cancel()
	}, want{0, answer.ErrorCanceled, 1, once, stopped}},
	{"canceled while a connection is made", func(t *testing.T, s *scene) {
		fullBacklog(t, s)
		s.client = func(c *Client) {
			c.dialer.Control = func(string, string, syscall.RawConn) error { s.cancel(); return nil }
		}
	}, want{0, answer.ErrorCanceled, 1, once, stopped}},
}

// canceled is a run that is stopped in the middle of an answer.
func canceled(answer func(c *net.TCPConn, cancel func())) stage {
	return func(t *testing.T, s *scene) {
		s.ConnectTo = serve(t, func(c *net.TCPConn, _ *http.Request, _ int) { answer(c, s.cancel) })
	}
}

// fullBacklog is a listener that accepts no more connections: its queue is
// full, and Linux does not answer further attempts.
func fullBacklog(t *testing.T, s *scene) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	s.ConnectTo = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(name.(*syscall.SockaddrInet4).Port))
	for range 16 {
		c, err := net.DialTimeout("tcp", s.ConnectTo.String(), 300*time.Millisecond)
		if fetch.IsTimeout(err) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
	}
	s.skip = "this system answers whatever the length of its queue"
}

// A dial ends by its deadline, which may be nearer than that of the dialer.
func TestADialEndsByItsDeadline(t *testing.T) {
	t.Parallel()
	s := new(scene)
	if fullBacklog(t, s); s.skip != "" {
		t.Skip(s.skip)
	}
	c := newClient(t, s.ConnectTo, func(c *settings) {
		c.Timeout, c.Proxy = time.Hour, &url.URL{Host: s.ConnectTo.String()}
	})
	for name, to := range map[string]netip.AddrPort{"an address": s.ConnectTo, "the proxy": {}} {
		began := time.Now()
		_, err := c.dialBefore(t.Context(), began.Add(200*time.Millisecond), to)
		if took := time.Since(began); !fetch.IsTimeout(err) || took > 30*time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
	}
}

//go:build unix

package client

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// A temporary shortage of ports or files is waited out and never counts as the
// host's failure.
func TestThisMachineRunsOutForAWhile(t *testing.T) {
	for _, lack := range []error{syscall.EADDRNOTAVAIL, syscall.EMFILE} {
		to := listen(t, func(c *net.TCPConn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); hang(c) })
		c := newClient(t, to, nil)
		var tries atomic.Int32
		c.dialer.Control = func(network, _ string, _ syscall.RawConn) error {
			if strings.HasPrefix(network, "tcp") && tries.Add(1) <= 3 {
				return lack
			}
			return nil
		}
		got := c.Fetch(t.Context(), origin(t, "http://a.test"))
		if got.Status() != 200 || got.Local != nil || tries.Load() != 4 {
			t.Errorf("%v: status %d, %v, %d tries", lack, got.Status(), got.Err, tries.Load())
		}
	}
}

func TestAnAddressOfAFamilyThatIsNotRouted(t *testing.T) {
	c := newClient(t, listen(t, hangTCP), nil)
	c.dialer.Control = func(_, address string, _ syscall.RawConn) error {
		if strings.HasPrefix(address, "[") {
			return syscall.EAFNOSUPPORT
		}
		return nil
	}
	for address, want := range map[string]bool{"[2a00::1]:80": false, "127.0.0.1:80": true} {
		if got := c.hasRoute(netip.MustParseAddrPort(address)); got != want {
			t.Errorf("%s has a route: %v", address, got)
		}
	}
}

func hangTCP(c *net.TCPConn) { hang(c) }

func TestRetryAfterThatIsVeryLong(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"3": 3 * time.Second, fmt.Sprint(math.MaxInt64): 1 << 20 * time.Second,
		"99999999999999999999999": 1 << 20 * time.Second,
	} {
		if got, ok := retryAfter(value); !ok || got != want {
			t.Errorf("%s: %v, %v", value, got, ok)
		}
	}
	for _, value := range []string{"", "-1", "soon", "1.5"} {
		if got, ok := retryAfter(value); ok {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// Headers that package net/http refuses and browsers accept, where the
// difference would close a site.
func TestHeadersAsBrowsersTakeThem(t *testing.T) {
	const body = "User-agent: *\n"
	long := "X: " + strings.Repeat("a", 4<<10-len("HTTP/1.1 200 OK\r\n")-len("X: ")) + "\r\n"
	for name, answer := range map[string]string{
		"a coding of identity":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 14\r\n\r\n" + body,
		"identity, until the end": "HTTP/1.1 200 OK\r\ntransfer-encoding:  Identity \r\n\r\n" + body,
		"a line without a colon":  "HTTP/1.1 200 OK\r\nhello world\r\nContent-Length: 14\r\n\r\n" + body,
		"lines that end with LF":  "HTTP/1.1 200 OK\nhello world\nContent-Length: 14\n\n" + body,
		"chunks, and no end": "HTTP/1.1 200 OK\r\nno colon\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n" + body +
			"\r\n0\r\n",
		"after a 1xx": "HTTP/1.1 103 Early Hints\r\nno colon\r\n\r\nHTTP/1.1 200 OK\r\nno colon\r\n" +
			"Content-Length: 14\r\n\r\n" + body,
		"a line of a whole buffer": "HTTP/1.1 200 OK\r\n" + long + "no colon\r\nContent-Length: 14\r\n\r\n" + body,
		"a line that goes on":      "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 14\r\n\r\n" + body,
		"as the standard has it":   "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n" + body,
	} {
		for _, dripped := range []bool{false, true} {
			to := listen(t, func(c *net.TCPConn) {
				io.CopyN(io.Discard, c, 20)
				if dripped {
					for i := range len(answer) {
						c.Write([]byte{answer[i]})
					}
				} else {
					io.WriteString(c, answer)
				}
				c.CloseWrite()
				hang(c)
			})
			got := newClient(t, to, nil).Fetch(t.Context(), origin(t, "http://a.test"))
			if got.Status() != 200 || got.Error != "" || string(got.Body) != body {
				t.Errorf("%s (dripped: %v): status %d, %v, body %q", name, dripped, got.Status(), got.Err, got.Body)
			}
		}
	}
	for name, answer := range map[string]string{
		"two lengths":          "HTTP/1.1 200 OK\r\nContent-Length: 14\r\nContent-Length: 15\r\n\r\n" + body,
		"another coding":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n" + body,
		"a header without end": "HTTP/1.1 200 OK\r\nno colon\r\n",
	} {
		to := listen(t, func(c *net.TCPConn) {
			io.CopyN(io.Discard, c, 20)
			io.WriteString(c, answer)
			c.CloseWrite()
			hang(
				c)
		})
		if got := newClient(t, to, nil).Fetch(t.Context(), origin(t, "http://a.test")); got.Error == "" {
			t.Errorf("%s: status %d, body %q", name, got.Status(), got.Body)
		}
	}
}

func TestEmptyGzipMembersAreNoFile(t *testing.T) {
	member := packed(t, gzipCoding, "", 0)
	if d, err := Decode([]byte(strings.Repeat(member, 3)+packed(t, gzipCoding, "a", 1)), "gzip", 100); err != nil ||
		string(d.Body) != "a" {
		t.Errorf("a few: %q, %v", d.Body, err)
	}
	if _, err := Decode([]byte(strings.Repeat(member, 1<<15)), "gzip", 100); !IsUndecodable(err) {
		t.Errorf("without end: %v", err)
	}
	to := listen(t, func(c *net.TCPConn) {
		io.CopyN(io.Discard, c, 20)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
		io.WriteString(c, strings.Repeat(member, 1<<15))
	})
	if got := newClient(t, to, nil).Fetch(t.Context(),
		origin(t, "http://a.test")); got.Error != answer.ErrorUndecodableBody {
		t.Errorf("error %q, %v", got.Error, got.Err)
	}
}

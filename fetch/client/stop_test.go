package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// When no new host may begin, a request in flight still gets its answer,
// including redirects, and a request that waits for a place sends nothing.
func TestAStoppedRunBeginsNoRequest(t *testing.T) {
	begin, stop := context.WithCancel(t.Context())
	var requests atomic.Int32
	inFlight, release := make(chan struct{}), make(chan struct{})
	client := newClient(t, serve(t, func(conn *net.TCPConn, r *http.Request, n int) {
		requests.Add(1)
		if r.Host == "first.one.test" {
			close(inFlight)
			<-release
			io.WriteString(conn, "HTTP/1.1 301 Moved\r\nLocation: http://other.test/robots.txt\r\nContent-Length: 0\r\n\r\n")
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}), func(c *settings) { c.PerDomain = 1 })
	fetch := func(host string) <-chan *fetch.Capture {
		p, err := client.Enter(begin, t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan *fetch.Capture, 1)
		go func() { defer p.Leave(); got <- p.Fetch(0, origin(t, host)) }()
		return got
	}
	first := fetch("first.one.test")
	<-inFlight
	second := fetch("second.one.test") // same domain, which has one place
	stop()
	close(release)
	if got := <-first; got.Status() != 200 || got.Error != "" || len(got.Hops) != 2 {
		t.Errorf("in flight: status %d, error %q (%v), hops %v", got.Status(), got.Error, got.Err, got.Hops)
	}
	if got := <-second; got.Error != answer.ErrorCanceled {
		t.Errorf("not begun: status %d, error %q", got.Status(), got.Error)
	}
	if got := <-fetch("other.test"); got.Error != answer.ErrorCanceled {
		t.Errorf("begun after the end: status %d, error %q", got.Status(), got.Error)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests, want the 2 of the first host", n)
	}
}

// A request that was broken off, for any reason, says nothing about its host.
func TestABrokenOffRequestIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	client := newClient(t, serve(t, func(conn *net.TCPConn, r *http.Request, n int) {
		cancel(errors.New("the disk is full"))
		hang(conn)
	}), nil)
	if got := client.Fetch(ctx, origin(t, "http://a.test")); got.Error != answer.ErrorCanceled {
		t.Errorf("error %q (%v)", got.Error, got.Err)
	}
}

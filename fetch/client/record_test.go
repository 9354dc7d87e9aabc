package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// recordedFetch fetches with a client that records, and returns the exchanges.
func recordedFetch(t *testing.T, c *Client, ctx context.Context, candidates ...fetch.Origin) (*fetch.Capture,
	[]*fetch.Exchange) {
	lease, err := c.Enter(ctx, ctx)
	if err != nil {
		return &fetch.Capture{Origin: candidates[0], Error: answer.ErrorCanceled, Err: err}, nil
	}
	defer lease.Leave()
	got := lease.Fetch(0, candidates...)
	var made []*fetch.Exchange
	for x, err := range lease.Exchanges() {
		if err != nil {
			t.Error(err)
		}
		made = append(made, x)
	}
	return got, made
}

// checkExchanges checks that exchanges are those of a capture: its hops are the last of
// them, and the body is what the last one received.
func checkExchanges(t *testing.T, got *fetch.Capture, made []*fetch.Exchange, maxBody int) {
	t.Helper()
	if got.Local != nil || got.Error == answer.ErrorCanceled {
		return
	}
	if got.Probe != (fetch.Probe{}) { // of two more pages
		n := len(made) - 1
		if got.Probe.Missing != 0 {
			n--
		}
		made = made[:n]
	}
	if len(made) < len(got.Hops) || got.Attempts > len(made) {
		t.Fatalf("%d exchanges, of %d hops and %d attempts", len(made), len(got.Hops), got.Attempts)
	}
	for i, hop := range got.Hops {
		x := made[len(made)-len(got.Hops)+i]
		if clipURL(x.URL) != hop.URL || x.Status != hop.Status {
			t.Errorf("hop %d is %v, and its exchange %q, status %d", i, hop, x.URL, x.Status)
		}
		if x.Status != 0 && (len(x.Sent) == 0 || x.Start.IsZero()) {
			t.Errorf("hop %d has an answer, and was not asked: %+v", i, x)
		}
	}
	last := made[len(made)-1]
	if isRedirect := strings.HasPrefix(string(got.Error), "redirect_"); !isRedirect && last.Error != got.Error &&
		got.Error != answer.ErrorAddressBlocked || isRedirect && last.Error != "" {
		t.Errorf("the capture has error %q, and its last exchange %q", got.Error, last.Error)
	}
	switch {
	case got.Body == nil:
	case strings.HasPrefix(got.Hops[len(got.Hops)-1].URL, "ftp:"):
		if !bytes.Equal(last.Received, got.Body) {
			t.Errorf("the file has %d bytes, of %d in the body", len(last.Received), len(got.Body))
		}
	default:
		body, err := Replay(bytes.NewReader(last.Received), maxBody)
		if err != nil || !bytes.Equal(body, got.Body) {
			t.Errorf("the answer has a body of %d bytes again (%v), of %d", len(body), err, len(got.Body))
		}
		if (last.Cut == "length") != (got.Truncated && got.Status() == http.StatusOK) {
			t.Errorf("the answer is cut %q, and the body: %v", last.Cut, got.Truncated)
		}
	}
}

// Every byte of requests and answers is kept, as it went over the wire below TLS: of
// redirects, retries and what breaks off.
func TestExchangesAreAsSent(t *testing.T) {
	request := func(host, path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: robocensus-test\r\n" +
			"Accept: text/plain, */*;q=0.5\r\nAccept-Encoding: gzip, br, zstd\r\nConnection: close\r\n\r\n"
	}
	answers := []string{
		"HTTP/1.1 503 Down\r\n\r\n",
		"HTTP/1.0 302\nlocation:   http://b.example/x\n\nand a page",
		"HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nServer: one\r\n two\r\nno field\r\nContent-Length: 1000\r\n" +
			"\r\nUser-agent: *\n",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone",
	}
	// A connection may still be closing when the next request comes.
	var asked atomic.Int64
	with := &tls.Config{Certificates: []tls.Certificate{certificate(t, testCA(), nil)}}
	to := serveTLS(t, with, func(c net.Conn, r *http.Request) {
		say(answers[asked.Add(1)-1])(c, r)
	})
	c := newClient(t, to, func(s *settings) { s.Record, s.RootCAs, s.Retries = true, testRoots(), 2 })
	got, made := recordedFetch(t, c, t.Context(), origin(t, "https://a.example"))
	type exchange struct{ URL, Sent, Received, Cut, TLS, Error string }
	var have []exchange
	for _, x := range made {
		have = append(have, exchange{x.URL, string(x.Sent), string(x.Received), x.Cut, x.TLSVersion, string(x.Error)})
		if x.Remote != to {
			t.Errorf("%s is at %s", x.URL, x.Remote)
		}
	}
	want := []exchange{
		{"https://a.example/robots.txt", request("a.example", "/robots.txt"), answers[0], "unspecified", "1.3", ""},
		{"https://a.example/robots.txt", request("a.example", "/robots.txt"), answers[1], "unspecified", "1.3", ""},
		{"http://b.example/x", request("b.example", "/x"), answers[2], "disconnect", "", "truncated_body"},
		{"https://a.example/robots.txt", request("a.example", "/robots.txt"), answers[3], "", "1.3", ""},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("exchanges (-want +got):\n%s", diff)
	}
	if got.Status() != 404 || got.Attempts != 3 {
		t.Errorf("%+v", got)
	}
	// Without Record, nothing is kept.
	if _, made := recordedFetch(t, newClient(t, serve(t, write(answers[3])), nil), t.Context(),
		origin(t, "http://a.example")); made != nil {
		t.Errorf("%d exchanges of a client that does not record", len(made))
	}
}

// Large answers go to the disk and come back.
func TestExchangesAreSpooled(t *testing.T) {
	noise := make([]byte, 400_000)
	rand.NewChaCha8([32]byte{}).Read(noise)
	answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(noise), noise)
	set := spooling(t, 0)
	c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, n int) {
		if n == 1 {
			io.WriteString(c, answer[:len(answer)/2])
			return
		}
		io.WriteString(c, answer)
	}), func(s *settings) { set(s); s.Record, s.Retries = true, 1 })
	got, made := recordedFetch(t, c, t.Context(), origin(t, "http://a.example"))
	if len(made) != 2 || string(made[0].Received) != answer[:len(answer)/2] || string(made[1].Received) != answer ||
		made[0].Cut != "disconnect" || made[1].Cut != "" {
		t.Errorf("%d exchanges, cut %q", len(made), made[0].Cut)
	}
	checkExchanges(t, got, made, 500_000)
	if c.spool.file == nil || len(c.spool.free) < len(noise)/blockBytes {
		t.Errorf("%d blocks of the spool are free again", len(c.spool.free))
	}
}

// A disk that fails is no failure of the host.
func TestAFullDiskStopsTheRecording(t *testing.T) {
	body := strings.Repeat("#", 400_000)
	c := newClient(t, serve(t, write("HTTP/1.1 200 OK\r\n\r\n"+body)), func(s *settings) {
		s.Record, s.MaxBody = true, 500_000
		s.Spool = func() (*os.File, error) { return nil, os.ErrPermission }
	})
	if got, _ := recordedFetch(t, c, t.Context(), origin(t, "http://a.example")); got.Local == nil {
		t.Errorf("%v", got.Err)
	}
}

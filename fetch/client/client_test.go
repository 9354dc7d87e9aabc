package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server on loopback. Once it has read a connection's request,
// it calls answer with the number of the request, from 1.
func serve(t *testing.T, answer func(c *net.TCPConn, r *http.Request, n int)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
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
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
					return
				}
				answer(c.(*net.TCPConn), r, int(n.Add(1)))
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return netip.MustParseAddrPort(l.Addr().String())
}

// settings are what a test may change about a client.
type settings struct {
	Config
	Backing
}

func newClient(t *testing.T, to netip.AddrPort, change func(*settings)) *Client {
	t.Helper()
	s := settings{Config{
		UserAgent: "robocensus-test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 1000},
		Concurrency: 100, PerAddress: 4, PerDomain: 100, ConnectTo: to,
	}, Backing{Waiting: 1 << 14}}
	if change != nil {
		change(&s)
	}
	c, err := New(s.Config, s.Backing)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hasBody reports whether the body is want, "-" for none. Of a body that was
// cut short it compares the size.
func hasBody(got *fetch.Capture, want string) bool {
	switch {
	case got.Cut != nil:
		return got.Body == nil && got.Error != "" && *got.Cut == len(want)
	case got.Body != nil:
		return string(got.Body) == want
	}
	return want == "-"
}

func origin(t *testing.T, s string) fetch.Origin {
	t.Helper()
	o, _, err := fetch.Parse(s, "http")
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func reset(c *net.TCPConn) {
	c.SetLinger(0)
	c.Close()
}

func write(s string) func(*net.TCPConn, *http.Request, int) {
	return func(c *net.TCPConn, _ *http.Request, _ int) { io.WriteString(c, s) }
}

func gzipped(text []byte) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text)
	z.Close()
	return b.String()
}

func TestAnswers(t *testing.T) {
	for _, row := range []struct {
		name      string
		answer    func(*net.TCPConn, *http.Request, int)
		status    int
		class     answer.ErrorClass
		body      string // "-" for none
		truncated bool
	}{
		{"a whole body", write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), 200, "", "abc", false},
		{"an empty body", write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 200, "", "", false},
		{"no reason phrase", write("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\na"), 200, "", "a", false},
		{"delimited by the end", write("HTTP/1.0 200 OK\r\n\r\nabc"), 200, "", "abc", false},
		{"chunked", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), 200, "",
			"abc", false},
		{"bad chunking", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nxyz\r\n"), 200,
			answer.ErrorProtocol, "ab", false},
		{"cut chunking", write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nab"), 200,
			answer.ErrorTruncatedBody, "ab", false},
		{"shorter than declared", write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), 200, answer.ErrorTruncatedBody,
			"abc", false},
		{"exactly the limit", write("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1000)), 200, "",
			strings.Repeat("x", 1000), false},
		{"one over the limit", write("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1001)), 200, "",
			strings.Repeat("x", 1000), true},
		{"far over the limit, and cut", write("HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n" + strings.Repeat("x",
			5000)), 200, "", strings.Repeat("x", 1000), true},
		{"gzip", write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("abc"))), 200, "", "abc", false},
		{"gzip that is none", write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + strings.Repeat("\x01", 20)), 200,
			answer.ErrorUndecodableBody, "", false},
		{"gzip that is cut", write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped([]byte("abc"))[:15]), 200,
			answer.ErrorTruncatedBody, "", false},
		{"gzip of nothing", write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"), 200, "", "",
			false},
		{"a gzip bomb", write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped(make([]byte, 8<<20))), 200, "",
			strings.Repeat("\x00", 1000), true},
		{"404", write("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc"), 404, "", "-", false},
		{"304", write("HTTP/1.1 304 Not Modified\r\n\r\n"), 304, "", "-", false},
		{"600", write("HTTP/1.1 600 What\r\n\r\n"), 600, "", "-", false},
		{"103, then 200", write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n" +
			"\r\na"), 200, "", "a", false},
		{"103 and no more", write("HTTP/1.1 103 Early Hints\r\n\r\n"), 103, "", "-", false},
		{"103 eight times, then 200", write(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 8) +
			"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), 200, "", "a", false},
		{"103 nine times, then 200", write(strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 9) +
			"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), 103, "", "-", false},
		{"status 000", write("HTTP/1.1 000 Nothing\r\n\r\n"), 0, answer.ErrorProtocol, "-", false},
		{"many headers", write("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Filler: 1234567\r\n", 8000) + "\r\n"), 0,
			answer.ErrorHeaderTooLarge, "-", false},
		{"not HTTP", write("SSH-2.0-OpenSSH_9.2\r\n"), 0, answer.ErrorProtocol, "-", false},
		{"HTTP/0.9", write("User-agent: *\nDisallow: /\n"), 0, answer.ErrorProtocol, "-", false},
		{"closed before a word", func(*net.TCPConn, *http.Request, int) {}, 0, answer.ErrorReset, "-", false},
		{"closed in the header", write("HTTP/1.1 200 OK\r\nContent-Le"), 0, answer.ErrorReset, "-", false},
		{"reset before a word", func(c *net.TCPConn, _ *http.Request, _ int) { reset(c) }, 0, answer.ErrorReset, "-", false},
		{"a header without end", func(c *net.TCPConn, _ *http.Request, _ int) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for {
				if _, err := io.WriteString(c, "X-Filler: "+strings.Repeat("x", 8000)+"\r\n"); err != nil {
					return
				}
			}
		}, 0, answer.ErrorHeaderTooLarge, "-", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newClient(t, serve(t, row.answer), nil)
			got := c.Fetch(context.Background(), origin(t, "a.example"))
			if got.Status() != row.status || got.Error != row.class || got.Truncated != row.truncated {
				t.Errorf("status %d, error %q (%v), truncated %v; want %d, %q, %v",
					got.Status(), got.Error, got.Err, got.Truncated, row.status, row.class, row.truncated)
			}
			if !hasBody(got, row.body) {
				t.Errorf("body %.40q, want %.40q", got.Body, row.body)
			}
			if (got.Error != "") != (got.Err != nil) || got.Attempts != 1 || got.Times.Total == nil {
				t.Errorf("error %q beside %v, %d attempts, total time %v", got.Error, got.Err, got.Attempts, got.Times.Total)
			}
		})
	}
}

func TestEveryHeaderIsKept(t *testing.T) {
	want, lines := fetchtest.AllHeaders()
	c := newClient(t, serve(t, write("HTTP/1.1 404 Not Found\r\n"+lines+"Content-Length: 0\r\n\r\n")), nil)
	if diff := cmp.Diff(want, c.Fetch(context.Background(), origin(t, "a.example")).Headers); diff != "" {
		t.Errorf("keep (http.go) and answer differ (-answer +kept):\n%s", diff)
	}
}

// RFC 9110 section 5.3: lines of a list are one list, and any of them may say no-store.
func TestCacheControlOfSeveralLines(t *testing.T) {
	c := newClient(t,
		serve(t, write("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 0\r\nCache-Control: no-store\r\n"+
			"\r\n")), nil)
	got := c.Fetch(context.Background(), origin(t, "a.example")).Headers.CacheControl
	if got == nil || *got != "max-age=60, no-store" {
		t.Errorf("Cache-Control is %v", got)
	}
}

func TestResetInTheBody(t *testing.T) {
	read := make(chan struct{})
	c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, _ int) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nabc")
		<-read // wait until the header has arrived: a reset discards unread bytes
		reset(c)
	}), nil)
	time.AfterFunc(100*time.Millisecond, func() { close(read) })
	got := c.Fetch(context.Background(), origin(t, "a.example"))
	if got.Status() != 200 || got.Error != answer.ErrorReset || !hasBody(got, "abc") {
		t.Errorf("status %d, error %q, body %q", got.Status(), got.Error, got.Body)
	}
}

func TestRequestAsSent(t *testing.T) {
	var heads []string
	c := newClient(t, serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
		heads = append(heads, fmt.Sprint(r.Method, " ", r.RequestURI, " ", r.Host, " ", r.Header))
		io.WriteString(c, "HTTP/1.1 302 Found\r\nSet-Cookie: a=b\r\nLocation: /next?a b\xff#frag\r\n\r\n")
	}), func(c *settings) { c.MaxRedirects = 1 })
	c.Fetch(context.Background(), origin(t, "http://www.müller.eu:8181"))
	header := "map[Accept:[text/plain, */*;q=0.5] Accept-Encoding:[gzip, br, zstd] Connection:[close] " +
		"User-Agent:[robocensus-test]]"
	want := []string{
		"GET /robots.txt www.xn--mller-kva.eu:8181 " + header,
		"GET /next?a%20b%FF www.xn--mller-kva.eu:8181 " + header,
	}
	if diff := cmp.Diff(want, heads); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// redirects answers host hN.example with a redirect to hN-1, and h0 with a
// body.
func redirects(c *net.TCPConn, r *http.Request, _ int) {
	var n int
	fmt.Sscanf(r.Host, "h%d.example", &n)
	if n == 0 {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
		return
	}
	fmt.Fprintf(c, "HTTP/1.1 301 Moved\r\nLocation: http://h%d.example/robots.txt\r\n\r\n", n-1)
}

func TestRedirectChains(t *testing.T) {
	c := newClient(t, serve(t, redirects), nil)
	for _, row := range []struct {
		host  string
		hops  int
		class answer.ErrorClass
	}{{"h0.example", 1, ""}, {"h1.example", 2, ""}, {"h5.example", 6, ""}, {"h6.example", 6, answer.ErrorRedirectLimit}} {
		got := c.Fetch(context.Background(), origin(t, row.host))
		if len(got.Hops) != row.hops || got.Error != row.class {
			t.Errorf("%s: %d hops, error %q; want %d, %q", row.host, len(got.Hops), got.Error, row.hops, row.class)
		}
		if got.Origin.Host != row.host {
			t.Errorf("%s: the answer is about %s; rules govern the origin that was asked", row.host, got.Origin)
		}
	}
}

func TestRedirectsThatLeadNowhere(t *testing.T) {
	for location, class := range map[string]answer.ErrorClass{
		"":                                      answer.ErrorRedirectInvalid,
		"Location: \r\n":                        answer.ErrorRedirectInvalid,
		"Location: http://\r\n":                 answer.ErrorRedirectInvalid,
		"Location: http://a b/\r\n":             answer.ErrorRedirectInvalid,
		"Location: //u:p@b.example\r\n":         answer.ErrorRedirectInvalid,
		"Location: http://b.example:99999/\r\n": answer.ErrorRedirectInvalid,
		"Location: " + strings.Repeat("x", 9000) + "\r\n": answer.ErrorRedirectInvalid,
		"Location: gopher://b.example/robots.txt\r\n":     answer.ErrorRedirectUnsupported,
		"Location: http://b.example:25/\r\n":              answer.ErrorAddressBlocked,
		"Location: https://b.example:6667/\r\n":           answer.ErrorAddressBlocked,
		"Location: file:///etc/passwd\r\n":                answer.ErrorRedirectUnsupported,
		"Location: javascript:alert(1)\r\n":               answer.ErrorRedirectUnsupported,
		"Location: /robots.txt\r\n":                       answer.ErrorRedirectLoop,
		"Location: #top\r\n":                              answer.ErrorRedirectLoop,
		"Location: HTTP://A.example:80/robots.txt\r\n":    answer.ErrorRedirectLoop,
	} {
		c := newClient(t, serve(t, write("HTTP/1.1 302 Found\r\n"+location+"\r\n")), func(c *settings) { c.Retries = 3 })
		got := c.Fetch(context.Background(), origin(t, "a.example"))
		if got.Error != class || got.Status() != 302 || got.Attempts != 1 {
			t.Errorf("%.60q: error %q (%v), status %d, %d attempts; want %q, 302, 1", location, got.Error, got.Err,
				got.Status(), got.Attempts, class)
		}
	}
}

func TestARedirectMeetsTheGuard(t *testing.T) {
	to := serve(t, write("HTTP/1.1 200 OK\r\n\r\n"))
	for _, asked := range []string{to.String(), "localhost:80", "[::ffff:127.0.0.1]:80", "169.254.169.254"} {
		c := newClient(t, netip.AddrPort{}, nil)
		got := c.Fetch(context.Background(), origin(t, "http://"+asked))
		if got.Error != answer.ErrorAddressBlocked || got.Status() != 0 || got.Remote.IsValid() {
			t.Errorf("%s: error %q (%v), remote %v; want %q before any dial", asked, got.Error, got.Err, got.Remote,
				answer.ErrorAddressBlocked)
		}
	}
	c := newClient(t, netip.AddrPort{}, func(c *settings) { c.AllowPrivate = true })
	if got := c.Fetch(context.Background(), origin(t, "http://"+to.String())); got.Error != "" || got.Remote != to {
		t.Errorf("with AllowPrivate: error %q (%v), remote %v", got.Error, got.Err, got.Remote)
	}
}

func TestFailuresOfConnecting(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := netip.MustParseAddrPort(l.Addr().String())
	l.Close()
	got := newClient(t, free, nil).Fetch(context.Background(), origin(t, "a.example"))
	if got.Error != answer.ErrorConnectRefused {
		t.Errorf("a closed port: %q (%v)", got.Error, got.Err)
	}
	if diff := cmp.Diff([]answer.Hop{{URL: "http://a.example/robots.txt"}}, got.Hops); diff != "" {
		t.Errorf("hops (-want +got):\n%s", diff)
	}
	// A name under .invalid does not exist (RFC 6761), but a resolver that does
	// not answer is not a name that does not exist.
	got = newClient(t, netip.AddrPort{}, func(c *settings) {
		c.Resolvers, c.Timeout = []netip.AddrPort{free}, 2*time.Second
	}).Fetch(context.Background(), origin(t, "a.invalid"))
	if got.Error != answer.ErrorDNSFailure {
		t.Errorf("no resolver: %q (%v)", got.Error, got.Err)
	}
}

func TestAHangEndsAtTheDeadline(t *testing.T) {
	end := make(chan struct{})
	for name, behave := range map[string]func(*net.TCPConn, *http.Request, int){
		"before the header": func(*net.TCPConn, *http.Request, int) { <-end },
		"a drip in the body": func(c *net.TCPConn, _ *http.Request, _ int) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n")
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					if _, err := io.WriteString(c, "#"); err != nil {
						return
					}
				case <-end:
					return
				}
			}
		},
	} {
		c := newClient(t, serve(t, behave), func(c *settings) { c.Timeout, c.Retries = 300*time.Millisecond, 5 })
		got := c.Fetch(context.Background(), origin(t, "a.example"))
		if got.Error != answer.ErrorTimeout {
			t.Errorf("%s: %q (%v)", name, got.Error, got.Err)
		}
		if total := *got.Times.Total; total < 300*time.Millisecond || total > 2*time.Second {
			t.Errorf("%s: took %v of 300 ms", name, total)
		}
	}
	close(end)
}

func TestRetries(t *testing.T) {
	for _, row := range []struct {
		name     string
		statuses []int
		retries  int
		status   int
		attempts int
	}{
		{"5xx passes", []int{500, 200}, 2, 200, 2},
		{"5xx stays", []int{500}, 1, 500, 2},
		{"503 is retried twice as often", []int{503}, 1, 503, 3},
		{"4xx is an answer", []int{404}, 2, 404, 1},
		{"no retries", []int{500}, 0, 500, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, n int) {
				fmt.Fprintf(c, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", row.statuses[min(n, len(row.statuses))-1])
			}), func(c *settings) { c.Retries, c.Timeout = row.retries, 20*time.Second })
			got := c.Fetch(context.Background(), origin(t, "a.example"))
			if got.Status() != row.status || got.Attempts != row.attempts {
				t.Errorf("status %d after %d attempts, want %d after %d", got.Status(), got.Attempts, row.status, row.attempts)
			}
		})
	}
}

func TestCancelIsAFact(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	asked, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	c := newClient(t, serve(t, func(*net.TCPConn, *http.Request, int) { close(asked); <-end }), nil)
	go func() { <-asked; cancel() }()
	if got := c.Fetch(ctx, origin(t, "a.example")); got.Error != answer.ErrorCanceled {
		t.Errorf("error %q (%v)", got.Error, got.Err)
	}
}

func TestNewRefuses(t *testing.T) {
	good := settings{Config: Config{UserAgent: "x", Timeout: 1, Limits: fetch.Limits{MaxBody: 1}, Concurrency: 1,
		PerAddress: 1, PerDomain: 1}}
	for name, change := range map[string]func(*settings){
		"no timeout": func(c *settings) { c.Timeout = 0 }, "no body": func(c *settings) { c.MaxBody = 0 },
		"no places": func(c *settings) { c.PerAddress = 0 }, "negative": func(c *settings) { c.Retries = -1 },
		"a line break in the user agent": func(c *settings) { c.UserAgent = "x\r\nHost: y" },
	} {
		bad := good
		change(&bad)
		if _, err := New(bad.Config, Backing{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(good.Config, Backing{}); err != nil {
		t.Error(err)
	}
}

// A shortage of this machine is not a fact about a host. The client waits a
// minute for it, in the bubble's time.
func TestLocalFailures(t *testing.T) {
	to := serve(t, write("HTTP/1.1 200 OK\r\n\r\n"))
	for lack, isLocal := range map[error]bool{syscall.EMFILE: true, syscall.EHOSTUNREACH: false} {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t, to, nil)
			c.dialer.Control = func(string, string, syscall.RawConn) error { return lack }
			began := time.Now()
			got := c.Fetch(t.Context(), origin(t, "a.example"))
			if isLocal && !errors.Is(got.Local, lack) || !isLocal &&
				(got.Local != nil || got.Error != answer.ErrorConnectFailure) {
				t.Errorf("%v: error %q (%v), local %v", lack, got.Error, got.Err, got.Local)
			}
			if took := time.Since(began); (took >= maxLocalWait) != isLocal {
				t.Errorf("%v: took %v", lack, took)
			}
		})
	}
}

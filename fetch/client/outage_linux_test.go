package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// web is a small web with a line that can be cut. It has live hosts h0.test,
// h1.test and so on, each with a separate domain and address block, that count
// their requests, and the addresses of 127.255.0.0/16, which have no host.
type web struct {
	resolver     netip.AddrPort
	port         uint16
	noNames, cut atomic.Bool // the resolver is gone; no connection can be made

	mu    sync.Mutex
	asked map[string]int
	total int
	onAsk func(total int, host string)
}

func newWeb(t *testing.T, hosts int, z fetchtest.Zone) *web {
	t.Helper()
	w := &web{asked: make(map[string]int)}
	all, err := net.Listen("tcp", "0.0.0.0:0") // all of 127.0.0.0/8
	if err != nil {
		t.Fatal(err)
	}
	w.port = uint16(all.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		w.mu.Lock()
		w.asked[host]++
		w.total++
		total := w.total
		w.mu.Unlock()
		if w.onAsk != nil {
			w.onAsk(total, host)
		}
		io.WriteString(out, "User-agent: *\n")
	})}
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(all) }()
	t.Cleanup(func() { server.Close(); <-done })
	if z == nil {
		z = fetchtest.Zone{}
	}
	for i := range hosts {
		z[fmt.Sprintf("h%d.test", i)] = fetchtest.At(fmt.Sprintf("127.%d.0.1", 1+i%200))
	}
	w.resolver = fetchtest.Serve(t, z, false)
	return w
}

// client returns a client with short times that uses the web's line.
func (w *web) client(t *testing.T, change func(*settings)) *Client {
	t.Helper()
	c := newClient(t, netip.AddrPort{}, func(c *settings) {
		c.AllowPrivate, c.Resolvers, c.OutagePatience, c.Retries, c.Concurrency = true, []netip.AddrPort{w.resolver},
			time.Minute, 1, 20
		if change != nil {
			change(c)
		}
	})
	times := &c.uplink.Times
	times.AtFirst, times.Tick, times.Quiet = 300*time.Millisecond, 5*time.Millisecond, 50*time.Millisecond
	times.Probe, times.Stagger, times.Gap = 500*time.Millisecond, time.Millisecond, 5*time.Millisecond
	times.Pause, times.MaxPause = 5*time.Millisecond, 20*time.Millisecond
	c.dialer.Control = func(_, address string, _ syscall.RawConn) error {
		if w.cut.Load() || strings.HasPrefix(address, "127.255.") {
			return syscall.EHOSTUNREACH
		}
		return nil
	}
	c.questions.Control = func(string, string, syscall.RawConn) error {
		if w.noNames.Load() {
			return syscall.ECONNREFUSED
		}
		return nil
	}
	return c
}

func (w *web) origin(t *testing.T, host string) fetch.Origin {
	return origin(t, fmt.Sprintf("http://%s:%d", host, w.port))
}

// fetchAll fetches hosts as a run does.
func (w *web) fetchAll(t *testing.T, c *Client, hosts []string) []*fetch.Capture {
	t.Helper()
	out := make([]*fetch.Capture, len(hosts))
	var fetching sync.WaitGroup
	for i, host := range hosts {
		o := w.origin(t, host)
		p, err := c.Enter(t.Context(), t.Context())
		if err != nil {
			t.Fatal(err)
		}
		fetching.Go(func() {
			defer p.Leave()
			out[i] = p.Fetch(0, o)
		})
	}
	fetching.Wait()
	return out
}

func hostsNamed(pattern string, n int) (hosts []string) {
	for i := range n {
		hosts = append(hosts, fmt.Sprintf(pattern, i))
	}
	return hosts
}

func TestHostsOfAnOutageAreAskedAgain(t *testing.T) {
	for name, parts := range map[string]func(*web) []*atomic.Bool{
		"no connections": func(w *web) []*atomic.Bool { return []*atomic.Bool{&w.cut} },
		"no names":       func(w *web) []*atomic.Bool { return []*atomic.Bool{&w.noNames} },
		"nothing":        func(w *web) []*atomic.Bool { return []*atomic.Bool{&w.noNames, &w.cut} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, 200, nil)
			// The line is given back only while the client knows of the outage:
			// failures of a shorter one count as those of the hosts. On a busy
			// machine the client may report one before the line is cut.
			var mu sync.Mutex
			var cut, out bool
			var begun, ended int
			back := func() {
				mu.Lock()
				defer mu.Unlock()
				if cut && out {
					w.noNames.Store(false)
					w.cut.Store(false)
					cut = false
				}
			}
			w.onAsk = func(n int, _ string) {
				if n != 80 {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				cut = true
				for _, part := range parts(w) {
					part.Store(true)
				}
				time.AfterFunc(20*time.Millisecond, back)
			}
			c := w.client(t, func(c *settings) {
				c.Outage = func(since time.Time) {
					mu.Lock()
					defer mu.Unlock()
					if out = !since.IsZero(); out {
						begun++
						time.AfterFunc(20*time.Millisecond, back)
					} else {
						ended++
					}
				}
			})
			hosts := hostsNamed("h%d.test", 200)
			for i, got := range w.fetchAll(t, c, hosts) {
				if got.Status() != 200 || got.Attempts != 1 {
					t.Errorf("%s: status %d, %d attempts, %v", hosts[i], got.Status(), got.Attempts, got.Err)
				}
				if n := w.asked[hosts[i]]; n != 1 {
					t.Errorf("%s was asked %d times", hosts[i], n)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if begun == 0 || begun != ended {
				t.Errorf("%d outages begun, %d ended", begun, ended)
			}
		})
	}
}

// An outage that outlasts the patience ends the run and is not a fact about any
// host.
func TestAnOutageThatLasts(t *testing.T) {
	w := newWeb(t, 60, nil)
	w.onAsk = func(n int, _ string) {
		if n == 30 {
			w.cut.Store(true)
		}
	}
	c := w.client(t, func(c *settings) { c.OutagePatience = 100 * time.Millisecond })
	hosts := hostsNamed("h%d.test", 60)
	answered := 0
	for i, got := range w.fetchAll(t, c, hosts) {
		switch {
		case got.Status() == 200:
			answered++
		case !errors.Is(got.Local, outage.ErrCutOff) || got.Error != answer.ErrorCanceled: // not kept by any memory
			t.Errorf("%s: %s, %v", hosts[i], got.Error, got.Local)
		}
	}
	if answered < 30 || answered == 60 {
		t.Errorf("%d hosts have answered", answered)
	}
}

func TestNothingReached(t *testing.T) {
	w := newWeb(t, 30, nil)
	w.noNames.Store(true)
	w.cut.Store(true)
	hosts := append(hostsNamed("h%d.test", 30), "127.9.9.9")
	for _, got := range w.fetchAll(t, w.client(t, nil), hosts) {
		if !errors.Is(got.Local, outage.ErrNeverReached) {
			t.Errorf("%s: %s, %v", got.Origin, got.Error, got.Local)
		}
	}
	for _, got := range w.fetchAll(t, w.client(t, func(c *settings) { c.AcceptUnreachable = true }), hosts) {
		want := answer.ErrorDNSFailure
		if got.Origin.Host == "127.9.9.9" {
			want = answer.ErrorConnectFailure
		}
		if got.Error != want || got.Local != nil {
			t.Errorf("accepted, %s: %s, %v", got.Origin, got.Error, got.Local)
		}
	}
}

// Each of these proves that this machine is connected, so that other hosts'
// failures are theirs.
func TestProofs(t *testing.T) {
	for name, proof := range map[string]string{
		"a status": "http://h0.test:%d", "a refusal": "http://h0.test:1", "an unknown name": "http://none.test",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, 1, fetchtest.Zone{"dead.test": fetchtest.At("127.255.0.1"), "failing.test": {FailA: true,
				FailAAAA: true}})
			c := w.client(t, func(c *settings) { c.Retries = 0 })
			for host, class := range map[string]answer.ErrorClass{"dead.test": answer.ErrorConnectFailure,
				"failing.test": answer.ErrorDNSFailure} {
				held := make(chan *fetch.Capture, 1)
				go func() { held <- c.Fetch(t.Context(), w.origin(t, host)) }()
				for done := false; !done; {
					c.Fetch(t.Context(), origin(t, strings.Replace(proof, "%d", fmt.Sprint(w.port), 1)))
					select {
					case got := <-held:
						if done = true; got.Error != class || got.Local != nil {
							t.Errorf("%s: %s, %v", host, got.Error, got.Err)
						}
					default:
					}
				}
			}
		})
	}
}

// Lists of dead hosts must finish, in any order, without a false outage.
func TestListsOfDeadHosts(t *testing.T) {
	const n = 150
	live := hostsNamed("h%d.test", n)
	z := fetchtest.Zone{}
	var dead []string
	for i := range n {
		host := fmt.Sprintf("dead%d.test", i)
		dead = append(dead, host)
		switch i % 3 {
		case 0:
			z[host] = fetchtest.At("127.255.0.1")
		case 1:
			z[host] = &fetchtest.Script{FailA: true, FailAAAA: true}
		default:
			z[host] = fetchtest.At("127.77.0.1") // hangs up
		}
	}
	var mixed []string
	for i := range n {
		mixed = append(mixed, live[i], dead[i])
	}
	for name, hosts := range map[string][]string{
		"dead first": append(append([]string{}, dead...), live...), "dead last": append(append([]string{}, live...),
			dead...), "mixed": mixed,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, n, z)
			w.onAsk = func(_ int, host string) {
				if strings.HasPrefix(host, "dead") {
					panic(http.ErrAbortHandler)
				}
			}
			c := w.client(t, func(c *settings) {
				c.Retries = 0
				c.Others = func(context.Context) []fetch.Origin {
					return []fetch.Origin{w.origin(t, dead[0]), w.origin(t, live[0])}
				}
			})
			for i, got := range w.fetchAll(t, c, hosts) {
				if got.Local != nil || (got.Error == "") != (hosts[i][0] == 'h') {
					t.Errorf("%s: %s, %v", hosts[i], got.Error, got.Err)
				}
			}
		})
	}
}

// A held failure ends with its context and is not a fact.
func TestAHeldFailureIsStopped(t *testing.T) {
	w := newWeb(t, 1, nil)
	w.cut.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	c := w.client(t, func(c *settings) { c.Outage = func(time.Time) { cancel() } })
	if got := c.Fetch(ctx, w.origin(t, "h0.test")); got.Error != answer.ErrorCanceled || got.Local != nil {
		t.Errorf("%s, %v", got.Error, got.Err)
	}
}

// An outage while hosts are asked for their front pages and under other names is a fact
// about no answer: they are asked again.
func TestAnOutageBetweenTheRequestsToAHost(t *testing.T) {
	t.Parallel()
	const hosts = 40
	w := newWeb(t, hosts, nil)
	var mu sync.Mutex
	var cut, out bool
	back := func() {
		mu.Lock()
		defer mu.Unlock()
		if cut && out {
			w.cut.Store(false)
			cut = false
		}
	}
	cuts := 0
	w.onAsk = func(n int, _ string) {
		if n != hosts+5 && n != 2*hosts+5 { // of the requests for front pages, and under the name
			return
		}
		mu.Lock()
		defer mu.Unlock()
		cut, cuts = true, cuts+1
		w.cut.Store(true)
		time.AfterFunc(20*time.Millisecond, back)
	}
	c := w.client(t, func(c *settings) {
		c.FrontPage, c.Identities, c.Concurrency = true, []fetch.Identity{{Name: "bot", UserAgent: "bot/1"}}, hosts
		c.Outage = func(since time.Time) {
			mu.Lock()
			defer mu.Unlock()
			if out = !since.IsZero(); out {
				time.AfterFunc(20*time.Millisecond, back)
			}
		}
	})
	for i, got := range w.fetchAll(t, c, hostsNamed("h%d.test", hosts)) {
		if got.Status() != 200 || got.Front == nil || got.Front.Outcome != usage.PageRead || len(got.Also) != 1 ||
			got.Also[0].Capture.Status() != 200 {
			t.Errorf("h%d.test: status %d, %+v, %v", i, got.Status(), got.Front, got.Err)
		}
	}
	if cuts != 2 {
		t.Errorf("the line was cut %d times", cuts)
	}
}

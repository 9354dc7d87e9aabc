package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// crowd counts concurrent requests by key and holds each until there are
// enough.
type crowd struct {
	mu    sync.Mutex
	now   map[string]int
	peaks map[string]int
}

func (c *crowd) enter(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now, c.peaks = make(map[string]int), make(map[string]int)
	}
	c.now[key]++
	c.peaks[key] = max(c.peaks[key], c.now[key])
}

func (c *crowd) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now[key]--
}

func TestADomainIsAskedPolitely(t *testing.T) {
	var c crowd
	open := make(chan struct{})
	address := serve(t, func(conn *net.TCPConn, r *http.Request, _ int) {
		domain, _ := fetch.RegisteredDomain(r.Host)
		c.enter(domain)
		if domain == "busy.example" {
			<-open // until all others are done
		}
		c.leave(domain)
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	// The requests of the busy domain would fill all ten slots.
	client := newClient(t, address, func(c *settings) {
		c.Concurrency, c.PerDomain, c.PerAddress, c.Timeout = 10, 3, 100,
			time.Minute
	})
	done := make(chan *fetch.Capture)
	ask := func(host string) {
		p, err := client.Enter(context.Background(), context.Background())
		if err != nil {
			t.Error(err)
			return
		}
		go func() { got := p.Fetch(0, origin(t, host)); p.Leave(); done <- got }()
	}
	for i := range 100 {
		ask(fmt.Sprintf("h%d.busy.example", i))
	}
	for i := range 100 {
		ask(fmt.Sprintf("h%d.example", i))
	}
	for range 100 {
		if got := <-done; got.Error != "" || strings.HasSuffix(got.Origin.Host, "busy.example") {
			t.Fatalf("%s came first, or failed: %v", got.Origin.Host, got.Err)
		}
	}
	close(open)
	for range 100 {
		if got := <-done; got.Error != "" {
			t.Errorf("%s: %v", got.Origin.Host, got.Err)
		}
	}
	if c.peaks["busy.example"] != 3 {
		t.Errorf("%d requests at once to one domain, want 3", c.peaks["busy.example"])
	}
}

func TestAddressesAreAskedPolitely(t *testing.T) {
	var now, peak atomic.Int64
	enough := make(chan struct{})
	c := newClient(t, serve(t, func(c *net.TCPConn, _ *http.Request, n int) {
		v := now.Add(1)
		for was := peak.Load(); v > was && !peak.CompareAndSwap(was, v); was = peak.Load() {
		}
		if n == 2 {
			close(enough) // two at once are allowed, so two must arrive
		}
		<-enough
		now.Add(-1)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	}), func(c *settings) { c.PerAddress = 2 })
	done := make(chan *fetch.Capture)
	for range 10 {
		go func() { done <- c.Fetch(context.Background(), origin(t, "a.example")) }()
	}
	for range 10 {
		if got := <-done; got.Error != "" {
			t.Errorf("error %q (%v)", got.Error, got.Err)
		}
	}
	if peak.Load() != 2 {
		t.Errorf("%d connections at once, want 2", peak.Load())
	}
}

func TestRatesAreKept(t *testing.T) {
	for name, change := range map[string]func(*settings){
		"of all":     func(c *settings) { c.Rate = 50 },
		"an address": func(c *settings) { c.AddressRate, c.PerAddress = 50, 10 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var times []time.Time
			var mu sync.Mutex
			address := serve(t, func(conn *net.TCPConn, _ *http.Request, _ int) {
				mu.Lock()
				times = append(times, time.Now())
				mu.Unlock()
				io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			})
			client := newClient(t, netip.AddrPort{}, func(c *settings) { c.AllowPrivate = true; change(c) })
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if got := client.Fetch(context.Background(), origin(t, "http://"+address.String())); got.Error != "" {
						t.Errorf("error %q (%v)", got.Error, got.Err)
					}
				})
			}
			all.Wait()
			// Nine intervals of 20 ms; the first may have been late.
			if took := times[9].Sub(times[0]); took < 100*time.Millisecond {
				t.Errorf("10 requests in %v at 50 a second", took)
			}
		})
	}
}

func TestAWaitForARetryHoldsNoSlot(t *testing.T) {
	address := serve(t, func(conn *net.TCPConn, r *http.Request, n int) {
		if r.Host == "down.example" {
			io.WriteString(conn, "HTTP/1.1 503 Down\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	client := newClient(t, address, func(c *settings) { c.Concurrency, c.Retries = 1, 1 })
	order := make(chan string, 2)
	var all sync.WaitGroup
	first, err := client.Enter(context.Background(), context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all.Go(func() { defer first.Leave(); first.Fetch(0, origin(t, "down.example")); order <- "down" })
	second, err := client.Enter(context.Background(), context.Background()) // returns once the first waits for its retry
	if err != nil {
		t.Fatal(err)
	}
	all.Go(func() { defer second.Leave(); second.Fetch(0, origin(t, "up.example")); order <- "up" })
	all.Wait()
	if got := <-order; got != "up" {
		t.Errorf("%s was done first", got)
	}
}

// The wait before a retry is the host's time. Waiting for a slot after it is ours, and
// moves the deadline.
func TestAWaitForASlotAfterAPauseIsOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{politeness: newPoliteness(Config{Concurrency: 1}, 0), spool: new(spool)}
		first, err := c.Enter(t.Context(), t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer first.Leave()
		go func() {
			second, err := c.Enter(t.Context(), t.Context()) // returns once the first waits
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Minute)
			second.Leave()
		}()
		deadline := time.Now().Add(30 * time.Second)
		b := &budget{deadline: deadline}
		if !first.pause(b, 2*time.Second) {
			t.Fatal("no time for another attempt")
		}
		if moved := b.deadline.Sub(deadline); b.waited != 58*time.Second || moved != b.waited {
			t.Errorf("%s of the wait are ours, and the deadline moves by %s; want 58 s", b.waited, moved)
		}
	})
}

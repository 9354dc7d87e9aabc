package client

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

func TestMisconfiguredSites(t *testing.T) {
	for _, row := range []struct {
		name                   string
		robots, front, missing int
		want                   bool
		asked                  int
	}{
		{"5xx for every missing page", 500, 200, 500, true, 3},
		{"the front page may redirect", 503, 301, 503, true, 3},
		{"another 5xx", 500, 200, 503, false, 3},
		{"missing pages are 404", 500, 200, 404, false, 3},
		{"all is down", 500, 500, 500, false, 2},
		{"429 asks for the front page alone", 429, 200, 429, false, 2},
		{"no 5xx", 404, 200, 500, false, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]bool{}
			c := newClient(t, serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
				mu.Lock()
				asked[r.URL.Path] = true
				mu.Unlock()
				status := row.missing
				switch r.URL.Path {
				case "/robots.txt":
					status = row.robots
				case "/":
					status = row.front
				}
				fmt.Fprintf(c, "HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", status)
			}), func(c *settings) { c.ProbeMisconfigured = true })
			got := c.Fetch(context.Background(), origin(t, "a.example"))
			misconfigured := got.Facts().Misconfigured
			if misconfigured != row.want || got.Status() != row.robots || len(got.Hops) != 1 || got.Attempts != 1 {
				t.Errorf("misconfigured %v, status %d, %d hops, %d attempts", misconfigured, got.Status(), len(got.Hops),
					got.Attempts)
			}
			if len(asked) != row.asked {
				t.Errorf("asked for %v", asked)
			}
		})
	}
}

func TestProbeHeedsRetryAfter(t *testing.T) {
	for _, row := range []struct {
		after   string
		retries int
		asked   int
	}{{"0", 0, 3}, {"1", 0, 3}, {"1", 1, 4}, {"3600", 0, 1}} {
		t.Run(fmt.Sprint(row.after, " ", row.retries), func(t *testing.T) {
			var mu sync.Mutex
			var asked []time.Time
			c := newClient(t, serve(t, func(c *net.TCPConn, r *http.Request, _ int) {
				mu.Lock()
				asked = append(asked, time.Now())
				mu.Unlock()
				if r.URL.Path != "/" {
					fmt.Fprintf(c, "HTTP/1.1 503 X\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", row.after)
					return
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}), func(c *settings) {
				c.ProbeMisconfigured, c.Retries = true, row.retries
				if row.retries > 0 { // they take all but half a second
					c.Timeout = 1500 * time.Millisecond
				}
			})
			got := c.Fetch(context.Background(), origin(t, "a.example"))
			if len(asked) != row.asked || got.Facts().Misconfigured != (row.asked > 1) {
				t.Fatalf("%d requests, misconfigured %v", len(asked), got.Facts().Misconfigured)
			}
			if row.after == "1" && asked[1].Sub(asked[0]) < time.Second {
				t.Errorf("asked again after %v", asked[1].Sub(asked[0]))
			}
		})
	}
}

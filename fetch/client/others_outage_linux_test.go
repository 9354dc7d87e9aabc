package client

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
)

// What an origin has told another host proves nothing of this machine: it ends no outage, and a failure that
// was believed then is not doubted.
func TestWhatIsToldAgainInAnOutage(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 4, nil)
	shop := w.origin(t, "h3.test")
	w.onAsk = func(_ int, host string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if host == "h3.test" && w.asked[host] == 3 { // after its robots.txt and the first document
			panic(http.ErrAbortHandler)
		}
	}
	asks, out, over := make(chan bool), make(chan bool, 100), atomic.Bool{}
	plan := fetch.Plan{Keeps: 1 << 10, Ask: func(host *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
		if host.Origin.Host == "h1.test" {
			asks <- true
			<-asks
		}
		for _, path := range []string{"/licence", "/broken"} {
			ask(&fetch.Question{Kind: fetch.KindDocument, Name: path, Origin: shop, Target: path, Elsewhere: true, MaxBody: 12})
		}
	}}
	c := w.client(t, func(c *settings) {
		c.Retries, c.Further = 0, []fetch.Plan{plan}
		c.Outage = func(since time.Time) {
			if over.Store(since.IsZero()); !since.IsZero() {
				out <- true
			}
		}
	})
	c.uplink.Times.Probe = 10 * time.Second // a busy machine is no outage
	want := []string{`/licence read 200 body "User-agent: " truncated`, "/broken failed 0 reset"}
	if diff := cmp.Diff(want, toldOf(w.fetchAll(t, c, []string{"h0.test"})[0])); diff != "" {
		t.Fatalf("the first host (-want +got):\n%s", diff)
	}
	fetching := func(host string) <-chan *fetch.Capture {
		done := make(chan *fetch.Capture, 1)
		go func() { done <- w.fetchAll(t, c, []string{host})[0] }()
		return done
	}
	second := fetching("h1.test")
	<-asks
	w.cut.Store(true)
	third := fetching("h2.test")
	<-out
	asks <- true
	if diff := cmp.Diff(want, toldOf(<-second)); diff != "" || over.Load() || len(out) > 0 {
		t.Errorf("the outage is over: %v, or began again: %v (-want +got):\n%s", over.Load(), len(out) > 0, diff)
	}
	w.cut.Store(false)
	if got := <-third; got.Status() != 200 {
		t.Errorf("status %d, %v", got.Status(), got.Err)
	}
}

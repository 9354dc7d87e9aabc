package memory

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots/usage"
)

// An origin of others that wants to be left alone is, by the next process too, but not for ever.
func TestATiredOriginIsLeftAloneByTheNextProcess(t *testing.T) {
	asked, shop := atomic.Int32{}, fetch.Origin{Scheme: "http", Host: "shop.example", Port: 80}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/licence" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		w.Header().Set("Retry-After", "Fri, 01 Jan 2300 00:00:00 GMT")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	dir := t.TempDir()
	for i, want := range []usage.PageOutcome{usage.PageStatus, usage.PageSpared} {
		m := openMemory(t, dir)
		c, err := client.New(client.Config{
			UserAgent: "test", Timeout: 5 * time.Second, Limits: fetch.Limits{MaxBody: 1000}, Concurrency: 1, PerAddress: 1,
			PerDomain: 1, ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()),
			Further: []fetch.Plan{{Keeps: 10, Most: 1, Ask: func(_ *fetch.Answered, ask func(*fetch.Question) *fetch.Further) {
				ask(&fetch.Question{Kind: fetch.KindDocument, Origin: shop, Target: "/licence", Elsewhere: true, Permitted: true,
					MaxBody: 10})
			}}},
		}, client.Backing{Spare: m.Spare, Spared: m.Spared})
		if err != nil {
			t.Fatal(err)
		}
		got := c.Fetch(t.Context(), fetch.Origin{Scheme: "http", Host: "ab"[i:i+1] + ".example", Port: 80})
		if len(got.Further) != 1 || got.Further[0].Outcome != want || asked.Load() != 1 {
			t.Errorf("process %d: %+v, asked %d times", i, got.Further, asked.Load())
		}
		until, err := m.Spared(shop)
		if days := time.Until(until).Hours() / 24; err != nil || days < 11 || days > 13 {
			t.Errorf("process %d: for %g days, %v", i, days, err)
		}
		if until, err := m.Spared(got.Origin); err != nil || !until.IsZero() {
			t.Errorf("process %d: %s until %v, %v", i, got.Origin, until, err)
		}
		closeMemory(t, m)
	}
}

// A folder that is discarded is gone before another process can open it.
func TestADiscardedFolderIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "states", "a")
	for range 20 {
		first, next := openMemory(t, dir), make(chan *Memory)
		go func() {
			for {
				if m, err := Open(dir); err == nil {
					next <- m
					return
				}
			}
		}()
		if err := first.Discard(); err != nil {
			t.Fatal(err)
		}
		second := <-next
		keepIn(t, second, whole(host(1), day, "User-agent: *\n"))
		closeMemory(t, second)
		third := openMemory(t, dir)
		if recall(t, third, host(1)).Last == nil {
			t.Fatal("what another process keeps is lost")
		}
		third.made = []string{filepath.Join(dir, "answers"), dir, filepath.Dir(dir)}
		if err := third.Discard(); err != nil {
			t.Fatal(err)
		}
	}
}

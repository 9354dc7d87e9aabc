package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// Under own, a host that fails means to each agent what its program makes of it, with a
// memory of the host and without: only google has one.
func TestOwnOnFailingHosts_NoRace(t *testing.T) {
	t.Parallel()
	readers := []string{"google", "scrapy", "crawlee", "colly", "nutch", "heritrix"}
	var fails atomic.Bool
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		kind := strings.TrimSuffix(r.Host, ".example")
		switch {
		case !fails.Load():
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		case kind == "busy":
			w.WriteHeader(503)
			fmt.Fprint(w, "<html>busy</html>")
		case kind == "throttled":
			w.WriteHeader(429)
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		case kind == "missing":
			w.WriteHeader(404)
			fmt.Fprint(w, "<html>no such page</html>\nUser-agent: *\nDisallow: /\n")
		case kind == "silent":
			<-r.Context().Done()
		default:
			panic(http.ErrAbortHandler)
		}
	}, "busy.example\nthrottled.example\nmissing.example\nsilent.example\ndropped.example\n")
	entries := ""
	c.Evaluate.Readers = make(map[string]*robots.Profile)
	for _, name := range readers {
		entries += fmt.Sprintf("- {name: By-%s, reads_as: %s}\n", name, name)
		c.Evaluate.Readers[name], _ = robots.ProfileNamed(name)
	}
	var err error
	c.Evaluate.Agents, _, err = registry.ParseAgents("agents", []byte(entries))
	must(t, err)
	c.Evaluate.Samples, err = registry.ParseSamples("urls", []byte("/private\n/open\n"))
	must(t, err)
	c.Evaluate.Profiles = profilesNamed("own")
	// what the others answer must come within, on a busy machine too
	c.Fetch.ErrorBodies, c.Fetch.Timeout = true, 2*time.Second
	// By reader and host, the verdicts on /private and /open: a, d and u.
	ofPrograms := map[string]string{
		"scrapy":   "busy aa, throttled dd, missing dd, silent aa, dropped aa",
		"crawlee":  "busy aa, throttled dd, missing dd, silent dd, dropped aa",
		"colly":    "busy aa, throttled aa, missing aa, silent dd, dropped dd",
		"nutch":    "busy dd, throttled dd, missing aa, silent aa, dropped aa",
		"heritrix": "busy aa, throttled aa, missing aa, silent aa, dropped aa",
	}
	memory := filepath.Join(t.TempDir(), "state")
	for _, run := range []struct {
		day    int
		state  string
		fails  bool
		google string
	}{
		{0, memory, false, "busy da, throttled da, missing da, silent da, dropped da"},
		{1, memory, true, "busy dd, throttled dd, missing aa, silent dd, dropped dd"},
		{11, memory, true, "busy da, throttled da, missing aa, silent da, dropped da"},
		{41, memory, true, "busy uu, throttled uu, missing aa, silent uu, dropped uu"},
		{41, "", true, "busy dd, throttled dd, missing aa, silent dd, dropped dd"},
	} {
		fails.Store(run.fails)
		c := c
		now := firstDay.AddDate(0, 0, run.day)
		c.Run, c.State, c.Fetch.Now = fmt.Sprintf("day-%d-%v", run.day, run.state != ""), run.state, func() time.Time {
			return now
		}
		if _, err := Run(context.Background(), c, new(Progress)); err != nil {
			t.Fatal(err)
		}
		got := make(map[string]map[string]string)
		for _, v := range rowsOf[schema.Verdict](t, c, "verdicts") {
			if got[v.JudgedBy] == nil {
				got[v.JudgedBy] = make(map[string]string)
			}
			got[v.JudgedBy][strings.TrimSuffix(v.Host, ".example")] += v.Verdict[:1]
		}
		for _, name := range readers {
			want := ofPrograms[name]
			if name == "google" || !run.fails {
				want = run.google
			}
			for _, one := range strings.Split(want, ", ") {
				host, verdicts, _ := strings.Cut(one, " ")
				if got[name][host] != verdicts {
					t.Errorf("%s: %s takes %s for %s, want %s", c.Run, name, host, got[name][host], verdicts)
				}
			}
		}
	}
}

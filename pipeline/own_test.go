package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
)

func profilesNamed(names ...string) (out []*robots.Profile) {
	for _, name := range names {
		p, _ := robots.ProfileNamed(name)
		out = append(out, p)
	}
	return out
}

// TestOwnURLsKeepTheirOrder: an origin's own URLs that are prepared in several
// batches stand in the order of the input under each profile and agent, each
// with its own verdict.
func TestOwnURLsKeepTheirOrder(t *testing.T) {
	const n = 2*batchURLs + 50
	var rows strings.Builder
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://h.example/%c/%d", 'a'+i%3, i))
		fmt.Fprintln(&rows, urls[i])
	}
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: GPTBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n")
	}, rows.String())
	c.Samples, c.Profiles = nil, profilesNamed("google", "rfc9309")
	if _, err := Run(context.Background(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, profile := range c.Profiles {
		for _, agent := range c.Agents {
			for i := range urls {
				verdict := "allow"
				if i%3 == 0 && agent.Name == "GPTBot" || i%3 == 1 && agent.Name != "GPTBot" {
					verdict = "disallow"
				}
				want = append(want, fmt.Sprint(profile.Name, " ", agent.Name, " ", urls[i], " ", verdict))
			}
		}
	}
	profile, agent, url, verdict := texts(t, c, "verdicts", "profile"), texts(t, c, "verdicts", "agent"), texts(t, c, "verdicts", "url"), texts(t, c, "verdicts", "verdict")
	if len(url) != len(want) {
		t.Fatalf("%d verdicts, want %d", len(url), len(want))
	}
	for i := range want {
		if got := fmt.Sprint(profile[i], " ", agent[i], " ", url[i], " ", verdict[i]); got != want[i] {
			t.Fatalf("verdict %d is %s, want %s", i, got, want[i])
		}
	}
}

// TestManyOwnURLsTakeLittleMemory: 20,000 of them under five profiles were a
// gigabyte when they were prepared all at once.
func TestManyOwnURLsTakeLittleMemory(t *testing.T) {
	profiles := profilesNamed(robots.ProfileNames()...)
	agents, err := evaluate.ParseAgents("agents", []byte("- {name: GPTBot}\n- {name: Googlebot}\n"))
	must(t, err)
	var paths []string
	for i := range 20_000 {
		paths = append(paths, fmt.Sprintf("/%0200d", i))
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	a := newEvaluator(Config{Config: evaluate.Config{Agents: agents, Profiles: profiles}}, evaluate.NewSamples(nil, profiles), newContents())
	before := heap()
	own := newOwn("http://h.example", paths, nil)
	for k := range profiles {
		a.readings[k].answer = robots.Answer{Outcome: robots.ConditionalAllow}
		a.read(k, []byte("User-agent: *\nDisallow: /*1\n"), questions{judging: true})
		a.memo.forget(len(agents))
		for i := range agents {
			if got := a.judge(k, i, nil, own); len(got) != len(paths) {
				t.Fatalf("%d verdicts", len(got))
			}
		}
	}
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("%d URLs take %d bytes of memory", len(paths), grown)
	}
	runtime.KeepAlive(own)
}

// TestOwnURLsAreBoundedInBytes: what an origin has beyond goes to rejected.csv
// with the reason, and the next origin has room of its own.
func TestOwnURLsAreBoundedInBytes(t *testing.T) {
	const long = 60 << 10
	const fit = maxOwnBytes / (long + 32)
	var targets []Target
	reasons := map[string]int{}
	s := &source{
		schemes: []string{"http"},
		reject:  func(_ int64, _, reason string) error { reasons[reason]++; return nil },
		emit:    func(t Target) error { targets = append(targets, t); return nil },
	}
	for _, host := range []string{"a.example", "b.example"} {
		for i := range fit + 10 {
			if host == "b.example" && i == 5 {
				break
			}
			prefix := fmt.Sprintf("/%d/", i)
			must(t, s.take(row{line: 1, host: host, url: prefix + strings.Repeat("x", long-len(prefix))}))
		}
	}
	must(t, s.flush())
	if len(targets) != 2 || len(targets[0].Paths) != fit || len(targets[1].Paths) != 5 || reasons["too_many_urls: more than 32 MiB of one origin"] != 10 {
		t.Errorf("%d targets, %d and %d URLs, rejected: %v", len(targets), len(targets[0].Paths), len(targets[1].Paths), reasons)
	}
}

// TestASegmentEndsByItsText: what the input has of many hosts, and the verdicts on
// it, are held and lost by the segment.
func TestASegmentEndsByItsText(t *testing.T) {
	const hosts, urls, long = 60, 50, 4 << 10 // 12 MiB together
	var rows strings.Builder
	for h := range hosts {
		for i := range urls {
			fmt.Fprintf(&rows, "http://h%d.example/%0*d\n", h, long, i)
		}
	}
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {}, rows.String())
	c.Samples = nil
	if _, err := Run(context.Background(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(c.Dir, "_runs", c.Run, "segments", "*"))
	if err != nil || len(segments) != hosts*urls*long/segmentText+1 {
		t.Errorf("%d segments, %v", len(segments), err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "_runs", c.Run, "manifest.json")); err != nil {
		t.Error(err)
	}
}

func TestGateWaitsForTexts(t *testing.T) {
	g := newBackpressure(&Config{})
	must(t, g.enter(t.Context()))
	g.read(int(g.texts + 1))
	entered := make(chan error)
	go func() { entered <- g.enter(t.Context()) }()
	select {
	case <-entered:
		t.Fatal("entered while open segments hold too much text")
	case <-time.After(20 * time.Millisecond):
	}
	g.filled()
	g.leave(0, g.texts+1)
	must(t, <-entered)
}

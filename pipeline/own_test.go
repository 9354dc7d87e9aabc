package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An origin's own URLs that are prepared in several batches keep the order of the
// input under each profile and agent, each with its own verdict.
func TestOwnURLsKeepTheirOrder(t *testing.T) {
	const n = 2*256 + 50 // more than two batches
	var rows strings.Builder
	var urls []string
	for i := range n {
		urls = append(urls, fmt.Sprintf("http://h.example/%c/%d", 'a'+i%3, i))
		fmt.Fprintln(&rows, urls[i])
	}
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: GPTBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n")
	}, rows.String())
	c.Evaluate.Samples, c.Evaluate.Profiles = nil, profilesNamed("google", "rfc9309")
	if _, err := Run(context.Background(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, profile := range c.Evaluate.Profiles {
		for _, agent := range c.Evaluate.Agents {
			for i := range urls {
				verdict := "allow"
				if i%3 == 0 && agent.Name == "GPTBot" || i%3 == 1 && agent.Name != "GPTBot" {
					verdict = "disallow"
				}
				want = append(want, fmt.Sprint(profile.Name, " ", agent.Name, " ", urls[i], " ", verdict))
			}
		}
	}
	profile, agent, url, verdict := texts(t, c, "verdicts", "profile"), texts(t, c, "verdicts", "agent"),
		texts(t, c, "verdicts", "url"), texts(t, c, "verdicts", "verdict")
	if len(url) != len(want) {
		t.Fatalf("%d verdicts, want %d", len(url), len(want))
	}
	for i := range want {
		if got := fmt.Sprint(profile[i], " ", agent[i], " ", url[i], " ", verdict[i]); got != want[i] {
			t.Fatalf("verdict %d is %s, want %s", i, got, want[i])
		}
	}
}

// A piece, which is all of the first segments, ends early if its hosts, URLs and verdicts grow too large.
func TestASegmentEndsByItsText_NoRace(t *testing.T) {
	const hosts, urls, long = 60, 50, 4 << 10 // 12 MiB together
	var rows strings.Builder
	for h := range hosts {
		for i := range urls {
			fmt.Fprintf(&rows, "http://h%d.example/%0*d\n", h, long, i)
		}
	}
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {}, rows.String())
	c.Evaluate.Samples = nil
	if _, err := Run(context.Background(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(c.Dir, "_runs", c.Run, "segments", "*"))
	want := 0
	for pieces := hosts*urls*long/pieceText + 1; pieces > 0; want++ {
		pieces -= 1 << min(want/segmentsOfASize, mostDoublings)
	}
	if err != nil || len(segments) != want {
		t.Errorf("%d segments, %v; want %d", len(segments), err, want)
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

package last

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/sinktest"
)

var must = sinktest.Must

// one is a capture of a test: of a URL, at a minute, in a place, that redirects to a URL
// or has a body.
type one struct {
	url, to string
	minute  int
	archive int
	n       int // among all captures of its archive
	seq     int // among those of a robots.txt there
}

func (c one) record() string {
	date := time.Date(2026, 1, 10, 6, c.minute, 0, 0, time.UTC).Format(time.RFC3339)
	answer := "HTTP/1.1 200 OK\r\n\r\n" + c.body()
	if c.to != "" {
		answer = "HTTP/1.1 302 Found\r\nLocation: " + c.to + "\r\n\r\n"
	}
	return sinktest.Record("WARC-Type: response\r\nWARC-Date: "+date+"\r\nWARC-Target-URI: "+c.url+"\r\n", answer)
}

func (c one) body() string {
	return fmt.Sprintf("# %s at %d in %d %d\n", c.url, c.minute, c.archive, c.n)
}

// TestLastCaptures compares the last captures of random archives with those of a search that
// looks at all captures for each step. What is sorted does not fit into memory.
func TestLastCaptures(t *testing.T) {
	defer func(before int) { memory = before }(memory)
	memory = 1000
	var urls []string
	for i := range 6 {
		urls = append(urls, fmt.Sprintf("https://h%d.example/robots.txt", i), fmt.Sprintf("https://h%d.example/x", i))
	}
	const limit = 3
	r := rand.New(rand.NewPCG(4, 1))
	for range 40 {
		archives := make([]string, 1+r.IntN(3))
		var all []one
		counts, seqs := make([]int, len(archives)), make([]int, len(archives))
		for range 1 + r.IntN(60) {
			c := one{url: urls[r.IntN(len(urls))], minute: r.IntN(20), archive: r.IntN(len(archives))}
			if r.IntN(3) > 0 {
				c.to = urls[r.IntN(len(urls))]
			}
			c.n = counts[c.archive]
			counts[c.archive]++
			if isTxt(c) {
				seqs[c.archive]++
				c.seq = seqs[c.archive]
			}
			archives[c.archive] += c.record()
			all = append(all, c)
		}
		slices.SortFunc(all, func(a, b one) int { // as dates and places sort
			return cmp.Or(a.minute-b.minute, a.archive-b.archive, a.n-b.n)
		})
		if want, got := searched(all, limit), found(t, archives, limit); !slices.Equal(want, got) {
			t.Fatalf("%s\nof %+v", gocmp.Diff(want, got), all)
		}
	}
}

func isTxt(c one) bool { return strings.HasSuffix(c.url, "/robots.txt") }

// searched returns what captures in order must give.
func searched(all []one, limit int) (out []string) {
	last := make(map[string]one)
	for _, c := range all {
		if isTxt(c) {
			last[c.url] = c
		}
	}
	for _, c := range last {
		archive, seq, minute, hops, body, class := c.archive, c.seq, c.minute, []string{c.url}, "", ""
		for body == "" && class == "" {
			if c.to == "" {
				body = c.body()
				break
			}
			if slices.Contains(hops, c.to) {
				class = "redirect_loop"
				break
			}
			if len(hops) > limit {
				class = "redirect_limit"
				break
			}
			var nearest *one
			far := func(x one) int { return max(x.minute-c.minute, c.minute-x.minute) }
			for i := range all {
				x := &all[i]
				// Of two as near, the later one; of the same date, the first by place if
				// it is not before, else the last.
				if x.url == c.to && (nearest == nil || far(*x) < far(*nearest) || far(*x) == far(*nearest) &&
					(x.minute > nearest.minute || x.minute < c.minute)) {
					nearest = x
				}
			}
			if nearest == nil {
				class = "to " + c.to
				break
			}
			c = *nearest
			hops = append(hops, c.url)
		}
		out = append(out, fmt.Sprintf("%d %d %02d %s %s%q", archive, seq, minute, strings.Join(hops, " "), class, body))
	}
	slices.Sort(out)
	return out
}

// each reads archives from memory.
func each(archives []string) func(ctx context.Context, wanted func(int) bool, read func(context.Context, int, string,
	io.Reader) error) error {
	return func(ctx context.Context, wanted func(int) bool, read func(context.Context, int, string,
		io.Reader) error) error {
		var g errgroup.Group
		for i, text := range archives {
			if wanted(i) {
				g.Go(func() error { return read(ctx, i, "", strings.NewReader(text)) })
			}
		}
		return g.Wait()
	}
}

var stored = warc.Config{Limits: fetch.Limits{MaxBody: 1 << 20}}

// lastOf calls take with the last captures of archives, and the number of each among those
// of a robots.txt in its archive.
func lastOf(t *testing.T, archives []string, limit int, take func(archive, seq int, c *warc.Capture)) {
	t.Helper()
	dir := t.TempDir()
	captures, err := Archives{
		Count: len(archives), Each: each(archives), Stored: warc.Config{Limits: fetch.Limits{MaxBody: stored.MaxBody,
			MaxRedirects: limit}}, Progress: func(int64) {}, Scratch: sinktest.Scratch(t, dir),
		Wanted: func(fetch.Origin) bool { return true },
	}.Find(t.Context())
	must(t, err)
	must(t, each(archives)(t.Context(), func(int) bool { return true }, func(ctx context.Context, i int, _ string,
		in io.Reader) error {
		r, err := captures.In(i)
		if err != nil {
			return err
		}
		seq := 0
		_, err = warc.ReadAll(ctx, "", in, stored, func() bool { return false }, func(c *warc.Capture) error {
			isLast, err := r.Take(c)
			if c.IsRobots() {
				seq++
			} else if isLast {
				t.Errorf("the last capture of a host is of %s", c.Hops[0].URL)
			}
			if isLast && err == nil {
				take(i, seq, c)
			}
			return err
		}, ignored)
		return err
	}))
	must(t, captures.Close())
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("%s is left", path)
		}
		return err
	}))
}

// found returns the last captures of archives, sorted.
func found(t *testing.T, archives []string, limit int) (out []string) {
	t.Helper()
	var mu sync.Mutex
	lastOf(t, archives, limit, func(archive, seq int, c *warc.Capture) {
		var hops []string
		for _, h := range c.Hops {
			hops = append(hops, h.URL)
		}
		class := string(c.Error)
		if c.Location != "" {
			class = "to " + c.Location
		}
		if c.Origin.RobotsURL() != hops[0] || (c.Err == nil) != (c.Error == "") {
			t.Errorf("%+v", c)
		}
		mu.Lock()
		defer mu.Unlock()
		out = append(out, fmt.Sprintf("%d %d %02d %s %s%q", archive, seq, c.Start.Minute(), strings.Join(hops, " "), class,
			c.Body))
	})
	slices.Sort(out)
	return out
}

// A chain goes on at a revisit record where the record that it refers to does.
func TestRevisitsInChains(t *testing.T) {
	record := func(url string, minute int, more, answer string) string {
		date := time.Date(2026, 1, 10, 6, minute, 0, 0, time.UTC).Format(time.RFC3339)
		kind := "response"
		if more != "" {
			kind = "revisit"
		}
		return sinktest.Record("WARC-Type: "+kind+"\r\nWARC-Date: "+date+"\r\nWARC-Target-URI: https://a.example"+url+"\r\n"+
			more, answer)
	}
	of := func(url string, minute int) string {
		return fmt.Sprintf("WARC-Refers-To-Target-URI: <https://a.example%s>\r\n"+
			"WARC-Refers-To-Date: 2026-01-10T06:%02d:00Z\r\n", url, minute)
	}
	const ok, moved = "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 301 x\r\nLocation: /x\r\n\r\n"
	for _, row := range []struct {
		name, content, want string
	}{
		{"of a target", record("/robots.txt", 1, "", moved) + record("/x", 2, of("/y", 0), ok) + record("/y", 0, "", ok+"y"),
			`200 200 false  "y"`},
		{"of a target, without a header", record("/robots.txt", 1, "", moved) + record("/x", 2, of("/y", 0), "") +
			record("/y", 0, "", "HTTP/1.1 404 x\r\n\r\n"), `404 404 false  ""`},
		{"of a revisit", record("/robots.txt", 3, of("/robots.txt", 2), ok) + record("/robots.txt", 2, of("/robots.txt", 1),
			ok) + record("/robots.txt", 1, "", ok+"one"), `200 200 false  "one"`},
		{"of an error", record("/robots.txt", 3, of("/robots.txt", 1), ok) + record("/robots.txt", 1, "",
			"HTTP/1.1 500 x\r\n\r\n"), `200 200 true  ""`},
		{"not modified", record("/robots.txt", 3, of("/robots.txt", 1), "HTTP/1.1 304 x\r\n\r\n") + record("/robots.txt", 1,
			"", ok+"one"), `200 200 false  "one"`},
		{"of a body that broke off", record("/robots.txt", 3, of("/robots.txt", 1), ok) + record("/robots.txt", 1, "",
			"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), `200 200 false truncated_body "one"`},
		{"of another date", record("/robots.txt", 9, of("/robots.txt", 2), ok) + record("/robots.txt", 1, "", ok+"one"),
			`200 200 true  ""`},
		{"of itself", record("/robots.txt", 3, of("/robots.txt", 3), ok), `200 200 true  ""`},
	} {
		var got *warc.Capture
		lastOf(t, []string{row.content}, 5, func(_, _ int, c *warc.Capture) { got = c })
		if text := fmt.Sprintf("%d %d %v %s %q", got.Status(), got.Hops[len(got.Hops)-1].Status, got.Unstored, got.Error,
			got.Body); text != row.want {
			t.Errorf("a revisit %s: %s, want %s", row.name, text, row.want)
		}
	}
}

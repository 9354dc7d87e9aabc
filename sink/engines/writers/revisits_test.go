package writers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/last"
	"github.com/robocensus/robocensus/sink/store"
)

var stored = warc.Config{Limits: fetch.Limits{MaxBody: 1 << 20, MaxRedirects: 5}}

func damaged(t *testing.T) func(int64, string) error {
	return func(at int64, what string) error {
		t.Errorf("damage at %d: %s", at, what)
		return nil
	}
}

// capturesOf returns the captures of all URLs in files.
func capturesOf(t *testing.T, files []string) (all []*warc.Capture) {
	t.Helper()
	for _, name := range files {
		f, err := os.Open(name)
		must(t, err)
		_, err = warc.ReadAll(t.Context(), name, f, stored, func() bool { return true }, func(c *warc.Capture) error {
			all = append(all, c)
			return nil
		}, damaged(t))
		must(t, err)
		f.Close()
	}
	return all
}

// followed returns the captures of robots.txt in files, with what they lead to: the last
// one of each host, or all of them with their originals alone.
func followed(t *testing.T, files []string, lastOnly bool) (all []*warc.Capture) {
	t.Helper()
	folder, err := store.Open(t.Context(), t.TempDir())
	must(t, err)
	defer folder.Close()
	archives := last.Archives{
		Count: len(files), Stored: stored, Progress: func(int64) {},
		Scratch: func() (*store.Scratch, error) { return folder.Scratch(".") },
		Wanted:  func(fetch.Origin) bool { return true },
		Each: func(ctx context.Context, wanted func(int) bool, read func(context.Context, int, string,
			io.Reader) error) error {
			for i, name := range files {
				if !wanted(i) {
					continue
				}
				content, err := os.ReadFile(name)
				must(t, err)
				if err := read(ctx, i, name, bytes.NewReader(content)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	find := archives.Originals
	if lastOnly {
		find = archives.Find
	}
	captures, err := find(t.Context())
	must(t, err)
	defer captures.Close()
	var mu sync.Mutex
	must(t, archives.Each(t.Context(), func(int) bool { return true }, func(ctx context.Context, i int, name string,
		in io.Reader) error {
		r, err := captures.In(i)
		must(t, err)
		_, err = warc.ReadAll(ctx, name, in, stored, func() bool { return false }, func(c *warc.Capture) error {
			isLast, err := r.Take(c)
			mu.Lock()
			defer mu.Unlock()
			if c.IsRobots() && (isLast || !lastOnly) {
				all = append(all, c)
			}
			return err
		}, damaged(t))
		return err
	}))
	return all
}

// Of archives with revisit records by three writers each host has the body that it last had,
// unless that is in no file, and then its capture says so. No revisit record gets another
// body than its own.
func TestRevisitsOfOtherWriters(t *testing.T) {
	each := 20
	if testing.Short() {
		each = 1
	}
	for name, write := range map[string]func(*testing.T, *site, *rand.Rand) *archive{"wget": wget,
		"internetarchive": iaWriter, "nlnwa": nbWriter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait for their clocks
			hosts, revisits, resolved, elsewhere := 0, 0, 0, 0
			for n := range each {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				a := write(t, newSite(t), r)
				got := make(map[string]string)
				for _, c := range followed(t, a.files, true) {
					got[c.Origin.Host] = outcome(c)
				}
				isRevisit := make(map[string]bool)
				for _, c := range capturesOf(t, a.files) {
					if c.Revisit != nil {
						isRevisit[c.Origin.Host] = true
						revisits++
					}
				}
				for host, body := range a.bodies {
					hosts++
					want := fmt.Sprintf("success %q", body)
					switch {
					case body == "":
						want = `client_error ""`
					case a.elsewhere[host] && isRevisit[host]:
						want = `revisit_unresolved ""`
						elsewhere++
					case isRevisit[host]:
						resolved++
					}
					if got[host] != want {
						t.Errorf("archive %d, %s: %.80s, want %.80s", n, host, got[host], want)
					}
				}
				if len(got) != len(a.bodies) {
					t.Errorf("archive %d: %d hosts, want %d", n, len(got), len(a.bodies))
				}
				// By itself a file gives each revisit record a body that its host had, or none; and
				// if it is the only one, the last is the host's last body.
				for _, file := range a.files {
					lastOf := make(map[string]*warc.Capture)
					for _, c := range followed(t, []string{file}, false) {
						host := c.Origin.Host
						if before := lastOf[host]; before == nil || c.Start.After(before.Start) {
							lastOf[host] = c
						}
						if c.Body != nil && !slices.Contains(a.versions[host], string(c.Body)) || c.Mismatch != "" {
							t.Errorf("archive %d, %s: %.80q %s", n, host, c.Body, c.Mismatch)
						}
					}
					for host, c := range lastOf {
						if got := outcome(c); len(a.files) == 1 && !a.elsewhere[host] && c.Location == "" && a.bodies[host] != "" &&
							got != fmt.Sprintf("success %q", a.bodies[host]) {
							t.Errorf("archive %d, %s, without the last captures: %.80s", n, host, got)
						}
					}
				}
			}
			t.Logf("%d archives, %d hosts, %d revisit records; %d hosts have a revisit record and the body of its original, "+
				"%d of an original that is in no file", each, hosts, revisits, resolved, elsewhere)
			if resolved == 0 || elsewhere == 0 && !testing.Short() {
				t.Error("the archives lack what is to be tested")
			}
		})
	}
}

func outcome(c *warc.Capture) string {
	return fmt.Sprintf("%s %q", c.Facts().Kind().Class, c.Body)
}

package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink"
)

// A host of any piece of a segment is asked once, also if the segment is not committed
// before the process ends.
func TestHostsOfAllPiecesAreAskedOnce_NoRace(t *testing.T) {
	const hosts = segmentsOfASize + 2 // a piece each: the last two are one segment
	path := strings.Repeat("x", 8<<10)
	var rows strings.Builder
	for h := range hosts {
		for i := range pieceText/len(path) + 1 {
			fmt.Fprintf(&rows, "http://h%d.example/%s%d\n", h, path, i)
		}
	}
	var mu sync.Mutex
	asked := make(map[string]int)
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Host]++
		mu.Unlock()
	}, rows.String())
	c.Evaluate.Samples, c.Tables = nil, []string{"fetches"}
	blocked := filepath.Join(c.Dir, "_runs", c.Run, "segments", fmt.Sprintf("%010d.json", segmentsOfASize))
	must(t, os.MkdirAll(blocked, 0o777))
	if _, err := Run(t.Context(), c, new(Progress)); err == nil {
		t.Fatal("the last segment is committed where its record cannot be written")
	}
	must(t, os.Remove(blocked))
	c.Resume = true
	if _, err := Run(t.Context(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	if n := len(fetchesOf(t, c)); n != hosts || len(asked) != hosts {
		t.Errorf("%d rows, and %d hosts are asked", n, len(asked))
	}
	for host, n := range asked {
		if n != 1 {
			t.Errorf("%s is asked %d times", host, n)
		}
	}
}

// A run that judges another one again has its pieces, which are row groups of fetches: the
// sizes of bodies were not known when these were cut.
func TestBodiesThatAreJudgedAgainCutNoPieces_NoRace(t *testing.T) {
	const hosts = 40 // of nearly 500 KiB each, more than pieceStored
	body := "User-agent: *\n" + strings.Repeat("#", 499<<10)
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, body) }, list(hosts))
	c.Tables = []string{"fetches", "bodies"}
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	again := c
	again.Dir, again.Source = t.TempDir(), source.Config{FromRun: filepath.Join(c.Dir, "_runs", c.Run)}
	beginWithoutGrowth(t, again)
	again.Resume = true
	_, err = Run(t.Context(), again, new(Progress))
	must(t, err)
	for _, dir := range []string{c.Dir, again.Dir} {
		content, err := os.ReadFile(filepath.Join(dir, "fetches", "run="+c.Run, "part-0000000000.parquet"))
		must(t, err)
		f, err := parquet.OpenFile(strings.NewReader(string(content)), int64(len(content)))
		must(t, err)
		if f.NumRows() != hosts || len(f.RowGroups()) != 1 {
			t.Errorf("%d hosts in %d row groups", f.NumRows(), len(f.RowGroups()))
		}
	}
}

// beginWithoutGrowth begins a run whose segments are of one size, as an older program did.
func beginWithoutGrowth(t *testing.T, c Config) {
	t.Helper()
	of, err := source.Open(context.Background(), c.source())
	must(t, err)
	defer of.Close()
	plan, err := c.planOf(time.Now(), of)
	must(t, err)
	plan.Growing = false
	begun, err := sink.Create(c.Dir, plan)
	must(t, err)
	must(t, begun.Close())
}

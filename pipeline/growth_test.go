package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Segments grow with the run, and their pieces become one part of each table, in order. A
// run that an older program has begun goes on with segments of one size, and one that was
// stopped with those that it had; one that judges a run again has its segments.
func TestSegmentsGrow_NoRace(t *testing.T) {
	const few = 7
	const n = (segmentsOfASize+4)*pieceTargets + few
	c := storedConfig(t, source.Config{Schemes: []string{"http"}, WARC: []string{writeFile(t, "a.warc", crawlOf("a", n))}})
	c.Evaluate.Samples, c.Evaluate.Agents = nil, c.Evaluate.Agents[:1]
	c.Tables = []string{"fetches", "bodies", "agents", "summary", "examples"}
	anew := func() Config { c := c; c.Dir = t.TempDir(); return c }
	sizes := func(c Config) (sizes []int64) {
		m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
		must(t, err)
		if len(m.PartsOf("agents")) != 1 {
			t.Errorf("the table agents has %d parts", len(m.PartsOf("agents")))
		}
		for _, p := range m.PartsOf("fetches") {
			sizes = append(sizes, p.Rows)
		}
		left, err := filepath.Glob(filepath.Join(c.Dir, "_runs", c.Run, "segments", "*-*"))
		if err != nil || len(left) != 0 {
			t.Errorf("pieces are left: %q, %v", left, err)
		}
		return sizes
	}
	run := func(c Config) []int64 {
		t.Helper()
		_, err := Run(t.Context(), c, new(Progress))
		must(t, err)
		return sizes(c)
	}
	var want, equal []int64
	for range segmentsOfASize {
		want = append(want, pieceTargets)
	}
	want = append(want, 2*pieceTargets)
	if rest := int64(2*pieceTargets + few); segmentsOfASize == 1 { // the third has four pieces
		want = append(want, rest)
	} else {
		want = append(want, 2*pieceTargets, few)
	}
	for range n / pieceTargets {
		equal = append(equal, pieceTargets)
	}
	equal = append(equal, few)

	if diff := cmp.Diff(want, run(c)); diff != "" {
		t.Fatalf("targets of segments (-want +got):\n%s", diff)
	}
	rows := fetchesOf(t, c)
	if len(rows) != n {
		t.Fatalf("%d rows", len(rows))
	}
	same := func(what string, c Config, want []int64) {
		t.Helper()
		if diff := cmp.Diff(want, sizes(c)); diff != "" {
			t.Errorf("%s: targets of segments (-want +got):\n%s", what, diff)
		}
		if diff := cmp.Diff(rows, fetchesOf(t, c)); diff != "" {
			t.Errorf("%s: rows (-want +got):\n%s", what, diff)
		}
	}

	older := anew()
	beginWithoutGrowth(t, older)
	older.Resume = true
	run(older)
	same("begun by an older program", older, equal)

	stopped := anew()
	ctx, cancel := context.WithCancel(t.Context())
	progress := new(Progress)
	go func() { // in the middle of the first segment of two pieces
		for ctx.Err() == nil && progress.Snapshot().Written <= segmentsOfASize*pieceTargets {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := Run(ctx, stopped, progress); err != nil {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		stopped.Resume = true
		run(stopped)
	}
	same("stopped", stopped, want)

	again := anew()
	again.Source = source.Config{FromRun: filepath.Join(c.Dir, "_runs", c.Run)}
	run(again)
	if diff := cmp.Diff(want, sizes(again)); diff != "" {
		t.Errorf("the run that judges again has other targets in its segments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(rowsOf[schema.Body](t, c, "bodies"), rowsOf[schema.Body](t, again, "bodies")); diff != "" {
		t.Errorf("the run that judges again has other bodies (-want +got):\n%s", diff)
	}
}

package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// Names of parts and records sort like the segments, for as many archives as a run
// can have.
func TestNamesSortAsTheInput(t *testing.T) {
	segments := []int{0, 1, 99, journal.SegmentsPerVolume - 1, journal.SegmentsPerVolume, 9 * journal.SegmentsPerVolume,
		10 * journal.SegmentsPerVolume, 11 * journal.SegmentsPerVolume,
		64_000 * journal.SegmentsPerVolume, journal.MaxVolumes*journal.SegmentsPerVolume - 1}
	for _, path := range []func(int) string{func(n int) string { return layout.PartName(n, "") }, func(n int) string {
		return layout.Record("r", n)
	}, func(n int) string { return layout.SegmentPart("summary", "r", n, "") }} {
		var names []string
		for _, n := range segments {
			names = append(names, path(n))
		}
		if !slices.IsSorted(names) {
			t.Errorf("not in order: %v", names)
		}
	}
	for _, n := range segments {
		if got, ok := layout.RecordNumber(filepath.Base(layout.Record("r", n))); !ok || got != n {
			t.Errorf("segment %d is read as %d, %v", n, got, ok)
		}
	}
	run, err := Create(t.TempDir(), described())
	must(t, err)
	defer run.Close()
	if _, err := run.Segment(journal.MaxVolumes * journal.SegmentsPerVolume); err == nil {
		t.Error("a number is taken whose name would not sort")
	}
}

func TestSegmentsCommitSideBySide(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for index := worker; index < 16; index += 8 {
				s, err := run.Segment(index)
				if err == nil {
					err = fill(s, index)
				}
				if err == nil {
					err = s.Commit()
				}
				if err != nil {
					t.Error(err)
				}
				run.Rows()
			}
		})
	}
	all.Wait()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	if len(m.Records) != 16 || !slices.IsSortedFunc(m.Parts, func(a, b journal.Part) int {
		return a.Segment - b.Segment
	}) {
		t.Errorf("%d records, %d parts, want those of 16 segments in their order", len(m.Records), len(m.Parts))
	}
	finish(t, run)
	if v := verify(t, dir); len(v.Problems) > 0 || !v.Complete {
		t.Errorf("%+v", v)
	}
}

func TestASegmentIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	if _, err := run.Segment(0); err == nil {
		t.Error("a segment is begun twice")
	}
	s.Abort()
	commitSegment(t, run, 0)
	if _, err := run.Segment(0); err == nil {
		t.Error("a committed segment is begun again")
	}
	if _, err := run.Segment(-1); err == nil {
		t.Error("a negative segment")
	}
	s, err = run.Segment(1)
	must(t, err)
	must(t, s.Commit())
	if err := s.Commit(); err == nil {
		t.Error("a segment is committed twice")
	}
	// The record of the other process stays, and this one's parts are removed.
	s, err = run.Segment(2)
	must(t, err)
	record := filepath.Join(dir, layout.Record("r", 2))
	must(t, os.WriteFile(record, []byte("another's"), 0o666))
	if err := s.Commit(); err == nil || !strings.Contains(err.Error(),
		"segment 2 of run r is committed by another process") {
		t.Errorf("a segment that another process has committed: %v", err)
	}
	if content, err := os.ReadFile(record); string(content) != "another's" {
		t.Errorf("its record is %q, %v", content, err)
	}
	must(t, os.Remove(record))
	must(t, nothingLeft(dir, 2))
	must(t, run.Close())
	if err := completeRun(run, Completion{}); err == nil {
		t.Error("a closed run is completed")
	}
}

// nothingLeft returns an error if files of a segment exist.
func nothingLeft(dir string, segment int) error {
	s, err := store.Open(context.Background(), dir)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, table := range schema.TableNames {
		if there, err := store.Exists(s, layout.SegmentPart(table, "r", segment, "")); there || err != nil {
			return fmt.Errorf("%s is left: %w", layout.SegmentPart(table, "r", segment, ""), err)
		}
	}
	return nil
}

func TestNotes_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	for _, note := range []string{`{`, `"` + strings.Repeat("x", 64<<20) + `"`} {
		s, err := run.Segment(0)
		must(t, err)
		s.Note = json.RawMessage(note)
		if err := s.Commit(); err == nil {
			t.Errorf("a note of %d bytes is taken", len(note))
		}
		if names := leftovers(t, dir); len(names) > 0 {
			t.Errorf("left: %v", names)
		}
	}
	s, err := run.Segment(0)
	must(t, err)
	s.Note, s.Targets = json.RawMessage(`{"n":1}`), 7
	must(t, s.Commit())
	must(t, run.Close())
	run, err = Open(t.Context(), dir, described())
	must(t, err)
	defer run.Close()
	var note struct{ N int }
	must(t, json.Unmarshal(run.Committed(0).Note, &note))
	if note.N != 1 || run.Committed(0).Targets != 7 || run.Committed(1) != nil {
		t.Errorf("the note is %s", run.Committed(0).Note)
	}
}

// A run with damaged files is refused, not resumed with other rows.
func TestOpenRefusesDamagedRecords_NoRace(t *testing.T) {
	good := t.TempDir()
	run, err := Create(good, described())
	must(t, err)
	commitSegment(t, run, 0)
	commitSegment(t, run, 1)
	must(t, run.Close())
	record := func(change func(r *journal.Record)) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, layout.Record("r", 1))
			content, err := os.ReadFile(path)
			must(t, err)
			var r journal.Record
			must(t, json.Unmarshal(content, &r))
			change(&r)
			resealed(t, path, r)
		}
	}
	for _, row := range []struct {
		name  string
		plant func(t *testing.T, dir string)
		want  string
	}{
		{"a flipped bit", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, layout.Record("r", 1)), func(b []byte) []byte { b[40] ^= 4; return b })
		}, "0000000001.json is damaged"},
		{"a record of another number", func(t *testing.T, dir string) {
			must(t, os.Rename(filepath.Join(dir, layout.Record("r", 1)), filepath.Join(dir, layout.Record("r", 2))))
		}, "it is the record of segment 1"},
		{"a record of another plan", record(func(r *journal.Record) { r.Plan = strings.Repeat("0", 64) }),
			"belongs to another plan"},
		{"a record of another run", record(func(r *journal.Record) { r.Run = "x" }), `of run "x"`},
		{"a path elsewhere", record(func(r *journal.Record) { r.Parts[0].Path = "../../secret" }), `it names "../../secret"`},
		{"a table twice", record(func(r *journal.Record) { r.Parts = append(r.Parts, r.Parts[0]) }), "twice"},
		{"a table less", record(func(r *journal.Record) { r.Parts = r.Parts[1:] }), "it names no part of table fetches"},
		{"a plan of another digest", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "_runs/r/plan.json"), func(b []byte) []byte { b[40] ^= 4; return b })
		}, "plan.json is damaged"},
		{"counters gone", func(t *testing.T, dir string) {
			must(t, os.Remove(filepath.Join(dir, layout.SegmentPart("summary", "r", 1, ""))))
		}, "a committed part is missing"},
		{"a part of another size", func(t *testing.T, dir string) {
			must(t, os.Truncate(filepath.Join(dir, layout.Part("rules", "r", 1, "")), 9))
		}, "has 9 bytes"},
		{"a byte flipped in a part", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, layout.Part("rules", "r", 1, "")), func(b []byte) []byte { b[len(b)/2] ^= 4; return b })
		}, "rules/run=r/part-0000000001.parquet: does not have the bytes that were written"},
		{"a byte flipped in counters", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, layout.SegmentPart("summary", "r", 1, "")), func(b []byte) []byte {
				b[len(b)/2] ^= 4
				return b
			})
		}, "0000000001.summary.parquet: does not have the bytes"},
		{"a link in the place of a part", func(t *testing.T, dir string) {
			part := filepath.Join(dir, layout.Part("rules", "r", 1, ""))
			must(t, errors.Join(os.Rename(part, part+"-away"), os.Symlink(filepath.Base(part)+"-away", part)))
		}, "committed part rules/run=r"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.CopyFS(dir, os.DirFS(good)))
			row.plant(t, dir)
			before := len(tree(t, dir))
			if _, err := Open(t.Context(), dir, described()); !errors.Is(err, journal.ErrNotResumable) ||
				!strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, row.want)
			}
			if after := len(tree(t, dir)); after != before {
				t.Errorf("%d files were there and %d are", before, after)
			}
			if v := verify(t, dir); len(v.Problems) == 0 {
				t.Error("verify finds nothing")
			}
		})
	}
}

func TestARunIsCompleteOnlyWithAllSegments_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	defer run.Close()
	commitSegment(t, run, 0)
	commitSegment(t, run, 2)
	commitSegment(t, run, journal.SegmentsPerVolume)
	c := Completion{Finished: time.Now(), Tally: journal.Tally{Targets: 4 * targetsOfSegment}, Inputs: described().Inputs}
	if err := completeRun(run, c); err == nil || !strings.Contains(err.Error(), "segments 1 to 1 are missing") {
		t.Errorf("without segment 1: %v", err)
	}
	commitSegment(t, run, 1)
	c.Targets++
	if err := completeRun(run, c); err == nil || !strings.Contains(err.Error(), "have 80 targets, and the source had 81") {
		t.Errorf("with fewer targets than the source: %v", err)
	}
	c.Targets--
	must(t, completeRun(run, c))
	if v := verify(t, dir); len(v.Problems) > 0 || !v.Complete {
		t.Errorf("%+v", v)
	}
}

// A link planted in the output folder leads nowhere, whether a run is written, read
// or removed.
func TestPlantedLinks_NoRace(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o666))
	dir := t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(dir, "rules")))
	if _, err := Create(dir, described()); !errors.Is(err, store.ErrLeadsOut) || !strings.Contains(err.Error(),
		filepath.Join(dir, "rules")) {
		t.Errorf("a table elsewhere: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, "rules")))
	must(t, os.MkdirAll(filepath.Join(dir, "_runs/r"), 0o777))
	for _, name := range []string{"rejected.csv", "manifest.json.ABCDEFGH.tmp", "rejected.ABCDEFGH.csv.tmp"} {
		must(t, os.Symlink(secret, filepath.Join(dir, "_runs/r", name)))
	}
	run, err := Create(dir, described())
	must(t, err)
	f, err := run.Rejected()
	must(t, err)
	f.Write([]byte("line,text\n"))
	digest, err := f.Finish()
	must(t, err)
	commitSegment(t, run, 0)
	for _, name := range []string{"views.sql", layout.Part("rules", "r", 1, ""), layout.Record("r", 2)} {
		must(t, os.Symlink(secret, filepath.Join(dir, name)))
	}
	must(t, run.ReplaceFile("views.sql", []byte("SELECT 1")))
	commitSegment(t, run, 1)
	s, err := run.Segment(2)
	must(t, err)
	if err := s.Commit(); err == nil {
		t.Error("a record is written where a link is")
	}
	must(t, os.Remove(filepath.Join(dir, layout.Record("r", 2))))
	must(t, completeRun(run, Completion{Finished: time.Now(), Tally: journal.Tally{Targets: 2 * targetsOfSegment},
		Inputs: described().Inputs, Rejected: &digest}))
	must(t, run.Close())
	if v := verify(t, dir); len(v.Problems) > 0 {
		t.Errorf("%+v", v.Problems)
	}
	part := filepath.Join(dir, layout.Part("lines", "r", 0, ""))
	must(t, os.Remove(part))
	must(t, os.Symlink(secret, part))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	if _, err := OpenPart(t.Context(), dir, *partOf(m, layout.Part("lines", "r", 0, ""))); err == nil {
		t.Error("a part is read where a link is")
	}
	if v := verify(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != "file" {
		t.Errorf("a link in the place of a part: %+v", v.Problems)
	}
	must(t, Remove(sinktest.Open(t, dir), "r"))
	if got := tree(t, outside); len(got) != 1 || got["secret"] != "secret" {
		t.Errorf("outside there is %v", got)
	}
}

// A run cannot be completed without the totals of its segments.
func TestCompleteNeedsTheTotals_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	if err := run.Complete(Completion{Tally: journal.Tally{Targets: targetsOfSegment}}); err == nil ||
		!strings.Contains(err.Error(), "rows of summary that are not summed up") {
		t.Errorf("%v", err)
	}
	finish(t, run)
	if v := verify(t, dir); len(v.Problems) > 0 {
		t.Errorf("%+v", v.Problems)
	}
	for name := range tree(t, dir) {
		if strings.HasPrefix(name, "_runs/r/segments/") && !strings.HasSuffix(name, ".json") {
			t.Errorf("%s is left", name)
		}
	}
}

// Finding a run busy does not remove the folders that its writer is about to use.
func TestABusyRunKeepsItsFolders(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, layout.Records("r")), 0o777))
	s, err := store.Open(t.Context(), dir)
	must(t, err)
	defer s.Close()
	l, err := lockRun(s, "r") // as Create does before it writes the plan
	must(t, err)
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrRunBusy) {
		t.Errorf("open: %v", err)
	}
	if _, err := Create(dir, described()); !errors.Is(err, ErrRunBusy) {
		t.Errorf("create: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, layout.Records("r"))); err != nil {
		t.Error(err)
	}
	l.Release()
}

// A comparison without expectations removes those of the comparison that it
// replaces.
func TestAComparisonWithoutExpectationsReplacesThem_NoRace(t *testing.T) {
	dir := wholeRun(t, nil)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	for _, expected := range []bool{true, false} {
		c, err := CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
		must(t, err)
		if expected {
			f, err := c.Expectations()
			must(t, err)
			f.Write([]byte("expectation,host\n"))
		}
		must(t, c.Commit())
		if v := verify(t, dir); len(v.Problems) > 0 {
			t.Errorf("%+v", v.Problems)
		}
		if _, there := tree(t, dir)["changes/run=r/against=a/expectations.csv"]; there != expected {
			t.Errorf("expected: %v, there is a file: %v", expected, there)
		}
	}
}

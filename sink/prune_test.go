package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// weekly writes runs that start a week apart, in the order of the last byte of
// their names: c… is complete, u… unfinished.
func weekly(t *testing.T, runs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, id := range runs {
		m := described()
		m.Run, m.Started = id, m.Started.AddDate(-1, 0, 7*int(id[1]-'0'))
		run, err := Create(dir, m)
		must(t, err)
		commitSegment(t, run, 0)
		if id[0] == 'c' {
			finishAt(t, run, m.Started.Add(time.Hour))
		}
		must(t, run.Close())
	}
	return dir
}

func finishAt(t *testing.T, run *Run, at time.Time) {
	t.Helper()
	must(t, completeRun(run, Completion{Finished: at, Tally: journal.Tally{Targets: targetsOfSegment},
		Inputs: described().Inputs}))
}

// A run that started in the future, by a clock that was wrong, stays and does not count.
func TestPruneIfTheClockWasWrong_NoRace(t *testing.T) {
	dir := weekly(t, "c1", "c2")
	now := time.Now()
	filledIn(t, dir, "ahead", now.AddDate(4, 0, 0), nil)
	if diff := cmp.Diff([]string{"removed _runs/c1 complete", "kept _runs/c2 complete", "kept _runs/ahead complete"},
		prune(t, dir, 1, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Prune keeps what latest and the views name, although an old crawl was filled in later.
func TestPruneGoesByDate_NoRace(t *testing.T) {
	dir := weekly(t, "c1", "c2", "u3")
	now, long := time.Now(), time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC)
	filledIn(t, dir, "old", now.Add(-time.Hour), &long)
	s, err := store.Open(t.Context(), dir)
	must(t, err)
	defer s.Close()
	complete, err := journal.CompleteRuns(s)
	must(t, err)
	if latest := complete[len(complete)-1].Run; latest != "c2" {
		t.Fatalf("the latest run is %s, want c2", latest)
	}
	want := []string{"removed _runs/old complete", "removed _runs/c1 complete", "kept _runs/c2 complete",
		"kept _runs/u3 unfinished"}
	if diff := cmp.Diff(want, prune(t, dir, 1, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// filledIn writes a complete run that took an hour.
func filledIn(t *testing.T, dir, id string, started time.Time, asOf *time.Time) {
	t.Helper()
	m := described()
	m.Run, m.Started, m.AsOf = id, started, asOf
	run, err := Create(dir, m)
	must(t, err)
	commitSegment(t, run, 0)
	finishAt(t, run, started.Add(time.Hour))
	must(t, run.Close())
}

func compared(t *testing.T, dir string, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		must(t, os.MkdirAll(filepath.Join(dir, folder), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, folder, "part-0000000000.parquet"), []byte("12345"), 0o666))
	}
}

func prune(t *testing.T, dir string, keep int, dryRun bool) (lines []string) {
	t.Helper()
	must(t, Prune(context.Background(), sinktest.Open(t, dir), keep, dryRun, func(p Pruned) {
		verb := "kept"
		if p.Removed {
			verb = "removed"
		}
		if p.Removed == (p.Bytes == 0) {
			t.Errorf("%s has %d bytes, removed: %v", p.Path, p.Bytes, p.Removed)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", verb, p.Path, p.State))
	}))
	return lines
}

func TestPrune_NoRace(t *testing.T) {
	for _, row := range []struct {
		name string
		runs []string
		keep int
		want []string
	}{
		{"the last N complete ones stay, by their start and not by name", []string{"c3.a", "c1.z", "c2"}, 2,
			[]string{"removed _runs/c1.z complete", "kept _runs/c2 complete", "kept _runs/c3.a complete"}},
		{"unfinished ones stay that began after the oldest that is kept", []string{"u1", "c2", "u3", "c4", "u5", "c6", "u7"},
			2,
			[]string{"removed _runs/u1 unfinished", "removed _runs/c2 complete", "removed _runs/u3 unfinished",
				"kept _runs/c4 complete",
				"kept _runs/u5 unfinished", "kept _runs/c6 complete", "kept _runs/u7 unfinished"}},
		{"as many as are kept", []string{"u1", "c2", "c3"}, 2, []string{"removed _runs/u1 unfinished",
			"kept _runs/c2 complete", "kept _runs/c3 complete"}},
		{"fewer than are kept", []string{"u1", "c2", "u3"}, 2, []string{"kept _runs/u1 unfinished", "kept _runs/c2 complete",
			"kept _runs/u3 unfinished"}},
		{"none", nil, 1, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := weekly(t, row.runs...)
			must(t, os.MkdirAll(filepath.Join(dir, "_runs"), 0o777))
			before := tree(t, dir)
			if diff := cmp.Diff(row.want, prune(t, dir, row.keep, true)); diff != "" {
				t.Errorf("a dry run (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
				t.Errorf("a dry run has changed files:\n%s", diff)
			}
			if diff := cmp.Diff(row.want, prune(t, dir, row.keep, false)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			// The runs that stay are whole, and nothing of the others is left.
			for _, line := range row.want {
				verb, rest, _ := strings.Cut(line, " _runs/")
				run, _, _ := strings.Cut(rest, " ")
				for path, content := range before {
					if !strings.Contains(path, "run="+run+"/") && !strings.Contains(path, "_runs/"+run+"/") {
						continue
					}
					after, err := os.ReadFile(filepath.Join(dir, path))
					if verb == "removed" && !errors.Is(err, fs.ErrNotExist) || verb == "kept" && string(after) != content {
						t.Errorf("%s: %s: %v", line, path, err)
					}
				}
				if _, err := os.Stat(filepath.Join(dir, "_runs", run)); (err == nil) != (verb == "kept") {
					t.Errorf("%s: its folder: %v", line, err)
				}
			}
		})
	}
}

func TestPruneRemovesComparisonsOfRemovedRuns_NoRace(t *testing.T) {
	dir := weekly(t, "c1", "c2", "c3")
	compared(t, dir, "changes/run=c2/against=c1", "changes/run=c3/against=c2", "changes/run=c3/against=c1",
		"changes/run=c1/against=c0", "changes/else")
	want := []string{"removed _runs/c1 complete", "kept _runs/c2 complete", "kept _runs/c3 complete",
		"removed changes/run=c1/against=c0 orphaned", "removed changes/run=c2/against=c1 orphaned",
		"removed changes/run=c3/against=c1 orphaned"}
	// A store that does not say whether a run is there does not say that it is gone.
	in, err := store.Open(t.Context(), dir)
	must(t, err)
	defer in.Close()
	if gone, err := orphansOf(unreadable{in}, nil); !errors.Is(err, errDown) || len(gone) > 0 {
		t.Errorf("a store that fails: %v, %v", gone, err)
	}
	for _, dryRun := range []bool{true, false} {
		if diff := cmp.Diff(want, prune(t, dir, 2, dryRun)); diff != "" {
			t.Errorf("dry run %v (-want +got):\n%s", dryRun, diff)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "changes/*/*"))
	must(t, err)
	if want := []string{filepath.Join(dir, "changes/else/part-0000000000.parquet"),
		filepath.Join(dir, "changes/run=c3/against=c2")}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "changes/run=c1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}

// A run that another process is writing is not removed, nor are its comparisons.
func TestPruneLeavesARunThatIsBeingWritten_NoRace(t *testing.T) {
	dir := weekly(t, "u0", "c1", "c2")
	m := described()
	m.Run = "u0"
	run, err := Open(t.Context(), dir, m)
	must(t, err)
	compared(t, dir, "changes/run=c2/against=u0")
	want := []string{"kept _runs/u0 busy", "removed _runs/c1 complete", "kept _runs/c2 complete"}
	if diff := cmp.Diff(want, prune(t, dir, 1, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "changes/run=c2/against=u0")); err != nil {
		t.Error(err)
	}
	commitSegment(t, run, 1)
	finish(t, run)
	if v, err := Verify(context.Background(), dir, "u0", func(int, int) {}); err != nil || len(v.Problems) > 0 ||
		!v.Complete {
		t.Errorf("%+v, %v", v, err)
	}
}

// The next prune finishes what an interrupted one left.
func TestAPruneThatWasInterrupted_NoRace(t *testing.T) {
	for _, removed := range []int{0, 1, len(schema.TableNames)} {
		dir := weekly(t, "c1", "c2", "c3")
		compared(t, dir, "changes/run=c2/against=c1")
		must(t, os.Rename(filepath.Join(dir, "_runs/c1/manifest.json"), filepath.Join(dir, "_runs/c1/removing.json")))
		for _, table := range schema.TableNames[:removed] {
			must(t, os.RemoveAll(filepath.Join(dir, layout.TableFolder(table, "c1"))))
		}
		want := []string{"removed _runs/c1 half removed", "kept _runs/c2 complete", "kept _runs/c3 complete",
			"removed changes/run=c2/against=c1 orphaned"}
		if diff := cmp.Diff(want, prune(t, dir, 9, false)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[1:3], prune(t, dir, 9, false)); diff != "" {
			t.Errorf("once more (-want +got):\n%s", diff)
		}
	}
	dir := weekly(t, "c1", "c2", "c3")
	ctx, cancel := context.WithCancel(context.Background())
	if err := Prune(ctx, sinktest.Open(t, dir), 1, false, func(Pruned) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if diff := cmp.Diff([]string{"removed _runs/c2 complete", "kept _runs/c3 complete"},
		prune(t, dir, 1, false)); diff != "" {
		t.Errorf("after an interruption (-want +got):\n%s", diff)
	}
}

// The start of a run with an unreadable manifest is unknown, so it stays.
func TestPruneLeavesWhatItDoesNotUnderstand_NoRace(t *testing.T) {
	dir := weekly(t, "c1", "c2", "c3")
	must(t, os.WriteFile(filepath.Join(dir, "_runs/c1/manifest.json"), []byte("{"), 0o666))
	outside := t.TempDir()
	for _, id := range []string{"folder", "link"} {
		must(t, os.MkdirAll(filepath.Join(dir, "_runs", id), 0o777))
	}
	must(t, os.Mkdir(filepath.Join(dir, "_runs/folder/manifest.json"), 0o777))
	must(t, os.Symlink(outside, filepath.Join(dir, "_runs/link/manifest.json")))
	must(t, os.Symlink(outside, filepath.Join(dir, "_runs/elsewhere")))
	must(t, os.MkdirAll(filepath.Join(dir, "_runs/no run of ours"), 0o777))
	must(t, os.MkdirAll(filepath.Join(dir, "_runs/empty"), 0o777))
	want := []string{"kept _runs/c1 damaged", "kept _runs/elsewhere damaged", "kept _runs/folder damaged",
		"kept _runs/link damaged", "removed _runs/c2 complete", "kept _runs/c3 complete"}
	if diff := cmp.Diff(want, prune(t, dir, 1, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, err := range []error{
		Prune(context.Background(), sinktest.Open(t, dir), 0, false, func(Pruned) { t.Error("a run is pruned") }),
	} {
		if err == nil {
			t.Error("is no error")
		}
	}
}

// A run of shards that gives signs of life is busy, although it holds no lock; without
// them it is removed as any other.
func TestPruneLeavesLivingShards_NoRace(t *testing.T) {
	dir := weekly(t, "c5")
	p := described()
	p.Run, p.Shards, p.Started = "u1", 3, p.Started.AddDate(-1, 0, 7)
	s, err := OpenSharded(sinktest.Open(t, dir), p, 1)
	must(t, err)
	must(t, s.Beat(t.Context(), 10))
	if diff := cmp.Diff([]string{"kept _runs/u1 busy", "kept _runs/c5 complete"}, prune(t, dir, 1, false)); diff != "" {
		t.Errorf("alive (-want +got):\n%s", diff)
	}
	// A clock that is wrong changes nothing.
	in, err := store.Open(t.Context(), dir)
	must(t, err)
	defer in.Close()
	for _, wrong := range []time.Duration{time.Hour, -time.Hour} {
		runs, err := runsToPrune(in, 1, time.Now().Add(wrong), true)
		must(t, err)
		if len(runs) != 2 || runs[0].State != "busy" || runs[0].Removed {
			t.Errorf("a clock that is %s ahead: %+v", wrong, runs)
		}
	}
	for _, wrong := range []time.Duration{time.Hour, -time.Hour} { // or that of the store
		if alive, err := isAlive(skewed{in, wrong}, "u1"); !alive || err != nil {
			t.Errorf("a store whose clock is %s ahead: alive %v, %v", wrong, alive, err)
		}
	}
	old := time.Now().Add(-4 * time.Minute)
	must(t, os.Chtimes(filepath.Join(dir, layout.Beat("u1", 1)), old, old))
	if diff := cmp.Diff([]string{"removed _runs/u1 unfinished", "kept _runs/c5 complete"},
		prune(t, dir, 1, false)); diff != "" {
		t.Errorf("dead (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, layout.RunFile("u1"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run is left: %v", err)
	}
}

// skewed is a store whose clock is not that of this machine.
type skewed struct {
	store.Store
	by time.Duration
}

type skewedInfo struct {
	fs.FileInfo
	by time.Duration
}

func (i skewedInfo) ModTime() time.Time { return i.FileInfo.ModTime().Add(i.by) }

func (s skewed) Stat(name string) (fs.FileInfo, error) {
	info, err := s.Store.Stat(name)
	return skewedInfo{info, s.by}, err
}

func (s skewed) List(folder string) (list []fs.DirEntry, err error) {
	entries, err := s.Store.List(folder)
	for _, e := range entries {
		info, e := e.Info()
		if e != nil {
			return nil, e
		}
		list = append(list, fs.FileInfoToDirEntry(skewedInfo{info, s.by}))
	}
	return list, err
}

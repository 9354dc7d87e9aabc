package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// reopen closes the run, as if its process had ended, and resumes it.
func reopen(t *testing.T, dir string, run *Run) *Run {
	t.Helper()
	must(t, run.Close())
	run, err := Open(context.Background(), dir, described())
	must(t, err)
	t.Cleanup(func() { run.Close() })
	return run
}

// keepCaptures stores captures of segment 3 from eight goroutines.
func keepCaptures(t *testing.T, run *Run, from, to int) {
	t.Helper()
	a, err := run.Captures(3)
	must(t, err)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := from + worker; i < to; i += 8 {
				if err := a.Keep(i, captureOf(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func captureOf(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i%50) }

// found returns the number of stored captures of segment 3, and checks their
// contents.
func found(t *testing.T, run *Run) (n int) {
	t.Helper()
	a, err := run.Captures(3)
	must(t, err)
	for i := range 300 {
		got, err := a.Find(i)
		must(t, err)
		if got == nil {
			continue
		}
		if n++; !bytes.Equal(got, captureOf(i)) {
			t.Errorf("capture %d is %q", i, got)
		}
	}
	return n
}

func TestCapturesOutliveTheProcess_NoRace(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	keepCaptures(t, run, 0, 100)
	run = reopen(t, dir, run)
	if n := found(t, run); n != 100 {
		t.Errorf("%d captures were found, want 100", n)
	}
	keepCaptures(t, run, 100, 200)
	if _, n, err := run.Kept(); n != 200 || err != nil {
		t.Errorf("%d captures, %v, want 200", n, err)
	}
	run = reopen(t, dir, run)
	if _, n, err := run.Kept(); n != 200 || err != nil {
		t.Errorf("after all is read again: %d captures, %v, want 200", n, err)
	}
	if n := found(t, run); n != 200 {
		t.Errorf("%d captures were found, want 200", n)
	}
	v, err := Verify(context.Background(), dir, "r", func(int, int) {})
	must(t, err)
	if len(v.Problems) > 0 {
		t.Errorf("verify finds %v", v.Problems)
	}

	// The commit removes them, even if a crash interrupted it.
	path := filepath.Join(dir, layout.Captures("r", 3))
	left, err := os.ReadFile(path)
	must(t, err)
	s, err := run.Segment(3)
	must(t, err)
	s.Note = json.RawMessage(note(3))
	must(t, fill(s, 3))
	must(t, s.Commit())
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after the commit: %v", err)
	}
	must(t, os.WriteFile(path, left, 0o666))
	v, err = Verify(context.Background(), dir, "r", func(int, int) {})
	must(t, err)
	if len(v.Problems) > 0 {
		t.Errorf("after a crash verify finds %v", v.Problems)
	}
	run = reopen(t, dir, run)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("after resuming: %v", err)
	}
	if committed, n, err := run.Kept(); committed != targetsOfSegment || n != 0 || err != nil {
		t.Errorf("%d targets are committed, of %d more there are captures, %v; want %d and none", committed, n, err,
			targetsOfSegment)
	}
	must(t, run.Close())

	// None outlives the completion or the removal of its run.
	must(t, writeRun(dir, func() {}))
	if left := leftovers(t, dir); len(left) > 0 {
		t.Errorf("a complete run leaves %v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, layout.CapturesFolder("r"))); !os.IsNotExist(err) {
		t.Errorf("a complete run has a folder of captures: %v", err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, layout.CapturesFolder("r")), 0o777))
	must(t, os.WriteFile(path, left, 0o666))
	v, err = Verify(context.Background(), dir, "r", func(int, int) {})
	must(t, err)
	if text := problemsOf(v); !strings.Contains(text, "_runs/r/captures: extra") {
		t.Errorf("verify finds %q", text)
	}
	must(t, Remove(sinktest.Open(t, dir), "r"))
	if files := tree(t, dir); len(files) > 0 {
		t.Errorf("the removal leaves %v", files)
	}
}

func problemsOf(v *Verification) string {
	var out []string
	for _, p := range v.Problems {
		out = append(out, p.Path+": "+p.Kind)
	}
	return strings.Join(out, ", ")
}

// Answers of another plan, such as that of an earlier run with the same ID, are
// ignored.
func TestCapturesBelongToOnePlan(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	keepCaptures(t, run, 0, 10)
	path := filepath.Join(dir, layout.Captures("r", 3))
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, run.Close())
	must(t, Remove(sinktest.Open(t, dir), "r"))
	later := described()
	later.Started = later.Started.Add(time.Second)
	run, err = Create(dir, later)
	must(t, err)
	defer run.Close()
	must(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must(t, os.WriteFile(path, content, 0o666))
	if n := found(t, run); n != 0 {
		t.Errorf("%d captures of another plan were found", n)
	}
}

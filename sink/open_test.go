package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/journal"
)

func TestOpenRemovesWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 1)
	must(t, run.Close())
	want := tree(t, dir)
	for _, name := range []string{
		"fetches/run=r/part-0000000000.parquet", "rules/run=r/part-0000000001.parquet.tmp",
		"bodies/run=r/part-0000000002.parquet",
		"_runs/r/bodies.tmp", "_runs/r/manifest.ABCDEFGH.json.tmp", "_runs/r/lock",
		"_runs/r/segments/0000000000.summary.parquet", "_runs/r/segments/0000000001.ABCDEFGH.json.tmp",
		"summary/run=r/part-0000000000.parquet",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("left"), 0o666))
	}
	if v := verify(t, dir); len(v.Problems) > 0 || v.Complete {
		t.Errorf("unfinished, with leftovers: %+v", v)
	}
	run, err = Open(t.Context(), dir, described())
	must(t, err)
	if run.Committed(1) == nil || run.Committed(0) != nil || run.Rows()["fetches"] != targetsOfSegment {
		t.Error("segment 1 is not committed, or 0 is")
	}
	if _, err := run.Segment(1); err == nil {
		t.Error("a committed segment is begun again")
	}
	must(t, run.Close())
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestOpenRefusesACommittedPartThatIsGone(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, run.Close())
	must(t, os.Remove(filepath.Join(dir, "lines/run=r/part-0000000000.parquet")))
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, journal.ErrNotResumable) ||
		errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "lines/run=r/part-0000000000.parquet") {
		t.Errorf("a part is gone: %v", err)
	}
}

// A run is resumed only with its own plan. The error names every difference.
func TestOpenRefusesAnotherPlan(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	must(t, run.Close())
	for _, row := range []struct {
		name   string
		change func(p *journal.Plan)
		want   []string // in the error; none if it opens
	}{
		{"the same", func(p *journal.Plan) {}, nil},
		{"another start and version", func(p *journal.Plan) { p.Started, p.ToolVersion = time.Now(), "v1" }, nil},
		{"a file moved", func(p *journal.Plan) { p.Inputs[0].Path, p.Configuration["hosts"] = "/other.csv", "/other.csv" },
			nil},
		{"tables, settings and inputs", func(p *journal.Plan) {
			p.Tables, p.Configuration["retries"], p.Inputs[1].SHA256 = []string{"fetches"}, 3, "1"
		}, []string{`is now ["fetches"]`, "retries was 2 and is now 3", "agents: agents.yaml"}},
	} {
		p := described()
		row.change(&p)
		run, err := Open(t.Context(), dir, p)
		if row.want == nil {
			must(t, err)
			must(t, run.Close())
			continue
		}
		if !errors.Is(err, journal.ErrNotResumable) || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%s: %v", row.name, err)
		}
		for _, want := range row.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: does not say %q", row.name, err, want)
			}
		}
	}
	other := described()
	other.Run = "other"
	if _, err := Open(t.Context(), dir, other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestCreateTakesOverWhatCreateLeft(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "_runs/r")
	must(t, os.MkdirAll(folder, 0o777))
	must(t, os.WriteFile(filepath.Join(folder, "plan.ABCDEFGH.json.tmp"), []byte(`{"seg`), 0o666))
	must(t, os.WriteFile(filepath.Join(folder, "lock"), nil, 0o600))
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that was never created: %v", err)
	}
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, run.Close())
	must(t, os.Remove(filepath.Join(folder, "plan.json")))
	if _, err := Create(dir, described()); !errors.Is(err, journal.ErrRunExists) {
		t.Errorf("parts without a plan: %v", err)
	}
}

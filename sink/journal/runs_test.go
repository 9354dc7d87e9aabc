package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// manyRuns returns a folder with complete runs (c…), incomplete ones (u…), one of shards
// and damaged ones, which started a day apart, the last two on the same.
func manyRuns(t *testing.T) folder {
	t.Helper()
	f := newFolder(t)
	for i, id := range []string{"c3", "u2", "u1", "c2", "damaged", "shards", "c1"} {
		p := described()
		p.Run, p.Started = id, p.Started.AddDate(0, 0, min(i, 5))
		if id == "shards" {
			p.Shards = 4
		}
		f.begin(t, &p, 0)
		if id[0] == 'c' {
			f.finish(t, id)
		}
	}
	f.write(t, "_runs/damaged/plan.json", []byte("{"))
	f.write(t, "_runs/file", nil)
	f.write(t, "_runs/.hidden/plan.json", nil)
	must(t, f.MakeFolder("_runs/empty"))
	f.write(t, "_runs/begun/lock", nil)
	f.write(t, "_runs/begun/plan.ABCDEFGH.json.tmp", nil)
	return f
}

// One damaged run does not hide the others.
func TestRuns(t *testing.T) {
	f := manyRuns(t)
	f.write(t, "_runs/c2/manifest.json", []byte("{"))
	f.write(t, layout.Beat("shards", 2), nil)
	runs, err := Runs(f)
	must(t, err)
	var got []string
	for _, r := range runs {
		got = append(got, r.Run+" "+r.State)
		if (r.State == Damaged) != (r.Damage != "" && r.Date == nil && r.Hosts == nil && r.Rejected == nil) ||
			r.State != Damaged && *r.Hosts != targetsOfSegment {
			t.Errorf("%+v", r)
		}
		if r.Run == "shards" {
			if diff := cmp.Diff(&ShardsInfo{Of: 4, Committed: 1, UnderWay: []int{2}, Missing: []int{1, 3}},
				r.Shards); diff != "" {
				t.Error(diff)
			}
		} else if r.Shards != nil {
			t.Errorf("%s has shards", r.Run)
		}
	}
	if diff := cmp.Diff([]string{"c2 damaged", "damaged damaged", "file damaged", "c3 complete", "u2 unfinished",
		"u1 unfinished", "c1 complete", "shards unfinished"}, got); diff != "" {
		t.Error(diff)
	}
	ids, err := RunIDs(f)
	if diff := cmp.Diff([]string{"c1", "c2", "c3", "damaged", "file", "shards", "u1", "u2"}, ids); diff != "" ||
		err != nil {
		t.Error(diff, err)
	}
	if _, err := RunIDs(newFolder(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not an output folder: %v", err)
	}
	// A sign of life ends.
	old := time.Now().Add(-4 * time.Minute)
	must(t, os.Chtimes(filepath.Join(f.dir, layout.Beat("shards", 2)), old, old))
	if alive, err := AliveShards(f, "shards", time.Now()); len(alive) > 0 || err != nil {
		t.Errorf("alive after four minutes: %v, %v", alive, err)
	}
	if alive, err := AliveShards(f, "shards", old.Add(time.Minute)); !alive[2] || err != nil {
		t.Errorf("not alive after one minute: %v, %v", alive, err)
	}
}

func TestCompleteRuns(t *testing.T) {
	f := manyRuns(t)
	f.write(t, "_runs/c2/manifest.json", []byte("{"))
	runs, err := CompleteRuns(f)
	must(t, err)
	var got []string
	for _, m := range runs {
		got = append(got, m.Run)
	}
	if diff := cmp.Diff([]string{"c3", "c1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestLastIncomplete(t *testing.T) {
	if run, damaged, err := LastIncomplete(newFolder(t)); run != "" || damaged != nil || err != nil {
		t.Errorf("of no run: %q, %v, %v", run, damaged, err)
	}
	f := manyRuns(t)
	f.write(t, "_runs/c2/manifest.json", []byte("{")) // still complete
	f.write(t, layout.Record("u1", 0), []byte("{"))   // whoever resumes it is told
	run, damaged, err := LastIncomplete(f)
	if diff := cmp.Diff([]string{"damaged"}, damaged); run != "u1" || diff != "" || err != nil {
		t.Errorf("run %q, %v: %s", run, err, diff)
	}
	must(t, f.RemoveAll("_runs/u1"))
	if run, _, err := LastIncomplete(f); run != "u2" || err != nil {
		t.Errorf("run %q, %v", run, err)
	}
}

// A run of shards is completed by its shards, any other by --resume.
func TestHowToComplete(t *testing.T) {
	f := newFolder(t)
	for _, row := range []struct {
		run    string
		shards int
		want   string
	}{{"b", 3, WaysToComplete[1]}, {"c", 1, WaysToComplete[0]}, {"a", 3, WaysToComplete[0]}} {
		p := described()
		p.Run, p.Shards = row.run, row.shards
		f.begin(t, &p)
		if way, err := HowToComplete(f); way != row.want || err != nil {
			t.Errorf("with %s: %q, %v", row.run, way, err)
		}
	}
}

// A run that cannot be read for now is not skipped as a damaged one is: views and latest
// would name another.
func TestRunsFailIfTheyCannotBeRead(t *testing.T) {
	f := manyRuns(t)
	broken := unreadable{f}
	if runs, err := CompleteRuns(broken); !errors.Is(err, errDown) {
		t.Errorf("%d complete runs, %v", len(runs), err)
	}
	if runs, err := Runs(broken); !errors.Is(err, errDown) {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if run, damaged, err := LastIncomplete(broken); !errors.Is(err, errDown) {
		t.Errorf("run %q, %v, %v", run, damaged, err)
	}
	if way, err := HowToComplete(broken); !errors.Is(err, errDown) {
		t.Errorf("%q, %v", way, err)
	}
}

// unreadable is a store that fails to read and describe files.
type unreadable struct{ store.Store }

var errDown = fmt.Errorf("%w: 503", remote.ErrTransfer)

func (unreadable) Open(string) (*os.File, error)      { return nil, errDown }
func (unreadable) Read(string, int64) ([]byte, error) { return nil, errDown }
func (unreadable) Stat(string) (os.FileInfo, error)   { return nil, errDown }

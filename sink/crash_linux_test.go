package sink

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// step is one change of names in a folder, as the kernel reports it.
type step struct {
	name string
	gone bool
}

// watcher records the changes of names in a folder, in their order.
type watcher struct {
	t       *testing.T
	fd      int
	folders map[int32]string
}

func watch(t *testing.T, dir string) *watcher {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	must(t, err)
	w := &watcher{t, fd, make(map[int32]string)}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		wd, err := unix.InotifyAddWatch(fd, path, unix.IN_CREATE|unix.IN_DELETE|unix.IN_MOVED_FROM|unix.IN_MOVED_TO)
		name, _ := filepath.Rel(dir, path)
		w.folders[int32(wd)] = filepath.ToSlash(name)
		return err
	}))
	return w
}

// steps ends the watch and returns the steps so far.
func (w *watcher) steps() (out []step) {
	w.t.Helper()
	defer unix.Close(w.fd)
	buffer := make([]byte, 1<<20)
	for {
		n, err := unix.Read(w.fd, buffer)
		if errors.Is(err, unix.EAGAIN) {
			return out
		}
		must(w.t, err)
		for b := buffer[:n]; len(b) > 0; {
			wd, mask, size := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:]),
				binary.NativeEndian.Uint32(b[12:])
			name, _, _ := bytes.Cut(b[16:16+size], []byte{0})
			b = b[16+size:]
			if mask&unix.IN_Q_OVERFLOW != 0 {
				w.t.Fatal("the kernel has lost some steps")
			}
			// IN_IGNORED ends the watch of a folder that is removed. It announces no file.
			if mask&(unix.IN_ISDIR|unix.IN_IGNORED) == 0 {
				out = append(out, step{path.Join(w.folders[wd], string(name)), mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0})
			}
		}
	}
}

// killedAfter writes a folder as a crash after some steps leaves it: the contents
// before, changed by the steps. A temporary file is half written.
func killedAfter(t *testing.T, before map[string]string, steps []step, content map[string]string) string {
	t.Helper()
	files := maps.Clone(before)
	for _, s := range steps {
		switch {
		case s.gone:
			delete(files, s.name)
		case store.IsTemporary(s.name):
			files[s.name] = "half"
		default:
			files[s.name] = content[s.name]
		}
	}
	dir := t.TempDir()
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Join(dir, path.Dir(name)), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// If a run is killed between any two steps of a commit or of its completion,
// committed segments are whole, and resuming yields the same files.
func TestACrashBetweenAnyTwoSteps_NoRace(t *testing.T) {
	t.Run("tables", func(t *testing.T) { crashBetweenAnyTwoSteps(t, described()) })
	t.Run("tables and evidence", func(t *testing.T) { crashBetweenAnyTwoSteps(t, withWARC()) })
}

func crashBetweenAnyTwoSteps(t *testing.T, plan journal.Plan) {
	dir := t.TempDir()
	t.Chdir(dir) // the file of the evidence is there, under the same name for all
	run, err := Create(dir, plan)
	must(t, err)
	before := tree(t, dir) // includes the lock file, as a killed process leaves it
	w := watch(t, dir)
	commitSegment(t, run, 0)
	commitSegment(t, run, 1)
	content := tree(t, dir)
	finish(t, run)
	steps := w.steps()
	want := tree(t, dir)
	maps.Copy(content, want)

	stride := 1
	if testing.Short() {
		stride = 3
	}
	complete, committed := 0, 0
	for n := 0; n <= len(steps); n += stride {
		dir := killedAfter(t, before, steps[:n], content)
		t.Chdir(dir)
		v := verify(t, dir)
		if len(v.Problems) > 0 {
			t.Fatalf("after %d steps, the last %+v: %v", n, steps[n-1], v.Problems)
		}
		run, err := Open(t.Context(), dir, plan)
		if v.Complete {
			complete++
			if !errors.Is(err, ErrRunComplete) {
				t.Fatalf("after %d steps the run is complete: %v", n, err)
			}
		} else {
			must(t, err)
			committed += v.Segments
			for index := range 2 {
				if run.Committed(index) == nil {
					commitSegment(t, run, index)
				}
			}
			must(t, completeRun(run, Completion{
				Finished: finishedAt(t, want), Tally: journal.Tally{Targets: 2 * targetsOfSegment}, Inputs: described().Inputs,
				WARCOut: warcOutOf(run),
			}))
			must(t, run.Close())
		}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Fatalf("after %d steps, the last %+v (-undisturbed +resumed):\n%.2000s", n, steps[n-1], diff)
		}
	}
	t.Logf("%d steps", len(steps))
	if complete == 0 || committed == 0 || len(steps) < 80 {
		t.Errorf("%d steps, of which %d are after the manifest: the watch has missed some", len(steps), complete)
	}
}

func finishedAt(t *testing.T, files map[string]string) (at time.Time) {
	t.Helper()
	_, rest, _ := strings.Cut(files["_runs/r/manifest.json"], `"finished": "`)
	text, _, _ := strings.Cut(rest, `"`)
	at, err := time.Parse(time.RFC3339Nano, text)
	must(t, err)
	return at
}

// If a comparison that replaces an earlier one is killed, the run does not count as
// damaged, no reader mixes files of the two, and the next comparison succeeds.
func TestAComparisonThatIsKilledBetweenAnyTwoSteps_NoRace(t *testing.T) {
	dir := wholeRun(t, nil)
	compare := func(dir string, hosts ...string) {
		t.Helper()
		m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
		must(t, err)
		c, err := CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
		must(t, err)
		f, err := c.Expectations()
		must(t, err)
		for _, host := range hosts {
			must(t, c.Write(schema.Change{Host: host, BeforeRun: new("a")}))
			f.Write([]byte(host))
		}
		must(t, c.Commit())
	}
	compare(dir, "one")
	before := tree(t, dir)
	w := watch(t, dir)
	compare(dir, "one", "two")
	steps := w.steps()
	want := tree(t, dir)
	for n := range len(steps) + 1 {
		dir := killedAfter(t, before, steps[:n], want)
		if v := verify(t, dir); len(v.Problems) > 0 {
			t.Fatalf("after %d steps, the last %+v: %v", n, steps[n-1], v.Problems)
		}
		if c, err := journal.ReadComparison(sinktest.Open(t, dir), "r", "a"); err == nil {
			f, err := OpenPart(context.Background(), dir, *c.Part)
			if err != nil {
				t.Fatalf("after %d steps, the last %+v: %v", n, steps[n-1], err)
			}
			f.Close()
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		compare(dir, "one", "two")
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Fatalf("after %d steps, the last %+v:\n%.2000s", n, steps[n-1], diff)
		}
	}
	if len(steps) < 10 {
		t.Errorf("%d steps: the watch has missed some", len(steps))
	}
}

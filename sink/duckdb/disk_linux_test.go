package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// under returns the command with a limit that sh's ulimit sets, in its units, and
// on one core, so that segments are committed one by one.
func under(limit string, args []string) *exec.Cmd {
	c := exec.Command("sh", append([]string{"-c", limit + `; exec "$0" "$@"`, filepath.Join(bin, "robocensus")},
		args...)...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	return c
}

// stopped runs a command that must end with exit code 74 and one line that contains
// the cause, and must leave no half part in the tables. It returns the line, or ""
// if the command succeeded.
func stopped(t *testing.T, c *exec.Cmd, dir, cause string) string {
	t.Helper()
	var stderr bytes.Buffer
	c.Stderr = &stderr
	if c.Run() == nil {
		return ""
	}
	said := stderr.String()
	if code := c.ProcessState.ExitCode(); code != 74 {
		t.Errorf("exit code %d, want 74", code)
	}
	advice := "continue the run with --resume"
	if _, err := os.Stat(filepath.Join(dir, "_runs", "r")); errors.Is(err, fs.ErrNotExist) {
		advice = "start the run again: nothing of it is kept"
	}
	if strings.Count(said, "\n") != 1 || strings.Contains(said, `\u000a`) || !strings.Contains(said, cause) ||
		!strings.Contains(said, dir) || !strings.Contains(said, advice) {
		t.Errorf("it should be said in one line that there is %q, where, and what to do:\n%s", cause, said)
	}
	v := &victim{dir: dir}
	if s := v.look(); s.temporary+s.renamed > 0 || s.recording || s.ending {
		t.Errorf("parts are left of a segment that is not committed, or half a record: %+v", s)
	}
	v.verify(t)
	return strings.TrimSpace(said)
}

const page = 4096

// file is a file of a run, and the disk space that it takes.
type file struct {
	path  string
	pages int64
}

// filesOf returns the files of run r in a folder, in the order of writing.
func filesOf(t *testing.T, dir string) (files []file) {
	t.Helper()
	add := func(path string, bytes int64) { files = append(files, file{path, (bytes + page - 1) / page}) }
	stat := func(path string) {
		info, err := os.Stat(filepath.Join(dir, path))
		must(t, err)
		add(path, info.Size())
	}
	stat("_runs/r/plan.json")
	stat("_runs/r/rejected.csv")
	m := readManifest(t, dir)
	for _, r := range m.Records {
		path := fmt.Sprintf("_runs/r/segments/%010d.json", r.Segment)
		text, err := os.ReadFile(filepath.Join(dir, path))
		must(t, err)
		var record manifest
		must(t, json.Unmarshal(text, &record))
		for _, p := range record.Parts {
			add(p.Path, p.Bytes)
		}
		add(path, int64(len(text)))
	}
	for _, p := range m.RunParts {
		add(p.Path, p.Bytes)
	}
	stat("_runs/r/manifest.json")
	return files
}

func mountable(t *testing.T, options string) string {
	t.Helper()
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, options); err != nil {
		t.Skipf("a small disk cannot be mounted (%v); TestLimitedFiles stands for it", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	return disk
}

// The disk fills up in the middle of each kind of file; after it is enlarged, the
// run is resumed.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("package sink fills the disk in each kind of file")
	}
	t.Parallel()
	mountable(t, "size=1m")
	w := newWeb(t, segmentTargets+200, "none")
	want := filepath.Join(t.TempDir(), "out")
	source := filepath.Join(t.TempDir(), "source")
	robocensus(t, 0, w.census(source, once...)...)
	// Judged anew a run keeps no answers, which would fill a disk before all else.
	again := func(dir string, args ...string) []string { return w.rejudged(source, dir, args...) }
	robocensus(t, 0, again(want)...)
	files := filesOf(t, want)
	before := int64(0)
	for at, f := range files {
		size := before + f.pages/2
		before += f.pages
		if at < 2 || strings.Contains(f.path, "part-0000000000") && !strings.Contains(f.path, "summary") &&
			!strings.Contains(f.path, "examples") ||
			strings.Contains(f.path, "segments/0000000000.") && !strings.HasSuffix(f.path, ".json") || strings.HasSuffix(f.path,
			"segments/0000000001.json") {
			// without a plan there is no run; an earlier run rejects no line; the other files resemble those
			// of the other segment
			continue
		}
		name, _, _ := strings.Cut(f.path, "/run=") // DuckDB would read the rest as a partition
		t.Run(fmt.Sprint(at, " ", path.Base(name)), func(t *testing.T) {
			// The space that times take varies from run to run: change the size of
			// the disk until the file fills it.
			for range 60 {
				size = max(size, 1)
				disk := mountable(t, fmt.Sprint("size=", size*page))
				dir := filepath.Join(disk, "out")
				said := stopped(t, under(":", again(dir)), dir, "no space left on device")
				t.Logf("full at %d bytes: %s", size*page, said)
				full := slices.IndexFunc(files, func(f file) bool { return strings.Contains(said, f.path) })
				switch {
				case full == at:
					must(t, unix.Mount("none", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"))
					robocensus(t, 0, again(dir, "--resume")...)
					wantSameBytes(t, want, dir)
					return
				case full >= 0 && full < at:
					size++
				default: // it was not stopped, or later
					size--
				}
			}
			t.Errorf("no size of the disk is full in %s", f.path)
		})
	}
}

// once disables retries.
var once = []string{"--retries", "0"}

// The disk is full of answers that wait for their segment. Resuming asks only the
// hosts whose answers are lost.
func TestFullOfAnswers(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 1000, "none")
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want)...)
	requests := w.asked(t)
	w.reset(t)
	disk := mountable(t, "size=300k")
	dir := filepath.Join(disk, "out")
	if said := stopped(t, under(":", w.census(dir)), dir, "no space left on device"); !strings.Contains(said,
		"keep a capture") {
		t.Errorf("the disk should be full of answers: %s", said)
	}
	must(t, unix.Mount("none", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"))
	robocensus(t, 0, w.census(dir, "--resume")...)
	wantSameBytes(t, want, dir)
	// Lost are the answers in flight, and those that found the disk full while the next
	// hosts were asked.
	wantNothingAskedTwice(t, requests, w.asked(t), 2*64)
}

// If the disk has no room for any answer, nothing is left of the run, and --resume
// begins it.
func TestNoRoomForAnyAnswer(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 0, "none", "huge.test")
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want)...)
	disk := mountable(t, "size=300k")
	dir := filepath.Join(disk, "out")
	if said := stopped(t, under(":", w.census(dir)), dir, "no space left on device"); !strings.HasSuffix(said,
		"fix that, then start the run again: nothing of it is kept") {
		t.Errorf("said %s", said)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	must(t, unix.Mount("none", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"))
	robocensus(t, 0, w.census(dir, "--resume")...)
	wantSameBytes(t, want, dir)
}

// The same with a limit on the size of a file, for each file that is larger than
// all before it.
func TestLimitedFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("package sink limits files at each size")
	}
	t.Parallel()
	w := newWeb(t, segmentTargets+350, "none")
	want := filepath.Join(t.TempDir(), "out")
	source := filepath.Join(t.TempDir(), "source")
	robocensus(t, 0, w.census(source, once...)...)
	// Judged anew a run keeps no answers, which would fill a disk before all else.
	again := func(dir string, args ...string) []string { return w.rejudged(source, dir, args...) }
	robocensus(t, 0, again(want)...)
	most := int64(0)
	for _, p := range readManifest(t, want).Parts {
		if p.Segment > 0 || p.Bytes < most+2048 {
			continue
		}
		limit := (most + p.Bytes) / 2
		most = p.Bytes
		dir := filepath.Join(t.TempDir(), "out")
		said := stopped(t, under(fmt.Sprint("ulimit -f ", limit/512), again(dir)), dir, "file too large")
		if !strings.Contains(said, p.Path) {
			t.Errorf("files of %d bytes at most should be too small for %s: %s", limit, p.Path, said)
		}
		t.Logf("at most %d bytes: %s", limit, strings.TrimSpace(said))
		robocensus(t, 0, again(dir, "--resume")...)
		wantSameBytes(t, want, dir)
	}
}

// No host is asked if its answer could not be stored.
func TestReadOnlyFolder(t *testing.T) {
	disk := t.TempDir()
	if os.Getuid() == 0 {
		if err := unix.Mount("none", disk, "tmpfs", unix.MS_RDONLY, "size=1m"); err != nil {
			t.Skipf("root may write everywhere, and a read-only disk cannot be mounted: %v", err)
		}
		t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	} else {
		must(t, os.Chmod(disk, 0o555))
	}
	w := newWeb(t, 10, "none")
	_, said := robocensus(t, 74, w.census(filepath.Join(disk, "out"))...)
	if strings.Count(said, "\n") != 1 || !strings.Contains(said, disk) {
		t.Errorf("it should be said in one line where nothing can be written:\n%s", said)
	}
	if n := len(w.asked(t)); n > 0 {
		t.Errorf("%d hosts were asked", n)
	}
}

// takenFrom runs a census and takes something away from it once it has committed a
// segment. It returns when the process has ended.
func takenFrom(t *testing.T, w *web, take func(dir string, pid int) error) (v *victim, c *exec.Cmd, said string) {
	t.Helper()
	v = &victim{dir: filepath.Join(t.TempDir(), "out")}
	c = under(":", w.census(v.dir))
	var errs bytes.Buffer
	c.Stderr = &errs
	must(t, c.Start())
	for deadline := time.Now().Add(time.Minute); v.look().committed == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no segment is committed within a minute")
		}
	}
	if err := take(v.dir, c.Process.Pid); err != nil && !errors.Is(err, unix.ESRCH) {
		t.Fatal(err)
	}
	c.Wait()
	return v, c, errs.String()
}

// Something is taken away from a run in progress.
func TestTakenAway(t *testing.T) {
	if testing.Short() {
		t.Skip("package sink takes folder and disk away from a run")
	}
	w := newWeb(t, segmentTargets*7/4, "uniform:1ms-15ms")
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want)...)
	for _, row := range []struct {
		name, cause string
		resumable   bool
		take        func(dir string, pid int) error
		give        func(dir string) error
	}{
		{"the folder's name", "", false, // the run does not need it
			func(dir string, _ int) error { return os.Rename(dir, dir+"-away") },
			func(dir string) error {
				if _, err := os.Stat(dir); err == nil {
					return fmt.Errorf("%s was made anew", dir)
				}
				return os.Rename(dir+"-away", dir)
			}},
		{"all that was written", "no such file or directory", false,
			func(dir string, _ int) error { return removeWhileWritten(dir) },
			func(dir string) error { return os.RemoveAll(dir) }},
		{"open files", "too many open files", true,
			func(_ string, pid int) error {
				return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 20, Max: 20}, nil)
			},
			func(string) error { return nil }},
		{"room in files", "file too large", true,
			func(_ string, pid int) error {
				return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 10, Max: 1 << 10}, nil)
			},
			func(string) error { return nil }},
	} {
		t.Run(row.name, func(t *testing.T) {
			v, c, said := takenFrom(t, w, row.take)
			for more := 4; more > 0 && row.cause != "" && c.ProcessState.ExitCode() == 0; more-- {
				v, c, said = takenFrom(t, w, row.take) // the run was over first
			}
			if row.cause == "" && c.ProcessState.ExitCode() != 0 {
				t.Errorf("%v, and says: %s", c.ProcessState, said)
			}
			if row.cause != "" && (c.ProcessState.ExitCode() != 74 || strings.Count(said, "\n") != 1 ||
				strings.Contains(said, `\u000a`) ||
				!strings.Contains(said, row.cause) || strings.Contains(said, "--resume") != row.resumable) {
				t.Errorf("%v, and says: %s", c.ProcessState, said)
			}
			t.Log(strings.TrimSpace(said))
			must(t, row.give(v.dir))
			v.verify(t)
			robocensus(t, 0, w.census(v.dir, "--resume")...)
			wantSameBytes(t, want, v.dir)
		})
	}
}

// With too few file descriptors for its connections a run does not start; with just
// enough it is like any other. (A process inherits those of DuckDB here: with 24, the
// runtime may not start either.)
func TestFewOpenFiles(t *testing.T) {
	t.Parallel()
	w := newWeb(t, 1000, "uniform:1ms-15ms")
	state := func() []string { return []string{"--state", filepath.Join(t.TempDir(), "state")} }
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want, state()...)...)
	for _, n := range []int{64, 200, 593} {
		dir := filepath.Join(t.TempDir(), "out")
		if _, said := finish(t, 64, under(fmt.Sprint("ulimit -n ", n), w.census(dir))); !strings.Contains(said,
			fmt.Sprintf("needs 594 open files and this process may have %d", n)) {
			t.Errorf("%d files: %s", n, said)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%d files: something is written: %v", n, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	finish(t, 0, under("ulimit -n 594", w.census(dir, state()...)))
	wantSameBytes(t, want, dir)
}

// removeWhileWritten removes a folder in which a run creates files meanwhile, and
// tries again if one appears.
func removeWhileWritten(dir string) error {
	var err error
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

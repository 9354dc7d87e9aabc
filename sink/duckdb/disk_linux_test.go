package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// under is a run of the command under a limit that sh's ulimit sets, in whose
// units it is, and on one core: so its segments are committed one by one.
func under(limit string, args []string) *exec.Cmd {
	c := exec.Command("sh", append([]string{"-c", limit + `; exec "$0" "$@"`, filepath.Join(bin, "robocensus")}, args...)...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	return c
}

// stopped runs a run that stops with exit code 74 and one line, with the cause
// in it, and nothing half in the tables, and returns the line; "" where it was
// not stopped.
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
	if strings.Count(said, "\n") != 1 || strings.Contains(said, `\u000a`) || !strings.Contains(said, cause) || !strings.Contains(said, dir) || !strings.Contains(said, "--resume") {
		t.Errorf("it should be said in one line that there is %q, where, and what to do:\n%s", cause, said)
	}
	v := &victim{dir: dir}
	if s := v.look(); s.temporary+s.renamed > 0 || s.half || s.ending {
		t.Errorf("parts are left of a segment that is not committed, or half a line: %+v", s)
	}
	v.verify(t)
	return strings.TrimSpace(said)
}

const page = 4096

// pages is the room that run r of a folder takes on a disk: that of each file,
// but of the first segment in all.
func pages(t *testing.T, dir string) (of map[string]int64, first int64) {
	t.Helper()
	of = make(map[string]int64)
	up := func(bytes int64) int64 { return (bytes + page - 1) / page }
	m := readManifest(t, dir)
	for _, p := range m.Totals {
		of[p.Path] = up(p.Bytes)
	}
	for _, p := range m.Parts {
		if p.Segment == 0 {
			first += up(p.Bytes)
		} else {
			of[p.Path] = up(p.Bytes)
		}
	}
	for name, path := range map[string]string{rejected: rejected, last: last, views: "views.sql"} {
		info, err := os.Stat(filepath.Join(dir, path))
		must(t, err)
		of[name] = up(info.Size())
	}
	return of, first
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

// A disk is full in the middle of each kind of file, is made larger, and the
// run is gone on with.
func TestFullDisk(t *testing.T) {
	mountable(t, "size=1m")
	w := newWeb(t, 2400, "none")
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want, once...)...)
	of, first := pages(t, want)
	// What lies on the disk before a file is begun, in the order of writing:
	// of rejected.csv the last page comes late, of the journal there is one.
	const running = 1 // page of the first manifest
	sizes := map[string]int64{rejected: running + of[rejected]/2, journal: running + of[rejected] - 1 + first}
	before := sizes[journal] + 1
	for _, table := range tables {
		if table == "agents" {
			continue // the first segment has its one part
		}
		part := table + "/run=r/part-000001.parquet"
		sizes[part] = before + of[part]/2
		before += of[part]
	}
	for _, total := range []string{"_runs/r/summary.parquet", "_runs/r/examples.parquet"} {
		sizes[total] = before + of[total]/2
		before += of[total]
	}
	sizes[last] = before + 1 + of[last]/2
	sizes[views] = before + of[last] + of[views]/2 - 1 // the first manifest and the journal are gone

	for file, size := range sizes {
		name, _, _ := strings.Cut(file, "/run=") // DuckDB takes the rest for a partition
		t.Run(name, func(t *testing.T) {
			// Times take more or less room from run to run: the disk is made
			// smaller or larger until it is full in the file.
			for range 60 {
				size = max(size, 2)
				disk := mountable(t, fmt.Sprint("size=", size*page))
				dir := filepath.Join(disk, "out")
				said := stopped(t, under(":", w.census(dir, once...)), dir, "no space left on device")
				t.Logf("full at %d bytes: %s", size*page, said)
				switch at := written(said); {
				case at < written(file):
					size++
				case at > written(file):
					size--
				default:
					must(t, unix.Mount("none", disk, "tmpfs", unix.MS_REMOUNT, "size=64m"))
					robocensus(t, 0, w.census(dir, append(once, "--resume")...)...)
					wantSameBytes(t, want, dir)
					return
				}
			}
			t.Errorf("no size of the disk is full in %s", file)
		})
	}
}

// written is the place of the file that a text names in the order of writing;
// a run that was not stopped is behind them all.
func written(text string) int {
	order := []string{rejected, "/part-000000", journal}
	for _, table := range tables {
		order = append(order, table+"/run=r/part-000001")
	}
	order = append(order, last, views)
	at := slices.IndexFunc(order, func(file string) bool { return strings.Contains(text, file) })
	if at < 0 {
		return len(order)
	}
	return at
}

// The files of a run besides its parts.
const (
	rejected = "_runs/r/rejected.csv"
	journal  = "_runs/r/segments.jsonl"
	views    = "_runs/r/views.sql"
	last     = "_runs/r/manifest.json"
)

// once asks no host again: the first segment is then the first to be full.
var once = []string{"--retries", "0"}

// tables are in the order in which their parts are written.
var tables = []string{"fetches", "groups", "rules", "sitemaps", "lines", "signals", "agents", "policies", "verdicts", "summary", "examples", "bodies"}

// The same with a limit of the size of files: each that is larger than all
// before it is hit.
func TestLimitedFiles(t *testing.T) {
	w := newWeb(t, 2400, "none")
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want)...)
	most := int64(0)
	for _, p := range readManifest(t, want).Parts {
		if p.Segment > 0 || p.Bytes < most+2048 {
			continue
		}
		limit := (most + p.Bytes) / 2
		most = p.Bytes
		dir := filepath.Join(t.TempDir(), "out")
		said := stopped(t, under(fmt.Sprint("ulimit -f ", limit/512), w.census(dir)), dir, "file too large")
		if !strings.Contains(said, p.Path) {
			t.Errorf("files of %d bytes at most should be too small for %s: %s", limit, p.Path, said)
		}
		t.Logf("at most %d bytes: %s", limit, strings.TrimSpace(said))
		robocensus(t, 0, w.census(dir, "--resume")...)
		wantSameBytes(t, want, dir)
	}
}

// Nobody is asked whose answer could not be kept.
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

// During a run something is taken away from it.
func TestTakenAway(t *testing.T) {
	w := newWeb(t, 3500, "uniform:1ms-15ms")
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want)...)
	for _, row := range []struct {
		name, cause string
		resumable   bool
		take        func(dir string, pid int) error
		give        func(dir string) error
	}{
		{"the folder", "no such file or directory", false,
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
			v := &victim{dir: filepath.Join(t.TempDir(), "out")}
			c := under(":", w.census(v.dir))
			var said bytes.Buffer
			c.Stderr = &said
			must(t, c.Start())
			for deadline := time.Now().Add(time.Minute); v.look().committed == 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("no segment is committed within a minute")
				}
			}
			must(t, row.take(v.dir, c.Process.Pid))
			c.Wait()
			if c.ProcessState.ExitCode() != 74 || strings.Count(said.String(), "\n") != 1 || strings.Contains(said.String(), `\u000a`) ||
				!strings.Contains(said.String(), row.cause) || strings.Contains(said.String(), "--resume") != row.resumable {
				t.Errorf("%v, and says: %s", c.ProcessState, &said)
			}
			t.Log(strings.TrimSpace(said.String()))
			must(t, row.give(v.dir))
			v.verify(t)
			robocensus(t, 0, w.census(v.dir, "--resume")...)
			wantSameBytes(t, want, v.dir)
		})
	}
}

// With too few files for its connections a run does not begin, and with just
// enough it is as any other.
func TestFewOpenFiles(t *testing.T) {
	w := newWeb(t, 1000, "uniform:1ms-15ms")
	state := func() []string { return []string{"--state", filepath.Join(t.TempDir(), "state")} }
	want := filepath.Join(t.TempDir(), "out")
	robocensus(t, 0, w.census(want, state()...)...)
	for _, n := range []int{24, 64, 200, 463} {
		dir := filepath.Join(t.TempDir(), "out")
		if _, said := finish(t, 64, under(fmt.Sprint("ulimit -n ", n), w.census(dir))); !strings.Contains(said, fmt.Sprintf("needs 464 open files and this process may have %d", n)) {
			t.Errorf("%d files: %s", n, said)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%d files: something is written: %v", n, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	finish(t, 0, under("ulimit -n 464", w.census(dir, state()...)))
	wantSameBytes(t, want, dir)
}

// removeWhileWritten removes a folder in which a run makes files meanwhile: one
// that came between the look and the removal takes another try.
func removeWhileWritten(dir string) error {
	var err error
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
	}
	return err
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"golang.org/x/sys/unix"
)

// Output that cannot be written is not a success, whatever the command.
func TestOutputToAFullDisk_NoRace(t *testing.T) {
	dir := comparedRuns(t)
	work := filepath.Dir(dir)
	robots := filepath.Join(work, "a0/h0.example")
	questions := filepath.Join(work, "questions")
	must(t, os.WriteFile(questions, []byte(`{"robots":"","agent":"x","url":"/"}`+"\n"), 0o666))
	for _, args := range [][]string{
		{"run", "--warc", filepath.Join(work, "a?.warc"), "--out", dir, "--run", "c", "--progress", "none"},
		// the run is already complete
		{"run", "--warc", filepath.Join(work, "a?.warc"), "--out", dir, "--run", "c", "--resume", "--progress", "none"},
		{"run", "--help"},
		{"verify", "--out", dir, "b"},
		{"diff", "--out", dir, "a", "b"},
		{"diff", "--out", dir, "--format", "json", "a", "b"},
		{"diff", "--out", dir, "--format", "markdown", "--expect", filepath.Join(work, "expect.yaml"), "a", "b"},
		{"report", "--out", dir, "b"},
		{"report", "--out", dir, "--html", "/dev/full", "b"},
		{"export", "--out", dir, "b", "fetches"},
		{"check", robots, "GPTBot", "https://h0.example/x"},
		{"check", "--jsonl"},
		{"prune", "--out", dir, "--keep", "1", "--dry-run"},
		{"prune", "--out", dir, "--keep", "1"},
		{"--version"}, {"help"},
	} {
		c := command(args...)
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		must(t, err)
		in, err := os.Open(questions)
		must(t, err)
		var stderr bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = in, full, &stderr
		c.Run()
		full.Close()
		in.Close()
		if code := c.ProcessState.ExitCode(); code != cli.ExitIO || !strings.Contains(stderr.String(),
			"no space left on device") {
			t.Errorf("%q ends with %d: %s", args, code, &stderr)
		}
	}
}

// On a full disk a command writes each file beside a run whole or not at all, and
// reports it; prune makes room.
func TestCommandsOnAFullDisk_NoRace(t *testing.T) {
	good := comparedRuns(t)
	must(t, os.RemoveAll(filepath.Join(good, "changes")))
	must(t, os.RemoveAll(filepath.Join(good, "_runs/b/against")))
	if code, said := called("prune", "--out", good, "--keep", "2"); code != cli.ExitOK { // its views lack changes
		t.Fatal(said)
	}
	expect, archive := filepath.Join(filepath.Dir(good), "expect.yaml"), filepath.Join(filepath.Dir(good), "b?.warc")
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("no small disk can be mounted: %v", err)
	}
	defer func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) }()
	whole := func(dir string) {
		t.Helper()
		for _, run := range []string{"a", "b"} {
			// A run or comparison may be whole while views.sql still describes the
			// state before it.
			if problems := verified(t, dir, run); problems != "" && (!strings.HasPrefix(problems, "note: views.sql ") ||
				!strings.Contains(problems, ": whole\n")) {
				t.Errorf("run %s on a full disk: %s", run, problems)
			}
		}
	}
	// With no free page, with a few, and so on until everything fits.
	for _, row := range []struct {
		args      []string
		makesRoom bool
	}{
		{[]string{"diff", "--expect", expect, "a", "b"}, false},
		{[]string{"run", "--warc", archive, "--run", "c", "--expect", expect, "--agents", filepath.Join(filepath.Dir(good),
			"agents.yaml"), "--progress", "none"}, false},
		{[]string{"prune", "--keep", "1"}, true},
	} {
		failed := 0
		for pages := 0; ; pages = max(2*pages, 1) {
			dir := filepath.Join(disk, fmt.Sprint(row.args[0], pages))
			must(t, os.CopyFS(dir, os.DirFS(good)))
			filler := fill(t, disk, pages)
			code, said := called(append(row.args, "--out", dir)...)
			if !row.makesRoom {
				whole(dir)
			}
			must(t, os.Remove(filler))
			must(t, os.RemoveAll(dir))
			if code == cli.ExitOK || code == 1 {
				break
			}
			failed++
			if code != cli.ExitIO || !strings.Contains(said, "no space left on device") || pages > 2000 {
				t.Fatalf("%s with %d pages free ends with %d:\n%s", row.args[0], pages, code, said)
			}
		}
		if row.makesRoom == (failed > 0) {
			t.Errorf("%s failed %d times", row.args[0], failed)
		}
	}
}

// fill leaves the given number of pages of a disk free.
func fill(t *testing.T, disk string, pages int) (name string) {
	t.Helper()
	var stat unix.Statfs_t
	must(t, unix.Statfs(disk, &stat))
	name = filepath.Join(disk, "filler")
	must(t, os.WriteFile(name, make([]byte, (int64(stat.Bfree)-int64(pages))*stat.Bsize), 0o666))
	return name
}

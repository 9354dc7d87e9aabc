//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink"
)

// Ctrl-C and SIGTERM have different exit codes, even if a command waits for
// standard input.
func TestEachSignalHasItsExitCode(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 75} {
		for name, line := range map[string]string{
			"check":   `{"robots":"","agent":"x","url":"/"}`,
			"compare": `{"a":{"robots":"","agent":"x"},"b":{"robots":"","agent":"x"}}`,
		} {
			c := command(name, "--jsonl")
			in, err := c.StdinPipe()
			must(t, err)
			out, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			_, err = io.WriteString(in, line+"\n")
			must(t, err)
			if answer, err := bufio.NewReader(out).ReadString('\n'); err != nil { // then it waits for another line
				t.Errorf("%q, %v", answer, err)
			}
			c.Process.Signal(signal)
			err = c.Wait()
			if code := exitOf(t, err); code != want || !c.ProcessState.Exited() {
				t.Errorf("%v ends %s: %v, want exit code %d", signal, name, err, want)
			}
		}
	}
}

// A run whose list came through a pipe cannot be resumed, and no message says that
// it can.
func TestAStoppedRunOfAPipeIsNotCalledResumable(t *testing.T) {
	t.Parallel()
	const hosts = 3000
	var list strings.Builder
	list.WriteString("slow.test\n") // no segment is complete before the run stops
	for i := range hosts - 1 {
		fmt.Fprintf(&list, "h%d.test\n", i)
	}
	for path, refusal := range map[string]string{"-": "standard input cannot be read again", "/dev/stdin": "/dev/stdin is not a regular file and cannot be read again"} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			server, addr := stopWeb(t)
			dir := t.TempDir()
			args := []string{
				"run", "--hosts", path, "--out", dir, "--run", "r", "--schemes", "http", "--connect-to", addr,
				"--concurrency", "40", "--tables", "fetches", "--progress", "none",
			}
			c := command(args...)
			var said bytes.Buffer
			c.Stdin, c.Stderr = io.MultiReader(strings.NewReader(list.String())), &said // through a pipe
			must(t, c.Start())
			awaitAsked(t, server, 300)
			c.Process.Signal(syscall.SIGINT)
			if code := exitOf(t, c.Wait()); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			want := "robocensus: interrupted: 0 of "
			if last := said.String()[strings.LastIndex(strings.TrimSpace(said.String()), "\n")+1:]; !strings.HasPrefix(last, want) ||
				!strings.Contains(last, "the rest is lost, because the input cannot be read again") || strings.Contains(last, "resume") {
				t.Errorf("it says %q", last)
			}
			c = command(append(args, "--resume")...)
			c.Stdin = io.MultiReader(strings.NewReader(list.String()))
			said.Reset()
			c.Stderr = &said
			if code := exitOf(t, c.Run()); code != exitUsage || !strings.Contains(said.String(), refusal) {
				t.Errorf("with --resume: exit code %d, %s", code, &said)
			}
		})
	}
}

// The advice to resume appears only if it works: the run has started, and its
// inputs can be read again.
func TestResumingIsAdvisedOnlyIfItWorks(t *testing.T) {
	cutOff, full := fmt.Errorf("fetch: %w", fetch.ErrCutOff), errors.New("no space left on device")
	for name, row := range map[string]struct {
		inputs    []sink.Input // nil if the run has not started
		resumable bool
	}{
		"a list":         {[]sink.Input{{Role: "hosts", Path: "hosts", SHA256: "aa"}}, true},
		"an archive":     {[]sink.Input{{Role: "warc", Path: "a.warc", EndsSHA256: "aa"}}, true},
		"standard input": {[]sink.Input{{Role: "agents", Path: "agents", SHA256: "aa"}, {Role: "hosts", Path: "-"}}, false},
		"a pipe":         {[]sink.Input{{Role: "warc", Path: "a.warc", EndsSHA256: "aa"}, {Role: "ranks", Path: "/dev/fd/63"}}, false},
		"nothing yet":    {nil, false},
	} {
		c := pipeline.Config{Dir: t.TempDir(), Run: "r", Fetch: fetch.Config{OutagePatience: time.Minute}}
		if row.inputs != nil {
			run, err := sink.Create(c.Dir, sink.Plan{Run: c.Run, Tables: []string{"fetches"}, Profiles: []string{"google"}, Inputs: row.inputs})
			must(t, err)
			must(t, run.Close())
		}
		for _, cause := range []error{cutOff, full} {
			err := advised(c, cause)
			if !errors.Is(err, cause) || strings.Contains(err.Error(), "--resume") != row.resumable {
				t.Errorf("%s: %v", name, err)
			}
			if errors.Is(err, fetch.ErrCutOff) && !row.resumable && !strings.Contains(err.Error(), "start a new run") {
				t.Errorf("%s: %v", name, err)
			}
		}
		stopped := &pipeline.Stopped{Committed: 1, Kept: 2, Resumable: row.resumable}
		if err := interrupted(c, stopped, pipeline.Snapshot{Fetched: 3}); strings.Contains(err.Error(), "--resume") != row.resumable || codeOf(err) != exitInterrupted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
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
func TestAStoppedRunOfAPipeIsNotCalledResumable_NoRace(t *testing.T) {
	t.Parallel()
	const hosts = 3000
	var list strings.Builder
	list.WriteString("slow.test\n") // no segment is complete before the run stops
	for i := range hosts - 1 {
		fmt.Fprintf(&list, "h%d.test\n", i)
	}
	for path, refusal := range map[string]string{"-": "standard input cannot be read again",
		"/dev/stdin": "/dev/stdin is not a regular file and cannot be read again"} {
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
			if last := said.String()[strings.LastIndex(strings.TrimSpace(said.String()), "\n")+1:]; !strings.HasPrefix(last,
				want) ||
				!strings.Contains(last, "the rest is lost, because the input cannot be read again") ||
				strings.Contains(last, "resume") {
				t.Errorf("it says %q", last)
			}
			c = command(append(args, "--resume")...)
			c.Stdin = io.MultiReader(strings.NewReader(list.String()))
			said.Reset()
			c.Stderr = &said
			if code := exitOf(t, c.Run()); code != cli.ExitUsage || !strings.Contains(said.String(), refusal) {
				t.Errorf("with --resume: exit code %d, %s", code, &said)
			}
		})
	}
}

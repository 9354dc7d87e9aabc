//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/schema"
)

// stopWeb answers for hosts of every name: slow ones after a second, hang never.
func stopWeb(t *testing.T) (*farm.Server, string) {
	t.Helper()
	latency, err := farm.ParseLatency("fixed:5ms", 1)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := farm.ParseFaults(strings.NewReader(`
"hang*.test": {hang: start}
"slow*.test": {delay: 1s, status: 404}
"*.test":
  - {share: 20%, status: 404}
  - {body: "User-agent: *\nDisallow: /{1}\n"}
`), "faults")
	if err != nil {
		t.Fatal(err)
	}
	server, err := farm.New(farm.Config{Faults: faults, Latency: latency})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	addr, err := server.ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return server, addr
}

func awaitAsked(t *testing.T, server *farm.Server, n int64) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); server.Report(0).Requests < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the farm was not asked %d times within a minute", n)
		}
	}
}

// exitOf returns the exit code of a process, or 128 plus the number of the signal
// that killed it, as a shell does.
func exitOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err == nil {
		return 0
	}
	if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return exit.ExitCode()
}

// A stopped and resumed run does not ask a host again once it has answered, with or without a
// memory, and has the rows of an undisturbed run.
func TestAStoppedRunKeepsItsAnswers(t *testing.T) {
	t.Parallel()
	stopAndResume(t, stop{syscall.SIGINT, 130, true})
}

func TestAStoppedRunKeepsItsAnswers_NoRace(t *testing.T) {
	t.Parallel()
	stopAndResume(t, stop{syscall.SIGINT, 130, false}, stop{syscall.SIGTERM, 75, false}, stop{syscall.SIGKILL, 137, false})
}

type stop struct {
	signal syscall.Signal
	code   int
	state  bool
}

func stopAndResume(t *testing.T, stops ...stop) {
	const hosts, concurrency = 2100, 40 // two segments
	var list strings.Builder
	list.WriteString("slow.test\n") // no segment is complete before the run stops
	for i := range hosts - 1 {
		fmt.Fprintf(&list, "h%d.test\n", i)
	}
	path := filepath.Join(t.TempDir(), "hosts.txt")
	if err := os.WriteFile(path, []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, row := range stops {
		most := 0 // hosts asked twice
		if row.signal == syscall.SIGKILL {
			most = concurrency
		}
		t.Run(fmt.Sprintf("%v with a memory %v", row.signal, row.state), func(t *testing.T) {
			t.Parallel()
			server, addr := stopWeb(t)
			dir := t.TempDir()
			args := []string{
				"run", "--hosts", path, "--out", filepath.Join(dir, "out"), "--run", "r", "--schemes", "http", "--connect-to", addr,
				"--concurrency", fmt.Sprint(concurrency), "--tables", "fetches,groups", "--progress", "none", "--resume",
			}
			if row.state {
				args = append(args, "--state", filepath.Join(dir, "state"))
			}
			var said bytes.Buffer
			c := command(args...)
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			awaitAsked(t, server, 500)
			began := time.Now()
			c.Process.Signal(row.signal)
			if code := exitOf(t, c.Wait()); code != row.code {
				t.Fatalf("exit %d, want %d\n%s", code, row.code, &said)
			}
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("to stop took %v, and all hosts answer within a second", took)
			}
			asked := server.Report(0).Requests
			if want := fmt.Sprintf("the answers of %d hosts are kept", asked); most == 0 &&
				!strings.Contains(strings.ReplaceAll(said.String(), ",", ""), want) {
				t.Errorf("%s\nwant %s", &said, want)
			}
			if asked == hosts {
				t.Error("all hosts were asked before the run was stopped")
			}
			if text, err := command(args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			twice := 0
			for _, h := range server.Report(-1).ByHost {
				if h.Requests > 1 {
					twice++
				}
			}
			t.Logf("stopped after %d requests, %d hosts were asked twice", asked, twice)
			if twice > most {
				t.Errorf("%d hosts were asked twice, want %d at most", twice, most)
			}
			n := 0
			parts, _ := filepath.Glob(filepath.Join(dir, "out", "fetches", "run=r", "*.parquet"))
			for _, part := range parts {
				rows, err := parquet.ReadFile[schema.Fetch](part)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range rows {
					if n++; r.Seq != int64(n) || r.Source != "network" || r.Reason != "success" && r.Reason != "client_error" ||
						r.TotalMicros == nil {
						t.Errorf("row %d: seq %d, %s, source %s, %s, total %v", n, r.Seq, r.Host, r.Source, r.Reason, r.TotalMicros)
					}
				}
			}
			if n != hosts {
				t.Errorf("%d rows, want %d", n, hosts)
			}
		})
	}
}

// A second signal ends the run without waiting for the hosts in flight, and no
// answer is lost.
func TestASecondSignalEndsTheRunAtOnce(t *testing.T) {
	server, addr := stopWeb(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "hosts.txt")
	if err := os.WriteFile(path, []byte("a.test\nhang.test\nb.test\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "--hosts", path, "--out", filepath.Join(dir, "out"), "--run", "r", "--schemes", "http",
		"--connect-to", addr, "--progress", "none", "--concurrency", "1"}
	c := command(append(args, "--timeout", "300s", "--grace", "300s")...)
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	awaitAsked(t, server, 2)
	c.Process.Signal(syscall.SIGINT)
	// Wait for the message about the first signal.
	if line, err := readLine(pipe); !strings.Contains(line, "another signal ends the run at once") {
		t.Fatalf("%q, %v", line, err)
	}
	c.Process.Signal(syscall.SIGINT)
	if code := exitOf(t, c.Wait()); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	if n := server.Report(0).Requests; n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "out", "_runs", "r", "captures", "0000000000")); err != nil ||
		!bytes.Contains(text, []byte("a.test")) {
		t.Errorf("the answer of a.test is not kept: %q, %v", text, err)
	}
}

func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := r.Read(one)
		if line = append(line, one[:n]...); err != nil || n > 0 && one[0] == '\n' {
			return string(line), err
		}
	}
}

// A signal ends the wait for a pipe without a writer.
func TestASignalEndsTheWaitForAPipe(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--hosts", "--agents", "--urls", "--config", "--expect", "--ca-file"} {
		t.Run(flag, func(t *testing.T) {
			dir := t.TempDir()
			hosts, pipe := filepath.Join(dir, "hosts.txt"), filepath.Join(dir, "pipe")
			if err := os.WriteFile(hosts, []byte("a.test\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(pipe, 0o666); err != nil {
				t.Fatal(err)
			}
			c := command("run", "--hosts", hosts, "--out", filepath.Join(dir, "out"), "--progress", "none", flag, pipe)
			var said bytes.Buffer
			c.Stderr = &said
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			// A writer can open the pipe once there is a reader; it writes nothing.
			var writer *os.File
			for deadline := time.Now().Add(20 * time.Second); writer == nil && time.Now().Before(deadline); time.Sleep(
				time.Millisecond) {
				writer, _ = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			}
			if writer == nil {
				c.Process.Kill()
				t.Fatalf("nobody reads the pipe: %v\n%s", c.Wait(), &said)
			}
			defer writer.Close()
			defer time.AfterFunc(20*time.Second, func() { c.Process.Kill() }).Stop()
			c.Process.Signal(syscall.SIGTERM)
			if code := exitOf(t, c.Wait()); code != 75 {
				t.Errorf("exit %d, want 75\n%s", code, &said)
			}
			if runs, _ := os.ReadDir(filepath.Join(dir, "out", "_runs")); len(runs) > 0 {
				t.Errorf("%v is left", runs)
			}
		})
	}
}

// Two runs that start in the same second get different IDs.
func TestTwoRunsOfOneSecondHaveTwoIDs_NoRace(t *testing.T) {
	_, addr := stopWeb(t)
	dir := t.TempDir()
	path, out := filepath.Join(dir, "hosts.txt"), filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("slow.test\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const runs = 4 // at least two start in the same second
	errs := make(chan error, runs)
	for range runs {
		go func() {
			text, err := command("run", "--hosts", path, "--out", out, "--schemes", "http", "--connect-to", addr, "--progress",
				"none").CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w\n%s", err, text)
			}
			errs <- err
		}()
	}
	for range runs {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	complete, _ := filepath.Glob(filepath.Join(out, "_runs", "*", "manifest.json"))
	if len(complete) != runs {
		t.Errorf("%d runs are complete, want %d: %v", len(complete), runs, complete)
	}
	if second, _ := filepath.Glob(filepath.Join(out, "_runs", "*Z-2")); len(second) == 0 {
		t.Errorf("no two began in one second: %v", complete)
	}
}

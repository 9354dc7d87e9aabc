package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

var stops = flag.Int("stops", 0, "how often TestStops sends each signal, with a memory and without")

// A run gets each signal at random moments, and is resumed if that ended it. It
// ends with the tables of an undisturbed run. Hosts are asked again only if they
// were in flight at a SIGKILL, or while the process was stopped for so long that
// their answers are in doubt.
func TestStops(t *testing.T) {
	if *stops == 0 {
		t.Skip("make torture runs it")
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d", *seed)
	chance := rand.New(rand.NewPCG(*seed, 1))
	w := newWeb(t, segmentTargets*3/2, "uniform:1ms-15ms", "again0.test", "again1.test")
	dir := t.TempDir()
	// The timeout is long enough that a stopped process has no timeouts but those
	// that it derives from its clock.
	args := func(name string, memory bool) []string {
		args := w.census(filepath.Join(dir, name), "--resume", "--timeout", "9s")
		if memory {
			args = append(args, "--state", filepath.Join(dir, name+"-state"))
		}
		return args
	}
	robocensus(t, 0, args("undisturbed-true", true)...)
	w.reset(t)
	began := time.Now()
	robocensus(t, 0, args("undisturbed-false", false)...)
	whole, requests := time.Since(began), w.asked(t)
	// Each of the 64 requests in flight may have redirected, and others wait for a
	// retry.
	const inFlight = 2 * 64
	for _, row := range []struct {
		signal syscall.Signal
		code   int // exit code, unless the run had already ended
		again  int // most hosts asked again
	}{{syscall.SIGINT, 130, 0}, {syscall.SIGTERM, 75, 0}, {syscall.SIGKILL, -1, inFlight},
		{syscall.SIGSTOP, 0, inFlight}} {
		for _, memory := range []bool{false, true} {
			ended, total := 0, 0
			for n := range *stops {
				name := fmt.Sprintf("%d-%v-%d", row.signal, memory, n)
				out := filepath.Join(dir, name)
				w.reset(t)
				c := exec.Command(filepath.Join(bin, "robocensus"), args(name, memory)...)
				var said bytes.Buffer
				c.Stdout, c.Stderr = &said, &said
				must(t, c.Start())
				time.Sleep(time.Duration((0.02 + 0.9*chance.Float64()) * float64(whole)))
				c.Process.Signal(row.signal)
				if row.signal == syscall.SIGSTOP {
					time.Sleep(time.Duration(chance.Float64() * float64(5*time.Second)))
					c.Process.Signal(syscall.SIGCONT)
				}
				c.Wait()
				switch code := c.ProcessState.ExitCode(); {
				case code != 0 && code != row.code:
					t.Fatalf("exit code %d, want %d\n%s", code, row.code, &said)
				case code != 0:
					ended++
					robocensus(t, 0, args(name, memory)...)
				}
				wantSameBytes(t, filepath.Join(dir, fmt.Sprintf("undisturbed-%v", memory)), out)
				again := 0
				for host, got := range w.asked(t) {
					if got > requests[host] {
						again++
					}
				}
				if total += again; again > row.again {
					t.Errorf("%v: %d hosts were asked again, want %d at most", row.signal, again, row.again)
				}
				must(t, os.RemoveAll(out))
				must(t, os.RemoveAll(out+"-state"))
			}
			t.Logf("%-10v with a memory %-5v: %d times, %d of them ended the run; hosts asked again: %d", row.signal, memory,
				*stops, ended, total)
		}
	}
}

//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// benchFarm is robofarm in a separate process, so that its CPU time does not count
// as ours. By default it has a body for every name under test.
type benchFarm struct {
	process     *exec.Cmd
	http, https string // addresses
	ca          string // file
}

const aBodyForAll = `"*.test": {body_from: "*"}`

func startBenchFarm(b *testing.B, dir, faultsText string, args ...string) *benchFarm {
	b.Helper()
	f := &benchFarm{ca: filepath.Join(dir, "ca.pem")}
	faults := filepath.Join(dir, "faults.yaml")
	if err := os.WriteFile(faults, []byte(faultsText), 0o666); err != nil {
		b.Fatal(err)
	}
	hosts := "../../../shared/corpus/robots-real.tar.gz"
	if _, err := os.Stat(hosts); err != nil {
		hosts = "../../testdata/demo/hosts"
		b.Logf("no corpus of real files; bodies are those of %s", hosts)
	}
	args = append([]string{
		"serve", "--dir", hosts, "--http", "127.0.0.1:0", "--https", "127.0.0.1:0", "--ca-out", f.ca, "--faults", faults,
	}, args...)
	f.process = exec.Command(build(b, dir, "robofarm"), args...)
	f.process.Stderr = os.Stderr
	out, err := f.process.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := f.process.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		f.process.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, out)
		f.process.Wait()
	})
	lines := bufio.NewReader(out)
	for _, address := range []*string{&f.http, &f.https} {
		line, err := lines.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		_, *address, _ = strings.Cut(strings.TrimSpace(line), "://")
	}
	return f
}

func build(b *testing.B, dir, name string) string {
	b.Helper()
	binary := filepath.Join(dir, name)
	if text, err := exec.Command("go", "build", "-o", binary, "../"+name).CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", name, err, text)
	}
	return binary
}

func benchHosts(b *testing.B, dir string, n int) string {
	b.Helper()
	path := filepath.Join(dir, fmt.Sprintf("hosts-%d.csv", n))
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%d,h%06d.test\n", i+1, i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkRun times whole runs of the command against a farm, and the floor in the
// same run: the cheapest program that could ask the same hosts, with a bare
// connection and http.ReadResponse for each. One op is one run; read the metrics,
// which are per host, and the ratio to the floor.
func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	addr, binary := startBenchFarm(b, dir, aBodyForAll).http, build(b, dir, "robocensus")
	judging := judgingArgs(b, dir)
	var floor float64 // CPU per host
	b.Run("floor=bare-connections/hosts=5000", func(b *testing.B) {
		for b.Loop() {
			floor = perFetch(b, 5000, 64, func(i int64) error { return bare(addr, nil, i) })
		}
		b.ReportMetric(floor, "cpu-µs/host")
	})
	for _, row := range []struct {
		name  string
		hosts int
		args  []string
	}{
		{"tables=fetches", 5_000, []string{"--tables", "fetches"}},
		{"tables=all/verdicts=200", 5_000, judging},
		{"tables=all/verdicts=built-in", 5_000, nil},
		{"tables=fetches", 100_000, []string{"--tables", "fetches"}},
		{"tables=all/verdicts=200", 100_000, judging},
	} {
		hosts := benchHosts(b, dir, row.hosts)
		b.Run(fmt.Sprintf("%s/hosts=%d", row.name, row.hosts), func(b *testing.B) {
			var cpu, wall time.Duration
			var rss int64
			runs := 0
			for b.Loop() {
				out, err := os.MkdirTemp(dir, "out")
				if err != nil {
					b.Fatal(err)
				}
				run := exec.Command(binary, append([]string{"run", "--hosts", hosts, "--out", out, "--schemes", "http",
					"--connect-to", addr, "--progress", "none"}, row.args...)...)
				began := time.Now()
				if text, err := run.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, text)
				}
				wall += time.Since(began)
				cpu += run.ProcessState.UserTime() + run.ProcessState.SystemTime()
				rss = max(rss, run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
				runs++
				os.RemoveAll(out)
			}
			n := float64(runs * row.hosts)
			perHost := float64(cpu.Microseconds()) / n
			b.ReportMetric(perHost, "cpu-µs/host")
			b.ReportMetric(n/wall.Seconds(), "hosts/s")
			b.ReportMetric(float64(rss)/1024, "peak-MiB")
			if floor > 0 {
				b.ReportMetric(perHost/floor, "×floor")
			}
		})
	}
}

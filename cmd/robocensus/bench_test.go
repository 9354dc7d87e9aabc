package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// benchFarm starts robofarm as a process of its own, so that its CPU is not
// counted as ours, with a body for every name under bench.test.
func benchFarm(b *testing.B, dir string) (addr string) {
	b.Helper()
	faults := filepath.Join(dir, "faults.yaml")
	if err := os.WriteFile(faults, []byte(`"*.bench.test": {body_from: "*"}`), 0o666); err != nil {
		b.Fatal(err)
	}
	hosts := "../../../shared/corpus/robots-real.tar.gz"
	if _, err := os.Stat(hosts); err != nil {
		hosts = "../../testdata/demo/hosts"
		b.Logf("no corpus of real files; bodies are those of %s", hosts)
	}
	farm := exec.Command(build(b, dir, "robofarm"), "serve", "--dir", hosts, "--http", "127.0.0.1:0", "--faults", faults)
	farm.Stderr = os.Stderr
	out, err := farm.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := farm.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		farm.Process.Signal(syscall.SIGTERM)
		io.Copy(io.Discard, out)
		farm.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "http://")
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
		fmt.Fprintf(&text, "%d,h%06d.bench.test\n", i+1, i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkRun times whole runs of the command against a farm, beside the
// floor: the cheapest program that could ask the same hosts, a bare
// connection and http.ReadResponse for each. One op is one run; read the
// metrics, which are per host, and the ratio to the floor of the same run.
func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	addr, binary := benchFarm(b, dir), build(b, dir, "robocensus")
	agents, urls := filepath.Join(dir, "agents.yaml"), filepath.Join(dir, "urls.txt")
	var twenty strings.Builder
	for i := range 20 {
		fmt.Fprintf(&twenty, "- {name: Agent%c}\n", 'A'+i)
	}
	var ten strings.Builder
	for i := range 10 {
		fmt.Fprintf(&ten, "/section-%d/page.html\n", i)
	}
	for path, text := range map[string]string{agents: twenty.String(), urls: ten.String()} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	var floor float64 // CPU per host
	b.Run("floor=bare-connections/hosts=5000", func(b *testing.B) {
		for b.Loop() {
			floor = bare(b, addr, 5000, 64)
		}
		b.ReportMetric(floor, "cpu-µs/host")
	})
	for _, row := range []struct {
		name  string
		hosts int
		args  []string
	}{
		{"tables=fetches", 5_000, []string{"--tables", "fetches"}},
		{"tables=all/verdicts=200", 5_000, []string{"--agents", agents, "--urls", urls}},
		{"tables=all/verdicts=built-in", 5_000, nil},
		{"tables=fetches", 100_000, []string{"--tables", "fetches"}},
		{"tables=all/verdicts=200", 100_000, []string{"--agents", agents, "--urls", urls}},
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
				run := exec.Command(binary, append([]string{"run", "--hosts", hosts, "--out", out, "--schemes", "http", "--connect-to", addr, "--progress", "none"}, row.args...)...)
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

// bare asks n hosts, some at once, and returns the CPU µs that each cost this
// process.
func bare(b *testing.B, addr string, n, atOnce int) float64 {
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	var next atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					b.Error(err)
					return
				}
				fmt.Fprintf(conn, "GET /robots.txt HTTP/1.1\r\nHost: h%06d.bench.test\r\nConnection: close\r\n\r\n", i)
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
				}
				conn.Close()
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	spent := func(r syscall.Rusage) int64 {
		return (r.Utime.Sec+r.Stime.Sec)*1e6 + int64(r.Utime.Usec+r.Stime.Usec)
	}
	return float64(spent(after)-spent(before)) / float64(n)
}

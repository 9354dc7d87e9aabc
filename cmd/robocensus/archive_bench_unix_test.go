//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// BenchmarkArchive times whole runs of the command on a WARC of stored captures:
// with every table and 200 verdicts for each capture, with fetches alone, with a
// filter that no host passes (which measures the reader), and, for comparison, gzip
// -dc. One op is one run; read the metrics. captures/cpu-s is the speed of a core,
// which other programs influence less than captures/s. ROBOCENSUS_BENCH_CAPTURES
// adds a WARC with that many captures.
func BenchmarkArchive(b *testing.B) {
	dir := b.TempDir()
	farm, binary := build(b, dir, "robofarm"), build(b, dir, "robocensus")
	judging := judgingArgs(b, dir)
	sizes := []int{10_000, 200_000}
	if text := os.Getenv("ROBOCENSUS_BENCH_CAPTURES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	one := filepath.Join(dir, "one.csv") // a run of no host is refused
	if err := os.WriteFile(one, []byte("site1-2.test\n"), 0o666); err != nil {
		b.Fatal(err)
	}
	for _, size := range sizes {
		warc, captures := benchArchive(b, dir, farm, size)
		var inflated int64
		b.Run(fmt.Sprintf("gzip/captures=%d", captures), func(b *testing.B) {
			var used resources
			for b.Loop() {
				var count counting
				gzip := exec.Command("gzip", "-dc", warc)
				gzip.Stdout = &count
				used.add(b, gzip)
				inflated = int64(count)
			}
			used.report(b, captures, inflated)
		})
		for _, row := range []struct {
			name string
			args []string
		}{
			{"reader", []string{"--hosts", one}},
			{"fetches", []string{"--tables", "fetches"}},
			{"all", judging},
		} {
			for _, cores := range []int{1, 2} {
				b.Run(fmt.Sprintf("%s/captures=%d/cores=%d", row.name, captures, cores), func(b *testing.B) {
					var used resources
					for b.Loop() {
						out := filepath.Join(dir, "out")
						run := exec.Command(binary, append([]string{"run", "--warc", warc, "--out", out, "--run", "r", "--progress",
							"none"}, row.args...)...)
						run.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
						used.add(b, run)
						used.addTables(b, out)
						if err := os.RemoveAll(out); err != nil {
							b.Fatal(err)
						}
					}
					used.report(b, captures, inflated)
				})
			}
		}
		os.Remove(warc)
	}
}

// BenchmarkProfiles times whole runs with the built-in agents and paths under several
// profiles, once through the corpus and ten times. The metric x is the CPU of one profile,
// google, in the same run of the benchmark: what a further profile costs.
func BenchmarkProfiles(b *testing.B) {
	dir := b.TempDir()
	farm, binary := build(b, dir, "robofarm"), build(b, dir, "robocensus")
	for _, size := range []int{1, 20_000} {
		warc, captures := benchArchive(b, dir, farm, size)
		var one float64
		for _, profiles := range []string{"google", "google,rfc9309", strings.Join(robots.DocumentNames(), ","),
			"google,own", "own"} {
			b.Run(fmt.Sprintf("%s/captures=%d", profiles, captures), func(b *testing.B) {
				var used resources
				for b.Loop() {
					out := filepath.Join(dir, "out")
					used.add(b, exec.Command(binary, "run", "--warc", warc, "--out", out, "--run", "r", "--progress", "none",
						"--profile", profiles))
					if err := os.RemoveAll(out); err != nil {
						b.Fatal(err)
					}
				}
				used.report(b, captures, 0)
				cpu := used.cpu.Seconds() / float64(used.runs)
				if one == 0 {
					one = cpu
				}
				b.ReportMetric(cpu/one, "x")
			})
		}
		os.Remove(warc)
	}
}

// judgingArgs returns flags for 20 agents and 10 URLs.
func judgingArgs(b *testing.B, dir string) []string {
	b.Helper()
	var agents, urls strings.Builder
	for i := range 20 {
		fmt.Fprintf(&agents, "- {name: Agent%c}\n", 'A'+i)
	}
	for i := range 10 {
		fmt.Fprintf(&urls, "/section-%d/page.html\n", i)
	}
	for name, text := range map[string]string{"agents.yaml": agents.String(), "urls.txt": urls.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	return []string{"--agents", filepath.Join(dir, "agents.yaml"), "--urls", filepath.Join(dir, "urls.txt")}
}

// benchArchive writes a WARC of at least n captures, and returns their number.
func benchArchive(b *testing.B, dir, farm string, n int) (string, int) {
	b.Helper()
	hosts := "../../../shared/corpus/robots-real.tar.gz"
	if _, err := os.Stat(hosts); err != nil {
		hosts = "../../testdata/demo/hosts"
		b.Logf("no corpus of real files; bodies are those of %s", hosts)
	}
	path := filepath.Join(dir, fmt.Sprintf("captures-%d.warc.gz", n))
	write := func(repeat int) (captures int) {
		text, err := exec.Command(farm, "warc", "--dir", hosts, "--out", path, "--repeat",
			strconv.Itoa(repeat)).CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, text)
		}
		if _, err := fmt.Sscanf(strings.TrimPrefix(string(text), path), ": %d captures", &captures); err != nil {
			b.Fatalf("robofarm warc says %q: %v", text, err)
		}
		return captures
	}
	once := write(1)
	return path, write((n + once - 1) / once)
}

// counting counts the bytes written to it.
type counting int64

func (c *counting) Write(p []byte) (int, error) {
	*c += counting(len(p))
	return len(p), nil
}

// resources is what some processes used and wrote.
type resources struct {
	runs      int
	cpu, wall time.Duration
	rss       int64 // KiB, the largest of them
	written   int64 // bytes in parts
	rows      map[string]int64
}

func (u *resources) add(b *testing.B, c *exec.Cmd) {
	b.Helper()
	began := time.Now()
	var text strings.Builder
	c.Stderr = &text
	if err := c.Run(); err != nil {
		b.Fatalf("%v\n%s", err, text.String())
	}
	u.runs++
	u.wall += time.Since(began)
	u.cpu += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	u.rss = max(u.rss, c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
}

func (u *resources) addTables(b *testing.B, out string) {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(out, "_runs", "r", "manifest.json"))
	if err != nil {
		b.Fatal(err)
	}
	var manifest struct {
		Parts []struct {
			Table       string
			Rows, Bytes int64
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		b.Fatal(err)
	}
	if u.rows == nil {
		u.rows = make(map[string]int64)
	}
	for _, p := range manifest.Parts {
		u.rows[p.Table] += p.Rows
		u.written += p.Bytes
	}
}

func (u *resources) report(b *testing.B, captures int, inflated int64) {
	n := float64(u.runs * captures)
	b.ReportMetric(float64(u.cpu.Microseconds())/n, "cpu-µs/capture")
	b.ReportMetric(n/u.cpu.Seconds(), "captures/cpu-s")
	b.ReportMetric(n/u.wall.Seconds(), "captures/s")
	b.ReportMetric(float64(u.runs)*float64(inflated)/1e6/u.wall.Seconds(), "MB/s")
	b.ReportMetric(float64(u.rss)/1024, "peak-MiB")
	if u.written > 0 {
		b.ReportMetric(float64(u.written)/n, "B/capture")
	}
	for table, rows := range u.rows {
		b.ReportMetric(float64(rows)/u.wall.Seconds(), table+"-rows/s")
	}
}

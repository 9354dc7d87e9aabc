//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/sink/schema"
)

// BenchmarkFetch compares the CPU time of one fetch with that of the cheapest
// program that could make it, in the same run: a bare connection and
// http.ReadResponse, over https with TLS 1.3 and X25519.
func BenchmarkFetch(b *testing.B) {
	dir := b.TempDir()
	farm := startBenchFarm(b, dir, aBodyForAll)
	text, err := os.ReadFile(farm.ca)
	if err != nil {
		b.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	for _, scheme := range []string{"http", "https"} {
		b.Run(scheme, func(b *testing.B) {
			addr, n := farm.http, 10_000
			var secure *tls.Config
			if scheme == "https" {
				addr, n = farm.https, 3_000
				secure = &tls.Config{
					RootCAs: roots, MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.X25519},
					SessionTicketsDisabled: true,
				}
			}
			client, err := client.New(client.Config{
				UserAgent: "bench", Timeout: 30 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 512_000},
				Concurrency: 64, PerAddress: 4, PerDomain: 8,
				ConnectTo: netip.MustParseAddrPort(addr), RootCAs: roots,
			}, client.Backing{})
			if err != nil {
				b.Fatal(err)
			}
			var floor, ours float64
			for b.Loop() {
				floor += perFetch(b, n, 64, func(i int64) error { return bare(addr, secure, i) })
				ours += perFetch(b, n, 64, func(i int64) error {
					got := client.Fetch(context.Background(), fetch.Origin{Scheme: scheme, Host: benchHost(i),
						Port: fetch.DefaultPort(scheme)})
					return got.Err
				})
			}
			b.ReportMetric(floor/float64(b.N), "floor-cpu-µs")
			b.ReportMetric(ours/float64(b.N), "cpu-µs/fetch")
			b.ReportMetric(ours/floor, "×floor")
		})
	}
}

func benchHost(i int64) string { return fmt.Sprintf("h%06d.test", i) }

// perFetch makes n fetches, some at once, and returns the CPU µs that each
// costs this process.
func perFetch(b *testing.B, n int, atOnce int, one func(i int64) error) float64 {
	b.Helper()
	var before, after syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	var next atomic.Int64
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := one(i); err != nil {
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

// bare makes the cheapest fetch: a connection, one request, one answer.
func bare(addr string, secure *tls.Config, i int64) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if secure != nil {
		config := secure.Clone()
		config.ServerName = benchHost(i)
		conn = tls.Client(conn, config)
	}
	if _, err := fmt.Fprintf(conn, "GET /robots.txt HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
		benchHost(i)); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// BenchmarkSchedule runs over hosts like those of a real list: most answer within
// 200 ms, some redirect, some fail, and one in twenty hangs until the deadline. It
// compares the wall time with that of an ideal schedule, which keeps either every
// slot or the CPU, including the farm's share, busy from beginning to end,
// whichever takes longer.
func BenchmarkSchedule(b *testing.B) {
	const n, concurrency = 50_000, 5_000
	dir := b.TempDir()
	binary := build(b, dir, "robocensus")
	farm := startBenchFarm(b, dir, `"h*.test":
  - {share: 15%, redirect: "http://www.{host}/robots.txt"}
  - {share: 5%, status: 404}
  - {share: 5%, status: 500}
  - {share: 5%, hang: start}
  - {body_from: "*"}
"*.test": {body_from: "*"}
`, "--latency", "uniform:5ms-200ms")
	hosts := benchHosts(b, dir, n)
	for _, timeout := range []string{"2s", "5s"} {
		b.Run("timeout="+timeout, func(b *testing.B) {
			var ratio, wall, ideal, machine, rss float64
			for b.Loop() {
				out, err := os.MkdirTemp(dir, "out")
				if err != nil {
					b.Fatal(err)
				}
				run := exec.Command(binary, "run", "--hosts", hosts, "--out", out, "--run", "r", "--schemes", "http",
					"--connect-to", farm.http,
					"--concurrency", strconv.Itoa(concurrency), "--timeout", timeout, "--tables", "fetches", "--progress", "none")
				before := processCPU(b, farm.process.Process.Pid)
				began := time.Now()
				if text, err := run.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, text)
				}
				took := time.Since(began).Seconds()
				cpu := (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds() +
					processCPU(b, farm.process.Process.Pid) - before
				slots := totalTime(b, out) / concurrency
				best := max(slots, cpu/2)
				wall, ideal, machine, ratio = wall+took, ideal+slots, machine+cpu/2, ratio+took/best
				rss = max(rss, float64(run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
				os.RemoveAll(out)
			}
			runs := float64(b.N)
			b.ReportMetric(wall/runs, "wall-s")
			b.ReportMetric(ideal/runs, "ideal-by-slots-s")
			b.ReportMetric(machine/runs, "ideal-by-cpu-s")
			b.ReportMetric(ratio/runs, "×ideal")
			b.ReportMetric(rss, "peak-MiB")
		})
	}
}

// totalTime returns the sum of the durations of a run's fetches, in seconds.
func totalTime(b *testing.B, out string) float64 {
	b.Helper()
	parts, err := filepath.Glob(filepath.Join(out, "fetches", "run=r", "*.parquet"))
	if err != nil || len(parts) == 0 {
		b.Fatalf("parts of fetches: %v, %v", parts, err)
	}
	var micros int64
	for _, part := range parts {
		rows, err := parquet.ReadFile[schema.Fetch](part)
		if err != nil {
			b.Fatal(err)
		}
		for _, row := range rows {
			micros += *row.TotalMicros
		}
	}
	return float64(micros) / 1e6
}

// processCPU returns the CPU time of another process so far, in seconds, if the
// system reports it.
func processCPU(b *testing.B, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Logf("the farm's CPU is not counted: %v", err)
		return 0
	}
	fields := strings.Fields(string(text))
	var ticks float64
	for _, i := range []int{13, 14} {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += v
	}
	return ticks / 100
}

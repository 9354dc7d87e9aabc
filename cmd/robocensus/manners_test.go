package main

import (
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/farm"
)

// listenOnFive makes the farm listen on five loopback addresses with the same port.
func listenOnFive(t *testing.T, server *farm.Server) (port string) {
	t.Helper()
	first, err := server.ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(first)
	for i := 2; i <= 5; i++ {
		if _, err := server.ListenHTTP(fmt.Sprintf("127.0.0.%d:%s", i, port)); err != nil {
			t.Skipf("no five loopback addresses here: %v", err)
		}
	}
	return port
}

// 2,000 names share five addresses, and 300 more share a registered domain. The
// farm's counts of concurrent requests reach the limits and never exceed them. The
// hosts of the domain finish although the others fill the addresses.
func TestPoliteness(t *testing.T) {
	latency, err := farm.ParseLatency("fixed:5ms", 1)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := farm.ParseFaults(strings.NewReader(`"*": {body: "User-agent: *\nDisallow: /private\n"}`), "faults")
	if err != nil {
		t.Fatal(err)
	}
	server, err := farm.New(farm.Config{Faults: faults, Latency: latency})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	port := listenOnFive(t, server)
	resolver, err := server.ListenDNS("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var hosts strings.Builder
	for i := range 300 {
		fmt.Fprintf(&hosts, "h%d.giant.test:%s\n", i, port) // the first in the list
	}
	for i := range 2000 {
		fmt.Fprintf(&hosts, "h%d.test:%s\n", i, port)
	}
	path := filepath.Join(folder, "hosts.txt")
	if err := os.WriteFile(path, []byte(hosts.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	code := mainCode([]string{
		"run", "--hosts", path, "--out", filepath.Join(folder, "out"), "--run", "r", "--schemes", "http", "--progress",
		"none",
		"--resolver", resolver, "--allow-private", "--concurrency", "100", "--per-address", "6", "--per-domain", "3",
		"--tables", "fetches",
	}, nil, &stdout, &stderr)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	rejected, err := os.Open(filepath.Join(folder, "out", "_runs", "r", "rejected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer rejected.Close()
	if rows, err := csv.NewReader(rejected).ReadAll(); err != nil || len(rows) != 1 {
		t.Errorf("rejected lines: %v, %v", rows, err)
	}
	report := server.Report(-1)
	if report.Requests != 2300 || report.Answers["200"] != 2300 {
		t.Errorf("%d requests, answers %v; want 2,300 times 200", report.Requests, report.Answers)
	}
	if report.PeakAddress != 6 {
		t.Errorf("%d concurrent requests to one address, want 6", report.PeakAddress)
	}
	if report.PeakDomain != 3 || report.ByDomain[0].Name != "giant.test" {
		t.Errorf("%d requests at once to %s, want 3 to giant.test", report.PeakDomain, report.ByDomain[0].Name)
	}
	if report.PeakRequests > 30 {
		t.Errorf("%d requests at once on five addresses, want 30 at most", report.PeakRequests)
	}
}

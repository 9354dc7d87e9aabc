package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/schema"
)

// A run is killed without warning. The next run with the same memory has all hosts
// in its table, and repeats at most the requests that were in flight.
func TestKilledRunsLoseNothingAndAskNothingTwice_NoRace(t *testing.T) {
	const hosts, concurrency = 2000, 40
	latency, err := farm.ParseLatency("fixed:10ms", 1)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := farm.ParseFaults(strings.NewReader(`
"h*.test":
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
	defer server.Close()
	addr, err := server.ListenHTTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var list strings.Builder
	for i := range hosts {
		fmt.Fprintf(&list, "h%d.test\n", i)
	}
	path, out := filepath.Join(dir, "hosts.txt"), filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	args := func(run string) []string {
		return []string{
			"run", "--hosts", path, "--out", out, "--run", run, "--schemes", "http", "--connect-to", addr, "--state",
			filepath.Join(dir, "state"),
			"--concurrency", fmt.Sprint(concurrency), "--tables", "fetches,groups", "--progress", "none",
		}
	}
	killed := command(args("killed")...)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); server.Report(0).Requests < hosts/2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the farm was not asked half of the hosts within a minute")
		}
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil {
		t.Fatal("the first run came to its end before it was killed")
	}
	asked := server.Report(0).Requests

	if text, err := command(args("whole")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	rows, err := parquet.ReadFile[schema.Fetch](filepath.Join(out, "fetches", "run=whole", "part-0000000000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	cached := int64(0)
	for _, row := range rows {
		if row.Reason != "success" && row.Reason != "client_error" {
			t.Errorf("%s: %s", row.Host, row.Reason)
		}
		if row.Source == "cache" {
			cached++
		}
	}
	if len(rows) != hosts || cached < asked-concurrency || cached > asked {
		t.Errorf("%d rows, %d from memory; want %d, and %d to %d", len(rows), cached, hosts, asked-concurrency, asked)
	}
	report := server.Report(-1)
	if len(report.ByHost) != hosts {
		t.Errorf("%d hosts were asked, want %d", len(report.ByHost), hosts)
	}
	again := 0
	for _, h := range report.ByHost {
		if h.Requests > 1 {
			again++
		}
	}
	if again > concurrency {
		t.Errorf("%d hosts were asked again, and no more than %d can have been in flight", again, concurrency)
	}
	t.Logf("killed after %d requests; %d answers were in memory, %d hosts were asked again", asked, cached, again)
}

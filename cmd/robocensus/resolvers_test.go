package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// 1,000 hosts, and four name servers: that of the farm, one that answers SERVFAIL to
// all, one that never answers, and one that is not there. No host fails, and the tables
// tell nothing of it.
func TestResolversThatFail_NoRace(t *testing.T) {
	faults, err := farm.ParseFaults(strings.NewReader(`"*": {body: "User-agent: *\nDisallow: /private\n"}`), "faults")
	must(t, err)
	server, err := farm.New(farm.Config{Faults: faults})
	must(t, err)
	defer server.Close()
	addr, err := server.ListenHTTP("127.0.0.1:0")
	must(t, err)
	_, port, _ := net.SplitHostPort(addr)
	good, err := server.ListenDNS("127.0.0.1:0")
	must(t, err)
	const servFail = 2
	failing := answerNothing(t, func(reply []byte) []byte { reply[3] |= servFail; return reply })
	silent := answerNothing(t, func([]byte) []byte { return nil })
	gone, err := net.Dial("udp", failing) // listens to one peer only
	must(t, err)
	defer gone.Close()

	folder := t.TempDir()
	var hosts strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&hosts, "h%d.test:%s\n", i, port)
	}
	list := filepath.Join(folder, "hosts.txt")
	must(t, os.WriteFile(list, []byte(hosts.String()), 0o666))
	out := filepath.Join(folder, "out")
	var stdout, stderr strings.Builder
	code := mainCode([]string{
		"run", "--hosts", list, "--out", out, "--run", "r", "--schemes", "http", "--progress", "none", "--allow-private",
		"--resolver", failing + "," + silent, "--resolver", good, "--resolver", gone.LocalAddr().String(), "--per-resolver",
		"40",
		"--concurrency", "200", "--per-address", "200", "--retries", "0", "--tables", "fetches,summary",
	}, nil, &stdout, &stderr)
	if code != 0 || !strings.Contains(stdout.String(), "1,000") {
		t.Fatalf("exit %d: %s%s", code, stdout.String(), stderr.String())
	}
	for server, fails := range map[string]bool{failing: true, silent: true, gone.LocalAddr().String(): true, good: false} {
		if got := strings.Contains(stderr.String(), "note: the DNS server "+server+" answered 0 of the "); got != fails {
			t.Errorf("of %s, which fails: %v, the run says\n%s", server, fails, stderr.String())
		}
	}
	m, err := journal.ReadManifest(sinktest.Open(t, out), "r")
	must(t, err)
	if got := fmt.Sprint(m.Configuration["resolver"]); strings.Count(got, "127.0.0.1:") != 4 {
		t.Errorf("the manifest has the resolvers %s", got)
	}
	if report := server.Report(-1); report.Requests != 1000 || report.Answers["200"] != 1000 {
		t.Errorf("%d requests, answers %v", report.Requests, report.Answers)
	}
}

// answerNothing is a name server that knows no name: its answers are the questions, as
// changed by answer.
func answerNothing(t *testing.T, answer func(reply []byte) []byte) string {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		packet := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(packet)
			if err != nil {
				return
			}
			packet[2] |= 0x80 // a response
			if reply := answer(packet[:n]); reply != nil {
				conn.WriteToUDPAddrPort(reply, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return conn.LocalAddr().String()
}

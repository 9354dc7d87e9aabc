package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/schema"
)

// A way is how a host answers gptbot, and what the row of answers then says.
type way struct {
	name  string
	fault string // YAML of the host
	rows  map[string]string
}

const (
	sameRow   = "200 served same equal -"
	wallPage  = "<!doctype html><title>Access denied</title><div id=px-captcha></div>\n"
	ownFile   = "User-agent: GPTBot\nDisallow: /private/\n\nUser-agent: *\nDisallow:\n"
	cloudWall = `{status: 403, headers: {cf-mitigated: challenge}}`
)

// ways has two rows for each host: of the control, and of gptbot.
var ways = []way{
	{"same", "{}", map[string]string{"control": sameRow, "gptbot": sameRow}},
	{"other bytes, same meaning", `{as: {GPTBot: {body: "# hello\nUser-agent: GPTBot\nDisallow: /private/\n"}}}`,
		map[string]string{"control": sameRow, "gptbot": "200 served other equal -"}},
	{"stricter", `{as: {GPTBot: {body: "User-agent: *\nDisallow: /\n"}}}`,
		map[string]string{"control": sameRow, "gptbot": "200 served other stricter -: /: allow, then disallow (line 2)"}},
	{"looser for one", `{as: {GPTBot: {body: "User-agent: *\nDisallow:\n"}}}`,
		map[string]string{"control": sameRow,
			"gptbot": "200 served other looser -: /private/: disallow (line 2), then allow (line 2)"}},
	{"403", `{as: {GPTBot: 403}}`, map[string]string{"control": sameRow, "gptbot": "403 refused null unknown -"}},
	{"a wall with 200", `{as: {GPTBot: {headers: {Content-Type: text/html}, body: "` +
		strings.TrimSpace(strings.ReplaceAll(wallPage, `"`, `\"`)) + `"}}}`,
		map[string]string{"control": sameRow, "gptbot": "200 challenged other unknown human"}},
	{"a wall with 403", `{as: {GPTBot: ` + cloudWall + `}}`, map[string]string{"control": sameRow,
		"gptbot": "403 challenged null unknown cloudflare"}},
	{"a redirect", `{as: {GPTBot: {hops: 1}}}`, map[string]string{"control": sameRow, "gptbot": sameRow}},
	{"a timeout", `{as: {GPTBot: {hang: start}}}`, map[string]string{"control": sameRow,
		"gptbot": "null unreached null unknown -"}},
	{"a reset", `{as: {GPTBot: {reset: header}}}`, map[string]string{"control": sameRow,
		"gptbot": "null unreached null unknown -"}},
	{"404", `{as: {GPTBot: 404}}`, map[string]string{"control": sameRow, "gptbot": "404 other null unknown -"}},
	{"any second request", `{times: 1, then: 429}`, map[string]string{"control": "429 rate_limited null unknown -",
		"gptbot": "429 rate_limited null unknown -"}},
	{"a wall for us", cloudWall, map[string]string{"control": "403 incomparable null unknown cloudflare",
		"gptbot": "403 incomparable null unknown cloudflare"}},
	{"no answer to us", `{reset: header}`, nil},
}

// A farm answers by user agent in fourteen ways. Every row of answers is as planned, no host
// has two requests at once or within a second, and a run with two identities takes at most
// 3.1 times the requests and little more memory than one without.
func TestAlsoAs_NoRace(t *testing.T) {
	t.Parallel()
	count := 40 * len(ways)
	if testing.Short() {
		count = 3 * len(ways)
	}
	if n := os.Getenv("ROBOCENSUS_HOSTS"); n != "" {
		fmt.Sscan(n, &count)
	}
	hosts, faults, list := make(farm.Hosts), new(strings.Builder), new(strings.Builder)
	for i := range count {
		name := fmt.Sprintf("h%d-w%d.example", i, i%len(ways))
		hosts[name] = []byte(ownFile)
		fmt.Fprintf(list, "%d,%s\n", i+1, name)
	}
	for k, w := range ways {
		fmt.Fprintf(faults, "\"*-w%d.example\": %s\n", k, w.fault)
	}
	parsed, err := farm.ParseFaults(strings.NewReader(faults.String()), "faults.yaml")
	must(t, err)
	server, err := farm.New(farm.Config{Hosts: hosts, Faults: parsed})
	must(t, err)
	t.Cleanup(func() { server.Close() })
	addr, err := server.ListenHTTP("127.0.0.1:0")
	must(t, err)
	work := t.TempDir()
	must(t, os.WriteFile(filepath.Join(work, "hosts.csv"), []byte(list.String()), 0o666))
	must(t, os.WriteFile(filepath.Join(work, "also.yaml"),
		[]byte("- {name: control}\n- {name: gptbot, user_agent: GPTBot/1.3, agent: GPTBot}\n"), 0o666))
	args := []string{"run", "--hosts", "hosts.csv", "--out", "out", "--schemes", "http", "--connect-to", addr,
		"--retries", "0", "--timeout", "6s", "--keep-bodies",
		"--progress", "none", "--user-agent", "our-census/1 (+https://census.example/)"}
	alone := measure(t, work, append(args, "--run", "alone")...)
	without := server.Report(0)
	server.Reset()
	both := measure(t, work, append(args, "--run", "both", "--also-as", "also.yaml", "--vantage", "here")...)
	with := server.Report(0)
	if alone.code != cli.ExitOK || both.code != cli.ExitOK {
		t.Fatalf("%d %d\n%s\n%s", alone.code, both.code, alone.said, both.said)
	}
	t.Logf("%d hosts: %d requests without, %d with identities; %d and %d MB; at most %d at once to a host, "+
		"at least %d ms apart",
		count, without.Requests, with.Requests, alone.peakMB, both.peakMB, with.PeakHost, with.LeastGapMillis)
	if float64(with.Requests) > 3.1*float64(without.Requests) {
		t.Errorf("%d requests, more than 3.1 times %d", with.Requests, without.Requests)
	}
	if with.PeakHost != 1 || with.LeastGapMillis < 950 {
		t.Errorf("%d requests at once to a host, %d ms apart", with.PeakHost, with.LeastGapMillis)
	}
	if float64(both.peakMB) > 1.2*float64(alone.peakMB)+8 {
		t.Errorf("%d MB, and %d without identities", both.peakMB, alone.peakMB)
	}
	files, err := filepath.Glob(filepath.Join(work, "out/answers/run=both/*.parquet"))
	must(t, err)
	got := make(map[string]int) // way, identity and row, by count
	for _, file := range files {
		rows, err := parquet.ReadFile[schema.Answer](file)
		must(t, err)
		for _, r := range rows {
			if want := map[string]string{"control": "our-census/1 (+https://census.example/)",
				"gptbot": "GPTBot/1.3 (+https://census.example/)"}[r.Identity]; r.UserAgent != want ||
				r.IsControl != (r.Identity == "control") {
				t.Fatalf("%s: sent as %q", r.Identity, r.UserAgent)
			}
			got[r.Host[strings.IndexByte(r.Host, '-')+1:]+" "+r.Identity+" "+rowText(&r)]++
		}
	}
	for k, w := range ways {
		for identity, row := range w.rows {
			key := fmt.Sprintf("w%d.example %s %s", k, identity, row)
			if n := count / len(ways); got[key] < n || got[key] > n+1 {
				t.Errorf("%s: %d rows %q, want %d", w.name, got[key], key, n)
			}
			delete(got, key)
		}
	}
	for key, n := range got {
		t.Errorf("%d rows %q", n, key)
	}
}

func rowText(r *schema.Answer) string {
	status, same, rest := "null", "null", "-"
	if r.Status != nil {
		status = fmt.Sprint(*r.Status)
	}
	if r.Same != nil {
		same = map[bool]string{true: "same", false: "other"}[*r.Same]
	}
	if r.Challenge != nil {
		rest = *r.Challenge
	}
	if r.FirstDifference != nil {
		rest += ": " + *r.FirstDifference
	}
	return fmt.Sprintf("%s %s %s %s %s", status, r.Treatment, same, r.Policy, rest)
}

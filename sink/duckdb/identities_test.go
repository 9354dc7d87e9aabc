package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// answering is a web that answers by user agent and has front pages. It counts requests,
// and calls onAsk with the number of those under another name.
type answering struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // by host, user agent and path
	as    int
	onAsk func(as int)
}

func newAnswering(t *testing.T) *answering {
	w := &answering{asked: make(map[string]int)}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		product, _, _ := strings.Cut(r.UserAgent(), "/")
		w.mu.Lock()
		w.asked[r.Host+" "+product+" "+r.URL.Path]++
		if product == "GPTBot" {
			if w.as++; w.onAsk != nil {
				w.onAsk(w.as)
			}
		}
		w.mu.Unlock()
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		if r.URL.Path == "/" {
			out.Header().Set("X-Robots-Tag", "noai")
			return
		}
		metWays(out, r, n)
	}))
	t.Cleanup(w.Close)
	return w
}

// alikeIn are the tables about identities and pages without what differs whenever hosts
// are asked.
var alikeIn = map[string]string{
	"answers":     "* EXCLUDE (fetch_time, total_us)",
	"preferences": "*",
	"policies":    "*",
	"fetches":     "seq, host, status, outcome, challenge, content_digest, front_page, front_headers",
	"summary": "metric, stratum, agent, key, sum(count) FILTER (NOT metric LIKE 'total_us%' AND NOT " +
		"metric LIKE '%slow')",
}

// wantSameButTimes checks that run r of both folders has the same rows.
func wantSameButTimes(t *testing.T, want, got string) {
	t.Helper()
	db := bare(t)
	for table, columns := range alikeIn {
		rows := func(dir string) string {
			text := fmt.Sprintf("SELECT %s FROM read_parquet('%s/%s/run=r/*.parquet', hive_partitioning = false)", columns, dir,
				table)
			if table == "summary" {
				text += " WHERE NOT metric LIKE 'total_us%' AND NOT metric LIKE '%slow' GROUP BY ALL"
			}
			return text
		}
		if n := one(t, db, fmt.Sprintf("SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%s EXCEPT ALL %[1]s))",
			rows(want), rows(got), rows(got))); n != "0" {
			t.Errorf("%s: %s rows differ", table, n)
		}
	}
}

// A run that asks hosts under further names and for front pages is killed, and resumed:
// nothing is lost or doubled, in its tables or its evidence, and no host whose answers are
// kept is asked again. Shards have the rows of a whole run, a data set of them can be made
// again, and prune removes them.
func TestIdentitiesThroughKillsAndShards(t *testing.T) {
	if testing.Short() {
		t.Skip("package pipeline interrupts runs with identities; TestAnswersToIdentities compares their tables")
	}
	t.Parallel()
	w, dir := newAnswering(t), t.TempDir()
	const hosts, kills = 4500, 20
	list := ""
	for i := range hosts {
		list += fmt.Sprintf("%d,h%d.example\n", 600+i*20, i)
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	also := write(t, filepath.Join(dir, "also.yaml"),
		"- {name: control}\n- {name: gptbot, user_agent: GPTBot/1.3, agent: GPTBot}\n")
	common := []string{"run", "--agents", agents, "--run", "r", "--keep-bodies", "--progress", "none"}
	asks := append(common, "--hosts", list, "--schemes", "http", "--connect-to", strings.TrimPrefix(w.URL, "http://"),
		"--also-as", also, "--front-page", "--retries", "0", "--concurrency", "8")
	whole, killed, evidence := filepath.Join(dir, "whole"), filepath.Join(dir, "killed"), filepath.Join(dir, "e.warc.gz")
	robocensus(t, 0, append(asks, "--out", whole)...)

	if got := one(t, quick(t, whole), "SELECT string_agg(concat_ws(' ', host, identity, treatment, price, "+
		"price_header)) FROM answers WHERE price_header IS NOT NULL"); got != "h27.example gptbot payment "+
		"USD 0.01 crawler-price" {
		t.Errorf("prices of robots.txt: %s", got)
	}
	clear(w.asked)
	w.as = 0
	for k := 0; ; k++ {
		run := exec.Command(filepath.Join(bin, "robocensus"), append(asks, "--out", killed, "--warc-out", evidence,
			"--resume")...)
		run.Stderr = os.Stderr
		must(t, run.Start())
		w.mu.Lock()
		at := w.as + hosts/(kills+1)
		w.onAsk = func(as int) {
			if k < kills && as == at {
				run.Process.Kill()
			}
		}
		w.mu.Unlock()
		if run.Wait() == nil {
			break
		}
		if k >= kills {
			t.Fatal("the run does not complete")
		}
	}
	wantSameButTimes(t, whole, killed)
	if text, _ := robocensus(t, 0, "verify", "--out", killed, "r", "--warc", evidence); !strings.HasSuffix(text,
		": whole\n") {
		t.Errorf("verify says %s", text)
	}
	once := 0
	for what, n := range w.asked {
		most := kills + 1
		if strings.HasSuffix(what, "robocensus /robots.txt") {
			n, most = n/2, most+n%2 // by the control too, unless a kill comes before
		}
		if n > most {
			t.Errorf("%s was asked %d times", what, n)
		} else if n == 1 {
			once++
		}
	}
	if once == 0 {
		t.Error("every host was asked again")
	}
	again := filepath.Join(dir, "again")
	robocensus(t, 0, append(common, "--out", again, "--warc", evidence)...)
	wantTablesAgain(t, killed, again) // with answers, though nobody named the table
	wantWholeArchive(t, evidence, killed, true)

	shards := filepath.Join(dir, "shards")
	for shard := range 2 {
		robocensus(t, 0, append(asks, "--out", shards, "--shards", "2", "--shard", fmt.Sprint(shard))...)
	}
	wantSameButTimes(t, whole, shards)
	set := filepath.Join(dir, "set")
	robocensus(t, 0, "publish", "--out", shards, "r", "--to", set, "--title", "t", "--licence", "CC0-1.0", "--creator",
		"c")
	if text, _ := robocensus(t, 0, "reproduce", set); !strings.Contains(text, "run r: answers: the same, ") ||
		!strings.HasSuffix(text, "the same\n") {
		t.Errorf("reproduce says\n%s", text)
	}
	robocensus(t, 0, append(common[:len(common):len(common)], "--hosts", list, "--schemes", "http", "--connect-to",
		strings.TrimPrefix(w.URL, "http://"), "--out", shards, "--run", "s")...)
	robocensus(t, 0, "prune", "--out", shards, "--keep", "1")
	if left, err := filepath.Glob(filepath.Join(shards, "answers", "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("prune leaves %v", left)
	}
}

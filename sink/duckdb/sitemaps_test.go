package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// siteLog notes the requests to each host.
type siteLog struct {
	mu    sync.Mutex
	asked map[string][]string
	when  map[string][]time.Time
}

func (l *siteLog) add(host, target string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked[host], l.when[host] = append(l.asked[host], target), append(l.when[host], time.Now())
}

// sitesRun returns the arguments of a run over n hosts of the farm.
func sitesRun(t *testing.T, dir, addr string, n int) []string {
	t.Helper()
	list := ""
	for i := range n {
		list += fmt.Sprintf("%d,%s\n", 600+i*20, siteHost(i))
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"), "- {name: GPTBot, category: ai-training}\n"+
		"- {name: Googlebot, category: search}\n- {name: bingbot, category: search}\n")
	return []string{"run", "--agents", agents, "--keep-bodies", "--progress", "none", "--hosts", list, "--schemes",
		"http", "--connect-to", addr, "--retries", "0",
		"--sitemaps", fmt.Sprintf("%d,%d", mostFiles, mostBytes), "--keep-urls"}
}

// The sitemaps of each kind of host give the rows that are planned, one request at a time
// and a second apart; the sample is judged as it should be. The WARC file of the run, the
// run itself judged again, two shards and a run that is killed again and again all have the
// same rows.
func TestSitemapsOfHosts(t *testing.T) {
	t.Parallel()
	n := 2 * len(siteKinds)
	if !testing.Short() {
		n = 2000
	}
	addr, log := serveSites(t)
	dir := t.TempDir()
	asks := sitesRun(t, dir, addr, n)
	out := filepath.Join(dir, "out")
	evidence := filepath.Join(dir, "evidence.warc.gz")
	robocensus(t, 0, append(asks, "--out", out, "--run", "r", "--warc-out", evidence)...)
	robocensus(t, 0, "verify", "--out", out, "r")
	db := quick(t, out)
	for i := range n {
		k := siteKinds[i%len(siteKinds)]
		_, rows, err := ask(db,
			fmt.Sprintf(
				`SELECT replace(split_part(url, '?', 1), 'http://%s', '') || ' ' || kind || ' ' || outcome || ' ' || urls || ' ' || urls_read || ' ' || outside || ' ' || sitemaps || coalesce(' ' || remark, ''),
			urls FROM sitemap_files WHERE host = '%[1]s'`, siteHost(i)))
		must(t, err)
		var got []string
		for _, row := range rows {
			text := row[0]
			if some := slices.ContainsFunc(k.rows, func(w string) bool { return strings.Contains(w, "SOME") }); some &&
				row[1] != "0" {
				text = strings.Replace(text, row[1]+" "+row[1], "SOME SOME", 1)
				if k.name == "bomb" { // its pages are of another host
					text = strings.Replace(text, row[1]+" 0 "+row[1], "SOME SOME 0", 1)
					text = strings.Replace(text, "limit outside", "limit", 1)
				}
			}
			got = append(got, text)
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(k.rows))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("host %d, %s (-want +got):\n%s", i, k.name, diff)
		}
		_, covers, err := ask(db,
			fmt.Sprintf("SELECT DISTINCT sampled, disallowed, rule_line, example FROM coverage WHERE host = '%s'", siteHost(i)))
		must(t, err)
		switch sampled := min(k.pages, 200); {
		case k.pages == -1:
		case k.pages == 0:
			if len(covers) > 0 {
				t.Errorf("%s: %v", k.name, covers)
			}
		case len(covers) != 1 || covers[0][0] != fmt.Sprint(sampled) || k.pages <= 200 &&
			covers[0][1] != fmt.Sprint(k.closed) || (covers[0][2] == "2") != (k.closed > 0):
			t.Errorf("%s: %v, want %d of %d closed", k.name, covers, k.closed, sampled)
		}
	}
	for query, want := range map[string]string{
		"SELECT count(*) FROM sitemap_files WHERE outcome = 'disallowed' AND (fetch_time IS NULL) <> (final_url IS NULL)":                                                                                                                                  "0",
		"SELECT count(*) FROM sitemap_files f JOIN fetches USING (seq) WHERE (f.parent IS NOT NULL) AND f.line IS NOT NULL":                                                                                                                                "0",
		"SELECT count(*) FROM sitemap_files f LEFT JOIN sitemaps s ON s.seq = f.seq AND s.line = f.line WHERE f.line IS NOT NULL AND s.url IS DISTINCT FROM f.url":                                                                                         "0",
		"SELECT count(*) FROM (SELECT seq, sum(urls_new) AS n FROM sitemap_files GROUP BY seq) JOIN coverage USING (seq) WHERE n <> listed":                                                                                                                "0",
		"SELECT count(*) FROM coverage WHERE sampled <> allowed + disallowed + undefined OR sampled <> least(listed, 200)":                                                                                                                                 "0",
		"SELECT count(*) FROM (SELECT seq, count(*) AS n FROM urls GROUP BY seq) FULL JOIN (SELECT DISTINCT seq, sampled FROM coverage) USING (seq) WHERE n IS DISTINCT FROM sampled":                                                                      "0",
		"SELECT count(*) FROM (SELECT seq, agent, count(*) FILTER (url LIKE '%/private%') AS n FROM urls JOIN coverage USING (seq) GROUP BY ALL) JOIN coverage USING (seq, agent) JOIN fetches USING (seq) WHERE fetches.status = 200 AND n <> disallowed": "0",
		"SELECT count(*) FROM sitemap_files WHERE sitemaps_read <> (SELECT count(*) FROM sitemap_files c WHERE c.seq = sitemap_files.seq AND c.parent = sitemap_files.url AND c.fetch_time IS NOT NULL)":                                                   "0",
		"SELECT max(bytes) <= 1048576 FROM (SELECT sum(bytes) AS bytes FROM sitemap_files GROUP BY seq)":                                                                                                                                                   "true",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	wantFiguresOfSitemaps(t, out, "r")
	closed := siteHost(slices.IndexFunc(siteKinds, func(k siteKind) bool { return k.name == "closed" }))
	if text, _ := robocensus(t, 0, "show", closed, "--out", out, "--run", "r"); !strings.Contains(text,
		"  sitemaps: 0 asked for; ") ||
		!strings.Contains(text, "/private/a.xml: closed to this census by a robots.txt, named in line ") {
		t.Errorf("show says\n%s", text)
	}
	log.mu.Lock()
	for host, when := range log.when {
		if strings.HasSuffix(host, ".test") {
			continue // asked for each of several hosts
		}
		for i := 1; i < len(when); i++ {
			// a redirect is followed at once
			if d := when[i].Sub(when[i-1]); d < time.Second && !strings.HasPrefix(log.asked[host][i-1], "/a.xml") {
				t.Errorf("%s: %s %v after %s", host, log.asked[host][i], d, log.asked[host][i-1])
			}
		}
	}
	log.mu.Unlock()

	again := filepath.Join(dir, "again")
	robocensus(t, 0, "run", "--agents", asks[2], "--keep-bodies", "--progress", "none", "--from-run",
		filepath.Join(out, "_runs", "r"), "--out", again, "--run", "r")
	wantTablesAgain(t, out, again)
	planned := filepath.Join(dir, "planned")
	robocensus(t, 0, "plan", "--agents", asks[2], "--keep-bodies", "--from-run", filepath.Join(out, "_runs", "r"),
		"--shards", "2", "--out", planned, "--run", "r")
	for _, shard := range []string{"0", "1"} {
		robocensus(t, 0, "run", "--out", planned, "--run", "r", "--shard", shard, "--progress", "none")
	}
	wantTablesAgain(t, out, planned, "sitemap_files", "coverage", "urls", "policies")
	none := filepath.Join(dir, "none")
	robocensus(t, 0, "run", "--agents", asks[2], "--keep-bodies", "--keep-urls=false", "--progress", "none", "--from-run",
		filepath.Join(out, "_runs", "r"), "--out", none, "--run", "r")
	if _, said := robocensus(t, 0, "run", "--agents", asks[2], "--progress", "none", "--from-run",
		filepath.Join(none, "_runs", "r"), "--out", none, "--run", "again"); !strings.Contains(said, "note: not carried "+
		"over: sitemaps of the earlier run, for it does not have the tables sitemap_files and urls with all their "+
		"columns (--keep-urls)\n") {
		t.Errorf("of a run without the pages, it says\n%s", said)
	}
	set := filepath.Join(dir, "set")
	robocensus(t, 0, "publish", "--out", out, "--to", set, "--creator", "A", "--licence", "CC0-1.0", "r")
	if text, _ := robocensus(t, 0, "reproduce", set); !strings.Contains(text, "coverage: the same") ||
		!strings.Contains(text, "sitemap_files: the same") || !strings.Contains(text, "urls: the same") {
		t.Errorf("reproduce says\n%s", text)
	}
	robocensus(t, 0, "publish", "--out", out, "--to", set+"-without", "--creator", "A", "--licence", "CC0-1.0",
		"--without", "urls", "r")
	if text, _ := robocensus(t, 0, "reproduce", set+"-without"); !strings.Contains(text,
		"\nthe same, as far as compared (not compared: sitemap_files, coverage, summary (coverage, ") {
		t.Errorf("reproduce without the pages says\n%s", text)
	}
	fromWARC := filepath.Join(dir, "warc")
	robocensus(t, 0, "run", "--agents", asks[2], "--keep-bodies", "--keep-urls", "--sitemaps", "5", "--progress", "none",
		"--warc", evidence, "--out", fromWARC, "--run", "r")
	wantTablesAgain(t, out, fromWARC, "sitemap_files", "coverage", "urls", "policies")

	shards := filepath.Join(dir, "shards")
	for _, shard := range []string{"0", "1"} {
		robocensus(t, 0, append(asks, "--out", shards, "--run", "r", "--shards", "2", "--shard", shard)...)
	}
	robocensus(t, 0, "verify", "--out", shards, "r")
	killed := filepath.Join(dir, "killed")
	kills, mostKills := 0, 6
	if testing.Short() {
		mostKills = 2
	}
	for done := false; !done; {
		c := exec.Command(filepath.Join(bin, "robocensus"), append(asks, "--out", killed, "--run", "r", "--resume",
			"--concurrency", "20")...)
		must(t, c.Start())
		if kills++; kills > mostKills {
			must(t, c.Wait())
			break
		}
		stop := time.AfterFunc(time.Duration(1000+rand.IntN(2000))*time.Millisecond, func() { c.Process.Signal(os.Kill) })
		done = c.Wait() == nil
		stop.Stop()
	}
	for _, other := range []string{shards, killed} {
		for _, table := range []string{"sitemap_files", "coverage", "urls"} {
			columns := "*"
			if table == "sitemap_files" {
				columns = "* EXCLUDE fetch_time"
			}
			rows := func(dir string) string {
				return fmt.Sprintf("SELECT %s FROM read_parquet('%s/%s/run=r/*.parquet')", columns, dir, table)
			}
			if got := one(t, bare(t), fmt.Sprintf("SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%s EXCEPT ALL %[1]s))",
				rows(out), rows(other), rows(other))); got != "0" {
				t.Errorf("%s: %s rows of %s differ", filepath.Base(other), got, table)
			}
		}
	}
	t.Logf("%d kills", kills-1)
}

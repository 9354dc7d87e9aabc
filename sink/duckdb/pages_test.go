package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pageOf is what hosts say, by their number: in robots.txt, and in the header of the front
// page.
var pageOf = []struct {
	robots string // "404" for none
	header http.Header
	status int
}{
	{"User-agent: *\nDisallow:\n", http.Header{"X-Robots-Tag": {"noai, noimageai"}}, 200},
	{"User-agent: *\nDisallow: /\n", http.Header{"X-Robots-Tag": {"noai"}}, 200}, // shuts us out
	{"User-agent: GPTBot\nDisallow: /\n", http.Header{"X-Robots-Tag": {"ccbot: noai", "noindex"}, "Tdm-Reservation": {
		"1"}, "Tdm-Policy": {"/p"}}, 200},
	{"404", http.Header{"Content-Usage": {"train-ai=n, search=y"}}, 200},
	{"User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n", http.Header{"Content-Usage": {"train-ai=y"},
		"Tdm-Reservation": {"0", "1"}}, 200},
	{"User-agent: *\nDisallow: /x\n", http.Header{"X-Robots-Tag": {"noindex"}}, 200},
	{"User-agent: *\nDisallow:\n", http.Header{"X-Robots-Tag": {"noai"}}, 404},
	{"User-agent: *\nDisallow:\n", nil, 200},
}

// What front pages say is in the tables, the figure is what they hold, by its own SQL too,
// and no figure about robots.txt counts it. A run that judges the answers again has the
// same rows, and shards have those of a whole run.
func TestFrontPages(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.Host, "h%d.example", &n)
		p := pageOf[n%len(pageOf)]
		switch {
		case r.URL.Path == "/":
			for name, values := range p.header {
				w.Header()[name] = values
			}
			w.WriteHeader(p.status)
		case p.robots == "404":
			w.WriteHeader(404)
		default:
			fmt.Fprint(w, p.robots)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	list := ""
	for i := range 40 {
		list += fmt.Sprintf("%d,h%d.example\n", 600+i*20, i)
	}
	list = write(t, filepath.Join(dir, "hosts.csv"), list)
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	common := []string{"run", "--agents", agents, "--keep-bodies", "--progress", "none"}
	asks := append(common, "--hosts", list, "--schemes", "http", "--connect-to", strings.TrimPrefix(server.URL,
		"http://"), "--retries", "0")
	out := filepath.Join(dir, "out")
	robocensus(t, 0, append(asks, "--out", out, "--run", "plain")...)
	robocensus(t, 0, append(asks, "--out", out, "--run", "r", "--front-page")...)
	db := quick(t, out)
	figures := report(t, out, "r")
	f := figures["front-pages"]
	for name, query := range map[string]string{"its SQL": f.sql, "the tables": `SELECT counter, hosts FROM (
		SELECT 1 AS n, 'front_page ' || front_page AS counter, count(*) AS hosts FROM fetches GROUP BY ALL
		UNION ALL SELECT 2, 'page_preference ' || header || ' ' || use || ' ' || preference, count(DISTINCT seq) FROM preferences WHERE mechanism = 'header' AND use IS NOT NULL AND preference IS NOT NULL GROUP BY ALL
		UNION ALL SELECT 3, 'page_refusal ' || way, count(*) FROM (SELECT unnest(CASE WHEN seq IN (SELECT seq FROM policies WHERE agent = 'GPTBot' AND class = 'disallow_all')
				OR seq IN (SELECT seq FROM preferences WHERE mechanism <> 'header' AND use = 'ai-train' AND preference = 'disallow') THEN ['any'] ELSE ['any', 'alone'] END) AS way
			FROM (SELECT DISTINCT seq FROM preferences WHERE mechanism = 'header' AND use = 'ai-train' AND preference = 'disallow')) GROUP BY ALL)
		ORDER BY n, hosts DESC, counter`} {
		head, rows, err := ask(db, query)
		if diff := cmp.Diff(f.rows, append([][]string{head}, rows...)); err != nil || diff != "" {
			t.Errorf("-report +%s: %v\n%s\n%s", name, err, diff, query)
		}
	}
	if want := "The front page of 66.7% of 30 hosts refuses AI training in its header; the robots.txt of 10 " +
		"of these hosts does not"; f.title != want {
		t.Errorf("the figure says %q, want %q", f.title, want)
	}
	// The terminal says what the tables hold.
	text, _ := robocensus(t, 0, "report", "--out", out, "r", "--text")
	text = strings.Join(strings.Fields(text), " ")
	for _, query := range []string{
		"SELECT format('The front page was read of {} of {} hosts.', count(*) FILTER (front_page = 'read'), " +
			"count(front_page)) FROM fetches",
		"SELECT format('The header of {} refuses AI training, which the robots.txt of {} of these does not. " +
			"Their headers state: ', sum(count) FILTER (key = 'any'), sum(count) FILTER (key = 'alone')) FROM summary " +
			"WHERE metric = 'page_refusal'",
		"SELECT format('X-Robots-Tag: AI training, refused by {} hosts', count(DISTINCT seq)) FROM preferences " +
			"WHERE header = 'x-robots-tag' AND use = 'ai-train' AND preference = 'disallow'",
		"SELECT format('Content-Usage: AI training, permitted by {} hosts', count(DISTINCT seq)) FROM preferences " +
			"WHERE header = 'content-usage' AND use = 'ai-train' AND preference = 'allow'",
	} {
		if want := one(t, db, query); !strings.Contains(text, strings.TrimSpace(want)) {
			t.Errorf("the terminal does not say %q:\n%s", want, text)
		}
	}
	for query, want := range map[string]string{
		"SELECT string_agg(DISTINCT front_page ORDER BY front_page) FROM fetches":                                                                                                                                                            "disallowed,read,status",
		"SELECT count(*) FROM fetches WHERE (front_page = 'disallowed') <> (len(front_hops) = 0)":                                                                                                                                            "0",
		"SELECT count(*) FROM preferences WHERE (mechanism = 'header') <> (line IS NULL) OR (mechanism = 'header') <> (header IS NOT NULL) OR (scope = 'page') <> (line IS NULL)":                                                            "0",
		"SELECT string_agg(group_agent || ' ' || label || ' ' || coalesce(use, '-') || ' ' || path || ' ' || coalesce(remark, '-'), ', ' ORDER BY header, label, group_agent) FROM preferences WHERE scope = 'page' AND host = 'h2.example'": "* tdm-policy - / not_url, * tdm-reservation ai-train / -, ccbot noai ai-train / -, * noindex - / -",
		// also of two headers; TDM-Reservation 0 says nothing
		"SELECT count(*) FROM preferences WHERE scope = 'page' AND conflict":                 "10",
		"SELECT count(*) FROM fetches WHERE front_page <> 'read' AND len(front_headers) > 0": "0",
		// Nothing else counts headers.
		"SELECT count(*) FROM (SELECT metric, stratum, agent, key, count FROM history.summary WHERE run = 'r' AND metric NOT LIKE 'page%' AND metric NOT LIKE 'front%' AND metric NOT LIKE 'total_us%' AND metric NOT LIKE '%slow' EXCEPT SELECT metric, stratum, agent, key, count FROM history.summary WHERE run = 'plain')": "0",
		"SELECT count(*) FROM (SELECT * EXCLUDE run FROM history.policies WHERE run = 'r' EXCEPT SELECT * EXCLUDE run FROM history.policies WHERE run = 'plain')":                                                                                                                                                              "0",
		"SELECT count(*) FROM history.fetches WHERE run = 'plain' AND front_page IS NOT NULL": "0",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	robocensus(t, 0, "diff", "--out", out, "plain", "r")
	if got := one(t, quick(t, out), "SELECT count(*) FROM changes"); got != "0" {
		t.Errorf("%s changes because somebody looked at pages", got)
	}
	robocensus(t, 0, append(common, "--from-run", filepath.Join(out, "_runs", "r"), "--out", filepath.Join(dir, "again"),
		"--run", "r")...)
	wantTablesAgain(t, out, filepath.Join(dir, "again"))
	shards := filepath.Join(dir, "shards")
	for _, shard := range []string{"0", "1"} {
		robocensus(t, 0, append(asks, "--out", shards, "--run", "r", "--front-page", "--shards", "2", "--shard", shard)...)
	}
	robocensus(t, 0, "verify", "--out", shards, "r")
	both := bare(t)
	rows := func(dir string) string {
		return fmt.Sprintf("SELECT * FROM read_parquet('%s/preferences/run=r/*.parquet')", dir)
	}
	if got := one(t, both, fmt.Sprintf("SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%s EXCEPT ALL %[1]s))",
		rows(out), rows(shards), rows(shards))); got != "0" {
		t.Errorf("%s rows of preferences differ in shards", got)
	}
	if text, _ := robocensus(t, 0, "show", "h2.example", "--out", out, "--run", "r"); !strings.Contains(text,
		"front page for ccbot: X-Robots-Tag noai refuses AI training") {
		t.Errorf("show says\n%s", text)
	}
}

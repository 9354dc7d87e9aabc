package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What another program has crawled gives the documents and front pages that asking the hosts
// gives, but that nothing tells a soft 404 there: each document says so. What the archives lack
// is uncaptured.
func TestDocumentsOfForeignArchives(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("wget"); err != nil {
		t.Skip("wget is not installed")
	}
	w, dir := newConsenting(t), t.TempDir()
	addr := strings.TrimPrefix(w.URL, "http://")
	var hosts, urls strings.Builder
	n := 2 * len(consents)
	for i := range n {
		fmt.Fprintf(&hosts, "h%d.example\n", i)
	}
	agents := write(t, filepath.Join(dir, "agents.yaml"), "- {name: GPTBot, category: ai-training}\n")
	common := []string{"run", "--agents", agents, "--run", "r", "--progress", "none", "--documents", "--front-page",
		"--hosts", write(t, filepath.Join(dir, "hosts.csv"), hosts.String())}
	out := filepath.Join(dir, "out")
	robocensus(t, 0, append(common, "--out", out, "--schemes", "http", "--connect-to", addr, "--retries", "0",
		"--timeout", "3s")...)
	db := quick(t, out)
	_, rows, err := ask(db, "SELECT DISTINCT url FROM (SELECT url FROM documents UNION ALL SELECT final_url FROM "+
		"documents UNION ALL SELECT h.url FROM fetches, unnest(front_hops) _(h) UNION ALL SELECT robots_url FROM fetches) "+
		"WHERE url IS NOT NULL ORDER BY 1")
	must(t, err)
	for _, row := range rows {
		urls.WriteString(row[0] + "\n")
	}
	archive := wget(t, addr, filepath.Join(dir, "all"), urls.String(), "--timeout=3", "--warc-cdx")
	reads := func(name string, archive ...string) string {
		to := filepath.Join(dir, name)
		robocensus(t, 0, append(append(common, "--out", to), archive...)...)
		robocensus(t, 0, "verify", "--out", to, "r")
		return to
	}
	compared := func(table, columns, where string, got string) {
		t.Helper()
		rows := func(dir string) string {
			return fmt.Sprintf("(SELECT %s FROM read_parquet('%s/%s/run=r/*.parquet', hive_partitioning = false) t WHERE %s)",
				columns, dir, table, where)
		}
		db := bare(t)
		_, lost, err := ask(db, rows(out)+" EXCEPT ALL "+rows(got)+" ORDER BY ALL")
		must(t, err)
		_, made, err := ask(db, rows(got)+" EXCEPT ALL "+rows(out)+" ORDER BY ALL")
		must(t, err)
		if len(lost)+len(made) > 0 || one(t, db, "SELECT count(*) FROM "+rows(got)) == "0" {
			t.Errorf("%s: %d rows are lost\n%s\nand %d should not be there\n%s", table, len(lost), head(lost), len(made),
				head(made))
		}
	}
	got := reads("whole", "--warc", archive)
	// A soft 404 of a live run, and what never answered, are rows of their own below.
	same := fmt.Sprintf("(host, document, url) NOT IN (SELECT (host, document, url) FROM "+
		"read_parquet('%s/documents/run=r/*.parquet') WHERE outcome = 'soft_404' OR outcome = 'unreachable' "+
		"AND status IS NULL)", out)
	index, err := os.ReadFile(filepath.Join(dir, "all.cdx"))
	must(t, err)
	indexed := reads("indexed", "--cdx", write(t, filepath.Join(dir, "index.cdx"), strings.ReplaceAll(string(index),
		dir+"/", "")), "--warc-base", dir)
	for _, got := range []string{got, indexed} {
		compared("documents", "host, document, url, status, outcome, content_type, bytes, content_digest, final_url, "+
			"price, nullif(array_to_string(list_filter(string_split(remark, ','), lambda r: r <> 'no_control'), "+
			"','), '') AS remark", same, got)
		compared("fetches", "host, front_page, front_hops, front_headers",
			"NOT coalesce(front_page = 'failed', false) AND NOT coalesce(front_page = 'uncaptured', false)", got)
	}
	// An index leads to the captures that a reader of the whole archive finds.
	for _, table := range []string{"documents", "preferences"} {
		rows := func(dir string) string {
			return fmt.Sprintf("(SELECT * EXCLUDE seq FROM read_parquet('%s/%s/run=r/*.parquet', hive_partitioning = false))",
				dir, table)
		}
		if n := one(t, bare(t),
			fmt.Sprintf("SELECT count(*) FROM (%[1]s EXCEPT ALL %[2]s UNION ALL (%[2]s EXCEPT ALL %[1]s))", rows(got),
				rows(indexed))); n != "0" {
			t.Errorf("%s: %s rows differ by an index", table, n)
		}
	}
	db = quick(t, got)
	for query, want := range map[string]string{
		"SELECT count(*) FROM documents WHERE outcome = 'soft_404'": "0",
		// By HEAD and GET alike.
		"SELECT count(*) FROM documents WHERE outcome IN ('present', 'invalid') AND document <> 'page' AND NOT list_contains(string_split(coalesce(remark, ''), ','), 'no_control')": "0",
		"SELECT count(*) > 0 FROM documents WHERE outcome = 'present' AND remark LIKE '%no_control%'":                                                                                "true",
		fmt.Sprintf("SELECT count(*) > 0 AND bool_and(d.outcome IN ('present', 'invalid') AND d.status = 200) FROM "+
			"documents d JOIN (FROM read_parquet('%s/documents/run=r/*.parquet') WHERE outcome = 'soft_404') USING "+
			"(host, document, url)", out): "true",
		fmt.Sprintf("SELECT bool_and(d.outcome = 'uncaptured' AND d.status IS NULL) FROM documents d JOIN (FROM "+
			"read_parquet('%s/documents/run=r/*.parquet') WHERE outcome = 'unreachable' AND status IS NULL) USING "+
			"(host, document, url)", out): "true",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}

	// Of robots.txt alone.
	files := ""
	for i := range n {
		files += fmt.Sprintf("http://h%d.example/robots.txt\n", i)
	}
	bare := reads("bare", "--warc", wget(t, addr, filepath.Join(dir, "files"), files))
	if got := one(t, quick(t, bare), "SELECT string_agg(DISTINCT outcome ORDER BY outcome) || ' ' || count(*) FILTER "+
		"(outcome = 'uncaptured' AND (status IS NOT NULL OR bytes IS NOT NULL)) FROM documents"); got != "not_asked,"+
		"uncaptured 0" {
		t.Errorf("of an archive of robots.txt alone: %s", got)
	}
	if got := one(t, quick(t, bare),
		"SELECT string_agg(DISTINCT front_page ORDER BY front_page) FROM fetches"); got != "uncaptured" {
		t.Errorf("of an archive of robots.txt alone, front pages are %s", got)
	}
	if text, _ := robocensus(t, 0, "show", "h0.example", "--out", bare, "--run", "r"); !strings.Contains(text,
		"in no archive") {
		t.Errorf("show says\n%s", text)
	}
	c := exec.Command(filepath.Join(bin, "robocensus"), "run", "--from-run", filepath.Join(bare, "_runs", "r"),
		"--documents", "--out", filepath.Join(dir, "refused"))
	if text, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != 64 || !strings.Contains(string(text),
		"--documents does not apply with --from-run or --bodies: ") {
		t.Errorf("documents out of a run: %s", text)
	}
}

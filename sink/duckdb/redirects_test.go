package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The views find the redirects of a live run again if each hop is a separate
// capture, as in a WARC: the test takes the demo's tables apart.
func TestRedirectsAcrossCaptures(t *testing.T) {
	t.Parallel()
	live, dir := everyRun(t, out), filepath.Join(scratch, "captures")
	for _, table := range []string{"fetches", "policies", "verdicts"} {
		if err := os.MkdirAll(filepath.Join(dir, table, "run=first"), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"_runs", "groups", "rules", "sitemaps", "lines", "signals", "preferences", "agents",
		"summary", "examples", "bodies", "changes"} {
		if err := os.CopyFS(filepath.Join(dir, table), os.DirFS(filepath.Join(out, table))); err != nil {
			t.Fatal(err)
		}
	}
	part := func(table string) string { return filepath.Join(dir, table, "run=first", "part-0.parquet") }
	for _, statement := range []string{
		// The redirects. The last hop of the loop, and one that was never captured,
		// are in no chain of the live run.
		`CREATE TABLE edges AS
			SELECT DISTINCT hops[i].url AS url, hops[i].status AS status, hops[i + 1].url AS target
			FROM (SELECT hops, unnest(range(1, len(hops))) AS i FROM fetches WHERE run = 'first')
			UNION ALL VALUES ('http://back.loop.redirect.test/robots.txt', 302, 'http://loop.redirect.test/robots.txt'),
				('http://www.morningpost.example/robots.txt', 301, 'http://not-captured.test/robots.txt')`,
		// A capture for each of them: that of a host of the run, or a new one.
		`CREATE TABLE captures AS
			SELECT f.* EXCLUDE (run, outcome, reason, status, hops, final_url, content_digest, source),
				'undefined' AS outcome, 'redirect_unresolved' AS reason, e.status, 'warc' AS source, NULL::VARCHAR AS final_url,
				NULL::VARCHAR AS content_digest, [{'url': robots_url, 'status': e.status}, {'url': replace(e.target, 'http://tools.ironmonger.test', 'HTTP://Tools.ironmonger.test:80'), 'status': NULL}] AS hops
			FROM fetches f JOIN edges e ON e.url = f.robots_url WHERE run = 'first'
			UNION ALL BY NAME
			SELECT f.* EXCLUDE (run) REPLACE (1000000 + row_number() OVER (ORDER BY e.url) AS seq, e.url AS robots_url, regexp_replace(e.url, '/robots.txt$', '') AS origin,
				'undefined' AS outcome, 'redirect_unresolved' AS reason, e.status AS status, 'warc' AS source, NULL AS final_url,
				NULL AS content_digest, [{'url': e.url, 'status': e.status}, {'url': e.target, 'status': NULL}] AS hops)
			FROM edges e, (FROM fetches WHERE run = 'first' AND host = 'hops-1.redirect.test') f
			WHERE e.url NOT IN (SELECT robots_url FROM fetches WHERE run = 'first')`,
		fmt.Sprintf(`COPY (
			FROM captures
			UNION ALL BY NAME
			SELECT * EXCLUDE (run) FROM fetches WHERE run = 'first' AND seq NOT IN (SELECT seq FROM captures)
			UNION ALL BY NAME
			-- An earlier capture of the target of many, which a later one supersedes.
			SELECT * EXCLUDE (run) REPLACE (seq + 2000000 AS seq, fetch_time - INTERVAL 1 DAY AS fetch_time, 'full_disallow' AS outcome, 'server_error' AS reason)
			FROM fetches WHERE run = 'first' AND host = 'tools.ironmonger.test'
			) TO '%s' (FORMAT parquet)`, part("fetches")),
		fmt.Sprintf(`COPY (
			SELECT * EXCLUDE (run) REPLACE ('undefined' AS outcome, 'unknown' AS class, NULL AS group_agent, NULL AS group_line, NULL AS match, false AS is_explicit, NULL AS crawl_delay)
			FROM policies WHERE run = 'first' AND seq IN (SELECT seq FROM captures)
			UNION ALL BY NAME
			SELECT * EXCLUDE (run) FROM policies WHERE run = 'first' AND seq NOT IN (SELECT seq FROM captures)
			) TO '%s' (FORMAT parquet)`, part("policies")),
		fmt.Sprintf(`COPY (
			SELECT * EXCLUDE (run, category) REPLACE ('undefined' AS verdict, 'undefined' AS reason, NULL AS group_agent, NULL AS rule_kind, NULL AS rule_pattern, NULL AS rule_line)
			FROM verdicts WHERE run = 'first' AND seq IN (SELECT seq FROM captures)
			UNION ALL BY NAME
			SELECT * EXCLUDE (run, category) FROM verdicts WHERE run = 'first' AND seq NOT IN (SELECT seq FROM captures)
			) TO '%s' (FORMAT parquet)`, part("verdicts")),
	} {
		if _, err := live.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	runCommand(t, filepath.Join(bin, "robocensus"), "prune", "--out", dir, "--keep", "100") // rewrites its views.sql
	split := everyRun(t, dir)
	for _, table := range []string{"fetches", "policies", "verdicts"} { // each view takes a second
		_, err := split.Exec("CREATE TEMP TABLE " + table + "_resolved AS FROM " + table + "_resolved")
		must(t, err)
	}

	if got := one(t, split, "SELECT count(*) FROM fetches WHERE reason = 'redirect_unresolved'"); got != "11" {
		t.Errorf("%s captures are redirects, want 11", got)
	}
	// Facts of the capture differ, and the redirect that leads nowhere.
	const lost = "host <> 'www.morningpost.example' AND seq < 1000000"
	for table, columns := range map[string]string{
		"fetches": `seq, input, host, rank, origin, robots_url, outcome, reason, status, hops, final_url, error_class, content_type,
			body_bytes, body_truncated, content_digest, has_bom, is_utf8, is_html, lines, groups, rules, sitemaps, invalid_lines`,
		"policies": "* EXCLUDE (run)",
		"verdicts": "* EXCLUDE (run)",
	} {
		found := fmt.Sprintf("SELECT %s FROM %s_resolved WHERE %s", columns, table, lost)
		if table == "policies" {
			found = fmt.Sprintf("SELECT * EXCLUDE (run) FROM policies_resolved WHERE %s", lost)
		}
		if _, err := live.Exec(fmt.Sprintf("CREATE TABLE %s_want AS SELECT %s FROM %s WHERE run = 'first' AND %s", table,
			columns, table, lost)); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, table+"-found.parquet")
		if _, err := split.Exec(fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet)", found, file)); err != nil {
			t.Fatalf("%s: %v", found, err)
		}
		n, sum := fingerprint(t, live, "FROM "+table+"_want")
		if m, other := fingerprint(t, live, "FROM '"+file+"'"); m != n || other != sum || n == "0" {
			_, lost, _ := ask(live, fmt.Sprintf("FROM %s_want EXCEPT ALL FROM '%s' LIMIT 2", table, file))
			t.Errorf("%s: %s rows are found, and the live run has %s, such as %v", table, m, n, lost)
		}
	}
	for query, want := range map[string]string{
		"SELECT concat_ws(' ', outcome, reason, status, len(hops), hops[-1].url, content_seq = seq) FROM fetches_resolved WHERE host = 'www.morningpost.example'": "undefined redirect_unresolved 301 2 http://not-captured.test/robots.txt true",
		"SELECT string_agg(DISTINCT class || ' ' || outcome, ', ') FROM policies_resolved WHERE host = 'www.morningpost.example'":                                 "unknown undefined",
		"SELECT string_agg(DISTINCT verdict, ', ') FROM verdicts_resolved WHERE host = 'www.morningpost.example'":                                                 "undefined",
		// Each row is resolved once, and none is lost.
		"SELECT count(*) - (SELECT count(*) FROM fetches) FROM fetches_resolved":                                                             "0",
		"SELECT count(*) - (SELECT count(*) FROM policies) FROM policies_resolved WHERE seq < 1000000":                                       "0",
		"SELECT count(*) - (SELECT count(*) FROM verdicts) FROM verdicts_resolved":                                                           "0",
		"SELECT string_agg(host, ' ') FROM fetches ANTI JOIN fetches_latest USING (run, seq)":                                                "tools.ironmonger.test",
		"SELECT reason FROM (FROM fetches ANTI JOIN fetches_latest USING (run, seq))":                                                        "server_error",
		"SELECT string_agg(c.host, ' ') FROM fetches_resolved r JOIN fetches c ON c.seq = r.content_seq WHERE r.host = 'www.bakery.example'": "bakery.example",
	} {
		if got := one(t, split, query); got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}

package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// out is a folder with two runs of the demo by the command robocensus, and single
// one with one run, whose output is said. Both are in the folder scratch, with
// everything else that the tests write; the commands are in bin.
var (
	scratch, bin, out, single string
	said                      []byte
)

func TestMain(m *testing.M) {
	if os.Getenv("AS_DUCKDB") != "" {
		if err := asDuckDB(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "duckdb:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code, err := func() (int, error) {
		var err error
		if scratch, err = os.MkdirTemp("", "robocensus-duckdb-"); err != nil {
			return 1, err
		}
		defer os.RemoveAll(scratch)
		out, single = filepath.Join(scratch, "out"), filepath.Join(scratch, "single")
		bin = filepath.Join(scratch, "bin")
		build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/robocensus", "./cmd/robofarm")
		build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0") // like make build
		if text, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build the commands: %w\n%s", err, text)
		}
		demo := func(args ...string) ([]byte, error) {
			c := exec.Command(filepath.Join(bin, "robocensus"), append([]string{"demo", "--progress", "none"}, args...)...)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			printed, err := c.Output()
			if err != nil {
				err = fmt.Errorf("robocensus demo: %w\n%s", err, &stderr)
			}
			return printed, err
		}
		alone := make(chan error, 1) // most of a demo's time is waiting
		go func() {
			var err error
			said, err = demo("--out", single)
			alone <- err
		}()
		_, err = demo("--out", out, "--run", "first", "--profile", "google,google-2012", "--keep-bodies")
		if err == nil {
			_, err = demo("--out", out, "--run", "20261120T101500Z", "--keep-bodies")
		}
		if err := errors.Join(err, <-alone); err != nil {
			return 1, err
		}
		diff := exec.Command(filepath.Join(bin, "robocensus"), "diff", "--out", out, "first", "20261120T101500Z")
		if text, err := diff.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("robocensus diff: %w\n%s", err, text)
		}
		return m.Run(), nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// folder opens a folder of tables as a user does: a bare name is the last complete
// run, first profile.
func folder(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return alone(t, db)
}

// bare returns a database without views, to read files with. It is one for all tests, and
// remembers nothing of a file, which a test may write again.
func bare(t *testing.T) *sql.DB {
	t.Helper()
	db, err := filesAlone()
	must(t, err)
	return db
}

var filesAlone = sync.OnceValues(func() (*sql.DB, error) {
	db, err := sql.Open("duckdb", "")
	if err == nil {
		_, err = db.Exec("SET threads = 1; SET enable_external_file_cache = false")
	}
	return db, err
})

// quick is [folder] without the comments of columns, which take DuckDB as long as all views.
func quick(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := withoutComments(dir)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return alone(t, db)
}

func withoutComments(dir string) (*sql.DB, error) {
	views, err := os.ReadFile(filepath.Join(dir, "views.sql"))
	if err != nil {
		return nil, err
	}
	return load(dir, comments.ReplaceAllString(string(views), ""))
}

var comments = regexp.MustCompile(`(?m)^COMMENT ON COLUMN .*;$`)

// alone leaves the other cores to the other tests: the threads of a database look
// for work all the time.
func alone(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	_, err := db.Exec("SET threads = 1")
	must(t, err)
	return db
}

// held copies the tables of a database into memory, but for the verdicts, for those who ask
// a thousand questions: else each of them opens the files.
func held(t *testing.T, db *sql.DB) *sql.DB {
	t.Helper()
	for _, schema := range []string{"history", "main"} {
		for table := range types {
			view := schema + "." + table
			if table == "verdicts" {
				continue
			}
			if _, err := db.Exec("CREATE TABLE held_" + schema + "_" + table + " AS FROM " + view); err != nil {
				continue // there is no such table, as its view says
			}
			_, err := db.Exec("CREATE OR REPLACE VIEW " + view + " AS FROM memory.main.held_" + schema + "_" + table)
			must(t, err)
		}
	}
	return db
}

// everyRun opens a folder so that a bare name is all runs and profiles.
func everyRun(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db := quick(t, dir)
	if _, err := db.Exec("SET schema = 'history'"); err != nil {
		t.Fatal(err)
	}
	return db
}

// database is the folder out opened like that, for tests that only read it.
func database(t *testing.T) *sql.DB {
	t.Helper()
	return shared(t, out, "history")
}

// reader opens a folder like quick, for tests that only read it.
func reader(t *testing.T, dir string) *sql.DB {
	t.Helper()
	return shared(t, dir, "main")
}

// shared returns one database for all tests, because views take long to load. The
// folder is single, out or that of crowded, which no test changes.
func shared(t *testing.T, dir, schema string) *sql.DB {
	t.Helper()
	once, _ := readers.LoadOrStore(dir+" "+schema, sync.OnceValues(func() (*sql.DB, error) {
		db, err := withoutComments(dir)
		if err == nil {
			_, err = db.Exec("SET threads = 1; SET schema = '" + schema + "'")
		}
		return db, err
	}))
	db, err := once.(func() (*sql.DB, error))()
	must(t, err)
	return db
}

var readers sync.Map

// fingerprint returns the number of rows that a query gives and a sum of their
// hashes, which are the same for the same rows in another order.
func fingerprint(t *testing.T, db *sql.DB, query string) (rows, sum string) {
	t.Helper()
	_, table, err := ask(db, "SELECT count(*), sum(hash(r)::HUGEINT) FROM ("+query+") AS r")
	must(t, err)
	return table[0][0], table[0][1]
}

// one returns the single cell of a query's result, as text.
func one(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	_, rows, err := ask(db, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%s: %v, want one cell", query, rows)
	}
	return rows[0][0]
}

// The types of the contract, as DuckDB sees them.
var types = map[string]string{
	"fetches": `seq BIGINT, input VARCHAR, host VARCHAR, rank BIGINT, origin VARCHAR, scheme VARCHAR, port INTEGER,
		registered_domain VARCHAR, tld VARCHAR, robots_url VARCHAR, source VARCHAR, fetch_time TIMESTAMP WITH TIME ZONE, vantage VARCHAR,
		outcome VARCHAR, reason VARCHAR, status INTEGER, hops STRUCT(url VARCHAR, status INTEGER)[], final_url VARCHAR,
		error_class VARCHAR, error VARCHAR, fallback_error_class VARCHAR, attempts INTEGER, remote_address VARCHAR,
		http_version VARCHAR, tls_version VARCHAR, content_type VARCHAR, content_encoding VARCHAR, server VARCHAR, etag VARCHAR,
		last_modified VARCHAR, cache_control VARCHAR, retry_after VARCHAR, dns_us BIGINT, connect_us BIGINT, tls_us BIGINT,
		first_byte_us BIGINT, total_us BIGINT, body_bytes BIGINT, body_truncated BOOLEAN, content_digest VARCHAR, has_bom BOOLEAN,
		is_utf8 BOOLEAN, is_html BOOLEAN, only_comments BOOLEAN, challenge VARCHAR, cdn VARCHAR, stale_since TIMESTAMP WITH TIME ZONE, unreachable_since TIMESTAMP WITH TIME ZONE,
		answers_since STRUCT(since TIMESTAMP WITH TIME ZONE, kind VARCHAR, redirects INTEGER)[], copy_time TIMESTAMP WITH TIME ZONE,
		copy_digest VARCHAR, kept_truncated BOOLEAN, probe_front_status INTEGER, probe_random_status INTEGER,
		front_page VARCHAR, front_hops STRUCT(url VARCHAR, status INTEGER)[], front_error_class VARCHAR, front_headers STRUCT(name VARCHAR, value VARCHAR)[],
		lines INTEGER, groups INTEGER, rules INTEGER, sitemaps INTEGER, invalid_lines INTEGER,
		warc_file VARCHAR, warc_offset BIGINT, warc_length BIGINT, run VARCHAR`,
	"groups": `seq BIGINT, host VARCHAR, origin VARCHAR, group_index INTEGER, line INTEGER, agents VARCHAR[], agent_lines INTEGER[], tokens VARCHAR[],
		allow_rules INTEGER, disallow_rules INTEGER, crawl_delay DOUBLE, class VARCHAR, joined BOOLEAN, template VARCHAR, digest VARCHAR, run VARCHAR, rank BIGINT`,
	"rules": `seq BIGINT, host VARCHAR, origin VARCHAR, group_index INTEGER, line INTEGER, kind VARCHAR, pattern VARCHAR,
		normalized VARCHAR, has_wildcard BOOLEAN, has_anchor BOOLEAN, effective BOOLEAN, run VARCHAR, rank BIGINT`,
	"sitemaps": `seq BIGINT, host VARCHAR, origin VARCHAR, line INTEGER, url VARCHAR, is_absolute BOOLEAN, is_same_host BOOLEAN, run VARCHAR`,
	"lines": `seq BIGINT, host VARCHAR, origin VARCHAR, line INTEGER, group_index INTEGER, field VARCHAR, value VARCHAR,
		class VARCHAR, agent VARCHAR, parser VARCHAR, cause VARCHAR, causes INTEGER, run VARCHAR`,
	"signals": `seq BIGINT, host VARCHAR, origin VARCHAR, line INTEGER, group_index INTEGER, field VARCHAR, path VARCHAR,
		key VARCHAR, value VARCHAR, run VARCHAR`,
	"templates": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, template VARCHAR, kind VARCHAR, version VARCHAR, first_line INTEGER,
		last_line INTEGER, groups INTEGER, rules INTEGER, run VARCHAR`,
	"answers": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, identity VARCHAR, is_control BOOLEAN, user_agent VARCHAR, agent VARCHAR,
		category VARCHAR, path VARCHAR, fetch_time TIMESTAMP WITH TIME ZONE, status INTEGER, hops STRUCT(url VARCHAR, status INTEGER)[], outcome VARCHAR,
		reason VARCHAR, error_class VARCHAR, error VARCHAR, body_bytes BIGINT, body_truncated BOOLEAN, content_digest VARCHAR, challenge VARCHAR, text_digest VARCHAR,
		total_us BIGINT, same BOOLEAN, policy VARCHAR, first_difference VARCHAR, treatment VARCHAR, class VARCHAR, paper VARCHAR, verdict VARCHAR, remark VARCHAR, price VARCHAR, price_header VARCHAR, run VARCHAR`,
	"sitemap_files": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, url VARCHAR, parent VARCHAR, line INTEGER, final_url VARCHAR, fetch_time TIMESTAMP WITH TIME ZONE,
		kind VARCHAR, status INTEGER, error_class VARCHAR, outcome VARCHAR, urls BIGINT, urls_read BIGINT, urls_new BIGINT, outside BIGINT, beyond_folder BIGINT, sitemaps BIGINT,
		sitemaps_read BIGINT, bytes BIGINT, content_digest VARCHAR, lastmod_newest TIMESTAMP WITH TIME ZONE, remark VARCHAR, run VARCHAR`,
	"coverage": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, agent VARCHAR, category VARCHAR, profile VARCHAR, judged_by VARCHAR, class VARCHAR, listed BIGINT,
		sampled INTEGER, allowed INTEGER, disallowed INTEGER, undefined INTEGER, rule_line INTEGER, rule_pattern VARCHAR, example VARCHAR, run VARCHAR`,
	"urls": `seq BIGINT, host VARCHAR, origin VARCHAR, url VARCHAR, sitemap VARCHAR, lastmod VARCHAR, run VARCHAR`,
	"documents": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, document VARCHAR, url VARCHAR, status INTEGER, outcome VARCHAR, content_type VARCHAR, bytes BIGINT,
		content_digest VARCHAR, final_url VARCHAR, price VARCHAR, remark VARCHAR, run VARCHAR`,
	"preferences": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, group_agent VARCHAR, scope VARCHAR, mechanism VARCHAR, document VARCHAR, header VARCHAR, label VARCHAR, use VARCHAR,
		preference VARCHAR, path VARCHAR, level VARCHAR, value VARCHAR, line INTEGER, conflict BOOLEAN, remark VARCHAR, run VARCHAR`,
	"policies": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, agent VARCHAR, category VARCHAR, profile VARCHAR, judged_by VARCHAR, outcome VARCHAR,
		group_agent VARCHAR, group_line INTEGER, match VARCHAR, is_explicit BOOLEAN, class VARCHAR,
		versus_star VARCHAR, versus_first VARCHAR, parity VARCHAR, template VARCHAR, crawl_delay DOUBLE, ai_train VARCHAR, ai_input VARCHAR, search VARCHAR, run VARCHAR`,
	"verdicts": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, agent VARCHAR, profile VARCHAR, judged_by VARCHAR, url VARCHAR, verdict VARCHAR,
		reason VARCHAR, group_agent VARCHAR, rule_kind VARCHAR, rule_pattern VARCHAR, rule_line INTEGER, run VARCHAR, category VARCHAR`,
	"agents": `agent VARCHAR, category VARCHAR, operator VARCHAR, tokens VARCHAR[], falls_back_to VARCHAR[], user_agent VARCHAR,
		ignores_star BOOLEAN, user_triggered BOOLEAN, kind VARCHAR, uses VARCHAR[], policy_tokens VARCHAR[], binds VARCHAR[], reads_as VARCHAR, source VARCHAR, checked VARCHAR, ips VARCHAR, verifies VARCHAR, run VARCHAR`,
	"summary":      `metric VARCHAR, stratum VARCHAR, agent VARCHAR, category VARCHAR, profile VARCHAR, key VARCHAR, count BIGINT, run VARCHAR`,
	"labels":       `seq BIGINT, host VARCHAR, origin VARCHAR, label VARCHAR, value VARCHAR, run VARCHAR`,
	"label_counts": `metric VARCHAR, label VARCHAR, value VARCHAR, agent VARCHAR, category VARCHAR, profile VARCHAR, key VARCHAR, count BIGINT, run VARCHAR`,
	"examples":     `metric VARCHAR, key VARCHAR, host VARCHAR, rank BIGINT, line INTEGER, text VARCHAR, run VARCHAR`,
	"bodies":       `run VARCHAR, content_digest VARCHAR, body BLOB`,
	"changes": `host VARCHAR, origin VARCHAR, rank BIGINT, kind VARCHAR, severity VARCHAR, agent VARCHAR, category VARCHAR, profile VARCHAR,
		url VARCHAR, before VARCHAR, after VARCHAR, line_before INTEGER, line_after INTEGER, before_run VARCHAR, use VARCHAR, template_before VARCHAR, template_after VARCHAR, template VARCHAR, identity VARCHAR, document VARCHAR, against VARCHAR, run VARCHAR`,
}

// Both schemas have the columns of every table, even of tables that were not
// written: the folder single has neither bodies nor changes.
func TestViewsLoadWithTheTypesOfTheContract(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{out, single} {
		db := folder(t, dir)
		for _, schema := range []string{"main.", "history."} {
			for _, table := range append(tablesIn(t, out), "answers", "documents", "labels", "label_counts", "sitemap_files",
				"coverage", "urls") {
				_, rows, err := ask(db, "DESCRIBE "+schema+table)
				if err != nil {
					t.Errorf("%s: %v", table, err)
					continue
				}
				var got []string
				for _, row := range rows {
					got = append(got, strings.Trim(row[0], `"`)+" "+row[1])
				}
				if got, want := strings.ReplaceAll(strings.Join(got, ", "), `"`, ""), strings.Join(strings.Fields(types[table]),
					" "); got != want {
					t.Errorf("%s%s:\n got %s\nwant %s", schema, table, got, want)
				}
			}
		}
	}
}

// tablesIn lists the tables in a folder.
func tablesIn(t *testing.T, dir string) (tables []string) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "*", "run=*"))
	must(t, err)
	for _, folder := range folders {
		tables = append(tables, filepath.Base(filepath.Dir(folder)))
	}
	return slices.Compact(tables)
}

func TestPartitionsByRun(t *testing.T) {
	t.Parallel()
	db := database(t)
	if got := one(t, db, "SELECT string_agg(DISTINCT run, ' ' ORDER BY run) FROM fetches"); got != "20261120T101500Z "+
		"first" {
		t.Errorf("runs are %s", got)
	}
	for _, table := range tablesIn(t, out) {
		if slices.Contains([]string{"policies", "verdicts", "summary", "examples", "changes"}, table) {
			continue // the first has two profiles, and nothing before it
		}
		if got := one(t, db,
			"SELECT count(*) FILTER (run = 'first') = count(*) FILTER (run <> 'first') AND count(*) > 0 FROM "+
				table); got != "true" {
			t.Errorf("%s: the runs differ in their rows", table)
		}
	}
}

// versusStarBroken counts the verdicts that contradict versus_star, for agents with
// their own group. They are compared with the verdicts of an agent that follows the
// group for *, or with allow if there is none.
const versusStarBroken = `WITH v AS (SELECT run, seq, agent, profile, url, CASE verdict WHEN 'allow' THEN 0 WHEN 'undefined' THEN 1 ELSE 2 END AS n, match, versus_star
		FROM verdicts JOIN policies USING (run, seq, agent, profile)),
	star AS (SELECT run, seq, profile, url, any_value(n) AS n FROM v JOIN agents USING (run, agent) WHERE match IN ('star', 'none') AND NOT ignores_star GROUP BY ALL)
	SELECT count(*) FROM v JOIN star USING (run, seq, profile, url)
	WHERE v.versus_star = 'equal' AND v.n <> star.n OR v.versus_star = 'stricter' AND v.n < star.n OR v.versus_star = 'looser' AND v.n > star.n`

// Each query gives the number of rows that break a rule.
func TestNoRowBreaksARule(t *testing.T) {
	t.Parallel()
	db := database(t)
	for name, query := range map[string]string{
		"no line 0": "SELECT count(*) FROM verdicts WHERE rule_line = 0",
		"a rule has line, kind and pattern": "SELECT count(*) FROM verdicts WHERE (reason IN ('rule', 'empty_rule')) " +
			"<> (rule_line IS NOT NULL AND rule_kind IS NOT NULL AND rule_pattern IS NOT NULL)",
		"no status 0": "SELECT count(*) FROM fetches WHERE status = 0",
		"no answer, no final URL": "SELECT count(*) FROM fetches WHERE (status IS NULL) " +
			"<> (final_url IS NULL)",
		"an agent has a line": "SELECT count(*) FROM groups WHERE len(agents) <> len(agent_lines) OR " +
			"agent_lines[1] <> line OR agent_lines <> list_sort(agent_lines)",
		"a 5xx has a class": "SELECT count(*) FROM fetches WHERE status BETWEEN 500 AND 599 " +
			"AND error_class IS NULL",
		"an error has a class": "SELECT count(*) FROM fetches WHERE (error IS NULL) <> " +
			"(error_class IS NULL)",
		"hops end at status": "SELECT count(*) FROM fetches WHERE hops[-1].status " +
			"IS DISTINCT FROM status",
		"every target was asked": "SELECT count(*) FROM fetches WHERE len(hops) = 0 OR attempts < 1",
		"digest and bytes go together": "SELECT count(*) FROM fetches WHERE content_digest IS NOT NULL " +
			"AND body_bytes IS NULL",
		"seq is a key": "SELECT count(*) - count(DISTINCT (run, seq)) FROM fetches",
		"policies join fetches": "SELECT count(*) FROM policies ANTI JOIN fetches USING (run, " +
			"seq, host, origin)",
		"verdicts join policies": "SELECT count(*) FROM verdicts ANTI JOIN policies USING (run, " +
			"seq, agent, profile)",
		"rules join groups": "SELECT count(*) FROM rules r WHERE group_index IS NOT NULL AND NOT " +
			"EXISTS (FROM groups g WHERE g.run = r.run AND g.seq = r.seq AND g.group_index = r.group_index)",
		"deciding rules are rules": "SELECT count(*) FROM verdicts v WHERE profile = 'google' AND rule_line " +
			"IS NOT NULL AND NOT EXISTS (FROM rules r WHERE r.run = v.run AND r.seq = v.seq AND r.line = v.rule_line AND " +
			"r.kind = v.rule_kind AND r.pattern = v.rule_pattern)",
		"counts of fetches are those of tables": "SELECT count(*) FROM fetches f WHERE groups <> (SELECT count(*) FROM " +
			"groups g WHERE g.run = f.run AND g.seq = f.seq) OR rules <> (SELECT count(*) FROM rules r WHERE r.run = f.run " +
			"AND r.seq = f.seq) OR sitemaps <> (SELECT count(*) FROM sitemaps s WHERE s.run = f.run AND s.seq = f.seq)",
		"full allow allows": "SELECT count(*) FROM verdicts JOIN policies USING (run, seq, agent, " +
			"profile) WHERE outcome = 'full_allow' AND verdict <> 'allow' OR outcome = 'full_disallow' AND " +
			"verdict <> 'disallow'",
		"an outage is not a policy": "SELECT count(*) FROM policies WHERE (outcome IN ('full_disallow', " +
			"'undefined')) <> (class = 'unknown')",
		"group_agent only where rules decide": "SELECT count(*) FROM policies WHERE group_agent IS NOT NULL AND outcome " +
			"<> 'conditional_allow' OR is_explicit AND (group_agent IS NULL OR group_agent = '*')",
		"is_explicit is a group of one's own": "SELECT count(*) FROM policies WHERE is_explicit <> (match IS NOT " +
			"DISTINCT FROM 'own')",
		"only own groups stand to *": "SELECT count(*) FROM policies WHERE (versus_star IS NOT NULL) <> (match " +
			"IS NOT DISTINCT FROM 'own')",
		"versus_star is one of five": "SELECT count(*) FROM policies WHERE versus_star NOT IN ('equal', " +
			"'stricter', 'looser', 'mixed', 'undecided')",
		"verdicts bear versus_star out": versusStarBroken,
		"equal profiles have equal verdicts": "SELECT count(*) FROM verdicts v JOIN policies p USING (run, seq, agent, " +
			"profile) JOIN verdicts f ON f.run = v.run AND f.seq = v.seq AND f.agent = v.agent AND f.url = v.url AND " +
			"f.profile = 'google' WHERE p.versus_first = 'equal' AND v.verdict <> f.verdict",
		"escapes_only: samples have none": "SELECT count(*) FROM verdicts v JOIN policies p USING (run, seq, agent, " +
			"profile) JOIN verdicts f ON f.run = v.run AND f.seq = v.seq AND f.agent = v.agent AND f.url = v.url AND " +
			"f.profile = 'google' WHERE p.versus_first = 'escapes_only' AND v.verdict <> f.verdict AND NOT contains(v.url, '%')",
		"versus_first where rules decide": "SELECT count(*) FROM policies p JOIN (SELECT run, seq, agent, outcome " +
			"FROM policies WHERE profile = 'google') f USING (run, seq, agent) WHERE (p.versus_first IS NOT NULL) <> " +
			"(p.profile <> 'google' AND p.outcome = 'conditional_allow' AND f.outcome = 'conditional_allow')",
		"a match where rules decide": "SELECT count(*) FROM policies WHERE (match IS NULL) <> (outcome " +
			"<> 'conditional_allow')",
		"a match has agent and line of a group": "SELECT count(*) FROM policies WHERE (coalesce(match, 'none') = 'none') " +
			"<> (group_agent IS NULL) OR (group_agent IS NULL) <> (group_line IS NULL)",
		"a match says whose token it is": "SELECT count(*) FROM policies JOIN agents USING (run, agent) WHERE CASE " +
			"match WHEN 'own' THEN NOT list_contains(tokens, group_agent) WHEN 'fallback' THEN NOT " +
			"list_contains(falls_back_to, group_agent) WHEN 'star' THEN group_agent <> '*' END",
		"a group stands at group_line": "SELECT count(*) FROM policies p WHERE profile = 'google' AND group_line " +
			"IS NOT NULL AND NOT EXISTS (FROM groups g WHERE g.run = p.run AND g.seq = p.seq AND g.line = p.group_line AND " +
			"list_contains(g.tokens, lower(p.group_agent)))",
		"tokens of groups are in lower case": "SELECT count(*) FROM (SELECT unnest(tokens) AS token FROM groups) WHERE " +
			"token <> lower(token)",
		"each agent has one row": "SELECT count(*) - count(DISTINCT (run, agent)) FROM agents",
		"policies are of the agents": "SELECT count(*) FROM (SELECT DISTINCT run, agent, category FROM " +
			"policies) p FULL JOIN agents a USING (run, agent, category) WHERE p.run IS NULL OR a.run IS NULL",
		"bodies are what was judged": "SELECT count(*) FROM fetches f WHERE content_digest IS NOT NULL AND NOT " +
			"EXISTS (FROM bodies b WHERE b.run = f.run AND b.content_digest = f.content_digest AND octet_length(b.body) " +
			"= f.body_bytes)",
		"a closed policy closes every sample": "SELECT count(*) FROM verdicts JOIN policies USING (run, seq, agent, " +
			"profile) WHERE class = 'disallow_all' AND verdict = 'allow' OR class = 'allow_all' AND verdict = 'disallow'",
		"ranks are the same everywhere": "SELECT count(*) FROM verdicts v JOIN fetches f USING (run, seq) WHERE " +
			"v.rank IS DISTINCT FROM f.rank",
		"each profile judges every target": "SELECT count(*) FROM (SELECT run, seq, agent, count(*) n FROM policies " +
			"GROUP BY ALL) WHERE n <> CASE run WHEN 'first' THEN 2 ELSE 1 END",
		"fields of signals are the known ones": "SELECT count(*) FROM signals WHERE field NOT IN ('content-signal', " +
			"'content-usage', 'license', 'request-rate', 'visit-time', 'clean-param', 'host', 'noindex')",
		"nothing from memory, which is not kept": "SELECT count(*) FROM fetches WHERE source <> 'network' OR stale_since " +
			"IS NOT NULL OR warc_file IS NOT NULL",
	} {
		if got := one(t, db, query); got != "0" {
			t.Errorf("%s: %s rows break it", name, got)
		}
	}
}

func TestSummaryIsWhatTheTablesSay(t *testing.T) {
	t.Parallel()
	db := database(t)
	const stratum = "stratum(rank)"
	bin := func(column string) string {
		const step = `(CASE WHEN left(%[1]s::VARCHAR, 1) = '1' THEN 4 WHEN left(%[1]s::VARCHAR, 1) < '5' THEN 6 ELSE 20 END * 10::BIGINT ** (strlen(%[1]s::VARCHAR) - 3))::BIGINT`
		const from = `(CASE WHEN left(%[1]s::VARCHAR, 1) = '1' THEN 100 WHEN left(%[1]s::VARCHAR, 1) < '5' THEN 200 ELSE 500 END * 10::BIGINT ** (strlen(%[1]s::VARCHAR) - 3))::BIGINT`
		const first = from + ` + (%[1]s - ` + from + `) // ` + step + ` * ` + step
		return fmt.Sprintf(`CASE WHEN %[1]s < 100 THEN %[1]s::VARCHAR ELSE (`+first+`)::VARCHAR || '-' || (`+first+` + `+
			step+` - 1)::VARCHAR END`, column)
	}
	histogram := func(column string) string {
		return "SELECT " + stratum + ", NULL, NULL, NULL, " + bin(column) +
			", count(*) FROM fetches WHERE content_digest IS NOT NULL GROUP BY ALL"
	}
	// hosts counts hosts that have a row in rows (seq, key), of the first run.
	hosts := func(rows string) string {
		return "SELECT " + stratum + ", NULL, NULL, NULL, key, count(DISTINCT seq) FROM (" + rows +
			") JOIN (SELECT seq, rank FROM fetches WHERE run = 'first') USING (seq) WHERE true GROUP BY ALL"
	}
	// ways counts hosts by how they refuse the training of models, in the first run.
	ways := func(rows string) string {
		of := refusalsOf
		for _, table := range []string{"policies", "agents", "preferences"} {
			of = strings.Replace(of, " FROM "+table, " FROM (FROM "+table+" WHERE run = 'first')", 1)
		}
		of = strings.Replace(of, "WHERE class =", "WHERE profile = 'google' AND class =", 1)
		return of + "SELECT " + stratum + ", NULL, NULL, 'google', key, count(DISTINCT seq) FROM (" + rows +
			") JOIN (SELECT seq, rank FROM fetches WHERE run = 'first') USING (seq) WHERE true GROUP BY ALL"
	}
	network := func(key, condition string) string {
		return "SELECT " + stratum + ", NULL, NULL, NULL, " + key + ", count(*) FROM fetches WHERE " + condition +
			" GROUP BY ALL"
	}
	const (
		failed = `coalesce(error_class NOT LIKE 'redirect%' AND error_class NOT IN ('address_blocked', 'no_route', 'canceled'), false)`
		slow   = `total_us >= 1000000`
		tld    = `CASE WHEN tld IS NULL THEN 'address' WHEN tld IN ('example', 'test') THEN tld ELSE 'other' END`
		block  = `CASE WHEN remote_address IS NULL THEN 'none' ELSE regexp_extract(remote_address, '^[0-9]+') || '.0.0.0/8' END`
		server = `CASE WHEN server IS NULL THEN 'none' WHEN lower(regexp_extract(server, '^[^/ (]*')) IN ('nginx', 'apache', 'microsoft-iis')
			THEN lower(regexp_extract(server, '^[^/ (]*')) ELSE 'other' END`
		signal = `CASE WHEN field NOT IN ('content-signal', 'content-usage') THEN field
			WHEN field || ' ' || CASE field WHEN 'content-signal' THEN lower(key) ELSE key END NOT IN ('content-signal search', 'content-signal ai-input', 'content-signal ai-train', 'content-usage train-ai', 'content-usage search', 'content-usage tdm')
				THEN field || ' other'
			ELSE field || ' ' || lower(key) || '=' || CASE WHEN lower(value) IN ('yes', 'no') AND field = 'content-signal' OR value IN ('y', 'n') AND field = 'content-usage' THEN lower(value) ELSE 'other' END END`
		feature = `SELECT seq, 'group' AS key FROM groups WHERE run = 'first'
			UNION SELECT seq, 'joined' FROM groups WHERE run = 'first' AND joined
			UNION SELECT seq, 'star_group' FROM groups WHERE run = 'first' AND list_contains(tokens, '*')
			UNION SELECT seq, 'crawl_delay' FROM groups WHERE run = 'first' AND crawl_delay IS NOT NULL
			UNION SELECT seq, 'rule' FROM rules WHERE run = 'first'
			UNION SELECT seq, 'wildcard' FROM rules WHERE run = 'first' AND has_wildcard
			UNION SELECT seq, 'anchor' FROM rules WHERE run = 'first' AND has_anchor
			UNION SELECT seq, 'sitemap' FROM sitemaps WHERE run = 'first'`
		category = `SELECT seq, rank, category, profile, CASE WHEN bool_or(class = 'unknown') THEN 'unknown' WHEN NOT bool_or(class = 'disallow_all') THEN 'none'
			WHEN bool_and(class = 'disallow_all') THEN 'all' ELSE 'some' END AS key FROM policies WHERE run = 'first' GROUP BY seq, rank, category, profile`
	)
	const turnsAway = "CASE WHEN NOT " + turnedAway +
		" THEN 'none' WHEN status IN (429, 503) THEN 'throttled' WHEN status = 402 THEN 'payment' ELSE 'refused' END"
	const byName = "run = 'first' AND profile = 'google' AND category = 'ai-training' AND class = 'disallow_all' AND " +
		"match IN ('own', 'fallback')"
	queries := map[string]string{
		// under the first profile
		"reason":  "SELECT " + stratum + ", NULL, NULL, 'google', reason, count(*) FROM fetches GROUP BY ALL",
		"targets": "SELECT " + stratum + ", NULL, NULL, NULL, NULL, count(*) FROM fetches GROUP BY ALL",
		"status": "SELECT " + stratum + ", NULL, NULL, NULL, coalesce(status::VARCHAR, 'none'), count(*) FROM " +
			"fetches GROUP BY ALL",
		"error_class": "SELECT " + stratum +
			", NULL, NULL, NULL, error_class, count(*) FROM fetches WHERE error_class IS NOT NULL GROUP BY ALL",
		"network_failure": "SELECT " + stratum + ", NULL, NULL, NULL, coalesce(error_class, 'none'), count(*) FROM " +
			"fetches WHERE reason = 'network_failure' GROUP BY ALL",
		"outcome": "SELECT " + stratum +
			", NULL, NULL, profile, outcome, count(DISTINCT seq) FROM policies GROUP BY ALL",
		"policy": "SELECT " + stratum + ", agent, category, profile, class, count(*) FROM policies GROUP BY ALL",
		"policy_explicit": "SELECT " + stratum +
			", agent, category, profile, class, count(*) FROM policies WHERE is_explicit GROUP BY ALL",
		"policy_fallback": "SELECT " + stratum + ", agent, category, profile, class, count(*) FROM policies WHERE match " +
			"= 'fallback' GROUP BY ALL",
		"policy_versus_star": "SELECT " + stratum + ", agent, category, profile, versus_star, count(*) FROM policies WHERE " +
			"versus_star IS NOT NULL GROUP BY ALL",
		"versus_first": "SELECT " + stratum +
			", agent, category, profile, versus_first, count(*) FROM policies WHERE versus_first IS NOT NULL GROUP BY ALL",
		"versus_first_hosts": "SELECT " + stratum + ", NULL, NULL, profile, CASE n WHEN 3 THEN 'different' WHEN 2 THEN " +
			"'undecided' WHEN 1 THEN 'escapes_only' ELSE 'equal' END, count(*) FROM (SELECT rank, profile, max(CASE " +
			"versus_first WHEN 'different' THEN 3 WHEN 'undecided' THEN 2 WHEN 'escapes_only' THEN 1 ELSE 0 END) AS n FROM " +
			"policies WHERE run = 'first' AND versus_first IS NOT NULL AND NOT (profile <> 'google' AND agent IN (SELECT " +
			"agent FROM agents WHERE ignores_star)) GROUP BY run, seq, rank, profile) WHERE true GROUP BY ALL",
		"verdict": "SELECT " + stratum + ", agent, category, profile, verdict, count(*) FROM verdicts WHERE run " +
			"= 'first' GROUP BY ALL",
		"line_class": "SELECT " + stratum + ", NULL, NULL, NULL, class, count(*) FROM lines JOIN (SELECT run, seq, " +
			"rank FROM fetches) USING (run, seq) GROUP BY ALL",
		"line_class_hosts": hosts("SELECT seq, class AS key FROM lines WHERE run = 'first'"),
		"field": hosts("SELECT seq, CASE class WHEN 'extension' THEN lower(field) ELSE 'other' END AS key " +
			"FROM lines WHERE run = 'first' AND class IN ('extension', 'unknown_field') UNION SELECT seq, field FROM signals " +
			"WHERE run = 'first'"),
		"signal":  hosts("SELECT seq, " + signal + " AS key FROM signals WHERE run = 'first'"),
		"feature": hosts(feature),
		"category": "SELECT " + stratum + ", NULL, category, profile, key, count(*) FROM (" + category +
			") WHERE true GROUP BY ALL",
		"crawl_delay": "SELECT " + stratum + ", NULL, NULL, NULL, " + bin("floor(crawl_delay)::BIGINT") +
			", count(*) FROM groups WHERE crawl_delay IS NOT NULL GROUP BY ALL",
		"sitemap": "SELECT " + stratum + ", NULL, NULL, NULL, CASE WHEN NOT is_absolute THEN 'relative' WHEN " +
			"is_same_host THEN 'same_host' ELSE 'other_host' END, count(*) FROM sitemaps JOIN (SELECT run, seq, rank FROM " +
			"fetches) USING (run, seq) GROUP BY ALL",
		"body": hosts("SELECT seq, unnest([CASE WHEN has_bom THEN 'bom' END, CASE WHEN NOT is_utf8 THEN " +
			"'not_utf8' END, CASE WHEN is_html THEN 'html' END, CASE WHEN body_truncated THEN 'truncated' END, CASE WHEN " +
			"only_comments THEN 'only_comments' END]) AS key FROM fetches WHERE run = 'first' AND content_digest IS NOT NULL"),
		"preference": hosts("SELECT seq, mechanism || ' ' || use || ' ' || preference AS key FROM preferences " +
			"WHERE run = 'first' AND scope NOT IN ('orphan', 'page') AND use IS NOT NULL AND preference IS NOT NULL"),
		"preference_remark": hosts("SELECT seq, unnest([remark, CASE scope WHEN 'orphan' THEN 'orphan' END, CASE WHEN " +
			"conflict THEN 'conflict' END]) AS key FROM preferences WHERE run = 'first' AND scope <> 'page'"),
		"signal_reach": hosts("SELECT seq, binds AS key FROM (" + strings.Replace(signalReach, "WHERE p.mechanism",
			"WHERE p.run = 'first' AND p.mechanism", 1) + ")"),
		"refusal": ways(
			"SELECT seq, unnest([way, 'any']) AS key FROM refusals UNION ALL SELECT seq, 'terms' FROM (" +
				strings.Replace(byTerms, "WHERE", "WHERE run = 'first' AND", 1) + ")"),
		"refusal_set": ways("SELECT seq, string_agg(way, '+' ORDER BY list_position(['crawler', 'token', " +
			"'content-signal', 'content-usage'], way)) AS key FROM refusals GROUP BY seq"),
		"template": hosts("SELECT seq, template AS key FROM templates WHERE run = 'first'"),
		"turned_away": "SELECT " + stratum + ", NULL, NULL, NULL, " + turnsAway +
			", count(*) FROM fetches WHERE challenge IS NULL GROUP BY ALL",
		"turned_away_reason": "SELECT " + stratum + ", NULL, NULL, 'google', " + turnsAway +
			" || ' ' || reason, count(*) FROM fetches WHERE challenge IS NULL AND " + turnedAway + " GROUP BY ALL",
		"challenge": "SELECT " + stratum +
			", NULL, NULL, NULL, 'none', count(*) FROM fetches WHERE challenge IS NULL GROUP BY ALL",
		"policy_template": "SELECT " + stratum + ", agent, category, profile, template, count(*) FROM policies WHERE " +
			"class = 'disallow_all' AND template IS NOT NULL GROUP BY ALL",
		"parity": "SELECT " + stratum + ", agent, category, NULL, parity, count(*) FROM policies WHERE profile " +
			"= 'google' AND parity IS NOT NULL GROUP BY ALL",
		"parity_hosts": "SELECT " + stratum + ", NULL, NULL, NULL, ['equal', 'escapes_only', 'undecided', " +
			"'different', 'kept_out', 'let_in'][n], count(*) FROM (SELECT rank, max(list_position(['equal', 'escapes_only', " +
			"'undecided', 'different', 'kept_out', 'let_in'], parity)) AS n FROM policies WHERE run = 'first' AND parity IS " +
			"NOT NULL GROUP BY run, seq, rank) WHERE true GROUP BY ALL",
		"parity_cause": "SELECT " + stratum + ", agent, category, NULL, key, count(DISTINCT seq) FROM (SELECT seq, " +
			"agent, CASE WHEN causes > 1 THEN 'several' ELSE cause END AS key FROM lines WHERE run = 'first' AND class = " +
			"'not_portable') JOIN (SELECT seq, rank FROM fetches WHERE run = 'first') USING (seq) JOIN (SELECT agent, " +
			"category FROM agents WHERE run = 'first') USING (agent) WHERE true GROUP BY ALL",
		"parity_cause_hosts": hosts("SELECT seq, CASE WHEN causes > 1 THEN 'several' ELSE cause END AS key FROM lines " +
			"WHERE run = 'first' AND class = 'not_portable'"),
		"policy_pair": "SELECT " + stratum +
			", agent, category, profile, key, count(*) FROM (SELECT * FROM policies WHERE " + byName +
			") JOIN (SELECT seq, agent AS key FROM policies WHERE " + byName + ") USING (seq) " +
			"WHERE run = 'first' AND agent < key GROUP BY ALL",
		"dead_name": hosts("SELECT seq, unnest([name, 'any']) AS key FROM " + deadNames + " WHERE run = 'first'"),
		"dead_name_lines": "SELECT " + stratum + ", NULL, NULL, NULL, name, count(*) FROM " + deadNames +
			" JOIN (SELECT run, seq, rank FROM fetches) USING (run, seq) GROUP BY ALL",
		"total_us": "SELECT " + stratum + ", NULL, NULL, NULL, " + bin("total_us") +
			", count(*) FROM fetches WHERE total_us IS NOT NULL AND source <> 'cache' GROUP BY ALL",
		"source":               "SELECT " + stratum + ", NULL, NULL, NULL, source, count(*) FROM fetches GROUP BY ALL",
		"tld":                  network(tld, "true"),
		"tld_failed":           network(tld, failed),
		"tld_slow":             network(tld, slow),
		"address_block":        network(block, "true"),
		"address_block_failed": network(block, failed),
		"address_block_slow":   network(block, slow),
		"server":               network(server, "true"),
		"server_failed":        network(server, failed),
		"server_slow":          network(server, slow),
		"body_bytes":           histogram("body_bytes"),
		"lines":                histogram("lines"),
		"rules":                histogram("rules"),
		"groups":               histogram("groups"),
		"sitemaps":             histogram("sitemaps"),
	}
	if got, want := one(t, db, "SELECT string_agg(DISTINCT metric, ' ' ORDER BY metric) FROM summary"),
		strings.Join(slices.Sorted(maps.Keys(queries)), " "); got != want {
		t.Errorf("metrics are\n%s and not\n%s", got, want)
	}
	for metric, query := range queries {
		if !strings.Contains(query, "run = 'first'") {
			query = strings.Replace(query, " GROUP BY ALL", " AND run = 'first' GROUP BY ALL", 1)
		}
		if !strings.Contains(query, "WHERE") {
			query = strings.Replace(query, " AND run = 'first'", " WHERE run = 'first'", 1)
		}
		if metric == "body" || metric == "preference_remark" {
			query = strings.Replace(query, "WHERE true", "WHERE key IS NOT NULL", 1)
		}
		summed := "SELECT stratum, agent, category, profile, key, sum(count)::BIGINT FROM summary WHERE run = " +
			"'first' AND metric = '" + metric + "' AND (metric NOT IN ('reason', 'turned_away_reason') OR profile = " +
			"'google') GROUP BY ALL"
		if got := one(t, db, "SELECT count(*) FROM (("+query+") EXCEPT ALL ("+summed+")) "); got != "0" {
			t.Errorf("%s: %s counts of the tables are not in the summary", metric, got)
		}
		if got := one(t, db, "SELECT count(*) FROM (("+summed+") EXCEPT ALL ("+query+")) "); got != "0" {
			t.Errorf("%s: %s counts of the summary are not in the tables", metric, got)
		}
		if got := one(t, db, "SELECT count(*) FROM ("+summed+")"); got == "0" {
			t.Errorf("%s: no counts at all", metric)
		}
	}
}

// Every example is a row of the table that its counter counts, and each key has a
// few.
func TestExamplesAreOfTheTables(t *testing.T) {
	t.Parallel()
	db := database(t)
	for name, query := range map[string]string{
		"three of a key in a part": "SELECT count(*) FROM (SELECT run, metric, key, count(*) AS n FROM examples GROUP BY " +
			"ALL) WHERE n > CASE WHEN metric = 'policy' THEN 5 WHEN key IN ('largest', 'slowest') THEN 10 ELSE 3 END",
		"of their rank": "SELECT count(*) FROM examples e WHERE NOT EXISTS (FROM fetches f WHERE f.run = e.run " +
			"AND f.host = e.host AND f.rank IS NOT DISTINCT FROM e.rank)",
		"short":     "SELECT count(*) FROM examples WHERE strlen(text) > 203",
		"no line 0": "SELECT count(*) FROM examples WHERE line = 0",
		"of lines": "SELECT count(*) FROM examples e WHERE metric = 'line_class' AND NOT EXISTS (FROM " +
			"lines l WHERE l.run = e.run AND l.host = e.host AND l.line = e.line AND l.class = e.key AND (length(e.text) > " +
			"200 OR e.text = coalesce(l.field || ': ', '') || l.value))",
		"of fetches": "SELECT count(*) FROM examples e WHERE metric = 'error_class' AND NOT EXISTS (FROM " +
			"fetches f WHERE f.run = e.run AND f.host = e.host AND f.error_class = e.key AND f.error = e.text)",
		"of reasons": "SELECT count(*) FROM examples e WHERE metric = 'reason' AND NOT EXISTS (FROM fetches " +
			"f WHERE f.run = e.run AND f.host = e.host AND f.reason = e.key AND e.text = coalesce(f.status || ' ' || " +
			"f.final_url, f.error))",
		"of signals": "SELECT count(*) FROM examples e WHERE metric = 'signal' AND NOT EXISTS (FROM signals " +
			"s WHERE s.run = e.run AND s.host = e.host AND s.line = e.line AND contains(e.text, s.value))",
		"of sitemaps": "SELECT count(*) FROM examples e WHERE metric = 'sitemap' AND NOT EXISTS (FROM " +
			"sitemaps s WHERE s.run = e.run AND s.host = e.host AND s.line = e.line AND s.url = e.text)",
		"of groups": "SELECT count(*) FROM examples e WHERE metric = 'crawl_delay' AND NOT EXISTS (FROM " +
			"groups g WHERE g.run = e.run AND g.host = e.host AND g.line = e.line AND g.crawl_delay = e.text::DOUBLE)",
		"of statements": "SELECT count(*) FROM examples e WHERE metric = 'preference_remark' AND NOT EXISTS " +
			"(FROM preferences p WHERE p.run = e.run AND p.host = e.host AND p.line = e.line AND e.key IN (p.remark, p.scope, " +
			"CASE WHEN p.conflict THEN 'conflict' END) AND contains(e.text, p.value))",
		"of parity": "SELECT count(*) FROM examples e WHERE metric = 'parity_cause' AND NOT EXISTS (FROM " +
			"lines l WHERE l.run = e.run AND l.host = e.host AND l.line = e.line AND e.key IN (l.cause, CASE WHEN l.causes > " +
			"1 THEN 'several' END) AND starts_with(e.text, l.agent || ', google: ') AND contains(e.text, '; " +
			"' || l.parser || ': '))",
		"of templates": "SELECT count(*) FROM examples e WHERE metric = 'template' AND NOT EXISTS (FROM " +
			"templates t WHERE t.run = e.run AND t.host = e.host AND t.first_line = e.line AND t.template = e.key AND " +
			"coalesce(t.version, '') = e.text)",
		"of policies": "SELECT count(*) FROM examples e WHERE metric = 'policy' AND NOT EXISTS (FROM policies " +
			"p WHERE p.run = e.run AND p.host = e.host AND p.agent = e.key AND p.class = 'disallow_all' AND p.match = e.text " +
			"AND p.group_line IS NOT DISTINCT FROM e.line)",
		"the best ranked": "SELECT count(*) FROM (SELECT run, agent, rank FROM (SELECT run, agent, rank, " +
			"row_number() OVER (PARTITION BY run, agent ORDER BY rank NULLS LAST) AS n FROM (SELECT DISTINCT ON (run, agent, " +
			"host) run, agent, rank FROM policies WHERE class = 'disallow_all' AND profile = 'google' ORDER BY rank)) WHERE n " +
			"<= 5 EXCEPT ALL SELECT run, key, rank FROM examples WHERE metric = 'policy')",
		"of dead names": "SELECT count(*) FROM examples e WHERE metric = 'dead_name' AND (lower(e.key) <> " +
			"lower(e.text) OR NOT EXISTS (FROM groups g WHERE g.run = e.run AND g.host = e.host AND g.line <= e.line AND " +
			"list_contains(g.agents, e.text)))",
		"of servers": "SELECT count(*) FROM examples e WHERE metric = 'server' AND NOT EXISTS (FROM fetches " +
			"f WHERE f.run = e.run AND f.host = e.host AND f.server = e.text)",
		"the ten largest": "SELECT count(*) FROM (SELECT run, text::BIGINT FROM examples WHERE metric = " +
			"'body_bytes' EXCEPT ALL SELECT run, body_bytes FROM fetches WHERE content_digest IS NOT NULL QUALIFY " +
			"row_number() OVER (PARTITION BY run ORDER BY body_bytes DESC) <= 10)",
		"the ten slowest": "SELECT count(*) FROM (SELECT run, text::BIGINT FROM examples WHERE metric = " +
			"'total_us' EXCEPT ALL SELECT run, total_us FROM fetches QUALIFY row_number() OVER (PARTITION BY run ORDER BY " +
			"total_us DESC) <= 10)",
		"every class has some": "SELECT count(*) FROM (SELECT DISTINCT run, 'line_class' AS metric, class AS key FROM " +
			"lines UNION SELECT DISTINCT run, 'error_class', error_class FROM fetches WHERE error_class IS NOT NULL) ANTI " +
			"JOIN examples USING (run, metric, key)",
	} {
		if got := one(t, db, query); got != "0" {
			t.Errorf("%s: %s rows break it", name, got)
		}
	}
	if got := one(t, db, "SELECT string_agg(DISTINCT metric, ' ' ORDER BY metric) FROM examples"); got != "body_bytes "+
		"crawl_delay dead_name error_class line_class parity_cause policy preference_remark reason server signal "+
		"signal_reach sitemap template total_us versus_first" {
		t.Errorf("examples are of %s", got)
	}
}

func TestTheSameAnswersGiveTheSameTables(t *testing.T) {
	t.Parallel()
	db := database(t)
	for table, columns := range map[string]string{
		"fetches":  "* EXCLUDE (run, fetch_time, dns_us, connect_us, first_byte_us, total_us)",
		"groups":   "* EXCLUDE (run)",
		"rules":    "* EXCLUDE (run)",
		"sitemaps": "* EXCLUDE (run)",
		"lines":    "* EXCLUDE (run)",
		"signals":  "* EXCLUDE (run)",
		"agents":   "* EXCLUDE (run)",
		"bodies":   "* EXCLUDE (run)",
		"examples": "metric, key, line, CASE metric WHEN 'total_us' THEN NULL ELSE host || text END",
	} {
		of := table
		if table == "examples" {
			of = "(FROM examples WHERE metric <> 'versus_first')" // the later run has one profile
		}
		query := fmt.Sprintf("SELECT count(*) FROM (SELECT %[1]s FROM %[2]s WHERE run = 'first' EXCEPT ALL SELECT %[1]s "+
			"FROM %[2]s WHERE run <> 'first')", columns, of)
		if got := one(t, db, query); got != "0" {
			t.Errorf("%s: %s rows differ", table, got)
		}
	}
}

// The demo's hosts behave as testdata/demo/README.md says.
func TestDemoHosts(t *testing.T) {
	t.Parallel()
	db := database(t)
	for host, want := range map[string]string{
		"hops-1.redirect.test":    "conditional_allow success 200 2 NULL",
		"hops-5.redirect.test":    "conditional_allow success 200 6 NULL",
		"hops-7.redirect.test":    "full_allow redirect_limit 301 6 redirect_limit",
		"loop.redirect.test":      "full_allow redirect_loop 302 2 redirect_loop",
		"nowhere.redirect.test":   "full_allow redirect_invalid 301 1 redirect_invalid",
		"file.redirect.test":      "full_allow redirect_unsupported 301 1 redirect_unsupported",
		"status-401.errors.test":  "full_allow client_error 401 1 NULL",
		"status-403.errors.test":  "full_allow client_error 403 1 NULL",
		"status-404.errors.test":  "full_allow client_error 404 1 NULL",
		"status-410.errors.test":  "full_allow client_error 410 1 NULL",
		"status-429.errors.test":  "full_disallow server_error 429 1 NULL",
		"status-500.errors.test":  "full_disallow server_error 500 1 server_error",
		"status-503.errors.test":  "full_disallow server_error 503 1 server_error",
		"reset.network.test":      "full_disallow network_failure NULL 1 reset",
		"hang.network.test":       "full_disallow network_failure NULL 1 timeout",
		"garbage.network.test":    "full_disallow invalid_response NULL 1 protocol",
		"bad-chunks.network.test": "full_disallow invalid_response 200 1 protocol",
		"truncated.network.test":  "full_disallow incomplete_body 200 1 truncated_body",
		"oversized.body.test":     "conditional_allow success 200 1 NULL",
		"bomb.body.test":          "conditional_allow success 200 1 NULL",
	} {
		got := one(t, db, "SELECT concat_ws(' ', outcome, reason, coalesce(status::VARCHAR, 'NULL'), len(hops), "+
			"coalesce(error_class, 'NULL')) FROM fetches WHERE run = 'first' AND host = '"+host+"'")
		if got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

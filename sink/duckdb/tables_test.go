package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// out is a folder that the command has written two runs of the demo to, and
// single one with one run, of which said is what the command printed.
var (
	out, single string
	said        []byte
)

func TestMain(m *testing.M) {
	code, err := func() (int, error) {
		dir, err := os.MkdirTemp("", "robocensus-duckdb-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		out, single = filepath.Join(dir, "out"), filepath.Join(dir, "single")
		binary := filepath.Join(dir, "robocensus")
		build := exec.Command("go", "build", "-o", binary, "./cmd/robocensus")
		build.Dir = "../.."
		if text, err := build.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("build the command: %w\n%s", err, text)
		}
		for _, args := range [][]string{
			{"--out", out, "--run", "first", "--profile", "google,google-2012", "--keep-bodies"},
			{"--out", out, "--run", "20261120T101500Z", "--keep-bodies"},
			{"--out", single},
		} {
			demo := exec.Command(binary, append([]string{"demo", "--progress", "none"}, args...)...)
			var stderr bytes.Buffer
			demo.Stderr = &stderr
			if said, err = demo.Output(); err != nil {
				return 1, fmt.Errorf("robocensus demo: %w\n%s", err, &stderr)
			}
		}
		return m.Run(), nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func database(t *testing.T) *sql.DB {
	t.Helper()
	db, err := open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// one is the single cell that a query gives, as text.
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
		registered_domain VARCHAR, tld VARCHAR, robots_url VARCHAR, source VARCHAR, fetch_time TIMESTAMP WITH TIME ZONE,
		outcome VARCHAR, reason VARCHAR, status INTEGER, hops STRUCT(url VARCHAR, status INTEGER)[], final_url VARCHAR,
		error_class VARCHAR, error VARCHAR, fallback_error_class VARCHAR, attempts INTEGER, remote_address VARCHAR,
		http_version VARCHAR, tls_version VARCHAR, content_type VARCHAR, content_encoding VARCHAR, server VARCHAR, etag VARCHAR,
		last_modified VARCHAR, cache_control VARCHAR, retry_after VARCHAR, dns_us BIGINT, connect_us BIGINT, tls_us BIGINT,
		first_byte_us BIGINT, total_us BIGINT, body_bytes BIGINT, body_truncated BOOLEAN, content_digest VARCHAR, has_bom BOOLEAN,
		is_utf8 BOOLEAN, is_html BOOLEAN, stale_since TIMESTAMP WITH TIME ZONE, unreachable_since TIMESTAMP WITH TIME ZONE,
		lines INTEGER, groups INTEGER, rules INTEGER, sitemaps INTEGER, invalid_lines INTEGER,
		warc_file VARCHAR, warc_offset BIGINT, warc_length BIGINT, run VARCHAR`,
	"groups": `seq BIGINT, host VARCHAR, origin VARCHAR, group_index INTEGER, line INTEGER, agents VARCHAR[], tokens VARCHAR[],
		allow_rules INTEGER, disallow_rules INTEGER, crawl_delay DOUBLE, class VARCHAR, joined BOOLEAN, run VARCHAR`,
	"rules": `seq BIGINT, host VARCHAR, origin VARCHAR, group_index INTEGER, line INTEGER, kind VARCHAR, pattern VARCHAR,
		normalized VARCHAR, has_wildcard BOOLEAN, has_anchor BOOLEAN, effective BOOLEAN, run VARCHAR`,
	"sitemaps": `seq BIGINT, host VARCHAR, origin VARCHAR, line INTEGER, url VARCHAR, is_absolute BOOLEAN, is_same_host BOOLEAN, run VARCHAR`,
	"lines": `seq BIGINT, host VARCHAR, origin VARCHAR, line INTEGER, group_index INTEGER, field VARCHAR, value VARCHAR,
		class VARCHAR, run VARCHAR`,
	"signals": `seq BIGINT, host VARCHAR, origin VARCHAR, line INTEGER, group_index INTEGER, field VARCHAR, path VARCHAR,
		key VARCHAR, value VARCHAR, run VARCHAR`,
	"policies": `seq BIGINT, host VARCHAR, rank BIGINT, agent VARCHAR, category VARCHAR, profile VARCHAR, outcome VARCHAR,
		group_agent VARCHAR, is_explicit BOOLEAN, class VARCHAR, crawl_delay DOUBLE, run VARCHAR`,
	"verdicts": `seq BIGINT, host VARCHAR, rank BIGINT, origin VARCHAR, agent VARCHAR, profile VARCHAR, url VARCHAR, verdict VARCHAR,
		reason VARCHAR, group_agent VARCHAR, rule_kind VARCHAR, rule_pattern VARCHAR, rule_line INTEGER, run VARCHAR`,
	"summary": `metric VARCHAR, stratum VARCHAR, agent VARCHAR, category VARCHAR, profile VARCHAR, key VARCHAR, count BIGINT, run VARCHAR`,
	"bodies":  `run VARCHAR, content_digest VARCHAR, body BLOB`,
}

func TestViewsLoadWithTheTypesOfTheContract(t *testing.T) {
	db := database(t)
	for table, want := range types {
		_, rows, err := ask(db, "DESCRIBE "+table)
		if err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		var got []string
		for _, row := range rows {
			got = append(got, strings.Trim(row[0], `"`)+" "+row[1])
		}
		if got, want := strings.ReplaceAll(strings.Join(got, ", "), `"`, ""), strings.Join(strings.Fields(want), " "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", table, got, want)
		}
	}
}

func TestPartitionsByRun(t *testing.T) {
	db := database(t)
	if got := one(t, db, "SELECT string_agg(DISTINCT run, ' ' ORDER BY run) FROM fetches"); got != "20261120T101500Z first" {
		t.Errorf("runs are %s", got)
	}
	for _, table := range []string{"fetches", "groups", "rules", "sitemaps", "lines", "signals", "bodies"} {
		if got := one(t, db, "SELECT count(*) FILTER (run = 'first') = count(*) FILTER (run <> 'first') AND count(*) > 0 FROM "+table); got != "true" {
			t.Errorf("%s: the runs differ in their rows", table)
		}
	}
}

// A query of each row gives the number of rows that break a rule.
func TestNoRowBreaksARule(t *testing.T) {
	db := database(t)
	for name, query := range map[string]string{
		"no line 0":                              "SELECT count(*) FROM verdicts WHERE rule_line = 0",
		"a rule has line, kind and pattern":      "SELECT count(*) FROM verdicts WHERE (reason IN ('rule', 'empty_rule')) <> (rule_line IS NOT NULL AND rule_kind IS NOT NULL AND rule_pattern IS NOT NULL)",
		"no status 0":                            "SELECT count(*) FROM fetches WHERE status = 0",
		"no answer, no final URL":                "SELECT count(*) FROM fetches WHERE (status IS NULL) <> (final_url IS NULL)",
		"an error has a class":                   "SELECT count(*) FROM fetches WHERE (error IS NULL) <> (error_class IS NULL)",
		"hops end at status":                     "SELECT count(*) FROM fetches WHERE hops[-1].status IS DISTINCT FROM status",
		"every target was asked":                 "SELECT count(*) FROM fetches WHERE len(hops) = 0 OR attempts < 1",
		"digest and bytes go together":           "SELECT count(*) FROM fetches WHERE content_digest IS NOT NULL AND body_bytes IS NULL",
		"seq is a key":                           "SELECT count(*) - count(DISTINCT (run, seq)) FROM fetches",
		"policies join fetches":                  "SELECT count(*) FROM policies ANTI JOIN fetches USING (run, seq, host)",
		"verdicts join policies":                 "SELECT count(*) FROM verdicts ANTI JOIN policies USING (run, seq, agent, profile)",
		"rules join groups":                      "SELECT count(*) FROM rules r WHERE group_index IS NOT NULL AND NOT EXISTS (FROM groups g WHERE g.run = r.run AND g.seq = r.seq AND g.group_index = r.group_index)",
		"deciding rules are rules":               "SELECT count(*) FROM verdicts v WHERE profile = 'google' AND rule_line IS NOT NULL AND NOT EXISTS (FROM rules r WHERE r.run = v.run AND r.seq = v.seq AND r.line = v.rule_line AND r.kind = v.rule_kind AND r.pattern = v.rule_pattern)",
		"counts of fetches are those of tables":  "SELECT count(*) FROM fetches f WHERE groups <> (SELECT count(*) FROM groups g WHERE g.run = f.run AND g.seq = f.seq) OR rules <> (SELECT count(*) FROM rules r WHERE r.run = f.run AND r.seq = f.seq) OR sitemaps <> (SELECT count(*) FROM sitemaps s WHERE s.run = f.run AND s.seq = f.seq)",
		"full allow allows":                      "SELECT count(*) FROM verdicts JOIN policies USING (run, seq, agent, profile) WHERE outcome = 'full_allow' AND verdict <> 'allow' OR outcome = 'full_disallow' AND verdict <> 'disallow'",
		"an outage is no policy":                 "SELECT count(*) FROM policies WHERE (outcome IN ('full_disallow', 'undefined')) <> (class = 'unknown')",
		"group_agent only where rules decide":    "SELECT count(*) FROM policies WHERE group_agent IS NOT NULL AND outcome <> 'conditional_allow' OR is_explicit AND (group_agent IS NULL OR group_agent = '*')",
		"bodies are what was judged":             "SELECT count(*) FROM fetches f WHERE content_digest IS NOT NULL AND NOT EXISTS (FROM bodies b WHERE b.run = f.run AND b.content_digest = f.content_digest AND octet_length(b.body) = f.body_bytes)",
		"a closed policy closes every sample":    "SELECT count(*) FROM verdicts JOIN policies USING (run, seq, agent, profile) WHERE class = 'disallow_all' AND verdict = 'allow' OR class = 'allow_all' AND verdict = 'disallow'",
		"ranks are the same everywhere":          "SELECT count(*) FROM verdicts v JOIN fetches f USING (run, seq) WHERE v.rank IS DISTINCT FROM f.rank",
		"each profile judges every target":       "SELECT count(*) FROM (SELECT run, seq, agent, count(*) n FROM policies GROUP BY ALL) WHERE n <> CASE run WHEN 'first' THEN 2 ELSE 1 END",
		"fields of signals are the known ones":   "SELECT count(*) FROM signals WHERE field NOT IN ('content-signal', 'content-usage', 'license', 'request-rate', 'visit-time', 'clean-param', 'host', 'noindex')",
		"nothing from memory, which is not kept": "SELECT count(*) FROM fetches WHERE source <> 'network' OR stale_since IS NOT NULL OR warc_file IS NOT NULL",
	} {
		if got := one(t, db, query); got != "0" {
			t.Errorf("%s: %s rows break it", name, got)
		}
	}
}

func TestSummaryIsWhatTheTablesSay(t *testing.T) {
	db := database(t)
	const stratum = `CASE WHEN rank IS NULL THEN 'unranked' WHEN rank <= 1000 THEN '1-1000' WHEN rank <= 10000 THEN '1001-10000'
		WHEN rank <= 100000 THEN '10001-100000' WHEN rank <= 1000000 THEN '100001-1000000' ELSE 'more' END`
	bin := func(column string) string {
		return fmt.Sprintf(`CASE WHEN %[1]s = 0 THEN '0' WHEN %[1]s = 1 THEN '1' ELSE
			(1::BIGINT << floor(log2(%[1]s))::INT)::VARCHAR || '-' || ((2::BIGINT << floor(log2(%[1]s))::INT) - 1)::VARCHAR END`, column)
	}
	histogram := func(column string) string {
		return "SELECT " + stratum + ", NULL, NULL, NULL, " + bin(column) + ", count(*) FROM fetches WHERE content_digest IS NOT NULL GROUP BY ALL"
	}
	for metric, query := range map[string]string{
		"targets":         "SELECT " + stratum + ", NULL, NULL, NULL, NULL, count(*) FROM fetches GROUP BY ALL",
		"status":          "SELECT " + stratum + ", NULL, NULL, NULL, coalesce(status::VARCHAR, 'none'), count(*) FROM fetches GROUP BY ALL",
		"error_class":     "SELECT " + stratum + ", NULL, NULL, NULL, error_class, count(*) FROM fetches WHERE error_class IS NOT NULL GROUP BY ALL",
		"outcome":         "SELECT " + stratum + ", NULL, NULL, profile, outcome, count(DISTINCT seq) FROM policies GROUP BY ALL",
		"policy":          "SELECT " + stratum + ", agent, category, profile, class, count(*) FROM policies GROUP BY ALL",
		"policy_explicit": "SELECT " + stratum + ", agent, category, profile, class, count(*) FROM policies WHERE is_explicit GROUP BY ALL",
		"verdict":         "SELECT " + stratum + ", agent, category, profile, verdict, count(*) FROM (SELECT v.*, category FROM verdicts v JOIN policies USING (run, seq, agent, profile)) WHERE run = 'first' GROUP BY ALL",
		"line_class":      "SELECT " + stratum + ", NULL, NULL, NULL, class, count(*) FROM lines JOIN (SELECT run, seq, rank FROM fetches) USING (run, seq) GROUP BY ALL",
		"body_bytes":      histogram("body_bytes"),
		"lines":           histogram("lines"),
		"rules":           histogram("rules"),
		"groups":          histogram("groups"),
		"sitemaps":        histogram("sitemaps"),
	} {
		query = strings.Replace(query, " GROUP BY ALL", " AND run = 'first' GROUP BY ALL", 1)
		if !strings.Contains(query, "WHERE") {
			query = strings.Replace(query, " AND run = 'first'", " WHERE run = 'first'", 1)
		}
		summed := "SELECT stratum, agent, category, profile, key, sum(count)::BIGINT FROM summary WHERE run = 'first' AND metric = '" + metric + "' GROUP BY ALL"
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

func TestTheSameAnswersGiveTheSameTables(t *testing.T) {
	db := database(t)
	for table, columns := range map[string]string{
		"fetches":  "* EXCLUDE (run, fetch_time, dns_us, connect_us, first_byte_us, total_us)",
		"groups":   "* EXCLUDE (run)",
		"rules":    "* EXCLUDE (run)",
		"sitemaps": "* EXCLUDE (run)",
		"lines":    "* EXCLUDE (run)",
		"signals":  "* EXCLUDE (run)",
		"bodies":   "* EXCLUDE (run)",
	} {
		query := fmt.Sprintf("SELECT count(*) FROM (SELECT %[1]s FROM %[2]s WHERE run = 'first' EXCEPT ALL SELECT %[1]s FROM %[2]s WHERE run <> 'first')", columns, table)
		if got := one(t, db, query); got != "0" {
			t.Errorf("%s: %s rows differ", table, got)
		}
	}
}

// The demo's hosts do what testdata/demo/README.md says of them.
func TestDemoHosts(t *testing.T) {
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
		"status-429.errors.test":  "full_allow client_error 429 1 NULL",
		"status-500.errors.test":  "full_disallow server_error 500 1 NULL",
		"status-503.errors.test":  "full_disallow server_error 503 1 NULL",
		"reset.network.test":      "full_disallow network_failure NULL 1 reset",
		"hang.network.test":       "full_disallow network_failure NULL 1 timeout",
		"garbage.network.test":    "full_disallow invalid_response NULL 1 protocol",
		"bad-chunks.network.test": "full_disallow invalid_response 200 1 protocol",
		"truncated.network.test":  "full_disallow incomplete_body 200 1 truncated_body",
		"oversized.body.test":     "conditional_allow success 200 1 NULL",
		"bomb.body.test":          "conditional_allow success 200 1 NULL",
	} {
		got := one(t, db, "SELECT concat_ws(' ', outcome, reason, coalesce(status::VARCHAR, 'NULL'), len(hops), coalesce(error_class, 'NULL')) FROM fetches WHERE run = 'first' AND host = '"+host+"'")
		if got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

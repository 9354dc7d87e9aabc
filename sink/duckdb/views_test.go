package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var makeCrowded sync.Once

// crowded returns a folder of three runs of the demo with three profiles each: an
// earlier one of fewer hosts, the last complete one, and a later incomplete one.
// Their names sort in another order.
func crowded(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(scratch, "crowded")
	makeCrowded.Do(func() {
		for _, run := range []string{"z --limit 40", "m", "unfinished --limit 60"} {
			args := "demo --progress none --profile google,google-2012,rfc9309 --out " + dir + " --run " + run
			runCommand(t, filepath.Join(bin, "robocensus"), strings.Fields(args)...)
		}
		manifest := filepath.Join(dir, "_runs", "unfinished", "manifest.json")
		must(t, os.Remove(manifest))
		if said := prune(t, dir, "100"); !strings.Contains(said, "kept unfinished: unfinished") {
			t.Fatalf("the run is not unfinished: %s", said)
		}
	})
	return dir
}

// prune removes old runs of a folder, and rewrites its views.sql.
func prune(t *testing.T, dir, keep string) string {
	t.Helper()
	return runCommand(t, filepath.Join(bin, "robocensus"), "prune", "--out", dir, "--keep", keep)
}

// questions returns the queries of the documents and of configs/queries about one
// run, by name.
func questions(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, document := range documents {
		_, blocks := blocksOf(t, document)
		for _, b := range blocks {
			if b.language == "sql" && !strings.Contains(b.text, "history.") && !strings.Contains(b.text, "changes") {
				all[fmt.Sprintf("%s %d", document, len(all))] = b.text
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(queries, "*.sql"))
	must(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		all[filepath.Base(file)] = string(text)
	}
	if len(all) < 20 {
		t.Fatalf("%d questions, want 20 at least", len(all))
	}
	return all
}

// Other runs and profiles in the folder change no answer.
func TestACountIsNeverDoubled(t *testing.T) {
	t.Parallel()
	alone, among := reader(t, single), reader(t, crowded(t))
	for name, text := range questions(t) {
		head, rows, err := ask(alone, text)
		must(t, err)
		want := append([][]string{head}, rows...)
		head, rows, err = ask(among, text)
		must(t, err)
		if diff := cmp.Diff(want, append([][]string{head}, rows...)); diff != "" {
			t.Errorf("%s: one run (-), the last of three (+):\n%s", name, diff)
		}
		if len(rows) == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
}

// derived maps the views over the tables' views to the tables that they need.
var derived = map[string]string{
	"fetches_latest": "fetches", "fetches_resolved": "fetches", "redirects": "fetches",
	"policies_resolved": "fetches policies",
	"verdicts_resolved": "fetches verdicts", "directives": "groups rules sitemaps lines",
	"named_classes":   "fetches groups rules sitemaps lines",
	"classifications": "fetches groups rules sitemaps lines policies",
}

// The views of tables in history have the rows of the globs in README; a bare name
// has those of one run and profile.
func TestHistoryIsAllRunsAndProfiles(t *testing.T) {
	t.Parallel()
	dir := crowded(t)
	db := reader(t, dir)
	profiled := []string{"policies", "verdicts", "summary"}
	for table := range types {
		if slices.Contains([]string{"changes", "bodies", "answers", "documents", "labels", "label_counts", "sitemap_files",
			"coverage", "urls"}, table) {
			continue // this folder lacks the table
		}
		glob := fmt.Sprintf("read_parquet('%s/%s/*/*.parquet', hive_partitioning = true)", dir, table)
		where := "run = 'm'"
		if slices.Contains(profiled, table) {
			where += " AND (profile IS NULL OR profile = 'google')"
		}
		for name, query := range map[string][2]string{
			"history":  {"SELECT run, count(*) FROM history." + table, "SELECT run, count(*) FROM " + glob},
			"last run": {"SELECT run, count(*) FROM " + table, "SELECT run, count(*) FROM " + glob + " WHERE " + where},
		} {
			_, got, err := ask(db, query[0]+" GROUP BY run ORDER BY run")
			must(t, err)
			_, want, err := ask(db, query[1]+" GROUP BY run ORDER BY run")
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" || len(got) != map[string]int{"history": 3, "last run": 1}[name] {
				t.Errorf("%s of %s (-glob +view):\n%s", name, table, diff)
			}
		}
	}
	for query, want := range map[string]string{
		"SELECT string_agg(DISTINCT profile, ' ' ORDER BY profile) FROM history.policies": "google " +
			"google-2012 rfc9309",
		"SELECT string_agg(DISTINCT run, ' ' ORDER BY run) FROM history.classifications":           "m unfinished z",
		"SELECT string_agg(DISTINCT run || profile, ' ') FROM classifications":                     "mgoogle",
		"SELECT count(*) - (SELECT count(*) FROM history.policies) FROM history.policies_resolved": "0",
		"SELECT count(*) - (SELECT count(*) FROM history.verdicts) FROM history.verdicts_resolved": "0",
		// Columns that come by join double no row and fit it.
		"SELECT count(*) FROM history.verdicts v JOIN history.policies p USING (run, seq, agent, profile) WHERE v.category IS DISTINCT FROM p.category": "0",
		"SELECT count(*) FROM history.rules r JOIN history.fetches f USING (run, seq) WHERE r.rank IS DISTINCT FROM f.rank":                             "0",
		"SELECT count(*) FROM history.groups g JOIN history.fetches f USING (run, seq) WHERE g.rank IS DISTINCT FROM f.rank":                            "0",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for view := range derived {
		want := one(t, db, "SELECT count(*) FROM history."+view+" WHERE run = 'm'")
		if view == "policies_resolved" || view == "verdicts_resolved" || view == "classifications" {
			want = one(t, db, "SELECT count(*) FROM history."+view+" WHERE run = 'm' AND profile = 'google'")
		}
		if got := one(t, db, "SELECT count(*) FROM "+view); got != want {
			t.Errorf("%s has %s rows, want %s", view, got, want)
		}
	}
}

// fails returns the error of a query.
func fails(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	_, rows, err := ask(db, query)
	if err == nil {
		t.Errorf("%s: answers with %d rows", query, len(rows))
		return ""
	}
	return err.Error()
}

func TestAMissingTableSaysSo(t *testing.T) {
	t.Parallel()
	all := []string{"fetches", "rules,groups,verdicts", "groups,rules,sitemaps,lines,policies"}
	if testing.Short() { // each table is missing in one of them
		all = all[:2]
	}
	for _, written := range all {
		dir := filepath.Join(t.TempDir(), "out")
		runCommand(t, filepath.Join(bin, "robocensus"), "run", "--bodies", "../../testdata/demo/hosts", "--out", dir,
			"--run", "r", "--tables", written, "--progress", "none")
		db := quick(t, dir)
		missing := func(needs string) (tables []string) {
			for _, table := range strings.Fields(needs) {
				if !slices.Contains(strings.Split(written, ","), table) {
					tables = append(tables, table)
				}
			}
			return tables
		}
		needs := make(map[string]string)
		for table := range types {
			needs[table] = table
		}
		for view, tables := range derived {
			needs[view] = tables
		}
		for view, tables := range needs {
			for _, schema := range []string{"", "history."} {
				for _, query := range []string{"SELECT count(*) FROM %s", "SELECT run FROM %s WHERE run = 'another'"} {
					query = fmt.Sprintf(query, schema+view)
					gone := missing(tables)
					if len(gone) == 0 {
						if _, _, err := ask(db, query); err != nil {
							t.Errorf("with %s: %s: %v", written, query, err)
						}
						continue
					}
					said := fails(t, db, query)
					names := func(table string) bool { return strings.Contains(said, "the table "+table) }
					want := "--tables"
					switch {
					case view == "bodies":
						want = "--keep-bodies"
					case view == "changes":
						want = map[string]string{"": "only complete one", "history.": "robocensus diff"}[schema]
					}
					if !slices.ContainsFunc(gone, names) || !strings.Contains(said, want) ||
						strings.Contains(said, "history.") { // no run has the table
						t.Errorf("with %s: %s says %s", written, query, said)
					}
				}
			}
		}
		// A column whose join finds nothing is null.
		if written == "rules,groups,verdicts" {
			for _, query := range []string{"SELECT count(rank) FROM rules", "SELECT count(rank) FROM history.groups",
				"SELECT count(category) FROM verdicts"} {
				if got := one(t, db, query); got != "0" {
					t.Errorf("%s: %s", query, got)
				}
			}
		}
	}
}

// After runs are removed, the views show the last run.
func TestViewsAfterPrune(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	must(t, os.CopyFS(dir, os.DirFS(crowded(t))))
	text := questions(t)["agent-classes.sql"]
	ofLast := func() string {
		t.Helper()
		var got bytes.Buffer
		must(t, query(&got, dir, text))
		return got.String()
	}
	want := ofLast()
	prune(t, dir, "1")
	if got := ofLast(); got != want {
		t.Errorf("after prune the last run says\n%s, before\n%s", got, want)
	}
	db := quick(t, dir)
	if got := one(t, db, "SELECT string_agg(DISTINCT run, ' ' ORDER BY run) FROM history.fetches"); got != "m unfinished" {
		t.Errorf("after prune the runs are %s", got)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*", "run=m"))
	must(t, err)
	for _, f := range append(folders, filepath.Join(dir, "_runs", "m")) {
		must(t, os.RemoveAll(f))
	}
	prune(t, dir, "1")
	db = quick(t, dir)
	for _, view := range []string{"fetches", "verdicts", "changes", "classifications", "policies_resolved"} {
		if said := fails(t, db, "SELECT count(*) FROM "+view); !strings.Contains(said, "no run in this folder is complete") {
			t.Errorf("%s without a complete run: %s", view, said)
		}
	}
	if got := one(t, db, "SELECT count(*) FROM history.fetches"); got != "60" {
		t.Errorf("%s rows of the unfinished run, want 60", got)
	}
}

// The view changes compares the last complete run with the one before it, whichever
// others were compared.
func TestChangesAreOfTheLastTwoRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	command := filepath.Join(bin, "robocensus")
	for i, run := range []string{"a", "b", "c"} {
		bodies := filepath.Join(t.TempDir(), "bodies")
		must(t, os.Mkdir(bodies, 0o777))
		for h := range 3 {
			write(t, filepath.Join(bodies, fmt.Sprintf("h%d.test", h)), fmt.Sprintf("User-agent: *\nDisallow: %s\n",
				[]string{"/", "/a"}[(i+h)%2]))
		}
		runCommand(t, command, "run", "--bodies", bodies, "--out", dir, "--run", run, "--progress", "none", "--profile",
			"google,rfc9309")
	}
	runCommand(t, command, "diff", "--out", dir, "a", "b")
	if said := fails(t, quick(t, dir), "FROM changes"); !strings.Contains(said, "robocensus diff --out DIR b c") {
		t.Errorf("changes that were not looked for: %s", said)
	}
	runCommand(t, command, "diff", "--out", dir, "b", "c")
	db := quick(t, dir)
	for query, want := range map[string]string{
		"SELECT string_agg(DISTINCT against || run || profile, ' ') FROM changes WHERE kind = 'policy_class'": "bcgoogle",
		"SELECT count(DISTINCT host) FROM changes":                                                            "3",
		"SELECT string_agg(DISTINCT against || run, ' ' ORDER BY against || run) FROM history.changes":        "ab bc",
		"SELECT string_agg(DISTINCT profile, ' ' ORDER BY profile) FROM history.changes": "google " +
			"rfc9309",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// No name of a folder or profile escapes its quotes.
func TestViewsOfHostileNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b]*? 'c', {d} run=e; --")
	config := write(t, filepath.Join(t.TempDir(), "config.yaml"), "profile: [\"it's;DROP\", google]\nprofiles:\n"+
		"  \"it's;DROP\": {base: google}\n")
	for range 2 { // the second time, the run is complete
		runCommand(t, filepath.Join(bin, "robocensus"), "run", "--bodies", "../../testdata/demo/hosts", "--out", dir,
			"--run", "1.e-5", "--config", config, "--resume", "--progress", "none")
	}
	t.Chdir(dir) // as in README: a search path has its own grammar
	db := folder(t, ".")
	for query, want := range map[string]string{
		"SELECT string_agg(DISTINCT run || ' ' || profile, ', ') FROM policies": "1.e-5 it's;DROP",
		"SELECT count(DISTINCT profile) FROM history.verdicts":                  "2",
		"SELECT count(DISTINCT seq) = count(*) AND count(*) > 90 FROM fetches":  "true",
	} {
		if got := one(t, db, query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// The macro has the bands of summary, up to their edges.
func TestStratum(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bodies, ranks := filepath.Join(dir, "bodies"), ""
	must(t, os.Mkdir(bodies, 0o777))
	for edge := 1000; edge <= 10_000_000; edge *= 10 {
		for _, rank := range []int{edge/10 + 1, edge - 1, edge, edge + 1} {
			host := fmt.Sprintf("h%d-%d.test", edge, rank)
			write(t, filepath.Join(bodies, host), "")
			ranks += fmt.Sprintf("%d,%s\n", rank, host)
		}
	}
	for _, host := range []string{"one.test", "none.test", "last.test"} {
		write(t, filepath.Join(bodies, host), "")
	}
	ranks += "1,one.test\n999999999999,last.test\n"
	out := filepath.Join(dir, "out")
	runCommand(t, filepath.Join(bin, "robocensus"), "run", "--bodies", bodies, "--ranks",
		write(t, filepath.Join(dir, "ranks.csv"), ranks), "--out", out, "--progress", "none")
	db := quick(t, out)
	_, want, err := ask(db,
		"SELECT stratum, sum(count)::BIGINT FROM summary WHERE metric = 'targets' GROUP BY 1 ORDER BY 1")
	must(t, err)
	_, got, err := ask(db, "SELECT stratum(rank), count(*) FROM fetches GROUP BY 1 ORDER BY 1")
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 7 {
		t.Errorf("strata (-summary +macro):\n%s", diff)
	}
}

// A column that cannot be computed is null, and says why.
func TestWhatStoredBodiesDoNotTell(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	ranks := write(t, filepath.Join(t.TempDir(), "ranks.csv"), "5,www.morningpost.example\n")
	runCommand(t, filepath.Join(bin, "robocensus"), "run", "--bodies", "../../testdata/demo/hosts", "--ranks", ranks,
		"--out", dir, "--progress", "none")
	db := quick(t, dir)
	head, rows, err := ask(db, questions(t)["definitions.sql"])
	must(t, err)
	cell := func(row []string, name string) string { return row[slices.Index(head, name)] }
	for _, row := range rows {
		if cell(row, "cc") != "NULL" || cell(row, "cc_mended") != "NULL" || cell(row, "longpre") == "NULL" ||
			cell(row, "meaning") == "0" ||
			cell(row, "note") != "cc: status unknown for "+cell(row, "files")+" files" {
			t.Errorf("%v: %v", head, row)
		}
	}
	if len(rows) != 10 {
		t.Errorf("%d agents", len(rows))
	}
	if got := one(t, db, "SELECT answer FROM ("+questions(t)["status-classes.sql"]+
		") WHERE top = 1000"); got != "a file whose status is not known" {
		t.Errorf("the answer of a stored body: %s", got)
	}
}

// The terminal, the queries and the report's counters agree about each agent, with
// the same bases.
func TestFiguresAgree(t *testing.T) {
	t.Parallel()
	db := reader(t, single)
	for _, agent := range []string{"GPTBot", "AhrefsBot", "Bytespider"} {
		want := strings.Fields(
			one(t, db,
				fmt.Sprintf(
					`SELECT concat_ws(' ', closed, round(100 * closed / hosts, 1)::DECIMAL(4, 1), round(100 * closed / files, 1)::DECIMAL(4, 1))
			FROM (SELECT sum(count) FILTER (metric = 'policy' AND agent = '%s' AND key = 'disallow_all') AS closed, sum(count) FILTER (metric = 'targets') AS hosts,
			sum(count) FILTER (metric = 'outcome' AND key = 'conditional_allow') AS files FROM summary)`, agent)))
		line := regexp.MustCompile(`(?m)^\S+ +` + agent + ` .*$`).FindString(string(said))
		if cells := strings.Fields(line); len(cells) < 5 || cells[2] != want[0] || cells[3] != want[1]+"%" ||
			cells[4] != want[2]+"%" {
			t.Errorf("%s: the terminal says %q, the counters %v", agent, line, want)
		}
		for name, columns := range map[string][]string{
			"agent-classes.sql":         {"closed", "percent_of_hosts", "percent_of_files"},
			"explicit-or-inherited.sql": {"", "percent_of_hosts", "percent_of_files"},
			"definitions.sql":           {"meaning", "", ""},
		} {
			head, rows, err := ask(db, questions(t)[name])
			must(t, err)
			for i, column := range columns {
				for _, row := range rows {
					if at := slices.Index(head, column); column != "" && slices.Contains(row, agent) && row[at] != strings.TrimSuffix(
						want[i], ".0") {
						t.Errorf("%s: %s has %s %s, the counters %s", agent, name, column, row[at], want[i])
					}
				}
			}
		}
	}
	// No share has a third base, except in the queries about the effect of naming an
	// agent, whose base is what names it.
	for name, text := range questions(t) {
		_, columns, err := ask(db, "DESCRIBE "+text)
		must(t, err)
		for _, described := range columns {
			column := described[0]
			if strings.Contains(column, "percent") && column != "percent_of_hosts" && column != "percent_of_files" &&
				(name != "versus-star.sql" && name != "parity.sql" || column != "percent_of_named") {
				t.Errorf("%s: %s names no base", name, column)
			}
		}
	}
}

// wantFiles checks the base files of the queries of configs/queries where all ranks count:
// a host where a wall answered has no rules that decide.
func wantFiles(t *testing.T, db *sql.DB, want string) {
	t.Helper()
	asked := 0
	for name, text := range questions(t) {
		head, rows, err := ask(db, text)
		must(t, err)
		files, top := slices.Index(head, "files"), slices.Index(head, "top")
		if files < 0 || !strings.HasSuffix(name, ".sql") || len(rows) == 0 || slices.Contains(head, "cause") {
			continue
		}
		asked++
		for _, row := range rows {
			if row[files] != want && (top < 0 || row[top] == "1000000") {
				t.Errorf("%s: %s files, want %s: %s", name, row[files], want, row)
			}
		}
	}
	if asked < 8 {
		t.Errorf("%d queries have a number of files, want 8 at least", asked)
	}
}

// Every column of a table has a description.
func TestColumnsAreDescribed(t *testing.T) {
	t.Parallel()
	db := folder(t, single)
	for table := range types {
		if got := one(t, db, "SELECT coalesce(string_agg(column_name, ' ' ORDER BY column_name), '') FROM duckdb_columns() "+
			"WHERE schema_name = 'main' AND table_name = '"+table+"' AND comment IS NULL"); got != map[string]string{
			"groups": "rank run", "rules": "rank run", "verdicts": "category run", "changes": "against run",
		}[table] && got != "run" {
			t.Errorf("%s: nothing is said of %s", table, got)
		}
	}
	if got := one(t, db, "SELECT comment FROM duckdb_columns() WHERE schema_name = 'main' AND table_name = 'rules' AND "+
		"column_name = 'line'"); got != "Line of the file, from 1. Example: `12`." {
		t.Errorf("rules.line: %q", got)
	}
}

package views

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// viewRun writes a run that started on a day of November, with the table fetches.
func viewRun(t *testing.T, dir, id string, day int, complete bool, profiles ...string) {
	t.Helper()
	began := time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)
	run, err := sink.Create(dir, journal.Plan{Run: id, Started: began, Tables: []string{"fetches", "policies"},
		Profiles: profiles})
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	must(t, s.Commit())
	if complete {
		must(t, run.Complete(sink.Completion{Finished: began}))
	}
	must(t, run.Close())
}

// viewsIn returns the two schemas of a folder's views.
func viewsIn(t *testing.T, dir string) (history, last string) {
	t.Helper()
	must(t, Write(sinktest.Open(t, dir)))
	text, err := os.ReadFile(filepath.Join(dir, "views.sql"))
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "SET schema = 'history'")
	if regexp.MustCompile(`%[^A-F0-9]`).Match(text) {
		t.Errorf("a text is not filled in:\n%s", text)
	}
	history, last, ok := strings.Cut(rest, "SET schema = 'main'")
	if !ok {
		t.Fatalf("the views have not two schemas:\n%s", text)
	}
	return history, last
}

// DuckDB opens all parts of a table to unite their columns by name: only where they may
// differ.
func TestColumnsAreUnitedWhereTheyMayDiffer(t *testing.T) {
	dir := t.TempDir()
	wants := func(when string, history, last bool) {
		t.Helper()
		all, main := viewsIn(t, dir)
		for _, c := range []struct {
			schema, text string
			united       bool
		}{{"history", all, history}, {"main", main, last}} {
			_, view, _ := strings.Cut(c.text, "VIEW fetches AS")
			view, _, _ = strings.Cut(view, ";")
			if strings.Contains(view, byName) != c.united {
				t.Errorf("%s: columns of %s.fetches are united: %t, want %t:\n%s", when, c.schema, !c.united, c.united, view)
			}
		}
	}
	viewRun(t, dir, "a", 1, true, "google")
	viewRun(t, dir, "b", 2, true, "google")
	wants("two runs", false, false)
	viewRun(t, dir, "c", 3, false, "google")
	wants("an incomplete run", false, false)
	plan := filepath.Join(dir, "_runs", "c", "plan.json")
	content, err := os.ReadFile(plan)
	must(t, err)
	must(t, os.WriteFile(plan, content[:len(content)/2], 0o666))
	wants("an unknown plan", true, false)
}

func TestColumnsOfRuns(t *testing.T) {
	in := files{columns: map[string]string{"a": "x", "b": "x", "c": "x fetches.rank", "old": ""}}
	for _, c := range []struct {
		table, runs string
		want        bool
	}{
		{"fetches", "a", true}, {"fetches", "a b", true}, {"fetches", "a c", false}, {"fetches", "c", true},
		{"fetches", "old", false}, {"fetches", "a old", false}, {"fetches", "a removed", false}, {"changes", "a", false},
	} {
		var parts []string
		for run := range strings.FieldsSeq(c.runs) {
			parts = append(parts, c.table+"/run="+run+"/part-00000.parquet")
		}
		if got := in.haveSameColumns(c.table, parts); got != c.want {
			t.Errorf("%s of runs %s: %t, want %t", c.table, c.runs, got, c.want)
		}
	}
}

// The last run is the one that started last, whatever its name and its end; an
// incomplete run does not count.
func TestViewsNameTheLastCompleteRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [b]* {c}") // characters that have a meaning in patterns
	must(t, os.MkdirAll(dir, 0o777))
	wants := func(when, files, profile, problem string) {
		t.Helper()
		history, last := viewsIn(t, dir)
		for _, text := range []string{files, profile, problem} {
			if !strings.Contains(last, text) {
				t.Errorf("%s: the views of the last run do not say %q", when, text)
			}
		}
		if strings.Contains(last, "run=*") || strings.Contains(history, "run=b") {
			t.Errorf("%s: the schemas are mixed up", when)
		}
	}
	_, last := viewsIn(t, dir)
	if n := strings.Count(last, "no run in this folder is complete"); n != len(schema.TableNames)+1 {
		t.Errorf("without a run %d views say that none is complete", n)
	}
	viewRun(t, dir, "x-unfinished", 20, false, "google")
	history, last := viewsIn(t, dir)
	if strings.Contains(last, "read_parquet") || !strings.Contains(history,
		"read_parquet('fetches/run=*/part-*.parquet'") {
		t.Errorf("of an unfinished run: history\n%s\nlast\n%s", history, last)
	}
	viewRun(t, dir, "b", 10, true, "it's", "google")
	wants("one run", "'fetches/run=b/part-*.parquet'", "profile = 'it''s'", "run b is the only complete one")
	viewRun(t, dir, "z-older", 9, true, "rfc9309")
	wants("an older run ends later", "'fetches/run=b/part-*.parquet'", "profile = 'it''s'",
		"robocensus diff --out DIR z-older b")
	viewRun(t, dir, "a-same-day", 10, true, "rfc9309")
	wants("the same day", "'fetches/run=b/part-*.parquet'", "profile = 'it''s'", "robocensus diff --out DIR a-same-day b")
	viewRun(t, dir, "a-newer", 11, true, "rfc9309")
	wants("a newer run", "'fetches/run=a-newer/part-*.parquet'", "profile = 'rfc9309'",
		"robocensus diff --out DIR b a-newer")
	must(t, sink.Remove(sinktest.Open(t, dir), "a-newer"))
	wants("the newer run is removed", "'fetches/run=b/part-*.parquet'", "profile = 'it''s'",
		"robocensus diff --out DIR a-same-day b")
	must(t, os.WriteFile(filepath.Join(dir, "_runs", "b", "manifest.json"), []byte("{"), 0o666))
	wants("a manifest is damaged", "'fetches/run=a-same-day/part-*.parquet'", "profile = 'rfc9309'",
		"robocensus diff --out DIR z-older a-same-day")
}

// Without a complete run the views say how to complete one: --resume continues no run of
// shards. Those that were written before another run began stay right.
func TestViewsSayHowToComplete(t *testing.T) {
	dir := t.TempDir()
	const shards, resume = "start the shards that are missing", "complete it with robocensus run --resume"
	_, err := sink.OpenSharded(sinktest.Open(t, dir), journal.Plan{Run: "s", Tables: []string{"fetches", "summary"},
		Profiles: []string{"google"}, Shards: 2}, 0)
	must(t, err)
	says := func(when, want, not string) {
		t.Helper()
		history, last := viewsIn(t, dir)
		for schema, text := range map[string]string{"history": history, "main": last} {
			if !strings.Contains(text, want) || strings.Contains(text, not) {
				t.Errorf("%s: the schema %s does not say to %s, or says to %s", when, schema, want, not)
			}
		}
	}
	says("shards alone", shards, resume)
	viewRun(t, dir, "a-unfinished", 20, false, "google")
	if wrong, err := Check(sinktest.Open(t, dir)); wrong != "" || err != nil {
		t.Errorf("views from before a run: %q, %v", wrong, err)
	}
	says("an unfinished run beside", resume, shards)
	must(t, sink.Remove(sinktest.Open(t, dir), "a-unfinished"))
	viewRun(t, dir, "z-unfinished", 20, false, "google")
	says("after the run of shards", resume, shards)
	viewRun(t, dir, "complete", 10, true, "google")
	says("a complete run", "run=", shards)
}

// In the schema history seqs and agents repeat in every run: a join without the run
// would multiply rows.
func TestViewsJoinWithinARun(t *testing.T) {
	dir := t.TempDir()
	tables := []string{"fetches", "groups", "rules", "policies", "verdicts", "agents", "bodies"}
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: tables, Profiles: []string{"google"}})
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	must(t, s.Commit())
	must(t, run.Complete(sink.Completion{}))
	must(t, run.Close())
	history, last := viewsIn(t, dir)
	for schema, text := range map[string]string{"history": history, "main": last} {
		joins := regexp.MustCompile(`\bJOIN \(SELECT ([^\n]*) FROM \w+\)(?: \w+)? (USING [^\n;]*)`).FindAllStringSubmatch(
			text, -1)
		if len(joins) != strings.Count(text, "JOIN (SELECT") || len(joins) < 3 {
			t.Errorf("%s: %d joins of tables are found", schema, len(joins))
		}
		for _, join := range joins {
			if columns := " " + strings.TrimPrefix(join[1], "DISTINCT "); !strings.Contains(columns, " run,") ||
				!strings.Contains(join[2], "USING (run, ") {
				t.Errorf("%s: a join without the run: %s", schema, join[0])
			}
		}
		if !strings.Contains(text, "GROUP BY run, content_digest") {
			t.Errorf("%s: bodies of several runs are one", schema)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
func TestForDuckDB(t *testing.T) {
	for url, want := range map[string]string{
		"s3://bucket/folder":        "s3://bucket/folder",
		"gs://bucket":               "gs://bucket",
		"azblob://container/folder": "az://container/folder",
	} {
		if got := forDuckDB(url); got != want {
			t.Errorf("%s is %s to DuckDB, want %s", url, got, want)
		}
	}
}

// The macro was_read says of every reason what package answer says.
func TestViewsReadAsGoDoes(t *testing.T) {
	_, text, _ := strings.Cut(configs.Views, "MACRO was_read(reason, challenge) AS challenge IS NULL AND reason IN (")
	list, _, _ := strings.Cut(text, ");")
	var want []string
	for _, r := range answer.Reasons {
		if answer.Shown(r, true).Evidence().IsCurrent() {
			t.Errorf("%s is read behind a wall", r)
		}
		if answer.Shown(r, false).Evidence().IsCurrent() {
			want = append(want, "'"+string(r)+"'")
		}
	}
	if got := strings.Join(strings.Fields(list), " "); got != strings.Join(want, ", ") {
		t.Errorf("was_read has\n%s, and package answer\n%s", got, strings.Join(want, ", "))
	}
}

// A temporary file that a crash left goes at the next write, and that of another process
// stays.
func TestLeftViewsGo(t *testing.T) {
	dir := t.TempDir()
	viewRun(t, dir, "a", 1, true)
	old := time.Now().Add(-2 * writingLasts)
	for _, name := range []string{"views.AAAAAAAA.sql.tmp", "views.BBBBBBBB.sql.tmp", "my.views.sql.tmp"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
		if !strings.Contains(name, "BBBB") {
			must(t, os.Chtimes(filepath.Join(dir, name), old, old))
		}
	}
	for range 2 { // also if the views are up to date
		must(t, Write(sinktest.Open(t, dir)))
		left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
		must(t, err)
		if len(left) != 2 || filepath.Base(left[0]) != "my.views.sql.tmp" ||
			filepath.Base(left[1]) != "views.BBBBBBBB.sql.tmp" {
			t.Errorf("left %q", left)
		}
		must(t, os.WriteFile(filepath.Join(dir, "views.AAAAAAAA.sql.tmp"), nil, 0o666))
		must(t, os.Chtimes(filepath.Join(dir, "views.AAAAAAAA.sql.tmp"), old, old))
	}
}

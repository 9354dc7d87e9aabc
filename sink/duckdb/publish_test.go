package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// publishedSet publishes the runs of a folder.
func publishedSet(t *testing.T, dir string, args ...string) string {
	t.Helper()
	set := filepath.Join(t.TempDir(), "set")
	robocensus(t, 0, append([]string{"publish", "--out", dir, "latest", "--to", set, "--creator", "Doe, Jane",
		"--licence", "CC-BY-4.0"}, args...)...)
	return set
}

// DuckDB reads each table from croissant.json alone: the pattern of its parts, its
// columns and their types.
func TestCroissantReadsTheTables(t *testing.T) {
	t.Parallel()
	set := publishedSet(t, single, "--without", "fetches.remote_address,lines.value")
	text, err := os.ReadFile(filepath.Join(set, "croissant.json"))
	must(t, err)
	var about struct {
		Distribution []struct {
			ID       string `json:"@id"`
			Includes string
		}
		RecordSet []struct {
			ID    string `json:"@id"`
			Field []struct {
				Name, DataType string
				IsArray        bool
				Source         struct {
					FileSet struct {
						ID string `json:"@id"`
					}
					Extract   struct{ Column string }
					Transform struct{ Regex string }
				}
			}
		}
	}
	must(t, json.Unmarshal(text, &about))
	patterns := make(map[string]string)
	for _, f := range about.Distribution {
		patterns[f.ID] = f.Includes
	}
	types := map[string][]string{
		"sc:Text": {"VARCHAR", "BLOB"}, "sc:Integer": {"INTEGER", "BIGINT"}, "sc:Float": {"DOUBLE"},
		"sc:Boolean":  {"BOOLEAN"},
		"sc:DateTime": {"TIMESTAMP", "TIMESTAMP WITH TIME ZONE"}, "": {"STRUCT"},
	}
	db := bare(t)
	if len(about.RecordSet) < 11 {
		t.Errorf("%d tables are described", len(about.RecordSet))
	}
	for _, table := range about.RecordSet {
		var columns []string
		for _, f := range table.Field {
			from := "read_parquet('" + filepath.Join(set, patterns[f.Source.FileSet.ID]) +
				"', hive_partitioning = false, filename = true)"
			if f.Source.Transform.Regex != "" {
				if run := one(t, db, "SELECT DISTINCT regexp_extract(filename, '"+f.Source.Transform.Regex+"', 1) FROM "+
					from); run == "" {
					t.Errorf("%s.%s is empty", table.ID, f.Name)
				}
				continue
			}
			columns = append(columns, f.Name)
			kind, isArray := strings.CutSuffix(one(t, db, `SELECT any_value(typeof("`+f.Source.Extract.Column+`")) FROM `+from),
				"[]")
			kind, _, _ = strings.Cut(kind, "(")
			if isArray != f.IsArray || !slices.Contains(types[f.DataType], kind) {
				t.Errorf("%s.%s is described as %s, array %v, and is %s, array %v", table.ID, f.Name, f.DataType, f.IsArray, kind,
					isArray)
			}
		}
		// The same rows as in the folder that was published.
		names := `"` + strings.Join(columns, `", "`) + `"`
		from := "read_parquet('" + filepath.Join(set, table.ID, "run=*", "*.parquet") + "', hive_partitioning = false)"
		was := strings.ReplaceAll(from, set, single)
		n, sum := fingerprint(t, db, "SELECT "+names+" FROM "+from)
		if m, other := fingerprint(t, db, "SELECT "+names+" FROM "+was); m != n || other != sum {
			t.Errorf("%s: %s rows, of %s, or others", table.ID, n, m)
		}
	}
}

// A comparison of published runs is published with them.
func TestPublishedChanges(t *testing.T) {
	t.Parallel()
	db := bare(t)
	runs := strings.Fields(one(t, db, "SELECT string_agg(DISTINCT run, ' ' ORDER BY run) FROM read_parquet('"+out+
		"/fetches/run=*/*.parquet', hive_partitioning = true)"))
	set := filepath.Join(t.TempDir(), "set")
	robocensus(t, 0, append([]string{"publish", "--out", out, "--to", set, "--creator", "A", "--licence", "CC0-1.0"},
		runs...)...)
	query := "SELECT count(*) FROM history.changes"
	if got, want := one(t, quick(t, set), query), one(t, reader(t, out), query); got != want {
		t.Errorf("%s changes of %s", got, want)
	}
}

// The views and queries of a data set work there, and give what they gave before.
func TestPublishedViews(t *testing.T) {
	t.Parallel()
	was, before := reader(t, single), make(map[string][][]string) // the answers to the queries
	for _, args := range [][]string{nil, {"--without", "fetches.rank,fetches.hops,agents.category,bodies"},
		{"--hash-hosts"}} {
		set := publishedSet(t, single, args...)
		db := folder(t, set)
		for _, query := range []string{"SELECT count(*) FROM policies", "SELECT count(DISTINCT host) FROM fetches",
			"SELECT sum(count) FROM summary", "SELECT count(*) FROM series_policies"} {
			if got, want := one(t, db, query), one(t, was, query); got != want {
				t.Errorf("%v: %s: %s, and before %s", args, query, got, want)
			}
		}
		files, err := filepath.Glob(filepath.Join(set, "queries", "*.sql"))
		must(t, err)
		if args == nil && len(files) < 10 {
			t.Errorf("%d queries", len(files))
		}
		for _, file := range files {
			sql, err := os.ReadFile(file)
			must(t, err)
			_, got, err := ask(db, string(sql))
			must(t, err)
			want, ok := before[string(sql)]
			if !ok {
				_, want, err = ask(was, string(sql))
				must(t, err)
				before[string(sql)] = want
			}
			if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
				t.Errorf("%v: %s has another answer", args, filepath.Base(file))
			}
		}
	}
}

// A view of a table that is left out says that the data set does not have it, not how
// to write it.
func TestPublishedViewsSayWhatIsNotThere(t *testing.T) {
	t.Parallel()
	db := quick(t, publishedSet(t, single, "--without", "policies,summary"))
	for view, table := range map[string]string{"policies": "policies", "series_policies": "summary",
		"history.changes": ""} {
		want := "this data set does not have the table " + table
		if table == "" {
			want = "this data set has no comparison of its runs"
		}
		if said := fails(t, db, "SELECT count(*) FROM "+view); !strings.Contains(said, want) ||
			strings.Contains(said, "--") || strings.Contains(said, "robocensus ") {
			t.Errorf("%s says %s", view, said)
		}
	}
}

// queries/datasheet.sql gives the figures of the data sheet, and no others: from the
// tables as they are, and from the counters where rows or columns are left out.
func TestPublishedFigures(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([^`]*)` \\| (\\d+) \\|")
	for _, args := range [][]string{nil, {"--without", "fetches.outcome,fetches.error_class"}, {"--without", "fetches"},
		{"--without", "summary"}, {"--without", "fetches,summary"}, {"--without", "fetches.outcome,summary"},
		{"--hash-hosts"}} {
		set := publishedSet(t, single, args...)
		sheet, err := os.ReadFile(filepath.Join(set, "DATASHEET.md"))
		must(t, err)
		var want []string
		tables, rest, _ := strings.Cut(string(sheet), "\n## Run")
		for _, m := range row.FindAllStringSubmatch(tables, -1) {
			want = append(want, "rows "+m[1]+" "+m[2])
		}
		for _, part := range strings.Split(rest, "\n\n") {
			for _, figure := range []string{"outcome", "error class"} {
				if !strings.HasPrefix(part, "| "+figure+" |") {
					continue
				}
				for _, m := range row.FindAllStringSubmatch(part, -1) {
					want = append(want, strings.ReplaceAll(figure, " ", "_")+" "+m[1]+" "+m[2])
				}
			}
		}
		m := regexp.MustCompile(`- (\d+) lines? of the input`).FindStringSubmatch(rest)
		if m == nil || len(want) < 9 {
			t.Fatalf("%v: figures of the sheet: %q\n%s", args, want, sheet)
		}
		want = append(want, "rejected  "+m[1])
		query, err := os.ReadFile(filepath.Join(set, "queries", "datasheet.sql"))
		must(t, err)
		_, rows, err := ask(quick(t, set), string(query))
		must(t, err)
		var got []string
		for _, r := range rows {
			got = append(got, r[1]+" "+strings.Replace(r[2], "NULL", "", 1)+" "+r[3])
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v: the sheet (-) and its query (+):\n%s", args, diff)
		}
	}
}

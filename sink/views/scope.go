package views

import (
	"fmt"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"reflect"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// byFlags says which flags write the tables that --tables alone does not.
const byFlags = "bodies: --keep-bodies; labels and label_counts: --label or --labels"

// scope describes what the views of a schema show.
type scope struct {
	schema, about     string
	runs, comparisons string // patterns of folders in that of a table, "" for none
	profile           string // the only profile, "" for all
	how               string // to complete a run, "" if one is complete
	published         bool   // in a data set
	// missing is the error of a query if the table has no part; %s is its name.
	missing    string
	uncompared string              // the error for changes, if not missing
	parts      map[string][]string // of a run made of shards, by table; nil to take all in the folder
	without    map[string]bool     // columns, as table.column, that published parts lack
}

func everyRun(how string) scope {
	return scope{
		how:    how,
		schema: "history", about: "All runs and profiles, complete or not.",
		runs: "run=*", comparisons: "run=*/against=*",
		missing:    "no run in this folder wrote the table %s: name it in --tables (" + byFlags + ")",
		uncompared: "no runs in this folder are compared: robocensus diff --out DIR RUN_A RUN_B writes the table changes",
	}
}

func lastRun(runs []*journal.Manifest, how string) scope {
	s := scope{schema: "main", how: how}
	if len(runs) == 0 {
		s.about = "No run is complete."
		s.missing = "no run in this folder is complete: " + how + "; history.%s has what is committed so far"
		return s
	}
	last := runs[len(runs)-1]
	s.about = "The last complete run, and of its profiles the first."
	s.runs = "run=" + last.Run
	if last.Shards > 1 {
		// Their names, because an attempt that has lost may leave files beside them.
		s.parts = make(map[string][]string)
		for _, p := range append(last.RunParts, last.Parts...) {
			s.parts[p.Table] = append(s.parts[p.Table], p.Path)
		}
	}
	s.missing = "run " + last.Run + " did not write the table %s: name it in --tables (" + byFlags + ");" +
		" history.%[1]s has that of other runs"
	if len(last.Profiles) > 0 {
		s.profile = last.Profiles[0]
	}
	if len(runs) == 1 {
		s.uncompared = "run " + last.Run + " is the only complete one: the table changes compares two"
		return s
	}
	previous := runs[len(runs)-2].Run
	s.comparisons = s.runs + "/against=" + previous
	s.uncompared = "run " + last.Run + " is not compared with the one before it: robocensus diff --out DIR " +
		previous + " " + last.Run + " writes the table changes"
	return s
}

// inStore returns the scope of views over an object store, which name the parts of
// complete runs only.
func (s scope) inStore() scope {
	if s.schema == "history" {
		s.about = "All complete runs, all profiles."
	}
	if s.how != "" {
		s.missing = "no run here is complete, so there is no table %s: " + s.how
	}
	return s
}

// inDataSet returns the scope for a published data set. Its messages advise neither run
// nor diff, which need the folder that it was published from.
func (s scope) inDataSet() scope {
	s.published = true
	s.missing = "this data set does not have the table %s"
	if run, ok := strings.CutPrefix(s.runs, "run="); ok && run != "*" {
		s.missing = "this data set does not have the table %s of run " + run + "; history.%[1]s has that of other runs"
	}
	if against, ok := strings.CutPrefix(s.comparisons, s.runs+"/against="); ok {
		s.uncompared = "this data set has no comparison of its runs"
		if against != "*" {
			s.uncompared = "this data set has no comparison of " + s.runs + " with the one before it, run=" + against
		}
	}
	return s
}

// files returns the parts of a table as SQL, or "" if there are none.
func (s scope) files(in files, table string) (string, error) {
	found, pattern, err := s.found(in, table)
	return in.asSQL(found, pattern), err
}

// asSQL names parts, or the pattern that finds them, "" if there are none.
func (f files) asSQL(parts []string, pattern string) string {
	if len(parts) == 0 {
		return ""
	}
	if pattern != "" {
		return Quote(pattern)
	}
	quoted := make([]string, len(parts))
	for i, name := range parts {
		quoted[i] = Quote(f.base + name)
	}
	return "[\n    " + strings.Join(quoted, ",\n    ") + "]"
}

// found returns the parts of a table, and the pattern that finds them, "" if they have to
// be named.
func (s scope) found(in files, table string) (names []string, pattern string, err error) {
	folders := s.runs
	if table == "changes" {
		folders = s.comparisons
	}
	if folders == "" {
		return nil, "", nil
	}
	pattern = table + "/" + folders + "/part-*.parquet"
	if names, err = in.glob(pattern); err != nil || len(names) == 0 {
		return nil, "", err
	}
	if parts := s.parts[table]; len(parts) > 0 {
		return parts, "", nil
	}
	if in.base != "" {
		pattern = ""
	}
	return names, pattern, nil
}

// view returns the statement that creates the view of a table. If the table has no
// part, the view has its columns and fails with a reason when queried.
func (s scope) view(in files, table string) (string, error) {
	from, err := s.rows(in, table)
	if err != nil {
		return "", err
	}
	columns, joins := "*", ""
	switch table {
	case "groups", "rules":
		ranked, err := s.files(in, "fetches")
		if err != nil {
			return "", err
		}
		columns = "t.*, NULL::BIGINT AS rank /* there is no table fetches */"
		if ranked != "" && !s.without["fetches.rank"] {
			columns = "t.*, f.rank"
			joins = "\n  LEFT JOIN (SELECT run, seq, rank FROM fetches) f USING (run, seq)"
		}
	case "fetches":
		columns = "*" + s.unread()
	case "verdicts":
		columns = "t.*, NULL::VARCHAR AS category /* there is neither table, agents nor policies */"
		for _, named := range []string{"policies", "agents"} {
			known, err := s.files(in, named)
			if err != nil {
				return "", err
			}
			if known != "" && !s.without[named+".category"] {
				columns = "t.*, a.category"
				joins = "\n  LEFT JOIN (SELECT DISTINCT run, agent, category FROM " + named + ") a USING (run, agent)"
			}
		}
	case "bodies": // several parts may store the same body
		columns, joins = "run, content_digest, any_value(body) AS body", "\n  GROUP BY run, content_digest"
	}
	where := ""
	if s.profile != "" {
		switch only := "profile = " + Quote(s.profile); table {
		case "policies", "verdicts", "coverage":
			where = "\n  WHERE " + only
		case "summary", "label_counts", "changes":
			where = "\n  WHERE profile IS NULL OR " + only
		}
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS\n  SELECT %s FROM %s t%s%s;", table, columns, from, joins, where), nil
}

// unread replaces what the parts say of a file where nobody has read one: there it is null, so
// that an outage does not count as 0 in an average.
func (s scope) unread() string {
	if s.without["fetches.challenge"] || s.without["fetches.content_digest"] {
		return ""
	}
	var replaced []string
	for _, c := range schema.OfFile {
		if !s.without["fetches."+c] {
			const known = "CASE WHEN content_digest IS NOT NULL AND challenge IS NULL THEN %s END AS %[1]s"
			replaced = append(replaced, fmt.Sprintf(known, c))
		}
	}
	if replaced == nil {
		return ""
	}
	return " REPLACE (\n    " + strings.Join(replaced, ",\n    ") + ")"
}

// read reads files, given as SQL, with partitions as columns.
const read = "read_parquet(%s, hive_partitioning = true, hive_types = {'%s': VARCHAR}%s)"

// byName lets read take files of different columns. DuckDB opens all of them for it, each
// time that it makes or asks a view.
const byName = ", union_by_name = true"

// rows returns the FROM clause of a table's view.
func (s scope) rows(in files, table string) (string, error) {
	found, pattern, err := s.found(in, table)
	if err != nil {
		return "", err
	}
	partitions := []string{"run"}
	if table == "changes" {
		partitions = []string{"against", "run"}
	}
	if len(found) > 0 {
		unite := byName
		if in.haveSameColumns(table, found) {
			unite = ""
		}
		return fmt.Sprintf(read, in.asSQL(found, pattern), strings.Join(partitions, "': VARCHAR, '"), unite), nil
	}
	var nulls []string
	for f := range schema.Describe(table).Row().Fields() {
		nulls = append(nulls, "NULL::"+typeSQL(f.Type)+" AS "+nameSQL(schema.ColumnOf(f)))
	}
	for _, name := range partitions {
		nulls = append(nulls, "NULL::VARCHAR AS "+name)
	}
	why := fmt.Sprintf(s.missing, table)
	all := everyRun(s.how)
	if s.published {
		all = all.inDataSet()
	}
	if s.how == "" && table != "changes" {
		// The schema history has it only if another run wrote it.
		if other, err := all.files(in, table); err != nil {
			return "", err
		} else if other == "" {
			why = fmt.Sprintf(all.missing, table)
		}
	}
	switch {
	case table == "changes" && s.uncompared != "":
		why = s.uncompared
	case s.how != "" && layout.OfRun[table]:
		why = "no run in this folder is complete: the table " + table + " is written at the end of one; " + s.how
	}
	// LIMIT keeps DuckDB from pushing down the conditions of a query. No null
	// fulfils them, so the query would return no rows instead of the error.
	return fmt.Sprintf("(SELECT %s WHERE error(%s) LIMIT 1)", strings.Join(nulls, ", "), Quote(why)), nil
}

// typeSQL returns the DuckDB type of a column, by that of its field.
func typeSQL(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[[]byte]():
		return "BLOB"
	case reflect.TypeFor[time.Time]():
		return "TIMESTAMP WITH TIME ZONE"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSQL(t.Elem())
	case reflect.Bool:
		return "BOOLEAN"
	case reflect.Int32:
		return "INTEGER"
	case reflect.Int64:
		return "BIGINT"
	case reflect.Float64:
		return "DOUBLE"
	case reflect.String:
		return "VARCHAR"
	case reflect.Slice:
		return typeSQL(t.Elem()) + "[]"
	case reflect.Struct:
		var fields []string
		for f := range t.Fields() {
			fields = append(fields, nameSQL(schema.ColumnOf(f))+" "+typeSQL(f.Type))
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	}
	panic("views.sql: no type of DuckDB for " + t.String()) // a row type of package sink needs a case above
}

// Quote quotes a text for SQL.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func nameSQL(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

package pipeline

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink"
)

// views.sql names the last complete run and its first profile as literals: to
// find them DuckDB would have to read every manifest in every query. The file
// is therefore written at the end of each run, after each comparison and after
// prune.

// WriteViews writes dir/views.sql for the runs and comparisons that lie there.
func WriteViews(dir string) error {
	return writeViews(dir, func(name string, content []byte) error {
		return sink.ReplaceFile(filepath.Join(dir, name), content)
	})
}

// writeViews writes dir/views.sql by replace. A run replaces it by way of its
// own folder, where a crash leaves nothing behind.
func writeViews(dir string, replace func(name string, content []byte) error) error {
	for {
		text, err := viewsOf(dir)
		if err != nil {
			return err
		}
		// Of two runs that end at the same moment the second may be overwritten
		// by the first, which did not see it: so whoever writes looks again.
		old, err := os.ReadFile(filepath.Join(dir, "views.sql"))
		if err == nil && bytes.Equal(old, text) {
			return nil
		}
		if err := replace("views.sql", text); err != nil {
			return err
		}
	}
}

// viewsOf is the content of views.sql.
func viewsOf(dir string) ([]byte, error) {
	runs, err := sink.CompleteRuns(dir)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	out.WriteString(configs.Views)
	for _, s := range []scope{everyRun(), lastRun(runs)} {
		fmt.Fprintf(&out, "\n-- %s\nSET schema = %s;\n", s.about, quoteSQL(s.schema))
		// A view can be made only after those that it joins, as the tables stand.
		for _, table := range append(slices.Clone(sink.TableNames), "changes") {
			view, err := s.view(os.DirFS(dir), table)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&out, "\n%s\n", view)
		}
		out.WriteString(configs.DerivedViews)
	}
	return []byte(out.String()), nil
}

// scope is what the views of one schema show.
type scope struct {
	schema, about     string
	runs, comparisons string // patterns of folders below that of a table, "" for none
	profile           string // the only one, "" for all
	// What a query of a table is told where there is no part of it; %s is the
	// table's name.
	missing    string
	uncompared string // of changes instead, "" for missing
}

func everyRun() scope {
	return scope{
		schema: "history", about: "All runs and profiles, complete or not.",
		runs: "run=*", comparisons: "run=*/against=*",
		missing:    "no run in this folder wrote the table %s: name it in --tables (bodies: --keep-bodies)",
		uncompared: "no runs in this folder are compared: robocensus diff --out DIR RUN_A RUN_B writes the table changes",
	}
}

func lastRun(runs []*sink.Manifest) scope {
	s := scope{schema: "main"}
	if len(runs) == 0 {
		s.about = "No run is complete."
		s.missing = "no run in this folder is complete: finish it with robocensus run --resume; history.%s has what is committed so far"
		return s
	}
	last := runs[len(runs)-1]
	s.about = "The last complete run, and of its profiles the first."
	s.runs = "run=" + last.Run
	s.missing = "run " + last.Run + " did not write the table %s: name it in --tables (bodies: --keep-bodies); history.%[1]s has that of other runs"
	if len(last.Profiles) > 0 {
		s.profile = last.Profiles[0]
	}
	if len(runs) == 1 {
		s.uncompared = "run " + last.Run + " is the only complete one: the table changes compares two"
		return s
	}
	previous := runs[len(runs)-2].Run
	s.comparisons = s.runs + "/against=" + previous
	s.uncompared = "run " + last.Run + " is not compared with the one before it: robocensus diff --out DIR " + previous + " " + last.Run + " writes the table changes"
	return s
}

// files is a pattern of the parts of a table, "" where there are none.
func (s scope) files(dir fs.FS, table string) (string, error) {
	folders := s.runs
	if table == "changes" {
		folders = s.comparisons
	}
	if folders == "" {
		return "", nil
	}
	pattern := table + "/" + folders + "/part-*.parquet"
	found, err := fs.Glob(dir, pattern)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return pattern, nil
}

// view is the statement that makes the view of a table. Where there is no part
// of the table, the view has its columns, and fails with a reason when queried.
func (s scope) view(dir fs.FS, table string) (string, error) {
	from, err := s.rows(dir, table)
	if err != nil {
		return "", err
	}
	columns, joins := "*", ""
	switch table {
	case "groups", "rules":
		ranked, err := s.files(dir, "fetches")
		if err != nil {
			return "", err
		}
		columns = "t.*, NULL::BIGINT AS rank /* there is no table fetches */"
		if ranked != "" {
			columns = "t.*, f.rank"
			joins = "\n  LEFT JOIN (SELECT run, seq, rank FROM fetches) f USING (run, seq)"
		}
	case "verdicts":
		columns = "t.*, NULL::VARCHAR AS category /* there is neither table, agents nor policies */"
		for _, named := range []string{"policies", "agents"} {
			known, err := s.files(dir, named)
			if err != nil {
				return "", err
			}
			if known != "" {
				columns = "t.*, a.category"
				joins = "\n  LEFT JOIN (SELECT DISTINCT run, agent, category FROM " + named + ") a USING (run, agent)"
			}
		}
	case "bodies": // one that several parts have met is stored in each
		columns, joins = "run, content_digest, any_value(body) AS body", "\n  GROUP BY run, content_digest"
	}
	where := ""
	if s.profile != "" {
		switch only := "profile = " + quoteSQL(s.profile); table {
		case "policies", "verdicts":
			where = "\n  WHERE " + only
		case "summary", "changes":
			where = "\n  WHERE profile IS NULL OR " + only
		}
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS\n  SELECT %s FROM %s t%s%s;", table, columns, from, joins, where), nil
}

// rows is what the view of a table selects from.
func (s scope) rows(dir fs.FS, table string) (string, error) {
	files, err := s.files(dir, table)
	if err != nil {
		return "", err
	}
	partitions := []string{"run"}
	if table == "changes" {
		partitions = []string{"against", "run"}
	}
	if files != "" {
		return fmt.Sprintf("read_parquet(%s, hive_partitioning = true, hive_types = {'%s': VARCHAR}, union_by_name = true)",
			quoteSQL(files), strings.Join(partitions, "': VARCHAR, '")), nil
	}
	schema, err := sink.Schema(table)
	if err != nil {
		return "", err
	}
	var nulls []string
	for _, f := range schema.Fields() {
		nulls = append(nulls, "NULL::"+typeSQL(f.Type)+" AS "+nameSQL(f.Name))
	}
	for _, name := range partitions {
		nulls = append(nulls, "NULL::VARCHAR AS "+name)
	}
	why := fmt.Sprintf(s.missing, table)
	if table == "changes" && s.uncompared != "" {
		why = s.uncompared
	}
	// LIMIT keeps DuckDB from asking the conditions of a query first, which no
	// null meets, so that it would answer with no rows.
	return fmt.Sprintf("(SELECT %s WHERE error(%s) LIMIT 1)", strings.Join(nulls, ", "), quoteSQL(why)), nil
}

// typeSQL is the type in which DuckDB reads a column.
func typeSQL(t arrow.DataType) string {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return "BOOLEAN"
	case *arrow.Int32Type:
		return "INTEGER"
	case *arrow.Int64Type:
		return "BIGINT"
	case *arrow.Float64Type:
		return "DOUBLE"
	case *arrow.StringType:
		return "VARCHAR"
	case *arrow.BinaryType:
		return "BLOB"
	case *arrow.TimestampType:
		return "TIMESTAMP WITH TIME ZONE"
	case *arrow.ListType:
		return typeSQL(t.Elem()) + "[]"
	case *arrow.StructType:
		var fields []string
		for _, f := range t.Fields() {
			fields = append(fields, nameSQL(f.Name)+" "+typeSQL(f.Type))
		}
		return "STRUCT(" + strings.Join(fields, ", ") + ")"
	}
	panic("views.sql: no type of DuckDB for " + t.String()) // of a table of our own
}

func quoteSQL(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
func nameSQL(text string) string  { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

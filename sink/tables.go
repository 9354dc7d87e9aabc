package sink

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// To add a table:
//
//   - its row type in package schema (see there how to write a column).
//   - its field in [Segment], and its entry in tables, below. Names, parts, joined
//     shards, publication and verification follow from the entry.
//   - who fills it: package evaluate writes to the field of the segment.
//   - its section in README.md: heading, sentence and the first lines of the table; go
//     test ./sink -run Dictionary -update writes the columns.
//   - HasPart or OfRun in package layout, if not each segment has a part of it.
//   - values in package verify, for its enumerated columns. A test there asks of each
//     column of text whether a host may have written it: then it is Foreign.
//   - in the tests of package sink: its columns (sink_test.go), rows in fill (run_test.go,
//     and verify/damage_test.go), an entry in much (disk_linux_test.go); its columns in
//     sink/duckdb/tables_test.go.

// TableInfo describes a table.
type TableInfo struct {
	Name string
	// Within is the column that orders the rows of a target, "" if it has one row, or
	// the order of agents, profiles and URLs.
	Within string
	// Foreign are the columns that hold names of hosts under other names than host and
	// registered_domain, or text that hosts wrote, which may name any. A data set with
	// hashes for hosts lacks them.
	Foreign []string
	// AllForeign says that such a data set lacks the table.
	AllForeign bool

	// merges says that the rows of small parts are written anew into larger row groups
	// when shards are joined. The row groups of fetches stay: those who re-evaluate a run
	// hold the bodies of one (see package pipeline/source/earlier).
	merges bool
	rowType
}

// tables describes every table, in the order of the documentation: a view comes after
// those that it joins.
var tables = []TableInfo{
	{Name: "fetches", rowType: rowsOf(func(s *Segment) *Table[schema.Fetch] { return &s.Fetches }), Foreign: []string{
		"input", "origin", "robots_url", "hops", "final_url", "error", "remote_address", "content_type", "content_encoding",
		"server", "etag", "last_modified", "cache_control", "retry_after", "front_hops", "front_headers", "warc_file", "warc_offset", "warc_length",
	}},
	{Name: "groups", rowType: rowsOf(func(s *Segment) *Table[schema.Group] { return &s.Groups }), merges: true, Within: "group_index", Foreign: []string{"origin", "agents", "tokens"}},
	{Name: "rules", rowType: rowsOf(func(s *Segment) *Table[schema.Rule] { return &s.Rules }), merges: true, Within: "line", Foreign: []string{"origin", "pattern", "normalized"}},
	{Name: "sitemaps", rowType: rowsOf(func(s *Segment) *Table[schema.Sitemap] { return &s.Sitemaps }), merges: true, Within: "line", Foreign: []string{"origin", "url"}},
	{Name: "lines", rowType: rowsOf(func(s *Segment) *Table[schema.Line] { return &s.Lines }), merges: true, Within: "line", Foreign: []string{"origin", "field", "value"}},
	{Name: "signals", rowType: rowsOf(func(s *Segment) *Table[schema.Signal] { return &s.Signals }), merges: true, Within: "line", Foreign: []string{"origin", "path", "key", "value"}},
	{Name: "preferences", rowType: rowsOf(func(s *Segment) *Table[schema.Preference] { return &s.Preferences }), merges: true, Within: "line", Foreign: []string{"origin", "group_agent", "label", "path", "value"}},
	{Name: "templates", rowType: rowsOf(func(s *Segment) *Table[schema.Template] { return &s.Templates }), merges: true, Within: "first_line", Foreign: []string{"origin"}},
	{Name: "answers", rowType: rowsOf(func(s *Segment) *Table[schema.Answer] { return &s.Answers }), merges: true, Foreign: []string{"origin", "hops", "error", "first_difference"}},
	{Name: "agents", rowType: rowsOf(func(s *Segment) *Table[schema.Agent] { return &s.Agents })},
	{Name: "policies", rowType: rowsOf(func(s *Segment) *Table[schema.Policy] { return &s.Policies }), merges: true, Foreign: []string{"origin", "group_agent"}},
	{Name: "verdicts", rowType: rowsOf(func(s *Segment) *Table[schema.Verdict] { return &s.Verdicts }), merges: true, Foreign: []string{"origin", "group_agent", "rule_pattern"}},
	{Name: "summary", rowType: rowsOf(func(s *Segment) *Table[schema.Count] { return &s.Summary })},
	{Name: "examples", rowType: rowsOf(func(s *Segment) *Table[schema.Example] { return &s.Examples }), Foreign: []string{"text"}},
	{Name: "bodies", rowType: rowsOf(func(s *Segment) *Table[schema.Body] { return &s.Bodies }), AllForeign: true},
	// Not of segments: comparisons, and figures over runs.
	{Name: layout.Changes, rowType: rowsOf[schema.Change](nil), AllForeign: true},
	{Name: "series", rowType: rowsOf[schema.Point](nil)},
}

// TableNames lists the tables of a run, in the order of the documentation.
var TableNames = func() (names []string) {
	for _, t := range tables {
		if t.open != nil {
			names = append(names, t.Name)
		}
	}
	return names
}()

// Describe returns the description of a table, the zero value if there is none.
func Describe(table string) TableInfo {
	i := slices.IndexFunc(tables, func(t TableInfo) bool { return t.Name == table })
	if i < 0 {
		return TableInfo{}
	}
	return tables[i]
}

// EmptyPart returns a part of a table without rows, to read its columns from.
func EmptyPart(table string) ([]byte, error) {
	t := Describe(table)
	if t.empty == nil {
		return nil, fmt.Errorf("no table %q", table)
	}
	var content bytes.Buffer
	if err := t.empty(&content); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", table, err)
	}
	return content.Bytes(), nil
}

// rowType has what depends on the type of a table's rows.
type rowType struct {
	row   reflect.Type
	open  func(s *Segment, table string) error // nil if no segment has the table
	empty func(io.Writer) error
	join  func(context.Context, io.Writer, store.Store, []Part) error
}

// Row returns the type of the table's rows.
func (t rowType) Row() reflect.Type { return t.row }

func rowsOf[T any](field func(*Segment) *Table[T]) rowType {
	t := rowType{row: reflect.TypeFor[T](), empty: func(w io.Writer) error { return parquet.Write[T](w, nil) }, join: joinRows[T]}
	if field != nil {
		t.open = func(s *Segment, table string) error { return openTable(s, table, field(s)) }
	}
	return t
}

package schema

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// To add a table:
//
//   - its row type in this package (see there how to write a column), and its entry in
//     tables, below. Names, joined shards, publication and verification follow from it.
//   - its field in sink.Segment, which has the name of the table.
//   - who fills it: package evaluate writes to the field of the segment.
//   - its section in README.md: heading, sentence and the first lines of the table; go
//     test ./sink -run Dictionary -update writes the columns.
//   - HasPart or OfRun in package layout, if not each segment has a part of it.
//   - values in package verify, for its enumerated columns. A test there asks of each
//     column of text whether a host may have written it: then it is Foreign.
//   - in the tests of package sink: its columns (sink_test.go), rows in fill (run_test.go,
//     and verify/damage_test.go), an entry in much (disk_linux_test.go).
//   - in those of sink/duckdb: its columns (tables_test.go); without (evidence_test.go), if
//     it has columns of the input beside seq; wantSameRun (shards_test.go), if some
//     sources give no rows of it.
//   - in those of cmd/robocensus: a forgery of a cell (forgeries_linux_test.go).

// TableInfo describes a table.
type TableInfo struct {
	Name string
	// Within is the column that orders the rows of a target, "" if it has one row, or
	// the order of agents, profiles and URLs.
	Within string
	// Key are the columns whose values, with the run, are of one row alone, nil if none are.
	Key []string
	// Contents says that the rows tell what a robots.txt contains.
	Contents bool
	// Foreign are the columns that hold names of hosts under other names than host and
	// registered_domain, or text that hosts wrote, which may name any. A data set with
	// hashes for hosts lacks them.
	Foreign []string
	// AllForeign says that such a data set lacks the table.
	AllForeign bool

	// Merges says that the rows of small parts are written anew into larger row groups
	// when shards are joined. The row groups of fetches stay: those who re-evaluate a run
	// hold the bodies of one (see package pipeline/source/earlier).
	Merges bool
	rowType
}

// tables describes every table, in the order of the documentation: a view comes after
// those that it joins.
var tables = []TableInfo{
	{Name: "fetches", Key: []string{"seq"}, rowType: rowsOf[Fetch](), Foreign: []string{
		"input", "origin", "robots_url", "hops", "final_url", "error", "remote_address", "content_type", "content_encoding",
		"server", "etag", "last_modified", "cache_control", "retry_after", "front_hops", "front_headers", "warc_file",
		"warc_offset", "warc_length",
	}},
	{
		Name: "groups", Key: []string{"seq", "group_index"}, rowType: rowsOf[Group](), Contents: true,
		Merges: true, Within: "group_index", Foreign: []string{"origin", "agents", "tokens"},
	},
	{
		Name: "rules", rowType: rowsOf[Rule](), Contents: true, Merges: true, Within: "line",
		Foreign: []string{"origin", "pattern", "normalized"},
	},
	{
		Name: "sitemaps", rowType: rowsOf[Sitemap](), Contents: true, Merges: true, Within: "line",
		Foreign: []string{"origin", "url"},
	},
	{
		Name: "lines", rowType: rowsOf[Line](), Contents: true, Merges: true, Within: "line",
		Foreign: []string{"origin", "field", "value"},
	},
	{
		Name: "signals", rowType: rowsOf[Signal](), Contents: true, Merges: true, Within: "line",
		Foreign: []string{"origin", "path", "key", "value"},
	},
	{
		Name: "preferences", rowType: rowsOf[Preference](), Contents: true, Merges: true, Within: "line",
		Foreign: []string{"origin", "group_agent", "label", "path", "value"},
	},
	{
		Name: "templates", rowType: rowsOf[Template](), Contents: true, Merges: true, Within: "first_line",
		Foreign: []string{"origin"},
	},
	{
		Name: "answers", rowType: rowsOf[Answer](), Merges: true,
		Foreign: []string{"origin", "hops", "error", "first_difference", "price"},
	},
	{Name: "labels", Key: []string{"seq", "label"}, rowType: rowsOf[Label](), Merges: true, AllForeign: true},
	{
		Name: "sitemap_files", rowType: rowsOf[SitemapFile](), Merges: true,
		Foreign: []string{"origin", "url", "parent", "final_url"},
	},
	{
		Name: "coverage", Key: []string{"seq", "agent", "profile"}, rowType: rowsOf[Coverage](), Merges: true,
		Foreign: []string{"origin", "rule_pattern", "example"},
	},
	{Name: "urls", rowType: rowsOf[ListedURL](), Merges: true, AllForeign: true},
	{
		Name: "documents", rowType: rowsOf[Document](), Merges: true,
		Foreign: []string{"origin", "url", "content_type", "final_url", "price"},
	},
	{Name: "agents", Key: []string{"agent"}, rowType: rowsOf[Agent]()},
	{
		Name: "policies", Key: []string{"seq", "agent", "profile"}, rowType: rowsOf[Policy](), Merges: true,
		Foreign: []string{"origin", "group_agent"},
	},
	{
		Name: "verdicts", rowType: rowsOf[Verdict](), Merges: true,
		Foreign: []string{"origin", "group_agent", "rule_pattern"},
	},
	{Name: "summary", rowType: rowsOf[Count]()},
	{Name: "examples", rowType: rowsOf[Example](), Foreign: []string{"text"}},
	{Name: "label_counts", rowType: rowsOf[LabelCount](), AllForeign: true},
	{Name: "bodies", rowType: rowsOf[Body](), Contents: true, AllForeign: true},
	// Not of segments: comparisons, and figures over runs.
	{Name: "changes", rowType: rowsOf[Change](), AllForeign: true},
	{Name: "series", rowType: rowsOf[Point]()},
}

// TableNames lists the tables of a run, in the order of the documentation.
var TableNames = func() (names []string) {
	for _, t := range tables {
		if t.Name != "changes" && t.Name != "series" {
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
	empty func(io.Writer) error
}

// Row returns the type of the table's rows.
func (t rowType) Row() reflect.Type { return t.row }

// ColumnOf returns the name of the column that a field of a row has, "" if it has none.
func ColumnOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
	return name
}

// ColumnsOf returns the names of the columns of a row type, in its order.
func ColumnsOf(row reflect.Type) (names []string) {
	for field := range row.Fields() {
		names = append(names, ColumnOf(field))
	}
	return names
}

func rowsOf[T any]() rowType {
	return rowType{reflect.TypeFor[T](), func(w io.Writer) error { return parquet.Write[T](w, nil) }}
}

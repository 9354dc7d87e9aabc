package journal

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// columnsOfVersion counts the columns of each table that every part of the schema version
// has. A table that is not here came later, and is in no part of an older program.
var columnsOfVersion = map[string]int{
	"fetches": 53, "groups": 15, "rules": 11, "sitemaps": 7, "lines": 12, "signals": 9, "preferences": 16,
	"templates": 11, "answers": 26,
	"agents": 13, "policies": 22, "verdicts": 14, "summary": 7, "examples": 6, "bodies": 2, "changes": 13, "series": 21,
}

// A column that is added later is in Later, or raises SchemaVersion.
func TestColumnsThatCameLater(t *testing.T) {
	for table, want := range columnsOfVersion {
		n := 0
		for _, column := range parquet.SchemaOf(reflect.New(schema.Describe(table).Row()).Interface()).Fields() {
			if !slices.Contains(Later, table+"."+column.Name()) {
				n++
			}
		}
		if n != want {
			t.Errorf("%s has %d columns that are not Later, and %d since version %d: name a new one in Later, or raise "+
				"SchemaVersion and count anew", table, n, want, schema.SchemaVersion)
		}
	}
}

// What re-evaluating needs, makes anew or shows are columns that there are, each one thing.
func TestNeededColumns(t *testing.T) {
	var all []string
	for _, table := range append(slices.Clone(schema.TableNames), "changes") {
		for _, column := range parquet.SchemaOf(reflect.New(schema.Describe(table).Row()).Interface()).Fields() {
			all = append(all, table+"."+column.Name())
		}
	}
	named := slices.Concat(needed, laterNeeded, madeAnew)
	for i, name := range named {
		if !slices.Contains(all, name) || slices.Contains(named[:i], name) {
			t.Errorf("%s is no column, or named twice", name)
		}
	}
	for _, name := range Later {
		if !slices.Contains(all, name) {
			t.Errorf("%s is no column", name)
		}
	}
	without := []string{"fetches.hops", "fetches.copy_time", "fetches.server", "fetches.outcome", "policies.class",
		"bodies.body"}
	if diff := cmp.Diff([]string{"fetches.hops", "fetches.copy_time", "bodies.body"}, Needed(without)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"bodies.body"}, Needed(without, "bodies", "policies")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"fetches.server"}, Shown(without)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"bodies.body"}, NeededBut("bodies", func(column string) bool {
		return column == "content_digest"
	})); diff != "" {
		t.Error(diff)
	}
	for _, row := range []struct {
		without []string
		want    bool
	}{{nil, true}, {[]string{"answers.error"}, true}, {[]string{"answers.error", "answers.hops"}, false}} {
		if got := (&Manifest{Plan: Plan{Tables: []string{"answers"}}, Without: row.without}).HasAnswers(); got != row.want {
			t.Errorf("answers without %v: %v", row.without, got)
		}
	}
	for _, row := range []struct {
		tables, without []string
		want            bool
	}{{[]string{"verdicts"}, nil, true}, {[]string{"policies"}, nil, false},
		{[]string{"verdicts"}, []string{"verdicts.url"}, false}} {
		if got := (&Manifest{Plan: Plan{Tables: row.tables}, Without: row.without}).NamesURLs(); got != row.want {
			t.Errorf("tables %v without %v: %v", row.tables, row.without, got)
		}
	}
}

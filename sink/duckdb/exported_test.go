package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wantExported checks that export gives the columns of a view but for run and against, and the rows
// of it that from, the rest of a query, chooses.
func wantExported(t *testing.T, db *sql.DB, view, from string, args ...string) {
	t.Helper()
	csv, _ := robocensus(t, 0, slices.Concat([]string{"export", "--format", "csv"}, args, []string{view})...)
	file := write(t, filepath.Join(t.TempDir(), view+".csv"), csv)
	columns, _, _ := strings.Cut(csv, "\n")
	head, _, err := ask(db, "SELECT * EXCLUDE (run) "+from+" LIMIT 0")
	must(t, err)
	head = slices.DeleteFunc(head, func(column string) bool { return column == "against" })
	if diff := cmp.Diff(strings.Join(head, ","), columns); diff != "" {
		t.Errorf("%s: columns (-view +export)\n%s", view, diff)
	}
	var texts []string
	for column := range strings.SplitSeq(columns, ",") {
		as := "VARCHAR"
		if one(t, db, "SELECT DISTINCT typeof("+column+") "+from+" LIMIT 1") == "DOUBLE" { // 0 and 0.0 are one number
			as = "DOUBLE::VARCHAR"
		}
		texts = append(texts, fmt.Sprintf("coalesce(%s::%s, '') AS %[1]s", column, as))
	}
	want := "SELECT " + strings.Join(texts, ", ") + " " + from
	got := fmt.Sprintf("SELECT %s FROM read_csv(%s, header = true, all_varchar = true, nullstr = '')",
		strings.Join(texts, ", "), "'"+file+"'")
	for _, pair := range [][2]string{{want, got}, {got, want}} {
		_, rows, err := ask(db, fmt.Sprintf("(%s) EXCEPT ALL (%s) LIMIT 3", pair[0], pair[1]))
		if must(t, err); len(rows) > 0 {
			t.Errorf("%s: the view and the export differ in %v", view, rows)
		}
	}
	n := one(t, db, "SELECT count(*) FROM ("+want+")")
	if t.Logf("%s: %s rows", view, n); n == "0" {
		t.Errorf("%s has no rows", view)
	}
}

package main

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// wantExported checks that export gives the rows of a view, of which from is the query.
func wantExported(t *testing.T, db *sql.DB, view, columns, from string, args ...string) {
	t.Helper()
	csv, _ := robocensus(t, 0, append([]string{"export", "--format", "csv", "--columns", columns}, args...)...)
	file := write(t, filepath.Join(t.TempDir(), view+".csv"), csv)
	var texts []string
	for column := range strings.SplitSeq(columns, ",") {
		texts = append(texts, fmt.Sprintf("coalesce(%s::VARCHAR, '') AS %[1]s", column))
	}
	want := "SELECT " + strings.Join(texts, ", ") + " " + from
	got := fmt.Sprintf("SELECT %s FROM read_csv(%s, header = true, all_varchar = true, nullstr = '')", strings.Join(texts, ", "), "'"+file+"'")
	for _, pair := range [][2]string{{want, got}, {got, want}} {
		_, rows, err := ask(db, fmt.Sprintf("(%s) EXCEPT ALL (%s) LIMIT 3", pair[0], pair[1]))
		if must(t, err); len(rows) > 0 {
			t.Errorf("%s: the view and the export differ in %v", view, rows)
		}
	}
	if one(t, db, "SELECT count(*) FROM ("+want+")") == "0" {
		t.Errorf("%s has no rows", view)
	}
}

const (
	policyChangesColumns     = "host,origin,rank,agent,category,profile,closed,shut_out,opened,let_in,undecided,template"
	preferenceChangesColumns = "host,origin,rank,profile,use,agents,refuses,permits,depends,ends,undecided,template"
	answerChangesColumns     = "host,origin,rank,identity,agent,category,before,after,turned_away,let_in,otherwise,undecided"
	pagesMetColumns          = "seq,host,rank,stratum,cdn,origin,path,identity,is_control,agent,category,paper,verdict,treatment,remark,status,challenge,price,away,compared,once"
)

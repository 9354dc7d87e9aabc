package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const queries = "../../configs/queries"

// Each query of configs/queries names its base, and its answer on the demo's tables
// is that in testdata/queries.
func TestQueries(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(queries, "*.sql"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d queries, %v", len(files), err)
	}
	db := reader(t, single)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".sql")
		t.Run(name, func(t *testing.T) {
			sql, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(sql), "\n-- Base: ") {
				t.Error("it names no base")
			}
			var got bytes.Buffer
			if err := printAnswer(&got, db, string(sql)); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "queries", name+".txt")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("answer (-want +got):\n%s(go test -update ./... writes the answers anew)", diff)
			}
		})
	}
}

// The table of definitions in robots/README.md is the answer of the query on the
// corpus.
func TestDefinitionsTable(t *testing.T) {
	if testing.Short() {
		t.Skip("of the whole corpus")
	}
	c, _ := corpusDatabase(t)
	sql, err := os.ReadFile(filepath.Join(queries, "definitions.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := query(&got, c.dir, string(sql)); err != nil {
		t.Fatal(err)
	}
	const document = "../../robots/README.md"
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(content), "<!-- answer of configs/queries/definitions.sql on the corpus -->\n"+
		"```text\n")
	table, after, end := strings.Cut(rest, "```\n")
	if !ok || !end {
		t.Fatal("robots/README.md has no table of definitions")
	}
	if *update {
		made := strings.TrimSuffix(string(content), rest) + got.String() + "```\n" + after
		if err := os.WriteFile(document, []byte(made), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(table, got.String()); diff != "" {
		t.Errorf("robots/README.md (-it says +DuckDB):\n%s(go test -update ./... writes it anew)", diff)
	}
}

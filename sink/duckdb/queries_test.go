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

// Each query of configs/queries names its base, and gives on the demo's tables
// the answer in testdata/queries.
func TestQueries(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(queries, "*.sql"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d queries, %v", len(files), err)
	}
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
			if err := query(&got, single, string(sql)); err != nil {
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

// The README's table of definitions is what the query gives on the corpus.
func TestReadmeDefinitions(t *testing.T) {
	c, _ := corpusDatabase(t)
	sql, err := os.ReadFile(filepath.Join(queries, "definitions.sql"))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := query(&got, c.dir, string(sql)); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(content), "<!-- answer of configs/queries/definitions.sql on the corpus -->\n```text\n")
	table, after, end := strings.Cut(rest, "```\n")
	if !ok || !end {
		t.Fatal("the README has no table of definitions")
	}
	if *update {
		made := strings.TrimSuffix(string(content), rest) + got.String() + "```\n" + after
		if err := os.WriteFile(readme, []byte(made), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(table, got.String()); diff != "" {
		t.Errorf("README (-it says +DuckDB):\n%s(go test -update ./... writes it anew)", diff)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The keys that datapackage.json names hold for the rows of several runs and profiles, and
// the query that README.md begins with has an answer.
func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	dir, set := t.TempDir(), filepath.Join(t.TempDir(), "set")
	for _, run := range []string{"a", "b"} {
		robocensus(t, 0, "run", "--bodies", "../../testdata/demo/hosts", "--out", dir, "--run", run, "--profile",
			"google,classic-1996", "--progress", "none")
	}
	robocensus(t, 0, "publish", "--out", dir, "a", "b", "--to", set, "--creator", "Doe, Jane", "--licence", "CC-BY-4.0")
	text, err := os.ReadFile(filepath.Join(set, "datapackage.json"))
	must(t, err)
	type schema struct {
		PrimaryKey  []string
		ForeignKeys []struct {
			Fields    []string
			Reference struct {
				Resource string
				Fields   []string
			}
		}
	}
	var about struct {
		Resources []struct {
			Name   string
			Schema schema
		}
	}
	must(t, json.Unmarshal(text, &about))
	db := quick(t, set)
	keyed, joined := 0, 0
	for _, r := range about.Resources {
		if key := r.Schema.PrimaryKey; key != nil {
			keyed++
			if n := one(t, db, fmt.Sprintf("SELECT count(*) - count(DISTINCT (%s)) FROM history.%s", strings.Join(key, ", "),
				r.Name)); n != "0" {
				t.Errorf("%s has %s rows whose key %v another has", r.Name, n, key)
			}
			if n := one(t, db, fmt.Sprintf("SELECT count(*) - count(COLUMNS(*)) AS n FROM (SELECT %s FROM history.%s)", key[0],
				r.Name)); n != "0" {
				t.Errorf("%s has %s rows without %s", r.Name, n, key[0])
			}
		}
		for _, key := range r.Schema.ForeignKeys {
			joined++
			if n := one(t, db, fmt.Sprintf("SELECT count(*) FROM history.%s ANTI JOIN history.%s USING (%s)", r.Name,
				key.Reference.Resource, strings.Join(key.Fields, ", "))); n != "0" {
				t.Errorf("%s has %s rows that refer to none of %s", r.Name, n, key.Reference.Resource)
			}
		}
	}
	if keyed < 4 || joined < 9 {
		t.Errorf("%d tables have keys, and %d refer to others", keyed, joined)
	}
	readme, err := os.ReadFile(filepath.Join(set, "README.md"))
	must(t, err)
	query := regexp.MustCompile("(?s)```sql\n(.*?)\n```").FindSubmatch(readme)
	if query == nil {
		t.Fatalf("no query in\n%s", readme)
	}
	if _, rows, err := ask(db, string(query[1])); err != nil || len(rows) != 5 || rows[0][1] == "0" {
		t.Errorf("%s: %v, %v", query[1], rows, err)
	}
}

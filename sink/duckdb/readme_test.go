package main

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the answers of the queries anew")

const readme = "../../README.md"

// The README's answers are those that its queries give on the demo.
func TestReadmeQueries(t *testing.T) {
	content, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	text, made, queries := string(content), "", 0
	for {
		before, after, ok := strings.Cut(text, "```sql\n")
		if !ok {
			break
		}
		sql, after, _ := strings.Cut(after, "```\n\n```text\n")
		answer, rest, ok := strings.Cut(after, "```\n")
		if !ok {
			t.Fatalf("the query has no answer after it: %s", sql)
		}
		queries++
		var got bytes.Buffer
		if err := query(&got, single, sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if !*update && got.String() != answer {
			t.Errorf("%s\nthe README says\n%sand DuckDB\n%s(go test -update ./... writes the answers anew)", sql, answer, got.String())
		}
		made += before + "```sql\n" + sql + "```\n\n```text\n" + got.String() + "```\n"
		text = rest
	}
	if queries < 10 {
		t.Errorf("%d queries in the README, want 10 at least", queries)
	}
	if *update {
		if err := os.WriteFile(readme, []byte(made+text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// The picture at the README's head is what the demo prints, but for the time
// that it took, the run and the folder.
func TestReadmePicture(t *testing.T) {
	content, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, picture, _ := strings.Cut(string(content), "```text\n")
	picture, _, _ = strings.Cut(picture, "```")
	lines := strings.Split(strings.TrimSpace(picture), "\n")
	if len(lines) < 8 {
		t.Fatalf("the picture has %d lines", len(lines))
	}
	printed := strings.Split(string(said), "\n")
	for _, line := range lines[1:] {
		if !slices.Contains(printed, line) {
			t.Errorf("the demo does not print %q", line)
		}
	}
	hosts, _, _ := strings.Cut(lines[0], " in ")
	if !strings.Contains(string(said), "\n"+hosts+" in ") {
		t.Errorf("the demo does not print %q", hosts)
	}
}

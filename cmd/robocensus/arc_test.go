package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink/schema"
)

// tableOf reads a table of a run.
func tableOf[T any](t *testing.T, out, run, table string) (rows []T) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(out, table, "run="+run, "*.parquet"))
	must(t, err)
	for _, part := range parts {
		of, err := parquet.ReadFile[T](part)
		must(t, err)
		rows = append(rows, of...)
	}
	if len(rows) == 0 {
		t.Fatalf("no rows of %s in run %s", table, run)
	}
	return rows
}

// sameRows compares a table of two runs, without the columns that are named.
func sameRows[T any](t *testing.T, out, a, b, table string, without ...string) {
	t.Helper()
	var zero T
	if diff := cmp.Diff(tableOf[T](t, out, a, table), tableOf[T](t, out, b, table), cmpopts.IgnoreFields(zero,
		without...)); diff != "" {
		t.Errorf("%s of %s and %s differ:\n%.2000s", table, a, b, diff)
	}
}

// An ARC file gives the tables of a WARC file with the same captures, and each row has
// the place of its record. A list may mix them.
func TestARCTablesEqualWARCTables_NoRace(t *testing.T) {
	t.Parallel()
	hosts, err := farm.LoadFS(os.DirFS("../../testdata/demo/hosts"))
	if err != nil || len(hosts) < 50 {
		t.Fatalf("%d hosts: %v", len(hosts), err)
	}
	folder := t.TempDir()
	out, agents, urls := filepath.Join(folder, "out"), filepath.Join(folder, "agents.yaml"),
		filepath.Join(folder, "urls.txt")
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	must(t, os.WriteFile(urls, []byte("/\n/search?q=x\n"), 0o666))
	for _, name := range []string{"a.warc.gz", "a.arc.gz", "a.arc"} {
		f, err := os.Create(filepath.Join(folder, name))
		must(t, err)
		archive := farm.Archive{Hosts: hosts, Repeat: 1, Other: 20}
		_, err = archive.Write(context.Background(), f, name)
		must(t, err)
		must(t, f.Close())
	}
	run := func(id string, archives ...string) {
		args := []string{"run", "--out", out, "--run", id, "--agents", agents, "--urls", urls, "--progress", "none",
			"--as-of", "2026-01-10"}
		for _, a := range archives {
			args = append(args, "--warc", filepath.Join(folder, a))
		}
		var stdout, stderr strings.Builder
		if code := mainCode(args, nil, &stdout, &stderr); code != 0 {
			t.Fatalf("exit %d: %s%s", code, stdout.String(), stderr.String())
		}
	}
	run("warc", "a.warc.gz")
	for _, name := range []string{"a.arc.gz", "a.arc"} {
		run(name, name)
		sameRows[schema.Fetch](t, out, "warc", name, "fetches", "Seq", "WARCFile", "WARCOffset", "WARCLength")
		sameRows[schema.Group](t, out, "warc", name, "groups")
		sameRows[schema.Rule](t, out, "warc", name, "rules")
		sameRows[schema.Policy](t, out, "warc", name, "policies")
		sameRows[schema.Verdict](t, out, "warc", name, "verdicts")
		sameRows[schema.Signal](t, out, "warc", name, "signals")
		sameRows[schema.Count](t, out, "warc", name, "summary")
		file, err := os.ReadFile(filepath.Join(folder, name))
		must(t, err)
		for _, row := range tableOf[schema.Fetch](t, out, name, "fetches") {
			if filepath.Base(*row.WARCFile) != name {
				t.Fatalf("%s is of %s", row.Host, *row.WARCFile)
			}
			var found []string
			_, err := warc.Read(t.Context(), name, bytes.NewReader(file[*row.WARCOffset:][:*row.WARCLength]),
				warc.Config{Limits: fetch.Limits{MaxBody: 1 << 20}}, func(c *warc.Capture) error {
					found = append(found, c.Origin.Host)
					return nil
				}, nil)
			if err != nil || len(found) != 1 || found[0] != row.Host {
				t.Fatalf("at %d+%d: %q, want %s (%v)", *row.WARCOffset, *row.WARCLength, found, row.Host, err)
			}
		}
	}
	run("mixed", "a.arc.gz", "a.warc.gz")
	if got, want := len(tableOf[schema.Fetch](t, out, "mixed", "fetches")),
		2*len(tableOf[schema.Fetch](t, out, "warc", "fetches")); got != want {
		t.Errorf("a list of both has %d rows, want %d", got, want)
	}
}

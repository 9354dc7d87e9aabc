package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// timeless selects the columns of fetches that two runs of the same answers share;
// of the times of the memory, whether there is one.
const timeless = `* EXCLUDE (fetch_time, dns_us, connect_us, tls_us, first_byte_us, total_us)
	REPLACE (unreachable_since IS NOT NULL AS unreachable_since, stale_since IS NOT NULL AS stale_since, copy_time IS NOT NULL AS copy_time,
		list_transform(answers_since, lambda a: {kind: a.kind, redirects: a.redirects}) AS answers_since)`

// wantSameBytes checks that run r of both folders is complete and whole, that the
// two are the same except for times, and that the second folder holds nothing else.
// It compares digests, which verify has checked against the files, and the rows of
// tables that contain times.
func wantSameBytes(t *testing.T, want, got string) {
	t.Helper()
	if text, _ := robocensus(t, 0, "verify", "--out", got, "r"); !strings.HasSuffix(text, ": whole\n") {
		t.Errorf("verify says %s", text)
	}
	a, b := timelessManifest(t, want), timelessManifest(t, got)
	if a != b {
		t.Errorf("the manifests differ:\n%s", firstDifference(a, b))
	}
	for _, name := range []string{"_runs/r/rejected.csv", "views.sql"} {
		a, err := os.ReadFile(filepath.Join(want, name))
		must(t, err)
		b, err := os.ReadFile(filepath.Join(got, name))
		must(t, err)
		if a, b := dates.ReplaceAllString(string(a), "DATE"), dates.ReplaceAllString(string(b), "DATE"); a != b {
			t.Errorf("%s differs:\n%s", name, firstDifference(a, b))
		}
	}
	for table := range timed {
		wantSameRows(t, want, got, table)
	}
	wantNothingElse(t, got)
}

// dates matches the date of a run in views.sql: the time of its start.
var dates = regexp.MustCompile(`TIMESTAMPTZ '[^']*'`)

// timed holds queries for the tables that contain durations, without these.
var timed = map[string]string{
	"fetches":  "SELECT " + timeless + " FROM rows",
	"summary":  "SELECT * FROM rows WHERE metric <> 'total_us' AND NOT ends_with(metric, '_slow')",
	"examples": "SELECT * FROM rows WHERE metric <> 'total_us'",
}

// wantSameRows reads all files in a table's folder, as a query without the manifest
// does.
func wantSameRows(t *testing.T, want, got, table string) {
	t.Helper()
	db := bare(t)
	what, ok := timed[table]
	if !ok {
		what = "SELECT * FROM rows"
	}
	rows := func(dir string) string {
		return fmt.Sprintf("(%s)", strings.Replace(what, "rows", fmt.Sprintf("read_parquet('%s/%s/run=r/*.parquet')", dir,
			table), 1))
	}
	n, sum := fingerprint(t, db, rows(want))
	if n == "0" {
		t.Errorf("%s: the undisturbed run has no rows", table)
	}
	if m, other := fingerprint(t, db, rows(got)); m != n || other != sum {
		lost := rows(want) + " EXCEPT ALL " + rows(got)
		_, sample, err := ask(db, lost+" LIMIT 3")
		must(t, err)
		t.Errorf("%s: %s rows instead of %s; %s are lost, such as %v", table, m, n, one(t, db, "SELECT count(*) FROM ("+lost+
			")"), sample)
	}
}

type manifest struct {
	State    string
	Parts    []part
	RunParts []part `json:"run_parts"`
	Records  []struct{ Segment int }
}

type part struct {
	Table, Path string
	Segment     int
	Bytes       int64
}

func readManifest(t *testing.T, dir string) (m manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "_runs/r/manifest.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &m))
	return m
}

// timelessManifest returns the manifest without times, paths, and what depends on
// times: the digests of plan and records, and the size and digest of the evidence and of
// the parts of fetches.
func timelessManifest(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "_runs/r/manifest.json"))
	must(t, err)
	var m map[string]any
	must(t, json.Unmarshal(text, &m))
	delete(m, "date")
	delete(m, "started")
	delete(m, "finished")
	delete(m, "pace")
	delete(m, "plan_sha256")
	delete(m, "sha256")
	if f, ok := m["warc_file"].(map[string]any); ok {
		delete(f, "bytes")
		delete(f, "sha256")
	}
	for _, r := range m["records"].([]any) {
		delete(r.(map[string]any), "sha256")
	}
	for _, p := range append(m["parts"].([]any), m["run_parts"].([]any)...) {
		p := p.(map[string]any)
		if _, ok := timed[p["table"].(string)]; ok {
			delete(p, "rows")
			delete(p, "bytes")
			delete(p, "sha256")
		}
	}
	text, err = json.MarshalIndent(m, "", " ")
	must(t, err)
	return string(text)
}

// wantNothingElse checks that there are no files that a complete run does not
// leave.
func wantNothingElse(t *testing.T, dir string) {
	t.Helper()
	m := readManifest(t, dir)
	if m.State != "complete" {
		t.Errorf("the run is %s", m.State)
	}
	named := []string{"_runs/r/manifest.json", "_runs/r/plan.json", "_runs/r/rejected.csv", "views.sql"}
	for _, p := range append(m.Parts, m.RunParts...) {
		named = append(named, p.Path)
	}
	for _, r := range m.Records {
		named = append(named, fmt.Sprintf("_runs/r/segments/%010d.json", r.Segment))
	}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if !slices.Contains(named, filepath.ToSlash(name)) {
			t.Errorf("%s is left", name)
		}
		return err
	}))
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d was %s and is %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines were, %d are", len(x), len(y))
}

// The same answers give the same bytes, at any pace and on any number of cores.
func TestTheSameAnswersGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	w := newWeb(t, segmentTargets*3/2, "uniform:0ms-5ms", "again0.test", "again1.test", "again2.test", "again3.test",
		"again4.test")
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	robocensus(t, 0, w.census(first)...)
	slow := exec.Command(filepath.Join(bin, "robocensus"), w.census(second, "--concurrency", "5")...)
	slow.Env = append(os.Environ(), "GOMAXPROCS=1")
	finish(t, 0, slow)
	wantSameBytes(t, first, second)
}

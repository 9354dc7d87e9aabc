package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// run --lines prints each host once, with the values of the tables, and the tables are
// those of a run without it.
func TestLinesOfARunAreItsTables(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "out")
	// without summary, which needs the policies too
	text, said := robocensus(t, 0, "demo", "--out", out, "--lines", "--tables", "fetches,policies")
	if !strings.Contains(said, "132") {
		t.Errorf("standard error has no summary:\n%s", said)
	}
	show := func(v any) string {
		if v == nil {
			return "NULL"
		}
		return fmt.Sprint(v)
	}
	var got [][]string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, `"closed":[`) {
			t.Errorf("closed is not an array: %s", line)
		}
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var o map[string]any
		must(t, d.Decode(&o))
		var row []string
		for _, key := range []string{"seq", "host", "origin", "rank", "outcome", "reason", "status", "error_class",
			"challenge", "bytes", "groups", "rules"} {
			if _, ok := o[key]; !ok {
				t.Errorf("no key %s: %s", key, line)
			}
			row = append(row, show(o[key]))
		}
		var closed []string
		for _, agent := range o["closed"].([]any) {
			closed = append(closed, agent.(string))
		}
		slices.Sort(closed)
		got = append(got, append(row, strings.Join(closed, " ")))
	}
	slices.SortFunc(got, slices.Compare)
	_, want, err := ask(quick(t, out),
		`SELECT seq::VARCHAR, host, origin, rank::VARCHAR, outcome, reason, status::VARCHAR, error_class, challenge, body_bytes::VARCHAR, CASE WHEN is_file THEN groups END::VARCHAR, CASE WHEN is_file THEN rules END::VARCHAR,
  (SELECT coalesce(string_agg(agent, ' ' ORDER BY agent), '') FROM policies p WHERE p.seq = f.seq AND class = 'disallow_all') FROM (SELECT *, content_digest IS NOT NULL AND challenge IS NULL AS is_file FROM fetches) f`)
	must(t, err)
	slices.SortFunc(want, slices.Compare)
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 132 {
		t.Errorf("%d lines (-tables +lines):\n%s", len(got), diff)
	}
	robocensus(t, 64, "demo", "--out", out, "--lines", "--json")
}

package earlier_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// A run that was published without a column that judging needs is refused, and the
// column named. Without the others nothing is lost but what they show.
func TestColumnsThatARunLacks_NoRace(t *testing.T) {
	dir, all := t.TempDir(), judges()
	write(t, dir, "first", all, targets.Example(1))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "first")
	must(t, err)
	published := func(without ...string) string {
		to := filepath.Join(t.TempDir(), "set")
		_, err := publish.Write(t.Context(), publish.Config{
			In: sinktest.Open(t, dir), Runs: []*journal.Manifest{m}, To: to, Without: append(without, "groups", "rules",
				"lines", "policies", "summary"),
			Metadata: publish.Metadata{Title: "t", Licence: "CC0-1.0", Creators: []string{"c"}},
		})
		must(t, err)
		return to
	}
	needed := strings.Fields(
		`fetches.host fetches.rank fetches.scheme fetches.port fetches.source fetches.fetch_time fetches.reason fetches.status
		fetches.hops fetches.error_class fetches.fallback_error_class fetches.attempts fetches.body_bytes fetches.body_truncated
		fetches.content_digest fetches.answers_since fetches.copy_time fetches.copy_digest fetches.kept_truncated
		fetches.probe_front_status fetches.probe_random_status
		fetches.front_page fetches.front_hops fetches.front_error_class fetches.front_headers fetches.challenge`)
	for _, lost := range [][]string{{"bodies.body"}, {"fetches.hops"}, needed} {
		_, _, err = read(t.Context(), published(slices.Clone(lost)...), "first")
		var input *userfile.Error
		slices.Sort(lost)
		if !errors.As(err, &input) || !strings.HasSuffix(err.Error(), "cannot be re-evaluated without "+strings.Join(lost,
			", ")) {
			t.Errorf("without %v: %v", lost, err)
		}
	}

	var others []string
	for _, name := range publish.ColumnNames() {
		if strings.HasPrefix(name, "fetches.") && name != "fetches.seq" && !slices.Contains(needed, name) {
			others = append(others, name)
		}
	}
	facts, missed, err := read(t.Context(), published(others...), "first")
	must(t, err)
	write(t, dir, "again", all, facts)
	for _, table := range []string{"policies", "verdicts", "bodies", "groups", "rules", "lines"} {
		if differ := differing(t, dir, table, "first", "again"); len(differ) > 0 {
			t.Errorf("columns of %s differ: %v", table, differ)
		}
	}
	for _, column := range differing(t, dir, "fetches", "first", "again") {
		if !slices.Contains(missed.Columns, "fetches."+column) {
			t.Errorf("column %s of fetches differs, and is not missed", column)
		}
	}
	if len(missed.Columns) >= len(others) {
		t.Errorf("%d columns are missed, of %d: none is made anew", len(missed.Columns), len(others))
	}

	for _, lost := range []string{"verdicts", "verdicts.url"} {
		facts, missed, err := read(t.Context(), published(lost), "first")
		must(t, err)
		if !missed.OwnURLs || slices.ContainsFunc(facts, func(t target.Target) bool { return t.Paths != nil }) {
			t.Errorf("without %s: own URLs are missed: %v", lost, missed.OwnURLs)
		}
	}
}

// A part that lacks a needed column is refused, although the manifest does not say so.
func TestAPartThatLacksANeededColumn_NoRace(t *testing.T) {
	for _, name := range []string{"fetches.hops", "bodies.body"} {
		dir := t.TempDir()
		write(t, dir, "first", judges(), targets.Example(1))
		m, err := journal.ReadManifest(sinktest.Open(t, dir), "first")
		must(t, err)
		to := filepath.Join(t.TempDir(), "set")
		_, err = publish.Write(t.Context(), publish.Config{
			In: sinktest.Open(t, dir), Runs: []*journal.Manifest{m}, To: to, Without: []string{name},
			Metadata: publish.Metadata{Title: "t", Licence: "CC0-1.0", Creators: []string{"c"}},
		})
		must(t, err)
		m, err = journal.ReadManifest(sinktest.Open(t, to), "first")
		must(t, err)
		m.Without = nil
		must(t, os.Remove(filepath.Join(to, "_runs/first/manifest.json")))
		s, err := store.Open(t.Context(), to)
		must(t, err)
		must(t, journal.PutManifest(s, m))
		must(t, s.Close())
		var input *userfile.Error
		if _, _, err := read(t.Context(), to, "first"); !errors.As(err, &input) || !strings.HasSuffix(err.Error(),
			"cannot be re-evaluated without "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// differing returns the columns of a table in which two runs differ.
func differing(t *testing.T, dir, table, a, b string) (columns []string) {
	t.Helper()
	var rows [2][]parquet.Row
	var names []string
	for k, run := range []string{a, b} {
		content, err := os.ReadFile(filepath.Join(dir, table, "run="+run, "part-0000000000.parquet"))
		must(t, err)
		f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		must(t, err)
		names = nil
		for _, path := range f.Schema().Columns() {
			names = append(names, path[0])
		}
		in := parquet.MultiRowGroup(f.RowGroups()...).Rows()
		rows[k] = make([]parquet.Row, f.NumRows())
		if n, err := in.ReadRows(rows[k]); n < len(rows[k]) {
			t.Fatalf("%d of %d rows: %v", n, len(rows[k]), err)
		}
		must(t, in.Close())
	}
	if len(rows[0]) != len(rows[1]) || len(rows[0]) == 0 {
		t.Fatalf("%s of %s and %s: %d rows, and %d", table, a, b, len(rows[0]), len(rows[1]))
	}
	for i := range rows[0] {
		if rows[0][i].Equal(rows[1][i]) {
			continue
		}
		for at, name := range names {
			of := func(row parquet.Row) (cells string) {
				for _, v := range row {
					if v.Column() == at {
						cells += fmt.Sprintf("%+v ", v)
					}
				}
				return cells
			}
			if of(rows[0][i]) != of(rows[1][i]) && !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

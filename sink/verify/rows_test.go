package verify

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// planted writes a run of two segments with two targets each. It changes each segment's
// rows before they are written, so that all digests are of what is wrong.
func planted(t *testing.T, plant func(segment int, r *rows)) string {
	t.Helper()
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "rules", "policies", "verdicts",
		"summary", "bodies"}, Profiles: []string{"google"}})
	must(t, err)
	for segment := range 2 {
		r := new(rows)
		for i := range 2 {
			seq := int64(2*segment + i + 1)
			body := fmt.Appendf(nil, "Disallow: /%d\n", seq)
			digest := schema.ContentDigest(body)
			r.fetches = append(r.fetches, schema.Fetch{Seq: seq, ContentDigest: &digest})
			r.rules = append(r.rules, schema.Rule{Seq: seq, Line: 1}, schema.Rule{Seq: seq, Line: 4})
			r.policies = append(r.policies, schema.Policy{Seq: seq})
			r.verdicts = append(r.verdicts, schema.Verdict{Seq: seq}, schema.Verdict{Seq: seq})
			r.bodies = append(r.bodies, schema.Body{ContentDigest: digest, Body: body})
		}
		r.counts = []schema.Count{{Metric: "targets", Count: 2}}
		if plant != nil {
			plant(segment, r)
		}
		s, err := run.Segment(segment)
		must(t, err)
		s.Targets = 2
		must(t, s.Fetches.Write(r.fetches...))
		must(t, s.Rules.Write(r.rules...))
		must(t, s.Policies.Write(r.policies...))
		must(t, s.Verdicts.Write(r.verdicts...))
		must(t, s.Summary.Write(r.counts...))
		must(t, s.Bodies.Write(r.bodies...))
		must(t, s.Commit())
	}
	totals, err := summary.SumUp(t.Context(), run)
	must(t, err)
	must(t, run.Complete(sink.Completion{Finished: time.Now(), Tally: journal.Tally{Targets: 4}, Totals: totals}))
	return dir
}

type rows struct {
	fetches  []schema.Fetch
	rules    []schema.Rule
	policies []schema.Policy
	verdicts []schema.Verdict
	counts   []schema.Count
	bodies   []schema.Body
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is wrong under right digests is found: bodies that are not those of their digests,
// rows out of order, targets twice or in no segment, counters that differ.
func TestRowsThatDoNotFitTogether_NoRace(t *testing.T) {
	const bodies, fetches, rules, verdicts = "bodies/run=r/part-0000000001.parquet",
		"fetches/run=r/part-0000000001.parquet", "rules/run=r/part-0000000001.parquet",
		"verdicts/run=r/part-0000000001.parquet"
	for name, c := range map[string]struct {
		plant func(r *rows) // in segment 1, which has the seqs 3 and 4
		want  []string
	}{
		"nothing": {func(*rows) {}, nil},
		"an unknown class of errors": {func(r *rows) { r.fetches[1].ErrorClass = new("odd\x1b[31m") },
			[]string{fetches + ": value"}},
		"an unknown verdict": {func(r *rows) { r.verdicts[0].Verdict = "maybe" }, []string{verdicts + ": value"}},
		"two bodies, swapped": {func(r *rows) {
			r.bodies[0].Body, r.bodies[1].Body = r.bodies[1].Body,
				r.bodies[0].Body
		}, []string{bodies + ": body"}},
		"one byte of a body": {func(r *rows) { r.bodies[1].Body[0]++ }, []string{bodies + ": body"}},
		"a digest in other letters": {func(r *rows) { r.bodies[0].ContentDigest = "sha1:" + r.bodies[0].ContentDigest },
			[]string{bodies + ": body"}},
		"fetches fall": {func(r *rows) { slices.Reverse(r.fetches) }, []string{fetches + ": order"}},
		"a target twice": {func(r *rows) { r.fetches[1].Seq = 3 }, []string{fetches + ": order",
			"policies/run=r/part-0000000001.parquet: seq", rules + ": seq", verdicts + ": seq"}},
		"a target of segment 0": {func(r *rows) { r.fetches[0].Seq, r.rules, r.policies, r.verdicts = 2, nil, nil, nil },
			[]string{fetches + ": order"}},
		"verdicts fall":          {func(r *rows) { slices.Reverse(r.verdicts) }, []string{verdicts + ": order"}},
		"lines fall":             {func(r *rows) { r.rules[1].Line = 0 }, []string{rules + ": order"}},
		"a verdict of no target": {func(r *rows) { r.verdicts[3].Seq = 5 }, []string{verdicts + ": seq"}},
		"more targets counted": {func(r *rows) { r.counts[0].Count = 999 },
			[]string{"summary/run=r/part-0000000000.parquet: summary"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, func(segment int, r *rows) {
				if segment == 1 {
					c.plant(r)
				}
			})
			v, err := Run(t.Context(), sinktest.Open(t, dir), "r", func(int, int) {})
			must(t, err)
			var got []string
			for _, p := range v.Problems {
				got = append(got, p.Path+": "+p.Kind)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, v.Problems)
			}
		})
	}
}

// Each state before of a comparison is from a run that its record names.
func TestRunsOfStatesBefore(t *testing.T) {
	change := func(kind, run string) schema.Change {
		return schema.Change{Host: "h", Origin: "http://h", Kind: kind, Severity: "minor", BeforeRun: schema.NonZero(run)}
	}
	for name, c := range map[string]struct {
		rows []schema.Change
		want string
	}{
		"named": {[]schema.Change{change("text", "a"), change("policy_class", "q"), change("host_new", "")}, ""},
		"named by nobody": {[]schema.Change{change("text", "a"), change("text", "p"), change("text", "o")},
			`row 1 has the state before of "p", which the record does not name (the first of 2 such rows)`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := planted(t, nil)
			m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
			must(t, err)
			out, err := sink.CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
			must(t, err)
			out.Compared(3, 0, journal.EarlierRun{Run: "q", Hosts: 1})
			must(t, out.Write(c.rows...))
			must(t, out.Commit())
			v, err := Run(t.Context(), sinktest.Open(t, dir), "r", func(int, int) {})
			must(t, err)
			var want []Problem
			if c.want != "" {
				want = []Problem{{Path: "changes/run=r/against=a/part-0000000000.parquet", Kind: "record", Text: c.want}}
			}
			if diff := cmp.Diff(want, v.Problems); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A comparison that is older than the columns that came later is whole.
func TestComparisonsWithoutRunsBefore(t *testing.T) {
	dir := planted(t, nil)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	out, err := sink.CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
	must(t, err)
	must(t, out.Write(schema.Change{Host: "h", Origin: "http://h", Kind: "text", Severity: "minor"}))
	must(t, out.Commit())
	c, err := journal.ReadComparison(sinktest.Open(t, dir), "r", "a")
	must(t, err)

	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(reflect.TypeFor[schema.Change]()) {
		if column := schema.ColumnOf(f); !slices.Contains(journal.Later, "changes."+column) {
			fields = append(fields, f)
		}
	}
	var older bytes.Buffer
	row := reflect.New(reflect.StructOf(fields))
	row.Elem().FieldByName("Kind").SetString("text")
	row.Elem().FieldByName("Severity").SetString("minor")
	w := parquet.NewGenericWriter[any](&older, parquet.SchemaOf(row.Interface()),
		parquet.KeyValueMetadata("robocensus.run", "r"), parquet.KeyValueMetadata("robocensus.against", "a"),
		parquet.KeyValueMetadata("robocensus.schema_version", strconv.Itoa(schema.SchemaVersion)))
	_, err = w.Write([]any{row.Elem().Interface()})
	must(t, err)
	must(t, w.Close())
	must(t, os.WriteFile(filepath.Join(dir, c.Part.Path), older.Bytes(), 0o666))
	c.Part.Bytes, c.Part.SHA256 = int64(older.Len()), fmt.Sprintf("%x", sha256.Sum256(older.Bytes()))
	s, err := store.Open(t.Context(), dir)
	must(t, err)
	defer s.Close()
	must(t, journal.PutComparison(s, c))
	v, err := Run(t.Context(), sinktest.Open(t, dir), "r", func(int, int) {})
	must(t, err)
	if len(v.Problems) > 0 {
		t.Error(v.Problems)
	}
}

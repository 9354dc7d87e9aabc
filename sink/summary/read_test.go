package summary

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// Counters add up over parts, however they are split; null and "" are the same
// label.
func TestCountersAddUpOverParts(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "b", "é", "a long text that is no label"})
	row := rapid.Custom(func(t *rapid.T) schema.Count {
		return schema.Count{
			Metric: "m" + texts.Draw(t, "metric"), Stratum: texts.Draw(t, "stratum"),
			Agent: schema.NonZero(texts.Draw(t, "agent")), Category: schema.NonZero(texts.Draw(t, "category")),
			Profile: schema.NonZero(texts.Draw(t, "profile")), Key: schema.NonZero(texts.Draw(t, "key")),
			Count: rapid.Int64Range(1, 1<<40).Draw(t, "count"),
		}
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := sink.Remove(sinktest.Open(t, dir), "r"); err != nil {
			t.Fatal(err)
		}
		run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"summary"}})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		label := func(c schema.Count) [6]string {
			text := func(s *string) string {
				if s == nil {
					return ""
				}
				return *s
			}
			return [6]string{c.Metric, c.Stratum, text(c.Agent), text(c.Category), text(c.Profile), text(c.Key)}
		}
		want := make(map[[6]string]int64)
		for index := range rapid.IntRange(0, 4).Draw(t, "parts") {
			rows := rapid.SliceOfN(row, 0, 40).Draw(t, "rows")
			for _, c := range rows {
				want[label(c)] += c.Count
			}
			s, err := run.Segment(index)
			if err == nil {
				err = s.Summary.Write(rows...)
			}
			if err == nil {
				err = s.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		sums := func() map[[6]string]int64 {
			got := make(map[[6]string]int64)
			m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
			if err != nil {
				t.Fatal(err)
			}
			counts, err := Read(context.Background(), sinktest.Open(t, dir), m)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range counts.Rows() {
				if _, twice := got[label(c)]; twice {
					t.Fatalf("%v is given twice", label(c))
				}
				got[label(c)] = c.Count
			}
			return got
		}
		if diff := gocmp.Diff(want, sums()); diff != "" {
			t.Fatalf("of the parts: %s", diff)
		}
		if err := complete(run); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, sums()); diff != "" {
			t.Fatalf("of the one part: %s", diff)
		}
	})
}

// Each metric and key keeps the examples of the best rank, ties going to the first
// in the input, and the largest keep the greatest, in whatever order parts are
// committed and read.
func TestExamplesAreTheFirstAndTheGreatest(t *testing.T) {
	row := rapid.Custom(func(t *rapid.T) schema.Example {
		e := schema.Example{Metric: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "metric"),
			Key: rapid.SampledFrom([]string{"", "x", "largest", "slowest"}).Draw(t, "key")}
		e.Line, e.Rank = schema.NonZero(rapid.Int32Range(0, 3).Draw(t, "line")),
			schema.NonZero(rapid.Int64Range(0, 9).Draw(t, "rank"))
		e.Text = rapid.SampledFrom([]string{"1", "2", "7", "30", "200", "1000", "no number"}).Draw(t, "text")
		return e
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := sink.Remove(sinktest.Open(t, dir), "r"); err != nil {
			t.Fatal(err)
		}
		run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"examples"}})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		parts := rapid.SliceOfN(rapid.SliceOfN(row, 0, 60), 1, 5).Draw(t, "parts")
		var all []schema.Example
		var order []int
		for i, part := range parts {
			for k := range part {
				part[k].Host = fmt.Sprint(i, " ", k)
			}
			all, order = append(all, part...), append(order, i)
		}
		for _, i := range rapid.Permutation(order).Draw(t, "order") {
			s, err := run.Segment(i)
			if err == nil {
				err = s.Examples.Write(parts[i]...)
			}
			if err == nil {
				err = s.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(all, func(a, b schema.Example) int {
			size := func(e schema.Example) (n int64) {
				if e.Key == "largest" || e.Key == "slowest" {
					n, _ = strconv.ParseInt(e.Text, 10, 64)
				}
				return n
			}
			rank := func(e schema.Example) int64 {
				if e.Rank == nil {
					return 100
				}
				return *e.Rank
			}
			return cmp.Or(strings.Compare(a.Metric, b.Metric), strings.Compare(a.Key, b.Key), cmp.Compare(size(b), size(a)),
				cmp.Compare(rank(a), rank(b)))
		})
		var want []schema.Example
		n := 0
		for i, e := range all {
			if n++; i == 0 || e.Metric != all[i-1].Metric || e.Key != all[i-1].Key {
				n = 1
			}
			if n <= 3 || n <= 10 && (e.Key == "largest" || e.Key == "slowest") {
				want = append(want, e)
			}
		}
		given := func() []schema.Example {
			m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
			if err != nil {
				t.Fatal(err)
			}
			few, err := ReadExamples(context.Background(), sinktest.Open(t, dir), m)
			if err != nil {
				t.Fatal(err)
			}
			return few.Rows()
		}
		if diff := gocmp.Diff(want, given()); diff != "" {
			t.Fatalf("of the parts: %s", diff)
		}
		if err := complete(run); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, given()); diff != "" {
			t.Fatalf("of the one part: %s", diff)
		}
	})
}

// written writes a run of two segments of 20 targets each.
func written(t *testing.T) (dir string, run *sink.Run) {
	t.Helper()
	dir = t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "summary"}})
	must(t, err)
	t.Cleanup(func() { run.Close() })
	for index := range 2 {
		s, err := run.Segment(index)
		must(t, err)
		must(t, s.Summary.Write(schema.Count{Metric: "targets", Count: 20}))
		must(t, s.Commit())
	}
	return dir, run
}

func complete(run *sink.Run) error {
	sums, err := SumUp(context.Background(), run)
	if err != nil {
		return err
	}
	return run.Complete(sink.Completion{Totals: sums})
}

// Counters that differ from what was written are an error, not other figures.
func TestCountersOfOtherBytesAreRefused(t *testing.T) {
	const part = "summary/run=r/part-0000000000.parquet"
	for _, row := range []struct {
		name  string
		plant func(path string) error
	}{
		{"gone", os.Remove},
		{"other bytes", func(path string) error {
			content, err := os.ReadFile(path)
			content[9] ^= 1
			return errors.Join(err, os.WriteFile(path, content, 0o666))
		}},
		{"cut short", func(path string) error { return os.Truncate(path, 100) }},
		{"a link", func(path string) error {
			return errors.Join(os.Rename(path, path+"-away"), os.Symlink(filepath.Base(path)+"-away", path))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir, run := written(t)
			must(t, complete(run))
			must(t, row.plant(filepath.Join(dir, part)))
			for _, read := range []func(store.Store, string) (*journal.Manifest, error){journal.ReadManifest,
				journal.ReadManifestHead} {
				m, err := read(sinktest.Open(t, dir), "r")
				must(t, err)
				_, err = Read(context.Background(), sinktest.Open(t, dir), m)
				if err == nil || !strings.Contains(err.Error(), part) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

// A reader that started before the run was complete still finds the counters if
// completion merges them meanwhile.
func TestCountersOfARunThatIsCompletedMeanwhile(t *testing.T) {
	dir, run := written(t)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	must(t, complete(run))
	counts, err := Read(context.Background(), sinktest.Open(t, dir), m)
	must(t, err)
	if diff := gocmp.Diff([]Count{{Metric: "targets", N: 40}}, counts.List()); diff != "" {
		t.Error(diff)
	}
}

// Counters with bins of another version are refused.
func TestCountersOfOtherBinsAreRefused(t *testing.T) {
	dir, _ := written(t)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	m.SummaryBins = 7
	if _, err := Read(context.Background(), sinktest.Open(t, dir), m); err == nil || !strings.Contains(err.Error(),
		"bins of version 7") {
		t.Errorf("%v", err)
	}
}

// More distinct keys than a run writes are an error, and do not use up memory.
func TestExamplesOfTooManyKeys(t *testing.T) {
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"examples"}})
	must(t, err)
	defer run.Close()
	s, err := run.Segment(0)
	must(t, err)
	for i := range mostKeys + 1 {
		must(t, s.Examples.Write(schema.Example{Metric: "m", Key: fmt.Sprint(i)}))
	}
	must(t, s.Commit())
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	if _, err := ReadExamples(context.Background(), sinktest.Open(t, dir), m); err == nil || err.Error() != "read "+
		"_runs/r/segments/0000000000.examples.parquet (see robocensus verify): examples has more than 10000 different keys" {
		t.Errorf("%v", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A run has no more counters than its agents and profiles allow. A table of a stranger
// that has more is damage.
func TestMoreCountersThanARunCanHave(t *testing.T) {
	m := &journal.Manifest{Plan: journal.Plan{Profiles: []string{"google"}, Inputs: []journal.Input{
		{Role: "agents", Rows: 178}}}}
	if most := mostCountersOf(m); most < 200_000 || most > 500_000 {
		t.Errorf("178 agents under one profile may have %d counters", most)
	}
	m.Inputs[0].Rows = 1 << 40
	if most := mostCountersOf(m); most != mostCounters {
		t.Errorf("any number of agents: %d", most)
	}
	n := newCounts()
	n.most = 10
	from := newCounts()
	for i := range 10 {
		from.Add("m", "", strconv.Itoa(i))
	}
	if err := n.Merge(from); err != nil {
		t.Error(err)
	}
	from.Add("m", "", "one more")
	if err := n.Merge(from); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("one more: %v", err)
	}
}

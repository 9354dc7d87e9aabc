package sink

import (
	"bytes"
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
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// Counters add up over parts, whatever the parts; null and "" are one label.
func TestCountersAddUpOverParts(t *testing.T) {
	sequential(t)
	texts := rapid.SampledFrom([]string{"", "a", "b", "é", "a long text that is no label"})
	row := rapid.Custom(func(t *rapid.T) Count {
		return Count{
			Metric: "m" + texts.Draw(t, "metric"), Stratum: texts.Draw(t, "stratum"), Agent: NonZero(texts.Draw(t, "agent")), Category: NonZero(texts.Draw(t, "category")),
			Profile: NonZero(texts.Draw(t, "profile")), Key: NonZero(texts.Draw(t, "key")), Count: rapid.Int64Range(-5, 1<<40).Draw(t, "count"),
		}
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := Remove(dir, "r"); err != nil {
			t.Fatal(err)
		}
		run, err := Create(dir, Plan{Run: "r", Tables: []string{"summary"}})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		label := func(c Count) [6]string {
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
			m, err := ReadManifest(dir, "r")
			if err != nil {
				t.Fatal(err)
			}
			err = ReadCounts(context.Background(), dir, m, func(c Count) {
				if _, twice := got[label(c)]; twice {
					t.Fatalf("%v is given twice", label(c))
				}
				got[label(c)] = c.Count
			})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if diff := gocmp.Diff(want, sums()); diff != "" {
			t.Fatalf("of the parts: %s", diff)
		}
		if err := run.Complete(context.Background(), Completion{}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, sums()); diff != "" {
			t.Fatalf("of the one part: %s", diff)
		}
	})
}

// Of each metric and key the examples of the best rank are given, the first in
// the order of the input where they are equal, and of the largest the greatest, in whatever order the parts were
// committed and whoever has read them.
func TestExamplesAreTheFirstAndTheGreatest(t *testing.T) {
	sequential(t)
	row := rapid.Custom(func(t *rapid.T) Example {
		e := Example{Metric: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "metric"), Key: rapid.SampledFrom([]string{"", "x", "largest", "slowest"}).Draw(t, "key")}
		e.Line, e.Rank = NonZero(rapid.Int32Range(0, 3).Draw(t, "line")), NonZero(rapid.Int64Range(0, 9).Draw(t, "rank"))
		e.Text = rapid.SampledFrom([]string{"1", "2", "7", "30", "200", "1000", "no number"}).Draw(t, "text")
		return e
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := Remove(dir, "r"); err != nil {
			t.Fatal(err)
		}
		run, err := Create(dir, Plan{Run: "r", Tables: []string{"examples"}})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		parts := rapid.SliceOfN(rapid.SliceOfN(row, 0, 60), 1, 5).Draw(t, "parts")
		var all []Example
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
		slices.SortStableFunc(all, func(a, b Example) int {
			size := func(e Example) (n int64) {
				if e.Key == "largest" || e.Key == "slowest" {
					n, _ = strconv.ParseInt(e.Text, 10, 64)
				}
				return n
			}
			rank := func(e Example) int64 {
				if e.Rank == nil {
					return 100
				}
				return *e.Rank
			}
			return cmp.Or(strings.Compare(a.Metric, b.Metric), strings.Compare(a.Key, b.Key), cmp.Compare(size(b), size(a)), cmp.Compare(rank(a), rank(b)))
		})
		var want []Example
		n := 0
		for i, e := range all {
			if n++; i == 0 || e.Metric != all[i-1].Metric || e.Key != all[i-1].Key {
				n = 1
			}
			if n <= 3 || n <= 10 && (e.Key == "largest" || e.Key == "slowest") {
				want = append(want, e)
			}
		}
		given := func() (got []Example) {
			m, err := ReadManifest(dir, "r")
			if err == nil {
				err = ReadExamples(context.Background(), dir, m, func(e Example) { got = append(got, e) })
			}
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if diff := gocmp.Diff(want, given()); diff != "" {
			t.Fatalf("of the parts: %s", diff)
		}
		if err := run.Complete(context.Background(), Completion{}); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, given()); diff != "" {
			t.Fatalf("of the one part: %s", diff)
		}
	})
}

// Counters that are not what was written are an error, not other figures.
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
			dir := wholeRun(t, nil)
			must(t, row.plant(filepath.Join(dir, part)))
			for _, read := range []func(dir, run string) (*Manifest, error){ReadManifest, ReadManifestHead} {
				m, err := read(dir, "r")
				must(t, err)
				err = ReadCounts(context.Background(), dir, m, func(c Count) { t.Errorf("counter %v", c) })
				if err == nil || !strings.Contains(err.Error(), part) || errors.Is(err, fs.ErrNotExist) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

// A reader that has begun before a run is complete finds its counters also
// where completion has merged them meanwhile.
func TestCountersOfARunThatIsCompletedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	commitSegment(t, run, 1)
	m, err := ReadManifest(dir, "r")
	must(t, err)
	finish(t, run, 2)
	targets := int64(0)
	must(t, ReadCounts(context.Background(), dir, m, func(c Count) {
		if c.Metric == "targets" {
			targets += c.Count
		}
	}))
	if targets != 2*targetsOfSegment {
		t.Errorf("%d targets", targets)
	}
}

// The head of a manifest is all of it but the parts, where these are not needed.
func TestTheHeadOfAManifest(t *testing.T) {
	dir := wholeRun(t, nil)
	manifest := filepath.Join(dir, "_runs/r/manifest.json")
	whole, err := ReadManifest(dir, "r")
	must(t, err)
	content, err := os.ReadFile(manifest)
	must(t, err)
	head := *whole
	head.Records, head.Parts, head.head = nil, nil, true
	m, err := ReadManifestHead(dir, "r")
	must(t, err)
	if diff := gocmp.Diff(&head, m, cmpopts.EquateEmpty(), gocmp.AllowUnexported(Manifest{})); diff != "" {
		t.Error(diff)
	}
	if len(content) < 5000 {
		t.Fatalf("the manifest has %d bytes", len(content))
	}
	damaged := []string{"", "[]", "{", string(content[:100]), string(content[:len(content)-1]), string(content) + "\n"}
	for _, at := range []int{30, len(content) / 2, len(content) - 300, len(content) - 40, len(content) - 1} { // also behind the head
		other := bytes.Clone(content)
		other[at] ^= 1
		damaged = append(damaged, string(other))
	}
	for _, text := range damaged {
		must(t, os.WriteFile(manifest, []byte(text), 0o666))
		for _, read := range []func(dir, run string) (*Manifest, error){ReadManifest, ReadManifestHead} {
			if _, err := read(dir, "r"); !errors.Is(err, errDamaged) {
				t.Errorf("%.10q… of %d bytes: %v", text, len(text), err)
			}
		}
	}
	if _, err := ReadManifestHead(dir, "s"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
	if _, err := ReadManifestHead(dir, "../r"); err == nil {
		t.Error("a run ID that leaves the folder is taken")
	}
}

// More to tell apart than a run writes is an error, not all memory.
func TestExamplesOfTooManyKeys(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, Plan{Run: "r", Tables: []string{"examples"}})
	must(t, err)
	defer run.Close()
	s, err := run.Segment(0)
	must(t, err)
	for i := range mostExamples + 1 {
		must(t, s.Examples.Write(Example{Metric: "m", Key: fmt.Sprint(i)}))
	}
	must(t, s.Commit())
	m, err := ReadManifest(dir, "r")
	must(t, err)
	if err := ReadExamples(context.Background(), dir, m, func(Example) {}); err == nil || err.Error() != "read _runs/r/segments/0000000000.examples.parquet (see robocensus verify): examples has more than 10000 different keys" {
		t.Errorf("%v", err)
	}
}

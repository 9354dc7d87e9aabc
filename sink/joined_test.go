package sink

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// The segments of a volume become one: a part of each table has their rows, in their order,
// and their own parts are gone. A segment alone in its volume keeps its parts.
func TestJoin_NoRace(t *testing.T) {
	const second, third = journal.SegmentsPerVolume, 2 * journal.SegmentsPerVolume
	rows := func(dir string) (of map[string][]string, paths map[string][]string) {
		of, paths = make(map[string][]string), make(map[string][]string)
		m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
		must(t, err)
		for _, p := range m.Parts {
			content, err := os.ReadFile(filepath.Join(dir, p.Path))
			must(t, err)
			_, some, _ := contentsOf(t, content)
			of[p.Table], paths[p.Table] = append(of[p.Table], some...), append(paths[p.Table], filepath.Base(p.Path))
			if int64(len(some)) != p.Rows {
				t.Errorf("%s has %d rows, and the manifest says %d", p.Path, len(some), p.Rows)
			}
		}
		return of, paths
	}
	made := func(joins bool) string {
		dir := t.TempDir()
		run, err := Create(dir, described())
		must(t, err)
		for _, index := range []int{0, 1, 2, second, second + 1, third} {
			commitSegment(t, run, index)
		}
		if joins {
			must(t, run.Join(t.Context()))
		}
		finish(t, run)
		return dir
	}
	apart, dir := made(false), made(true)
	want, _ := rows(apart)
	got, paths := rows(dir)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-apart +joined):\n%.2000s", diff)
	}
	names := []string{"part-0000000000-0000000002.parquet", "part-0000100000-0000100001.parquet", "part-0000200000.parquet"}
	for table, paths := range paths {
		want := names
		if table == "agents" {
			want = []string{"part-0000000000.parquet"}
		}
		if !slices.Equal(paths, want) {
			t.Errorf("%s: %q", table, paths)
		}
		files, err := os.ReadDir(filepath.Join(dir, layout.TableFolder(table, "r")))
		must(t, err)
		if len(files) != len(want) {
			t.Errorf("%s: %v are left", table, files)
		}
	}
	if v := verify(t, dir); len(v.Problems) > 0 || !v.Complete || v.Segments != 6 {
		t.Errorf("%+v", v)
	}
	// A manifest whose joined parts say other rows than the records is not whole.
	patch(t, dir, func(m *journal.Manifest) {
		for i := range m.Parts {
			if m.Parts[i].Table == "rules" && m.Parts[i].Segment == second {
				m.Parts[i].Rows++
			}
		}
	})
	v := verify(t, dir)
	if !slices.ContainsFunc(v.Problems, func(p Problem) bool {
		return p.Path == "_runs/r/manifest.json" && p.Kind == "rows" &&
			p.Text == "the parts of table rules up to segment 100001 have +1 rows beside those of the records"
	}) {
		t.Errorf("a row more: %v", v.Problems)
	}
}

// A run that ends before it is complete leaves no joined part.
func TestJoinedPartsThatDoNotCount(t *testing.T) {
	run, dir := newRun(t)
	commitSegment(t, run, 0)
	commitSegment(t, run, 1)
	before := tree(t, dir)
	must(t, run.Join(t.Context()))
	if during := tree(t, dir); len(during) == len(before) {
		t.Error("nothing is joined")
	}
	must(t, run.Close())
	after := tree(t, dir)
	delete(before, "_runs/test/lock")
	delete(after, "_runs/test/lock")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%.1000s", diff)
	}
}

func TestFollow(t *testing.T) {
	const volume = journal.SegmentsPerVolume
	for _, c := range []struct {
		first, n, want int
	}{{0, 1, 1}, {0, 3, 3}, {0, 200, mostJoined}, {64, 10, 10}, {volume - 2, 5, 2}} {
		var records []*journal.Record
		for i := range c.n {
			records = append(records, &journal.Record{Segment: c.first + i})
		}
		if got := follow(records); got != c.want {
			t.Errorf("%d from %d on: %d, want %d", c.n, c.first, got, c.want)
		}
	}
}

package journal

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
)

func TestComparisons(t *testing.T) {
	f, p := newFolder(t), described()
	f.begin(t, &p, 0)
	m := f.finish(t, "r")
	must(t, f.MakeFolder(layout.ComparisonRecords("r")))
	if _, err := ReadComparison(f, "r", "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no comparison: %v", err)
	}
	c := Comparison{Run: "r", Manifest: "of before", Against: "a", Expectations: &writtenParts, Earlier: []EarlierRun{
		{Run: "x", Hosts: 2}, {Run: "y", Hosts: 3}}}
	c.Part = &Part{layout.Changes, 0, c.PartPath(), 4, writtenParts}
	if c.EarlierHosts() != 5 || c.PartPath() != "changes/run=r/against=a/part-0000000000.parquet" {
		t.Errorf("%d hosts, in %s", c.EarlierHosts(), c.PartPath())
	}
	// As a copy it has the manifest of the copy, and no expectations.
	must(t, PutComparison(f, &c))
	got, err := ReadComparison(f, "r", "a")
	must(t, err)
	whole, err := ReadComplete(f, "r")
	must(t, err)
	want := c
	want.Manifest, want.Expectations = whole.Digest(), nil
	if diff := cmp.Diff(&want, got); diff != "" || m.Run != got.Run {
		t.Error(diff)
	}
	f.write(t, layout.ComparisonRecords("r")+"/.hidden.json", nil)
	f.write(t, layout.ComparisonRecords("r")+"/b.json.ABCDEFGH.tmp", nil)
	if ids, err := ComparedWith(f, "r"); cmp.Diff([]string{"a"}, ids) != "" || err != nil {
		t.Errorf("compared with %q, %v", ids, err)
	}
	for _, id := range []string{"../a", ""} {
		if _, err := ReadComparison(f, id, "a"); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("run %q: %v", id, err)
		}
	}
	if _, err := ReadComparison(f, "r", "../a"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("against a path: %v", err)
	}
	check := Comparison{Run: "r", Manifest: whole.Digest(), Expectations: &writtenParts}
	for _, row := range []struct {
		name   string
		of     *Comparison
		change func(*Comparison)
		want   string // in the error, "" for none
	}{
		{"unchanged", &c, func(*Comparison) {}, ""},
		{"of another run", &c, func(c *Comparison) { c.Run = "s" }, `it is the record of run "s" against "a"`},
		{"against another run", &c, func(c *Comparison) { c.Against = "b" }, `against "b"`},
		{"no part", &c, func(c *Comparison) { c.Part = nil }, "it is the record of"},
		{"a part elsewhere", &c, func(c *Comparison) { c.Part.Path = "../secret" }, `it names "../secret"`},
		{"a part of another table", &c, func(c *Comparison) { c.Part.Table = "rules" }, `as a part of table "rules"`},
		{"a path for a run", &c, func(c *Comparison) { c.Earlier[1].Run = "../x" }, `it names the run "../x"`},
		{"a check", &check, func(*Comparison) {}, ""},
		{"a check of nothing", &check, func(c *Comparison) { c.Expectations = nil }, "it is the record of"},
		{"a check with a part", &check, func(k *Comparison) { k.Part = c.Part }, "it is the record of"},
	} {
		change(t, f, layout.ComparisonRecord("r", row.of.Against), row.of, row.change)
		_, err := ReadComparison(f, "r", row.of.Against)
		if row.want == "" && err != nil || row.want != "" && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(),
			row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

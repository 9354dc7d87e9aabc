package journal

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

func TestAManifestIsWrittenOnce(t *testing.T) {
	f, p := newFolder(t), described()
	digest := f.begin(t, &p, 0, 1)
	if _, err := ReadComplete(f, "r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an incomplete run: %v", err)
	}
	want := f.finish(t, "r")
	if err := PutManifest(f, want); !errors.Is(err, ErrRunExists) {
		t.Errorf("twice: %v", err)
	}
	got, err := ReadManifest(f, "r")
	must(t, err)
	if diff := cmp.Diff(want.Parts, got.Parts); diff != "" || !got.Complete() || got.PlanDigest != digest ||
		got.FirstProfile() != "google" {
		t.Errorf("the manifest reads as %+v: %s", got, diff)
	}
	// agents has one part, summary, label_counts and examples have one for the run
	if len(got.Files()) != 2*(len(p.Tables)-4)+1+3 {
		t.Errorf("it names %d files", len(got.Files()))
	}
	outline, err := ReadOutline(f, "r")
	must(t, err)
	if !outline.Complete() || len(outline.Parts) > 0 {
		t.Errorf("its outline is %+v", outline)
	}
}

// A reader that finds the plan while the run is completed reads the run as it is then.
func TestARunThatIsCompletedMeanwhile(t *testing.T) {
	f, p := newFolder(t), described()
	f.begin(t, &p, 0)
	if m, err := ReadManifest(f, "r"); err != nil || m.Complete() {
		t.Fatalf("complete too early, or %v", err)
	}
	first := true
	m, err := readRun(f, "r", func(s store.Store, run string) (*Manifest, error) {
		m, err := ReadComplete(s, run)
		if first {
			first = false
			f.finish(t, "r")
			must(t, os.RemoveAll(filepath.Join(f.dir, layout.Records("r"))))
		}
		return m, err
	})
	if err != nil || !m.Complete() || len(m.Records) != 1 {
		t.Errorf("%+v, %v", m, err)
	}
}

// Readers of the tables rely on a complete run to miss nothing, and open what it names.
func TestAManifestThatContradictsItself(t *testing.T) {
	f, p, sharded := newFolder(t), described(), described()
	f.begin(t, &p, 0, 1, SegmentsPerVolume)
	sharded.Run, sharded.Shards = "s", 2
	f.begin(t, &sharded, 0, 1)
	alone, shards := f.finish(t, "r"), f.finish(t, "s")
	of := func(m *Manifest, table string, segment int) *Part {
		for _, list := range [][]Part{m.Parts, m.RunParts} {
			for i, p := range list {
				if p.Table == table && p.Segment == segment {
					return &list[i]
				}
			}
		}
		return nil
	}
	without := func(m *Manifest, table string, segment int) {
		m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool {
			return p.Segment == segment && (p.Table == table || table == "")
		})
	}
	for _, row := range []struct {
		name   string
		of     *Manifest
		change func(*Manifest)
		want   string // in the error, "" for none
	}{
		{"unchanged", alone, func(*Manifest) {}, ""},
		{"unchanged shards", shards, func(*Manifest) {}, ""},
		{"of another run", alone, func(m *Manifest) { m.Run = "x" }, `it is the manifest of run "x"`},
		{"no end", alone, func(m *Manifest) { m.Finished = nil }, "it does not say when the run was finished"},
		{"another state", alone, func(m *Manifest) { m.State = stateIncomplete }, `state "running" is not complete`},
		{"no shards", alone, func(m *Manifest) { m.Shards = 0 }, "it says 0 shards"},
		{"shards of before below none", alone, func(m *Manifest) { m.FromShards = -1 }, "1 shards, of -1"},
		{"rejected below none", alone, func(m *Manifest) { m.Rejected = -1 }, "-1 rejected lines"},
		{"other targets", alone, func(m *Manifest) { m.Targets++ }, "it says 10 targets, and fetches has 9 rows"},
		{"other rows", alone, func(m *Manifest) { of(m, "fetches", 1).Rows-- }, "it says 9 targets, and fetches has 8 rows"},
		{"no totals", alone, func(m *Manifest) { m.RunParts = m.RunParts[1:] }, "it names no part of table summary"},
		{"totals elsewhere", alone, func(m *Manifest) { of(m, "summary", 0).Path = "../secret" },
			`it names "../secret" as the part of table "summary"`},
		{"totals twice", alone, func(m *Manifest) { m.RunParts = append(m.RunParts, m.RunParts[0]) },
			`as the part of table "summary"`},
		{"a table of segments among the totals", alone, func(m *Manifest) {
			m.RunParts = append(m.RunParts, *of(m, "rules", 0))
		}, `as the part of table "rules"`},
		{"totals among the segments", alone, func(m *Manifest) { m.Parts = append([]Part{m.RunParts[0]}, m.Parts...) },
			`as a part of table "summary" and segment 0`},
		{"a part elsewhere", alone, func(m *Manifest) { of(m, "rules", 1).Path = "rules/run=s/part-0000000001.parquet" },
			`as a part of table "rules" and segment 1`},
		{"a part twice", alone, func(m *Manifest) { m.Parts = slices.Insert(m.Parts, 0, m.Parts[0]) },
			`as a part of table "fetches" and segment 0`},
		{"segments in another order", alone, func(m *Manifest) { slices.Reverse(m.Parts) }, "as a part of table"},
		{"a table less", alone, func(m *Manifest) { without(m, "rules", 1) },
			"it names no part of table rules and segment 1"},
		{"agents less", alone, func(m *Manifest) { without(m, "agents", 0) },
			"it names no part of table agents and segment 0"},
		{"a segment less", alone, func(m *Manifest) { without(m, "", 0) }, "segments 0 to 0 are missing"},
		{"no segment", alone, func(m *Manifest) { m.Parts = nil }, "it names no segment"},
		{"a shard less", shards, func(m *Manifest) { without(m, "", 1) }, "it names the shards up to 0, of 2"},
		{"evidence elsewhere", shards, func(m *Manifest) {
			m.WARC = []Part{{layout.WARCTable, 1, "../secret", 3, writtenParts}}
		}, `it names "../secret" as a WARC file of segment 1`},
		{"evidence", shards, func(m *Manifest) {
			m.WARC = []Part{{layout.WARCTable, 1, layout.WARC("s", 1, "a"), 3, writtenParts}}
		}, ""},
	} {
		name := layout.RunFile(row.of.Run, layout.ManifestName)
		change(t, f, name, row.of, row.change)
		_, err := ReadComplete(f, row.of.Run)
		if row.want == "" && err != nil || row.want != "" && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(),
			row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		changed := clone(t, row.of)
		row.change(changed)
		if _, err := ManifestFile(f, changed); changed.Run == row.of.Run && (err == nil) != (row.want == "") {
			t.Errorf("%s: it is written: %v", row.name, err)
		}
	}
}

// The head of a manifest has everything but the records and parts.
func TestTheHeadOfAManifest(t *testing.T) {
	f, p := newFolder(t), described()
	f.begin(t, &p, 0, 1, 2)
	f.finish(t, "r")
	whole, err := ReadManifest(f, "r")
	must(t, err)
	manifest := layout.RunFile("r", layout.ManifestName)
	content, err := f.Read(manifest, maxManifest)
	must(t, err)
	head := *whole
	head.Records, head.Parts = nil, nil
	m, err := ReadManifestHead(f, "r")
	must(t, err)
	if diff := cmp.Diff(&head, m, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Manifest{})); diff != "" ||
		m.Digest() != whole.Digest() {
		t.Error(diff)
	}
	if len(content) < 5000 {
		t.Fatalf("the manifest has %d bytes", len(content))
	}
	damaged := []string{"", "[]", "{", string(content[:100]), string(content[:len(content)-1]), string(content) + "\n"}
	// after the head, too
	for _, at := range []int{30, len(content) / 2, len(content) - 300, len(content) - 40, len(content) - 1} {
		other := bytes.Clone(content)
		other[at] ^= 1
		damaged = append(damaged, string(other))
	}
	for _, text := range damaged {
		f.write(t, manifest, []byte(text))
		for _, read := range []func(store.Store, string) (*Manifest, error){ReadManifest, ReadManifestHead} {
			if _, err := read(f, "r"); !errors.Is(err, ErrDamaged) {
				t.Errorf("%.10q… of %d bytes: %v", text, len(text), err)
			}
		}
	}
	if _, err := ReadManifestHead(f, "s"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such run: %v", err)
	}
	if _, err := ReadManifestHead(f, "../r"); err == nil {
		t.Error("a run ID that leaves the folder is taken")
	}
}

// A manifest that is too large is not read.
func TestHugeManifest(t *testing.T) {
	f, p := newFolder(t), described()
	f.begin(t, &p, 0)
	f.finish(t, "r")
	manifest := filepath.Join(f.dir, filepath.FromSlash(layout.RunFile("r", layout.ManifestName)))
	must(t, os.Truncate(manifest, 2<<30+1)) // without taking room on disk
	for _, read := range []func(store.Store, string) (*Manifest, error){ReadManifest, ReadManifestHead} {
		if _, err := read(f, "r"); err == nil || !strings.Contains(err.Error(), "more than 2147483648 bytes") {
			t.Errorf("error %v", err)
		}
	}
}

// A complete run has the date that its captures give it, wherever that is asked for.
func TestTheDateIsWritten(t *testing.T) {
	f, p, day := newFolder(t), described(), "2024-05-14"
	f.begin(t, &p, 0)
	f.finish(t, "r", schema.Count{Metric: Captured, Key: &day, Count: 1})
	for _, read := range []func(store.Store, string) (*Manifest, error){ReadManifest, ReadManifestHead, ReadOutline} {
		m, err := read(f, "r")
		must(t, err)
		if got := m.Date.Format(DayFormat); got != day {
			t.Errorf("the date is %s", got)
		}
	}
	// A manifest of a version that wrote no date.
	m, err := ReadManifest(f, "r")
	must(t, err)
	change(t, f, layout.RunFile("r", layout.ManifestName), m, func(m *Manifest) { m.Date = time.Time{} })
	if m, err := ReadManifest(f, "r"); err != nil || !m.Date.Equal(p.Started) {
		t.Errorf("of a manifest without a date: %v, %v", m.Date, err)
	}
}

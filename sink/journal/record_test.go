package journal

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
)

func TestARecordIsWrittenOnce(t *testing.T) {
	f, p := newFolder(t), described()
	digest := f.begin(t, &p)
	if _, err := ReadRecord(f, &p, digest, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no record: %v", err)
	}
	first, second := recordOf(&p, digest, 0, ""), recordOf(&p, digest, 0, "")
	first.Note, second.Targets = json.RawMessage(`{"n":1}`), 99
	for _, r := range []*Record{first, second} {
		if won, err := PutRecord(f, r); won != (r == first) || err != nil {
			t.Errorf("won %v, %v", won, err)
		}
	}
	got, err := ReadRecord(f, &p, digest, 0)
	must(t, err)
	if got.Targets != targetsOfSegment || got.Digest() != first.Digest() || len(got.Files()) != len(p.Tables) ||
		!strings.Contains(string(got.Note), `"n": 1`) {
		t.Errorf("the record reads as %+v", got)
	}
}

func TestARecordThatIsTooLarge(t *testing.T) {
	f, p := newFolder(t), described()
	digest := f.begin(t, &p)
	shard := recordOf(&p, digest, 1, strings.Repeat("x", maxSealed/len(schema.TableNames)))
	if won, err := PutRecord(f, shard); won || err == nil || !strings.HasSuffix(err.Error(),
		"more than 67108864: make more shards") {
		t.Errorf("won %v, %.200v", won, err)
	}
	shard.Note = json.RawMessage("{")
	if won, err := PutRecord(f, shard); won || err == nil || !strings.Contains(err.Error(), "record of shard 1: as JSON") {
		t.Errorf("a note that is not JSON: won %v, %v", won, err)
	}
	if records, err := committedRecords(f, &p, digest); len(records) > 0 || err != nil {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// A record names the files that its segment has, all and no others. Otherwise a
// forged record could lead readers elsewhere.
func TestARecordThatIsNotOfItsSegment(t *testing.T) {
	alone, sharded := described(), described()
	sharded.Run, sharded.Shards = "s", 3
	sharded.Configuration = Values{"warc-out": "out.warc.gz"}
	f := newFolder(t)
	records := make(map[*Plan]*Record)
	digests := make(map[*Plan]string)
	for p, attempt := range map[*Plan]string{&alone: "", &sharded: "a"} {
		digests[p] = f.begin(t, p)
		r := recordOf(p, digests[p], 1, attempt)
		if attempt != "" {
			r.WARC = &Part{layout.WARCTable, 1, layout.WARC(p.Run, 1, attempt), 3, writtenParts}
		}
		records[p] = r
	}
	for _, row := range []struct {
		name   string
		of     *Plan
		change func(*Record)
		want   string // in the error, "" for none
	}{
		{"unchanged", &alone, func(*Record) {}, ""},
		{"of another run", &alone, func(r *Record) { r.Run = "x" }, `it is the record of segment 1 of run "x"`},
		{"of another segment", &alone, func(r *Record) { r.Segment = 2 }, "it is the record of segment 2"},
		{"of another plan", &alone, func(r *Record) { r.Plan = strings.Repeat("0", 64) },
			"it belongs to another plan (000000000000…)"},
		{"a path elsewhere", &alone, func(r *Record) { r.Parts[0].Path = "../../secret" },
			`it names "../../secret" as a part of table "fetches" and segment 1`},
		{"the part of another run", &alone, func(r *Record) { r.Parts[0].Path = layout.Part("fetches", "s", 1, "") },
			`it names "fetches/run=s/`},
		{"the part of another table", &alone, func(r *Record) { r.Parts[0].Path = r.Parts[1].Path },
			`it names "groups/run=r/`},
		{"a part of another segment", &alone, func(r *Record) { r.Parts[0].Segment = 0 }, "of segment 0"},
		{"a table that the run has not", &alone, func(r *Record) {
			r.Parts = append(r.Parts, Part{Table: "secrets", Segment: 1})
		}, `as a part of table "secrets"`},
		{"a table that no other segment has", &alone, func(r *Record) {
			r.Parts = append(r.Parts, Part{Table: "agents", Segment: 1, Path: layout.Part("agents", "r", 1, "")})
		}, `as a part of table "agents"`},
		{"a table twice", &alone, func(r *Record) { r.Parts = append(r.Parts, r.Parts[0]) }, "twice"},
		{"a table less", &alone, func(r *Record) { r.Parts = r.Parts[1:] }, "it names no part of table fetches"},
		{"a WARC file that the run does not keep", &alone, func(r *Record) {
			r.WARC = &Part{layout.WARCTable, 1, layout.WARC("r", 1, ""), 3, writtenParts}
		}, "its WARC file is missing, or too much"},
		{"unchanged", &sharded, func(*Record) {}, ""},
		{"a segment, not a shard", &sharded, func(r *Record) { r.Shard = nil }, "it is not the record of a shard"},
		{"of another attempt", &sharded, func(r *Record) { r.Shard.Attempt = "b" }, "of another attempt"},
		{"no WARC file", &sharded, func(r *Record) { r.WARC = nil }, "its WARC file is missing, or too much"},
		{"two WARC files", &sharded, func(r *Record) { r.Shard.WARCFile = &WARCFile{Path: "out.warc.gz"}; r.WARC = nil }, ""},
		{"a WARC file elsewhere", &sharded, func(r *Record) { r.WARC.Path = "../secret" },
			`it names "../secret" as the WARC file of segment 1`},
		{"the WARC file of another shard", &sharded, func(r *Record) { r.WARC.Path = layout.WARC("s", 2, "a") },
			"as the WARC file of segment 1"},
		{"a WARC file of another segment", &sharded, func(r *Record) { r.WARC.Segment = 0 }, "as the WARC file of segment 1"},
		{"a part for a WARC file", &sharded, func(r *Record) { r.WARC.Table = "fetches" }, "as the WARC file of segment 1"},
	} {
		change(t, f, layout.Record(row.of.Run, 1), records[row.of], row.change)
		_, err := ReadRecord(f, row.of, digests[row.of], 1)
		if row.want == "" && err != nil || row.want != "" && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(),
			row.want)) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
	beyond := recordOf(&sharded, digests[&sharded], 3, "a")
	change(t, f, layout.Record("s", 3), beyond, func(r *Record) { r.Shard.WARCFile = new(WARCFile) })
	if _, err := ReadRecord(f, &sharded, digests[&sharded], 3); !errors.Is(err, ErrDamaged) {
		t.Errorf("the fourth of three shards: %v", err)
	}
}

// The manifest of an incomplete run follows from its records, in order.
func TestReadCommitted(t *testing.T) {
	f, p := newFolder(t), described()
	if _, _, err := ReadCommitted(f, "r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no run: %v", err)
	}
	digest := f.begin(t, &p, 2*SegmentsPerVolume, 11, 0, 1)
	f.write(t, layout.Records("r")+"/0000000012.ABCDEFGH.json.tmp", []byte("{"))
	f.write(t, layout.SegmentPart("summary", "r", 12, ""), nil)
	m, records, err := ReadCommitted(f, "r")
	must(t, err)
	var got []int
	for i, r := range records {
		got = append(got, r.Segment)
		if m.Records[i] != (RecordName{r.Segment, r.Digest()}) {
			t.Errorf("record %d is %+v", i, m.Records[i])
		}
	}
	if diff := cmp.Diff([]int{0, 1, 11, 2 * SegmentsPerVolume}, got); diff != "" {
		t.Error(diff)
	}
	if m.Complete() || m.Digest() != "" || m.PlanDigest != digest || m.Targets != 4*targetsOfSegment ||
		len(m.PartsOf("rules")) != 4 || len(m.PartsOf("agents")) != 1 || !m.Date.Equal(p.Started) {
		t.Errorf("the manifest is %+v", m)
	}
	must(t, os.Remove(filepath.Join(f.dir, layout.Record("r", 11))))
	if _, err := ReadRecords(f, &p, digest, []int{0, 11}); err == nil || errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "disappeared") {
		t.Errorf("a record that is gone: %v", err)
	}
	f.write(t, layout.Record("r", 11), []byte("{"))
	if _, _, err := ReadCommitted(f, "r"); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged record: %v", err)
	}
}

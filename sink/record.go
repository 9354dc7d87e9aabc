package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/store"
)

// Record says what a committed segment holds. It is written once, after its
// parts: from that moment they count.
type Record struct {
	Run     string          `json:"run"`
	Plan    string          `json:"plan_sha256"` // of the plan's own digest
	Segment int             `json:"segment"`
	Targets int64           `json:"targets"`
	Note    json.RawMessage `json:"note,omitempty"` // the caller's, see Segment.Note
	Parts   []Part          `json:"parts"`

	digest string // its own
}

// Part is one part file as its record, or the manifest, names it.
type Part struct {
	Table   string `json:"table"`
	Segment int    `json:"segment"` // 0 of a table that has one part for the whole run
	Path    string `json:"path"`    // relative to the output folder, with slashes
	Rows    int64  `json:"rows"`
	store.Digest
}

// ofRun are the tables that have one part for the whole run, written when it
// is complete. Until then each segment keeps its rows beside its record, where
// no view over the tables counts them a second time.
var ofRun = map[string]bool{"summary": true, "examples": true}

// hasPart tells which segments have a part of a table. What does not depend on
// targets stands with segment 0, which every complete run has.
func hasPart(table string, segment int) bool { return table != "agents" || segment == 0 }

const (
	// SegmentsPerVolume keeps the segments of several files apart that are read
	// at the same time: those of the third are numbered from 200,000. Segments
	// are numbered without gaps otherwise.
	SegmentsPerVolume = 100_000

	// MaxVolumes bounds the files of a run, so that the names of parts sort as
	// their numbers do. A monthly crawl of Common Crawl has 100,000.
	MaxVolumes = 100_000

	segmentDigits = 10 // of MaxVolumes × SegmentsPerVolume numbers
)

// segmentName is the number of a segment as it stands in the names of files.
func segmentName(segment int) string { return fmt.Sprintf("%0*d", segmentDigits, segment) }

// PartName is what the part of a segment is called, in the folder of its table.
func PartName(segment int) string { return "part-" + segmentName(segment) + ".parquet" }

// tableFolder holds the parts of a run's table.
func tableFolder(table, run string) string { return path.Join(table, "run="+run) }

// partPath is where the part of a segment, or of a run, lies.
func partPath(table, run string, segment int) string {
	return path.Join(tableFolder(table, run), PartName(segment))
}

func segmentsFolder(run string) string { return runFile(run, "segments") }

func recordPath(run string, segment int) string {
	return path.Join(segmentsFolder(run), segmentName(segment)+".json")
}

// segmentPath is where a segment's rows of a table lie: in its part, or of a
// table of the run beside the record.
func segmentPath(table, run string, segment int) string {
	if ofRun[table] {
		return path.Join(segmentsFolder(run), segmentName(segment)+"."+table+".parquet")
	}
	return partPath(table, run, segment)
}

// checkPart refuses a part that does not lie where its run, table and number
// put it: a path is not opened because it is written somewhere.
func checkPart(p Part, tables []string, want string) error {
	if !slices.Contains(tables, p.Table) || !hasPart(p.Table, p.Segment) || p.Path != want {
		return fmt.Errorf("%w: it names %q as a part of table %q and segment %d", errDamaged, p.Path, p.Table, p.Segment)
	}
	return nil
}

// readRecord reads the record of a segment of a run that was planned so.
func readRecord(s *store.Store, plan *Plan, planDigest string, segment int) (*Record, error) {
	name := recordPath(plan.Run, segment)
	r := new(Record)
	digest, err := readSealed(s, name, maxSealed, r)
	if err != nil {
		return nil, err
	}
	r.digest = digest
	if err := r.check(plan, planDigest, segment); err != nil {
		return nil, fmt.Errorf("%s is %w", s.Path(name), err)
	}
	return r, nil
}

func (r *Record) check(plan *Plan, planDigest string, segment int) error {
	switch {
	case r.Run != plan.Run || r.Segment != segment:
		return fmt.Errorf("%w: it is the record of segment %d of run %q", errDamaged, r.Segment, r.Run)
	case r.Plan != planDigest:
		return fmt.Errorf("%w: it belongs to another plan (%.12s…) than the run has (%.12s…)", errDamaged, r.Plan, planDigest)
	}
	for _, table := range plan.Tables {
		named := slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Table == table })
		if hasPart(table, segment) && !named {
			return fmt.Errorf("%w: it names no part of table %s", errDamaged, table)
		}
	}
	var tables []string
	for _, p := range r.Parts {
		if p.Segment != segment {
			return fmt.Errorf("%w: it names %q of segment %d", errDamaged, p.Path, p.Segment)
		}
		if err := checkPart(p, plan.Tables, segmentPath(p.Table, plan.Run, segment)); err != nil {
			return err
		}
		if slices.Contains(tables, p.Table) {
			return fmt.Errorf("%w: it names %s twice", errDamaged, p.Path)
		}
		tables = append(tables, p.Table)
	}
	return nil
}

// readRecords reads the records of the committed segments, by their numbers.
func readRecords(s *store.Store, plan *Plan, planDigest string) ([]*Record, error) {
	files, err := s.List(segmentsFolder(plan.Run))
	if err != nil {
		return nil, fmt.Errorf("look for committed segments: %w", err)
	}
	var records []*Record
	for _, f := range files {
		segment, ok := recordNumber(f.Name())
		if !ok {
			continue
		}
		r, err := readRecord(s, plan, planDigest, segment)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s disappeared while it was read", s.Path(recordPath(plan.Run, segment)))
		}
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// recordNumber is the segment that a file is the record of by its name.
func recordNumber(name string) (int, bool) {
	number, ok := strings.CutSuffix(name, ".json")
	if !ok || len(number) != segmentDigits {
		return 0, false
	}
	n, err := strconv.ParseUint(number, 10, 63)
	return int(n), err == nil
}

// gap describes the segments that are missing between records, "" for none: a
// file that is read beside others begins at a multiple of [SegmentsPerVolume].
func gap(before, segment int) string {
	if segment == before+1 || segment%SegmentsPerVolume == 0 {
		return ""
	}
	return fmt.Sprintf("segments %d to %d are missing", before+1, segment-1)
}

package sink

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/robocensus/robocensus/sink/internal/layout"
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

// Digest is the record's own.
func (r *Record) Digest() string { return r.digest }

// Part is one part file as its record, or the manifest, names it.
type Part struct {
	Table   string `json:"table"`
	Segment int    `json:"segment"` // 0 of a table that has one part for the whole run
	Path    string `json:"path"`    // relative to the output folder, with slashes
	Rows    int64  `json:"rows"`
	store.Digest
}

const (
	// SegmentsPerVolume keeps the segments of several files apart that are read
	// at the same time: those of the third are numbered from 200,000. Segments
	// are numbered without gaps otherwise.
	SegmentsPerVolume = layout.SegmentsPerVolume

	// MaxVolumes bounds the files of a run, so that the names of parts sort as
	// their numbers do. A monthly crawl of Common Crawl has 100,000.
	MaxVolumes = layout.MaxVolumes
)

// checkPart refuses a part that does not lie where its run, table and number
// put it: a path is not opened because it is written somewhere.
func checkPart(p Part, tables []string, want string) error {
	if !slices.Contains(tables, p.Table) || !layout.HasPart(p.Table, p.Segment) || p.Path != want {
		return fmt.Errorf("%w: it names %q as a part of table %q and segment %d", ErrDamaged, p.Path, p.Table, p.Segment)
	}
	return nil
}

// ReadRecord reads the record of a segment of a run that was planned so.
func ReadRecord(s *store.Store, plan *Plan, planDigest string, segment int) (*Record, error) {
	name := layout.Record(plan.Run, segment)
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
		return fmt.Errorf("%w: it is the record of segment %d of run %q", ErrDamaged, r.Segment, r.Run)
	case r.Plan != planDigest:
		return fmt.Errorf("%w: it belongs to another plan (%.12s…) than the run has (%.12s…)", ErrDamaged, r.Plan, planDigest)
	}
	for _, table := range plan.Tables {
		named := slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Table == table })
		if layout.HasPart(table, segment) && !named {
			return fmt.Errorf("%w: it names no part of table %s", ErrDamaged, table)
		}
	}
	var tables []string
	for _, p := range r.Parts {
		if p.Segment != segment {
			return fmt.Errorf("%w: it names %q of segment %d", ErrDamaged, p.Path, p.Segment)
		}
		if err := checkPart(p, plan.Tables, layout.SegmentPart(p.Table, plan.Run, segment)); err != nil {
			return err
		}
		if slices.Contains(tables, p.Table) {
			return fmt.Errorf("%w: it names %s twice", ErrDamaged, p.Path)
		}
		tables = append(tables, p.Table)
	}
	return nil
}

// readRecords reads the records of the committed segments, by their numbers.
func readRecords(s *store.Store, plan *Plan, planDigest string) ([]*Record, error) {
	files, err := s.List(layout.Records(plan.Run))
	if err != nil {
		return nil, fmt.Errorf("look for committed segments: %w", err)
	}
	var records []*Record
	for _, f := range files {
		segment, ok := layout.RecordNumber(f.Name())
		if !ok {
			continue
		}
		r, err := ReadRecord(s, plan, planDigest, segment)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s disappeared while it was read", s.Path(layout.Record(plan.Run, segment)))
		}
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

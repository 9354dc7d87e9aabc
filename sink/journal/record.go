package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// Record lists the parts of a committed segment. It is written once, after the
// parts: from that moment they count.
type Record struct {
	Run     string          `json:"run"`
	Plan    string          `json:"plan_sha256"` // digest at the end of the plan
	Segment int             `json:"segment"`
	Targets int64           `json:"targets"`
	Note    json.RawMessage `json:"note,omitempty"`  // of the caller, see sink.Segment
	Shard   *ShardRecord    `json:"shard,omitempty"` // nil in a run without shards
	Archive *ArchiveRecord  `json:"archive,omitempty"`
	Parts   []Part          `json:"parts"`
	WARC    *Part           `json:"warc,omitempty"` // its requests and answers, if the run keeps them

	digest string // digest of this record
}

// ArchiveRecord says which archive a segment comes from.
type ArchiveRecord struct {
	Bytes int64  `json:"bytes,omitempty"`
	Tag   string `json:"entity_tag,omitempty"` // of an archive with [Input.IdentifiedWhenRead]
	// End marks the last segment of an archive that was read to its end and in which
	// nothing was rejected: once all its segments are committed, resuming need not
	// read it again. Skipped counts what was skipped in it.
	End     bool             `json:"end,omitempty"`
	Skipped map[string]int64 `json:"skipped,omitempty"`
}

// Files returns the files that the record names.
func (r *Record) Files() []Part {
	if r.WARC == nil {
		return r.Parts
	}
	return append(slices.Clone(r.Parts), *r.WARC)
}

// ShardRecord holds what the record of a shard says besides that of a segment.
type ShardRecord struct {
	Attempt      string           `json:"attempt"`
	Started      time.Time        `json:"started"` // of the first process that worked on the attempt
	Finished     time.Time        `json:"finished"`
	Rejected     int64            `json:"rejected"` // lines of rejected.csv
	Skipped      map[string]int64 `json:"skipped,omitempty"`
	WARCFile     *WARCFile        `json:"warc_file,omitempty"`     // of a run in an object store
	RejectedFile *store.Digest    `json:"rejected_file,omitempty"` // segments/<shard>-<attempt>.rejected.csv
}

// Digest returns the digest at the end of the record.
func (r *Record) Digest() string { return r.digest }

// Part is a part file as its record, or the manifest, names it.
type Part struct {
	Table   string `json:"table"`
	Segment int    `json:"segment"` // 0 for a table with one part for the whole run
	Path    string `json:"path"`    // relative to the output folder, with slashes
	Rows    int64  `json:"rows"`
	store.Digest
}

// PartsOf returns the parts of a table among others.
func PartsOf(table string, among []Part) (parts []Part) {
	for _, p := range among {
		if p.Table == table {
			parts = append(parts, p)
		}
	}
	return parts
}

const (
	// SegmentsPerVolume separates the segments of files that are read at the same
	// time: those of the third file are numbered from 200,000. Within a file,
	// numbers have no gaps.
	SegmentsPerVolume = layout.SegmentsPerVolume

	// MaxVolumes bounds the files of a run, so that the names of parts sort like
	// their numbers. A monthly crawl of Common Crawl has 100,000.
	MaxVolumes = layout.MaxVolumes
)

// checkPart returns an error if the path of a part is not want, the one that package
// layout gives for its run, table, segment and attempt: no path is opened just because a
// file names it.
func checkPart(p Part, tables []string, want string) error {
	if !slices.Contains(tables, p.Table) || !layout.HasPart(p.Table, p.Segment) || p.Path != want {
		return fmt.Errorf("%w: it names %q as a part of table %q and segment %d", ErrDamaged, p.Path, p.Table, p.Segment)
	}
	return nil
}

// ReadRecord reads the record of a segment. A record of another plan is an error.
func ReadRecord(s store.Store, plan *Plan, planDigest string, segment int) (*Record, error) {
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

// PutRecord writes the record of a segment or shard, unless there is one: from that
// moment its parts count. After [store.ErrInDoubt] it may exist.
func PutRecord(s store.Store, r *Record) (won bool, err error) {
	of, tooMuch := "segment", "its note is too long"
	if r.Shard != nil {
		of, tooMuch = "shard", "make more shards"
	}
	content, digest, err := seal(r)
	if err != nil {
		return false, fmt.Errorf("record of %s %d: %w", of, r.Segment, err)
	}
	if len(content) > maxSealed {
		return false, fmt.Errorf("record of %s %d has %d bytes, more than %d: %s", of, r.Segment, len(content), maxSealed,
			tooMuch)
	}
	r.digest = digest
	if won, err = s.Put(layout.Record(r.Run, r.Segment), content); err != nil {
		err = fmt.Errorf("write the record of %s %d: %w", of, r.Segment, err)
	}
	return won, err
}

func (r *Record) check(plan *Plan, planDigest string, segment int) error {
	switch {
	case r.Run != plan.Run || r.Segment != segment:
		return fmt.Errorf("%w: it is the record of segment %d of run %q", ErrDamaged, r.Segment, r.Run)
	case r.Plan != planDigest:
		return fmt.Errorf("%w: it belongs to another plan (%.12s…) than the run has (%.12s…)", ErrDamaged, r.Plan, planDigest)
	case plan.Shards > 1 && (r.Shard == nil || segment >= plan.Shards):
		return fmt.Errorf("%w: it is not the record of a shard", ErrDamaged)
	}
	for _, table := range plan.Tables {
		named := slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Table == table })
		if layout.HasPart(table, segment) && !named {
			return fmt.Errorf("%w: it names no part of table %s", ErrDamaged, table)
		}
	}
	if err := r.checkWARC(plan); err != nil {
		return err
	}
	var paths []string
	for _, p := range r.Parts {
		if p.Segment != segment {
			return fmt.Errorf("%w: it names %q of segment %d", ErrDamaged, p.Path, p.Segment)
		}
		if err := checkPart(p, plan.Tables, layout.SegmentPart(p.Table, plan.Run, segment,
			layout.Attempt(p.Path))); err != nil {
			return err
		}
		if slices.Contains(paths, p.Path) {
			return fmt.Errorf("%w: it names %s twice", ErrDamaged, p.Path)
		}
		if r.Shard != nil && layout.Attempt(p.Path) != r.Shard.Attempt {
			return fmt.Errorf("%w: it names %s of another attempt", ErrDamaged, p.Path)
		}
		paths = append(paths, p.Path)
	}
	return nil
}

// committedRecords reads the records of the committed segments, in order.
func committedRecords(s store.Store, plan *Plan, planDigest string) ([]*Record, error) {
	files, err := s.List(layout.Records(plan.Run))
	if err != nil {
		return nil, fmt.Errorf("look for committed segments: %w", err)
	}
	var segments []int
	for _, f := range files {
		if segment, ok := layout.RecordNumber(f.Name()); ok {
			segments = append(segments, segment)
		}
	}
	return ReadRecords(s, plan, planDigest, segments)
}

// readers is the number of records that are read at the same time: most of the time
// an object store is waited for.
const readers = 16

// ReadRecords reads the records of segments that are known to be committed. One that is
// not there is an error.
func ReadRecords(s store.Store, plan *Plan, planDigest string, segments []int) ([]*Record, error) {
	var g errgroup.Group
	g.SetLimit(readers)
	records := make([]*Record, len(segments))
	for i, segment := range segments {
		g.Go(func() (err error) {
			records[i], err = ReadRecord(s, plan, planDigest, segment)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s disappeared while it was read", s.Path(layout.Record(plan.Run, segment)))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return records, nil
}

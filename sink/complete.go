package sink

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// Completion holds what is known only at the end of a run.
type Completion struct {
	Finished time.Time
	Tally
	Totals
	Inputs   []Input
	Rejected *store.Digest // digest of rejected.csv, or nil
}

// Totals holds the counters and examples of all segments of a run (see package
// summary).
type Totals struct {
	Counts   []Count
	Examples []Example
}

// Complete completes the run and releases its lock:
//
//	totals of the segments   ─► one part of summary, one of examples
//	plan, records, parts     ─► manifest.json, if absent
//	counters of the segments ─► removed
//
// After a crash between any two steps, [Open] resumes the run, or finds it complete
// and cleans up.
func (r *Run) Complete(c Completion) error {
	if err := r.complete(c); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lock.Release()
	r.lock = nil
	return nil
}

func (r *Run) complete(c Completion) error {
	r.mu.Lock()
	closed := r.lock == nil
	records := slices.SortedFunc(maps.Values(r.records), func(a, b *Record) int { return cmp.Compare(a.Segment, b.Segment) })
	r.mu.Unlock()
	if closed {
		return fmt.Errorf("run %s is closed", r.plan.Run)
	}
	m := &Manifest{Plan: r.plan, PlanDigest: r.planDigest, State: stateComplete, Finished: &c.Finished, RejectedFile: c.Rejected}
	m.add(records)
	if err := whole(records); err != nil {
		return err
	}
	if m.Targets != c.Targets {
		return fmt.Errorf("the segments of run %s have %d targets, and the source had %d", r.plan.Run, m.Targets, c.Targets)
	}
	m.Tally, m.Inputs = c.Tally, c.Inputs
	if err := inPlace(r.store, m.Parts); err != nil {
		return err
	}
	merged, err := r.merge(c.Totals)
	if err != nil {
		return err
	}
	var counters []Part
	m.RunParts = merged
	m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool {
		if layout.OfRun[p.Table] {
			counters = append(counters, p)
		}
		return layout.OfRun[p.Table]
	})
	content, _, err := seal(m)
	if err != nil {
		return fmt.Errorf("manifest of the run: %w", err)
	}
	// All segments are committed, so no answer is needed.
	if err := r.store.RemoveAll(layout.AnswersFolder(r.plan.Run)); err != nil {
		return fmt.Errorf("remove stored answers: %w", err)
	}
	free, err := r.store.Put(layout.RunFile(r.plan.Run, layout.ManifestName), content)
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if !free {
		return fmt.Errorf("run %s was completed by another process", r.plan.Run)
	}
	r.mu.Lock()
	r.merged = merged
	r.mu.Unlock()
	for _, p := range counters {
		r.store.Remove(p.Path) // the run is complete: a leftover is harmless
	}
	return nil
}

// merge writes the parts of the tables with one part for the whole run.
func (r *Run) merge(t Totals) (parts []Part, err error) {
	for _, table := range r.plan.Tables {
		var p Part
		switch table {
		case "summary":
			p, err = writeTotals(r, table, t.Counts)
		case "examples":
			p, err = writeTotals(r, table, t.Examples)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func writeTotals[R any](r *Run, table string, rows []R) (Part, error) {
	if n := r.Rows()[table]; n > 0 && len(rows) == 0 {
		return Part{}, fmt.Errorf("the segments of run %s have %d rows of %s that are not summed up", r.plan.Run, n, table)
	}
	p := Part{Table: table, Path: layout.Part(table, r.plan.Run, 0)}
	w, err := newWriter[R](r.store, p, r.toolVersion, r.metadata, r.spareOf(table))
	if err != nil {
		return Part{}, err
	}
	if err = (Table[R]{w}).Write(rows...); err == nil {
		p, err = w.finish()
	}
	if err == nil {
		err = w.publish()
	}
	if err == nil {
		err = r.store.Sync(layout.TableFolder(table, r.plan.Run))
	}
	if err != nil {
		w.discard()
		return Part{}, err
	}
	return p, nil
}

// whole returns an error if a segment is missing between records.
func whole(records []*Record) error {
	before := -1
	for _, record := range records {
		if text := layout.Gap(before, record.Segment); text != "" {
			return fmt.Errorf("the run cannot be completed: %s", text)
		}
		before = record.Segment
	}
	return nil
}

// inPlace returns an error if a committed part is missing or has the wrong size.
func inPlace(s *store.Store, parts []Part) error {
	for _, p := range parts {
		info, err := s.Stat(p.Path)
		if err != nil {
			return fmt.Errorf("a committed part is missing: %w", err)
		}
		if !info.Mode().IsRegular() || info.Size() != p.Bytes {
			return fmt.Errorf("committed part %s has %d bytes, but %d were written", p.Path, info.Size(), p.Bytes)
		}
	}
	return nil
}

package sink

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/store"
)

// Completion is what is known only at the end of a run.
type Completion struct {
	Finished time.Time
	Tally
	Inputs   []Input
	Rejected *store.Digest // of rejected.csv, nil where there is none
}

// Complete makes the run complete, and lets others at it:
//
//	counters of the segments ─► one part of summary, one of examples
//	plan, records, parts     ─► manifest.json, if absent
//	counters of the segments ─► removed
//
// A crash between any two steps leaves a run that [Open] resumes, or finds
// complete and tidies up.
func (r *Run) Complete(ctx context.Context, c Completion) error {
	if err := r.complete(ctx, c); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lock.Release()
	r.lock = nil
	return nil
}

func (r *Run) complete(ctx context.Context, c Completion) error {
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
	if r.mergedOf != len(records) {
		if err := r.SumUp(ctx); err != nil {
			return err
		}
	}
	var counters []Part
	m.RunParts = r.merged
	m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool {
		if ofRun[p.Table] {
			counters = append(counters, p)
		}
		return ofRun[p.Table]
	})
	content, _, err := seal(m)
	if err != nil {
		return fmt.Errorf("manifest of the run: %w", err)
	}
	// All segments are committed: no answer is needed any more.
	if err := r.store.RemoveAll(answersFolder(r.plan.Run)); err != nil {
		return fmt.Errorf("remove stored answers: %w", err)
	}
	free, err := r.store.Put(runFile(r.plan.Run, manifestName), content)
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if !free {
		return fmt.Errorf("run %s was completed by another process", r.plan.Run)
	}
	for _, p := range counters {
		r.store.Remove(p.Path) // the run is complete: what stays does no harm
	}
	return nil
}

// whole refuses records between which segments are missing.
func whole(records []*Record) error {
	before := -1
	for _, record := range records {
		if text := gap(before, record.Segment); text != "" {
			return fmt.Errorf("the run cannot be completed: %s", text)
		}
		before = record.Segment
	}
	return nil
}

// inPlace finds out whether committed parts are there, as far as their sizes
// tell.
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

package sink

import (
	"fmt"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
)

// Captures returns the stored captures of an uncommitted segment. They stay open until
// the segment is committed, which removes their file, or the run is closed.
func (r *Run) Captures(segment int) (*journal.Captures, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.captures[segment]; c != nil {
		return c, nil
	}
	c, err := r.openCaptures(segment)
	if err != nil {
		return nil, fmt.Errorf("store captures: %w", err)
	}
	r.captures[segment] = c
	return c, nil
}

func (r *Run) openCaptures(segment int) (*journal.Captures, error) {
	if r.captures == nil {
		r.captures = make(map[int]*journal.Captures)
		if err := r.store.MakeFolder(layout.CapturesFolder(r.plan.Run)); err != nil {
			return nil, err
		}
	}
	return journal.OpenCaptures(r.folder, layout.Captures(r.plan.Run, segment), r.planDigest)
}

// Kept returns the number of targets in committed segments, and of other targets
// with a stored capture. It syncs these captures to disk.
func (r *Run) Kept() (committed, captured int64, err error) {
	folder := layout.CapturesFolder(r.plan.Run)
	files, err := r.store.List(folder)
	for _, f := range files {
		segment, ok := layout.SegmentNumber(f.Name())
		if err != nil || !ok || r.Committed(segment) != nil {
			continue
		}
		var c *journal.Captures
		if c, err = r.Captures(segment); err == nil {
			var kept int64
			kept, err = c.Sync()
			captured += kept
		}
	}
	if err == nil && captured > 0 {
		err = r.store.Sync(folder)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("store captures: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.records {
		committed += record.Targets
	}
	return committed, captured, nil
}

// dropCaptures removes the captures of a committed segment. It ignores errors, because
// completion removes the whole folder.
func (r *Run) dropCaptures(segment int) {
	r.mu.Lock()
	c := r.captures[segment]
	delete(r.captures, segment)
	r.mu.Unlock()
	if c != nil {
		c.Close()
		r.store.Remove(layout.Captures(r.plan.Run, segment))
	}
}

// sweepCaptures removes the captures of all committed segments.
func (r *Run) sweepCaptures() error {
	files, err := r.store.List(layout.CapturesFolder(r.plan.Run))
	for _, f := range files {
		if segment, ok := layout.SegmentNumber(f.Name()); err == nil && ok && r.records[segment] != nil {
			err = r.store.Remove(layout.Captures(r.plan.Run, segment))
		}
	}
	if err != nil {
		return fmt.Errorf("clean up the run: %w", err)
	}
	return nil
}

package sink

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Completion holds what is known only at the end of a run.
type Completion struct {
	Finished time.Time
	journal.Tally
	Totals
	Inputs   []journal.Input
	Rejected *store.Digest // digest of rejected.csv, or nil
	WARCOut  string        // file for the WARC records of all segments, "" to leave them in the folder
}

// Totals holds the counters and examples of all segments of a run (see package
// summary).
type Totals struct {
	Counts      []schema.Count
	LabelCounts iter.Seq[[]schema.LabelCount] // in parts, each valid until the next; nil for none
	Examples    []schema.Example
}

// Complete completes the run and releases its lock:
//
//	totals of the segments   ─► one part of summary, one of examples
//	WARC files of the segments ─► the file of --warc-out, if absent
//	plan, records, parts     ─► manifest.json, if absent
//	counters, WARC files of the segments ─► removed
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
	if r.spool != nil {
		r.spool.made = true
	}
	return nil
}

func (r *Run) complete(c Completion) error {
	r.mu.Lock()
	closed := r.lock == nil
	records := slices.SortedFunc(maps.Values(r.records), bySegment)
	r.mu.Unlock()
	if closed {
		return fmt.Errorf("run %s is closed", r.plan.Run)
	}
	m, counters, err := r.conclude(records, c, "")
	if err != nil {
		return err
	}
	content, err := journal.ManifestFile(r.store, m)
	if err != nil {
		return err
	}
	// All segments are committed, so no capture is needed.
	if err := r.store.RemoveAll(layout.CapturesFolder(r.plan.Run)); err != nil {
		return fmt.Errorf("remove stored captures: %w", err)
	}
	// rejected.csv has its name since the run began. Without this, a loss of power may keep
	// the manifest in the same folder, and lose that name.
	if err := r.store.Sync(layout.RunFile(r.plan.Run)); err != nil {
		return fmt.Errorf("sync the folder of the run: %w", err)
	}
	won, err := r.store.Put(layout.RunFile(r.plan.Run, layout.ManifestName), content)
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if !won {
		return fmt.Errorf("run %s was completed by another process", r.plan.Run)
	}
	r.mu.Lock()
	r.merged = m.RunParts
	r.mu.Unlock()
	for _, p := range counters {
		r.store.Remove(p.Path) // the run is complete: a leftover is harmless
	}
	if m.WARCFile != nil {
		r.store.RemoveAll(layout.WARCFolder(r.plan.Run))
	}
	return nil
}

func bySegment(a, b *journal.Record) int { return cmp.Compare(a.Segment, b.Segment) }

// conclude writes the parts of the tables with one part for the whole run, and
// returns the manifest of the run and the segments' parts that the run's replace.
func (o *output) conclude(records []*journal.Record, c Completion, attempt string) (m *journal.Manifest,
	replaced []journal.Part, err error) {
	m = journal.NewManifest(o.plan, o.planDigest, records)
	if err := checkGaps(records); err != nil {
		return nil, nil, err
	}
	if m.Targets != c.Targets {
		return nil, nil, fmt.Errorf("the segments of run %s have %d targets, and the source had %d", o.plan.Run, m.Targets,
			c.Targets)
	}
	m.Tally, m.RejectedFile = c.Tally, c.Rejected
	m.Finish(c.Finished, c.Inputs, c.Counts)
	if err := checkSizes(o.store, m.Files()); err != nil {
		return nil, nil, err
	}
	m.Parts = slices.DeleteFunc(m.Parts, func(p journal.Part) bool {
		if layout.OfRun[p.Table] {
			replaced = append(replaced, p)
		}
		return layout.OfRun[p.Table]
	})
	if err := o.writeWARC(m, c.WARCOut); err != nil {
		return nil, nil, err
	}
	m.RunParts, err = o.merge(c.Totals, replaced, attempt)
	return m, replaced, err
}

// merge writes the parts of the tables with one part for the whole run, which
// replace parts of the segments.
func (o *output) merge(t Totals, replaced []journal.Part, attempt string) (parts []journal.Part, err error) {
	for _, table := range o.plan.Tables {
		var p journal.Part
		switch table {
		case "summary":
			p, err = writeTotals(o, table, slices.Values([][]schema.Count{t.Counts}), replaced, attempt)
		case "label_counts":
			p, err = writeTotals(o, table, t.LabelCounts, replaced, attempt)
		case "examples":
			p, err = writeTotals(o, table, slices.Values([][]schema.Example{t.Examples}), replaced, attempt)
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

func writeTotals[R any](o *output, table string, rows iter.Seq[[]R], replaced []journal.Part, attempt string) (
	journal.Part, error) {
	p := journal.Part{Table: table, Path: layout.Part(table, o.plan.Run, 0, attempt)}
	w, err := newWriter[R](o.store, p, o.toolVersion, o.metadata, o.spareOf(table))
	if err != nil {
		return journal.Part{}, err
	}
	if rows != nil {
		for some := range rows {
			if err = (Table[R]{w}).Write(some...); err != nil {
				break
			}
		}
	}
	if err == nil {
		p, err = w.finish()
	}
	if err == nil && p.Rows == 0 {
		var n int64
		for _, of := range journal.PartsOf(table, replaced) {
			n += of.Rows
		}
		if n > 0 {
			err = fmt.Errorf("the segments of run %s have %d rows of %s that are not summed up", o.plan.Run, n, table)
		}
	}
	if err == nil {
		err = w.publish()
	}
	if err == nil {
		err = o.store.Sync(layout.TableFolder(table, o.plan.Run))
	}
	if err != nil {
		w.discard()
		return journal.Part{}, err
	}
	return p, nil
}

// checkGaps returns an error if a segment is missing between records.
func checkGaps(records []*journal.Record) error {
	before := -1
	for _, record := range records {
		if text := layout.Gap(before, record.Segment); text != "" {
			return fmt.Errorf("the run cannot be completed: %s", text)
		}
		before = record.Segment
	}
	return nil
}

// checkSizes returns an error if a committed part is missing or has the wrong size.
func checkSizes(s store.Store, parts []journal.Part) error {
	for _, p := range parts {
		info, err := s.Stat(p.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("a committed part is missing: %w", err)
		}
		if err != nil { // the part may be whole
			return err
		}
		if !info.Mode().IsRegular() || info.Size() != p.Bytes {
			return fmt.Errorf("committed part %s is %w: it has %d bytes, but %d were written", p.Path, journal.ErrDamaged,
				info.Size(), p.Bytes)
		}
	}
	return nil
}

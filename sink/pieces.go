package sink

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// A segment of several pieces is written piece by piece, several at a time and in any
// order. Their parts lie beside the records, where no query finds them and the next start
// of an interrupted run removes them, until all are joined:
//
//	_runs/R/segments/<segment>-<piece>.<table>.parquet ─► <table>/run=R/part-<segment>.parquet

// Piece starts a piece of segment index, counted from 0. Its Commit keeps it for [Run.Join],
// with which the segment counts; Note and Archive of the piece are not used.
func (r *Run) Piece(index, piece int) (*Segment, error) {
	if err := r.beginPiece(index); err != nil {
		return nil, err
	}
	return r.start(&Segment{run: r, index: index, piece: piece})
}

// Join commits a segment of the pieces that are kept: its record gets their targets and
// one part for each table, or several of up to 1 GiB.
func (r *Run) Join(ctx context.Context, record *journal.Record) (err error) {
	pieces := r.takePieces(record.Segment)
	defer func() {
		for _, p := range pieces {
			r.drop(p)
		}
		if err != nil && !errors.Is(err, store.ErrInDoubt) {
			r.drop(record)
			r.giveUp(record.Segment)
		}
	}()
	record.Parts = []journal.Part{}
	var warc []journal.Part
	for _, p := range pieces {
		if record.Targets += p.Targets; p.WARC != nil {
			warc = append(warc, *p.WARC)
		}
	}
	of := func(table string) (parts []journal.Part) {
		for _, p := range pieces {
			parts = append(parts, journal.PartsOf(table, p.Parts)...)
		}
		return parts
	}
	if err = r.copyTables(ctx, r.store, of, "", record); err == nil {
		err = r.copyWARC(ctx, r.store, warc, "", record)
	}
	if err == nil {
		err = r.enter(record)
	}
	if err != nil {
		return fmt.Errorf("commit segment %d: %w", record.Segment, err)
	}
	r.dropCaptures(record.Segment)
	return nil
}

// beginPiece reserves the segment with the first of its pieces.
func (r *Run) beginPiece(index int) error {
	r.mu.Lock()
	begun := r.pieces[index] != nil
	if !begun {
		r.pieces[index] = make(map[int]*journal.Record)
	}
	r.mu.Unlock()
	if begun {
		return nil
	}
	return r.begin(index)
}

// keep keeps a piece that is written.
func (r *Run) keep(piece int, record *journal.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pieces[record.Segment][piece] = record
}

// takePieces returns the pieces of a segment that are kept, in order.
func (r *Run) takePieces(index int) (pieces []*journal.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.pieces[index]
	delete(r.pieces, index)
	for _, piece := range slices.Sorted(maps.Keys(kept)) {
		pieces = append(pieces, kept[piece])
	}
	return pieces
}

// drop removes the files that a record names.
func (o *output) drop(r *journal.Record) {
	for _, p := range r.Files() {
		o.store.Remove(p.Path)
	}
}

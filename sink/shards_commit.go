package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// send commits the complete run of the same ID in a folder, the spool, as the shard of this
// process; nil if the shard is committed. It calls complete if no other shard is left. It
// reports whether this attempt won, and how many shards are not committed.
func (s *ShardedRun) send(ctx context.Context, spool store.Store, note json.RawMessage,
	complete func(*ShardedRun) error) (won bool, left int, err error) {
	if s.complete {
		return false, 0, nil
	}
	if spool != nil {
		if won, err = s.commit(ctx, spool, note); err != nil && (ctx.Err() != nil || !s.isLost()) {
			return false, 0, fmt.Errorf("commit shard %d of %d: %w", s.shard, s.plan.Shards, err)
		}
	}
	if left, err = s.uncommitted(); err != nil {
		return won, left, err
	}
	if left > 0 {
		if !won {
			err = s.checkCommitted()
		}
		return won, left, err
	}
	done, err := s.completed()
	if err == nil && !done {
		if err = complete(s); err != nil {
			// A process that completes the run removes what others still read.
			if done, e := s.completed(); e == nil && done {
				err = nil
			}
		}
	}
	if err != nil {
		if lost := s.findLost(); lost != nil && ctx.Err() == nil {
			err = lost
		}
		err = fmt.Errorf("complete the run: %w", err)
	}
	return won, 0, err
}

// checkCommitted returns an error if the shard of this process, which another attempt has
// committed, is lost. Otherwise only the process that commits the last shard would find that.
func (s *ShardedRun) checkCommitted() error {
	err := s.checkShard(s.shard)
	if err != nil {
		// Completion replaces parts that the record names.
		if done, e := s.completed(); e == nil && done {
			return nil
		}
	}
	return err
}

// commit copies the complete run of the same ID in a folder, the spool, to this run and
// writes the record of the shard. It reports whether this attempt won: if another
// has committed the shard, commit removes what it copied. note is the caller's.
func (s *ShardedRun) commit(ctx context.Context, spool store.Store, note json.RawMessage) (won bool, err error) {
	shard := s.shard
	if done, err := s.committed(shard); err != nil || done {
		return false, err // before queries over the folder see the parts of a loser
	}
	m, err := journal.ReadComplete(spool, s.plan.Run)
	if err != nil {
		return false, fmt.Errorf("commit shard %d: %w", shard, err)
	}
	r := &journal.Record{Run: s.plan.Run, Plan: s.planDigest, Segment: shard, Targets: m.Targets, Note: note,
		Parts: []journal.Part{}, Shard: &journal.ShardRecord{
			Attempt: s.attempt, Started: m.Started, Finished: *m.Finished, Rejected: m.Rejected, Skipped: m.Skipped,
			RejectedFile: m.RejectedFile,
		}}
	defer func() {
		if !won && !errors.Is(err, store.ErrInDoubt) {
			s.discard(r)
		}
	}()
	if err := s.copyParts(ctx, spool, m, r); err != nil {
		// Completion may have removed the parts of a losing attempt.
		if ctx.Err() == nil && s.isLost() {
			return false, nil
		}
		if e := s.checkPlan(); e != nil {
			err = e
		}
		return false, err
	}
	if err := s.checkPlan(); err != nil {
		return false, err
	}
	return journal.PutRecord(s.store, r)
}

// copyParts copies the parts and the rejected lines of a shard's run.
func (s *ShardedRun) copyParts(ctx context.Context, from store.Store, m *journal.Manifest, r *journal.Record) error {
	if err := s.copyTables(ctx, from, m.PartsOf, s.attempt, r); err != nil {
		return err
	}
	r.Shard.WARCFile = m.WARCFile
	if err := s.copyWARC(ctx, from, m.WARC, s.attempt, r); err != nil {
		return err
	}
	if r.Shard.RejectedFile == nil {
		return nil
	}
	_, err := store.Write(s.store, layout.ShardRejected(s.plan.Run, r.Segment, s.attempt), func(w io.Writer) error {
		f, err := store.OpenWritten(ctx, from, layout.RunFile(s.plan.Run, layout.RejectedName), *m.RejectedFile)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
	return err
}

// copyTables joins the parts of each table into those of a segment or a shard, which the
// record names.
func (o *output) copyTables(ctx context.Context, from store.Store, of func(table string) []journal.Part, attempt string,
	r *journal.Record) error {
	for _, table := range o.plan.Tables {
		if !layout.HasPart(table, r.Segment) {
			continue
		}
		for i, group := range groupParts(of(table)) {
			name := attempt
			if i > 0 {
				name = strings.TrimPrefix(fmt.Sprintf("%s-%d", attempt, i), "-")
			}
			p := journal.Part{Table: table, Segment: r.Segment, Path: layout.SegmentPart(table, o.plan.Run, r.Segment, name)}
			for _, part := range group {
				p.Rows += part.Rows
			}
			var err error
			if p.Digest, err = store.Write(o.store, p.Path,
				func(w io.Writer) error { return joinParts(ctx, w, from, group) }); err != nil {
				return fmt.Errorf("copy table %s of segment %d: %w", table, r.Segment, err)
			}
			r.Parts = append(r.Parts, p)
		}
		if err := o.store.Sync(path.Dir(layout.SegmentPart(table, o.plan.Run, r.Segment, ""))); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of a part of a shard, or of a segment of several pieces: bytes, unless a single part
// has more, the parts that it is made of, and row groups, whose descriptions concatenate and
// readers hold in memory.
const (
	maxPartBytes   = 1 << 30
	maxPartsJoined = 400
	maxRowGroups   = 10_000
)

// groupParts divides parts into consecutive groups, each of which becomes one part.
func groupParts(parts []journal.Part) (groups [][]journal.Part) {
	var bytes, rowGroups int64
	for i, p := range parts {
		n := p.Rows/shred.RowGroup + 1
		if i == 0 || bytes+p.Bytes > maxPartBytes || rowGroups+n > maxRowGroups ||
			len(groups[len(groups)-1]) == maxPartsJoined {
			groups, bytes, rowGroups = append(groups, nil), 0, 0
		}
		last := &groups[len(groups)-1]
		*last, bytes, rowGroups = append(*last, p), bytes+p.Bytes, rowGroups+n
	}
	return groups
}

// discard removes the files of this attempt at a shard.
func (s *ShardedRun) discard(r *journal.Record) {
	s.drop(r)
	s.store.Remove(layout.ShardRejected(s.plan.Run, r.Segment, s.attempt))
}

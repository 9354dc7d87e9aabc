package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// Notes returns the notes of the shards.
func (s *ShardedRun) Notes() []json.RawMessage { return notesOf(s.records) }

// Rejected opens the rejected lines of a shard, or returns nil if there are none.
func (s *ShardedRun) Rejected(ctx context.Context, r *journal.Record) (io.ReadCloser, error) {
	if r.Shard == nil || r.Shard.RejectedFile == nil {
		return nil, nil
	}
	return store.OpenWritten(ctx, s.store, layout.ShardRejected(s.plan.Run, r.Segment, r.Shard.Attempt),
		*r.Shard.RejectedFile)
}

// WriteRejected writes rejected.csv of the run. All processes that complete a run
// write the same contents, so one that fails leaves the file: it may be another's, which
// a manifest names.
func (s *ShardedRun) WriteRejected(write func(io.Writer) error) (*store.Digest, error) {
	var digest store.Digest
	f, err := s.store.Create(layout.RunFile(s.plan.Run, layout.RejectedName))
	if err == nil {
		if digest, err = f.Fill(write); err != nil {
			f.Abandon()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("write rejected.csv: %w", err)
	}
	return &digest, s.store.Sync(layout.RunFile(s.plan.Run))
}

// Complete completes the run, all of whose shards are committed:
//
//	totals of the shards      ─► one part of summary, one of examples
//	plan, records, parts      ─► manifest.json, if absent
//	counters, losing attempts ─► removed
//
// Several processes may complete a run at the same time; one of them writes the
// manifest, the others remove what they wrote, also those that fail.
func (s *ShardedRun) Complete(c Completion) error {
	named := false // by a manifest, perhaps
	defer func() {
		if named {
			return
		}
		// The winner removes what another is writing. That one fails, perhaps after its
		// first part.
		for _, table := range s.plan.Tables {
			if layout.OfRun[table] {
				s.store.Remove(layout.Part(table, s.plan.Run, 0, s.attempt))
			}
		}
	}()
	records, err := s.Records()
	if err != nil {
		return err
	}
	m, _, err := s.conclude(records, c, s.attempt)
	if err != nil {
		return err
	}
	content, err := journal.ManifestFile(s.store, m)
	if err != nil {
		return err
	}
	if err := s.checkPlan(); err != nil {
		return err
	}
	won, err := s.store.Put(layout.RunFile(s.plan.Run, layout.ManifestName), content)
	named = won || errors.Is(err, store.ErrInDoubt)
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if !won {
		return nil
	}
	return s.cleanUp()
}

// cleanUp removes what a complete run does not need: the counters and lists of shards,
// signs of life, and the files of losing attempts. A loser that still writes removes
// its own, unless it is killed; then cleanUp may be repeated.
func (s *ShardedRun) cleanUp() error {
	m, err := journal.ReadComplete(s.store, s.plan.Run)
	if err != nil {
		return fmt.Errorf("clean up the run: %w", err)
	}
	return s.sweepComplete(m.Files())
}

package source

import (
	"context"
	"errors"
	"fmt"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
)

// openRun adds the volumes of --from-run: one for each segment of an earlier run.
// Segments and targets keep their numbers. The captures stay the same; only their
// evaluation is new.
func (s *Source) openRun(ctx context.Context) error {
	folder, shard := s.config.FromRun, s.config.Shard
	run, err := earlier.Open(ctx, folder, s.config.Bodies != "")
	if err != nil {
		return err
	}
	s.from = run
	shards, isOfShards := run.Manifest.ShardsOfHosts(), run.Manifest.Shards > 1
	if shard.IsPart() && shards > 0 {
		// Otherwise a shard would have targets of several, out of order.
		if run.Manifest.Shards != shards {
			return &userfile.Error{Path: folder, Err: errors.New("re-evaluates a run of shards; re-evaluate it without shards")}
		}
		if shard.Count != shards {
			return &userfile.Error{Path: folder,
				Err: fmt.Errorf("has %d shards; re-evaluate it with --shards %[1]d, or without shards", shards)}
		}
	}
	for i := range run.Segments {
		segment := &run.Segments[i]
		if shard.IsPart() && shards > 0 && segment.Index != shard.Index {
			s.elsewhere.Add(1)
			s.inputs = append(s.inputs, segment.Input())
			continue
		}
		v := s.add(segment.Input(), func(ctx context.Context, emit func(target.Target) error) error {
			return run.Read(ctx, segment, func(o fetch.Origin) bool {
				_, ok := s.wantedOfAll(o)
				return ok
			}, emit)
		})
		v.First, v.Most, v.mixed = segment.Index, 1, true
		if isOfShards { // it may have a hundred thousand targets
			v.First, v.Most = segment.Index*journal.SegmentsPerVolume, journal.SegmentsPerVolume
		}
	}
	return nil
}

// readGivenBodies reads the bodies that are given for the earlier run.
func (s *Source) readGivenBodies(ctx context.Context) (err error) {
	if s.config.Bodies != "" {
		s.from.Bodies, err = input.NewBodyIndex(ctx, s.config.Bodies, s.config.MaxBody, s.rejects.Scratch)
	}
	return err
}

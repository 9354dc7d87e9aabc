package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/rejected"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// ShardResult is the outcome of a shard.
type ShardResult struct {
	Shard       target.Shard
	Result      *Result // of the shard alone; nil if it was already committed, or judged by an earlier process
	Won         bool    // this process committed the shard, not another attempt
	Uncommitted int     // shards that are not committed
	Complete    bool    // the run is complete
}

// RunShard makes the shard c.Source.Shard of the run c.Run, as an ordinary run in
// a folder below c.Spool, and commits it to the run in c.Dir. The process that
// commits the last shard completes the run. RunShard resumes what an earlier
// attempt has left below c.Spool. Several processes may try the same shard: the first
// to commit wins, and the others end without an error.
func RunShard(ctx context.Context, c Config, progress *Progress) (*ShardResult, error) {
	plan, from, err := c.planShards(ctx)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	dir, err := store.Create(ctx, c.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the output folder: %w", err)
	}
	defer dir.Close()
	return runShard(ctx, c, plan, from, dir, progress)
}

// runShard makes the shard of a run in dir. from is its source, nil if that is a planned
// list.
func runShard(ctx context.Context, c Config, plan journal.Plan, from *source.Source, dir store.Store,
	progress *Progress) (*ShardResult, error) {
	shards, err := sink.OpenSharded(dir, plan)
	if err != nil {
		return nil, err
	}
	if shards.Unconditional() && c.Unconditional != nil {
		c.Unconditional()
	}
	shard := c.Source.Shard
	out := &ShardResult{Shard: shard}
	if out.Complete, err = shards.Completed(); err != nil {
		return nil, err
	}
	if out.Complete {
		// A loser that was killed after the completion has left its files.
		return out, errors.Join(shards.Sweep(), views.Write(shards.Store()))
	}
	done, err := shards.Committed(shard.Index)
	if errors.Is(err, journal.ErrDamaged) {
		return nil, cmp.Or(shards.CheckShard(shard.Index), err)
	}
	if err == nil && !done {
		err = makeShard(ctx, c, from, shards, progress, out)
		if err != nil && ctx.Err() == nil && shards.Lost(shard.Index) {
			err = nil // completion removes the files of losers
		}
	}
	if err != nil {
		return nil, err
	}
	if out.Uncommitted, err = shards.Uncommitted(); err != nil {
		return nil, err
	}
	if out.Uncommitted > 0 {
		if !out.Won {
			err = checkCommitted(shards, shard.Index)
		}
		return out, err
	}
	if out.Complete, err = shards.Completed(); err == nil && !out.Complete {
		err = completeShards(ctx, c, shards)
		if err != nil {
			// A process that completes the run removes what others still read.
			if done, e := shards.Completed(); e == nil && done {
				err = nil
			}
		}
	}
	if err != nil {
		if lost := shards.FindLost(); lost != nil && ctx.Err() == nil {
			err = lost
		}
		return nil, fmt.Errorf("complete the run: %w", err)
	}
	out.Complete = true
	return out, views.Write(shards.Store())
}

// checkCommitted returns an error if a shard that another attempt has committed is lost.
// Otherwise only the process that commits the last shard would find that.
func checkCommitted(shards *sink.ShardedRun, shard int) error {
	err := shards.CheckShard(shard)
	if err != nil {
		// Completion replaces parts that the record names.
		if done, e := shards.Completed(); e == nil && done {
			return nil
		}
	}
	return err
}

// makeShard makes a shard in the spool and commits it. from is its source, if it is open.
func makeShard(ctx context.Context, c Config, from *source.Source, shards *sink.ShardedRun, progress *Progress,
	out *ShardResult) (err error) {
	spool := c.Spool
	// A link in place of the spool would lead out of the output folder.
	if info, err := os.Lstat(spool); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder; remove it", spool)
	}
	defer beat(shards, c.Source.Shard.Index, progress)()
	whole := shards.Plan()
	c.Resume, c.ForceNew, c.whole = true, false, &whole
	own := "" // this attempt's folder
	defer func() {
		// What is committed needs no spool. It stays for a retry otherwise.
		if own != "" && (err == nil || shards.Lost(c.Source.Shard.Index)) {
			if e := os.RemoveAll(own); err == nil && e != nil {
				err = fmt.Errorf("remove the spool: %w", e)
			}
			os.Remove(spool) // fails while other shards use it
		}
	}()
	for attempt := 0; ; attempt++ {
		// Each attempt on this machine has a folder, and resumes the first that no
		// other process works in.
		c.Dir = filepath.Join(spool, fmt.Sprintf("%d-of-%d.%.12s.%d", c.Source.Shard.Index, c.Source.Shard.Count,
			shards.PlanDigest(), attempt))
		if info, err := os.Lstat(c.Dir); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder; remove it", c.Dir)
		}
		own = c.Dir
		if err := c.takeList(ctx, shards.Store()); err != nil {
			return err
		}
		out.Result, err = runInFolder(ctx, c, from, progress)
		if from = nil; !errors.Is(err, sink.ErrRunBusy) { // a source is read once
			break
		}
	}
	if errors.Is(err, journal.ErrNotResumable) {
		// Of another version or of other settings; it holds nothing but a cache.
		if err = os.RemoveAll(c.Dir); err == nil {
			err = c.takeList(ctx, shards.Store())
		}
		if err == nil {
			out.Result, err = runInFolder(ctx, c, nil, progress)
		}
	}
	if err != nil && !errors.Is(err, sink.ErrRunComplete) {
		return err
	}
	made, err := store.OpenFolder(c.Dir)
	if err != nil {
		return fmt.Errorf("read the spool of the shard: %w", err)
	}
	defer made.Close()
	note, err := noteOf(made, c)
	if err != nil {
		return err
	}
	if out.Won, err = shards.Commit(ctx, c.Source.Shard.Index, made, note); err != nil {
		return fmt.Errorf("commit %s: %w", c.Source.Shard, err)
	}
	return nil
}

// beatEvery is the time between two signs of life.
const beatEvery = 30 * time.Second

// beat writes signs of life until the returned function is called. They are for
// information only, so errors do not matter.
func beat(shards *sink.ShardedRun, shard int, progress *Progress) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			shards.Beat(ctx, shard, progress.Snapshot().Fetched)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-gone }
}

// completeShards completes a run all of whose shards are committed.
func completeShards(ctx context.Context, c Config, shards *sink.ShardedRun) error {
	sums, err := summary.SumUp(ctx, shards)
	if err != nil {
		return err
	}
	records, err := shards.Records()
	if err != nil {
		return err
	}
	plan := shards.Plan()
	shared := evaluate.Prepare(c.Evaluate)
	end := sink.Completion{Finished: time.Now().UTC(), Totals: sums, Inputs: plan.Inputs,
		Tally: journal.Tally{Skipped: make(map[string]int64)}}
	for _, r := range records {
		if r.Shard == nil {
			return fmt.Errorf("record %d of %s is not the record of a shard", r.Segment, shards.Folder())
		}
		end.Targets += r.Targets
		end.Tally.Rejected += r.Shard.Rejected
		for kind, n := range r.Shard.Skipped {
			end.Skipped[kind] += n
		}
		if err := shared.Restore(r.Note); err != nil {
			return fmt.Errorf("the note in the record of shard %d: %w", r.Segment, err)
		}
	}
	var unused []registry.Sample
	if plan.Shards > 1 { // the only shard has rejected them
		unused = shared.Unused()
	}
	end.Tally.Rejected += int64(len(unused))
	end.Rejected, err = shards.WriteRejected(func(w io.Writer) error {
		m := rejected.NewMerge(w)
		for _, r := range records {
			f, err := shards.Rejected(ctx, r)
			if err != nil {
				return err
			}
			if f == nil {
				continue
			}
			err = m.Add(f)
			f.Close()
			if err != nil {
				return fmt.Errorf("the rejected lines of shard %d: %w", r.Segment, err)
			}
		}
		for _, s := range unused {
			m.Sample(s.Line, s.URL, unusedSample)
		}
		return m.Finish()
	})
	if err != nil {
		return err
	}
	if end.Targets == 0 {
		return &userfile.Error{Path: plan.Inputs[0].Path,
			Err: errors.New("holds no host; all shards are committed, and the run cannot be complete: remove it")}
	}
	return shards.Complete(end)
}

// runInBucket makes a run in an object store, as the only shard of one that is made of
// shards: on this machine, and sent when it is complete.
func runInBucket(ctx context.Context, c Config, progress *Progress) (*Result, error) {
	began := time.Now()
	dir, err := store.Open(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if c.ForceNew {
		if err := c.freeWARCFile(dir); err != nil {
			return nil, err
		}
		if err := sink.Remove(dir, c.Run); err != nil {
			return nil, err
		}
	} else if !c.Resume {
		if err := sink.CheckNew(dir, c.Run); err != nil {
			return nil, err
		}
	}
	c.Source.Shard = target.Shard{Count: 1}
	plan, from, err := c.planShards(ctx)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	r, err := runShard(ctx, c, plan, from, dir, progress)
	if err != nil {
		return nil, err
	}
	folder := store.Join(c.Dir, "_runs", c.Run)
	switch {
	case r.Result == nil && !r.Won:
		return nil, fmt.Errorf("%s: %w", folder, sink.ErrRunComplete)
	case r.Result == nil: // an earlier process made it, and could not send it
		if r.Result, err = resultOf(ctx, dir, c); err != nil {
			return nil, err
		}
		r.Result.Elapsed = time.Since(began)
	}
	r.Result.Folder = folder
	return r.Result, nil
}

// resultOf returns the result of a complete run, as far as its tables have it.
func resultOf(ctx context.Context, in store.Store, c Config) (*Result, error) {
	m, err := journal.ReadManifest(in, c.Run)
	if err != nil {
		return nil, err
	}
	r := &Result{Targets: m.Targets, Earlier: m.Targets, Rejected: m.Rejected, Rows: make(map[string]int64)}
	for _, p := range slices.Concat(m.RunParts, m.Parts) {
		r.Rows[p.Table] += p.Rows
	}
	r.Counts = evaluate.Prepare(c.Evaluate).NewCounts()
	if slices.Contains(m.Tables, "summary") {
		r.Counts, err = summary.Read(ctx, in, m)
	}
	return r, err
}

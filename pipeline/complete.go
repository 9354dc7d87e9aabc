package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// unusedSample is the reason to reject a URL sample.
const unusedSample = "origin_not_in_run"

// complete completes a run all of whose targets are in the tables.
func (n *census) complete(ctx context.Context) (*Result, error) {
	if n.source.Targets() == 0 {
		if err := n.source.Empty(); err != nil {
			return nil, err
		}
	}
	if n.config.Source.Shard.Count <= 1 { // otherwise another shard may use them
		unused, err := n.shared.Unused(n.run.Notes())
		if err != nil {
			return nil, err
		}
		for _, s := range unused {
			if err := n.rejects.Sample(s.Line, s.URL, unusedSample); err != nil {
				return nil, err
			}
		}
	}
	rejected, err := n.rejects.Finish()
	if err != nil {
		return nil, err
	}
	ranks, labels := n.rejects.Remarks()
	r := &Result{
		Folder: n.run.Folder(), Made: true, Targets: n.source.Targets(), Earlier: n.progress.Snapshot().Earlier - n.earlier,
		Rejected: n.rejects.Lines(), RejectedFor: n.rejects.Kinds(), UnreadRanks: ranks, LeftLabels: labels,
		Skipped: n.rejects.Skipped(), Unmatched: n.source.Unmatched(), Counts: n.totals,
	}
	n.progress.enter(SummingUp)
	sums, err := summary.SumUp(ctx, n.run)
	if err != nil {
		return nil, err
	}
	n.progress.enter(Completing)
	if err := n.run.Complete(sink.Completion{
		Finished: time.Now().UTC(), Tally: journal.Tally{Targets: r.Targets, Rejected: r.Rejected,
			Skipped: r.Skipped}, Totals: sums,
		Inputs: append(n.source.Inputs(), n.config.Inputs...), Rejected: rejected, WARCOut: n.config.warcFile(),
	}); err != nil {
		return nil, err
	}
	n.progress.enter(Finished)
	if n.client != nil {
		r.Resolvers = n.client.Resolvers()
	}
	r.Elapsed, r.Rows = time.Since(n.began), n.run.Rows()
	return r, nil
}

// isLost reports whether another attempt has committed the shard of this process.
func (n *census) isLost(ctx context.Context) bool { return n.run != nil && n.run.Lost(ctx) }

// send commits what was made elsewhere than in the output folder. r is nil if this process
// has not made it.
func (n *census) send(ctx context.Context, r *Result) (_ *Result, err error) {
	if n.config.Spool == "" {
		r.Won = true
		return r, nil
	}
	note, err := evaluate.JoinNotes(n.run.Notes())
	if err != nil {
		return nil, err
	}
	won, left, err := n.run.Send(ctx, note, func(whole *sink.ShardedRun) error { return n.completeShards(ctx, whole) })
	if err == nil && left == 0 {
		err = views.Write(n.run.Output())
	}
	switch {
	case err != nil:
		return nil, err
	case r != nil:
	case n.run.Plan().Shards > 1:
		r = new(Result)
	case !won:
		return nil, fmt.Errorf("%s: %w", n.run.Folder(), sink.ErrRunComplete)
	default: // an earlier process made it, and could not send it
		if r, err = n.resultOf(ctx); err != nil {
			return nil, err
		}
	}
	r.Folder, r.Won, r.Uncommitted = n.run.Folder(), won, left
	return r, nil
}

// completeShards completes a run all of whose shards are committed.
func (n *census) completeShards(ctx context.Context, whole *sink.ShardedRun) error {
	sums, err := summary.SumUp(ctx, whole)
	if err != nil {
		return err
	}
	records, err := whole.Records()
	if err != nil {
		return err
	}
	plan := n.run.Plan()
	end := sink.Completion{Finished: time.Now().UTC(), Totals: sums, Inputs: plan.Inputs,
		Tally: journal.Tally{Skipped: make(map[string]int64)}}
	for _, r := range records {
		if r.Shard == nil {
			return fmt.Errorf("record %d of %s is not the record of a shard", r.Segment, whole.Folder())
		}
		end.Targets += r.Targets
		end.Tally.Rejected += r.Shard.Rejected
		for kind, n := range r.Shard.Skipped {
			end.Skipped[kind] += n
		}
	}
	var unused []registry.Sample
	if plan.Shards > 1 { // the only shard has rejected them
		if unused, err = n.shared.Unused(whole.Notes()); err != nil {
			return err
		}
	}
	end.Tally.Rejected += int64(len(unused))
	end.Rejected, err = whole.WriteRejected(func(w io.Writer) error {
		m := input.NewRejectedMerge(w)
		for _, r := range records {
			f, err := whole.Rejected(ctx, r)
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
	return whole.Complete(end)
}

// resultOf returns the result of a complete run, as far as its tables have it.
func (n *census) resultOf(ctx context.Context) (*Result, error) {
	m, err := journal.ReadManifest(n.run.Output(), n.config.Run)
	if err != nil {
		return nil, err
	}
	r := &Result{Targets: m.Targets, Earlier: m.Targets, Rejected: m.Rejected, Rows: make(map[string]int64),
		Counts: n.totals, Elapsed: time.Since(n.began)}
	for _, p := range slices.Concat(m.RunParts, m.Parts) {
		r.Rows[p.Table] += p.Rows
	}
	if slices.Contains(m.Tables, "summary") {
		r.Counts, err = summary.Read(ctx, n.run.Output(), m)
	}
	return r, err
}

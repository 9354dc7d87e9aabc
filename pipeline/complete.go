package pipeline

import (
	"context"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/summary"
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
		for _, s := range n.shared.Unused() {
			if err := n.rejects.Sample(s.Line, s.URL, unusedSample); err != nil {
				return nil, err
			}
		}
	}
	rejected, err := n.rejects.Finish()
	if err != nil {
		return nil, err
	}
	r := &Result{
		Folder: n.run.Folder(), Targets: n.source.Targets(), Earlier: n.progress.Snapshot().Earlier - n.earlier,
		Rejected: n.rejects.Lines(), RejectedFor: n.rejects.Kinds(), UnreadRanks: n.rejects.Remarks(),
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
			Skipped: r.Skipped.Kinds()}, Totals: sums,
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

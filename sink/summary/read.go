package summary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// A run of a hundred million hosts has fifty thousand segments, each with counters
// and examples. Reading them takes two cores a minute or two, so completion adds
// them up into one part of summary and one of examples.

// Written is a run, or one made of shards, with the parts of its committed segments.
type Written interface {
	Store() store.Store
	Parts(table string) []journal.Part
}

// SumUp adds up the counters and examples of a run's committed segments, for
// [sink.Run.Complete] and [sink.ShardedRun.Complete].
func SumUp(ctx context.Context, r Written) (sums sink.Totals, err error) {
	if r.Store() == nil {
		return sums, errors.New("sum up a run that is closed")
	}
	counts, err := sum(ctx, r.Store(), r.Parts("summary"), readers, newCounts)
	if err != nil {
		return sums, err
	}
	labelled, err := sum(ctx, r.Store(), r.Parts("label_counts"), labelReaders, newLabelCounts)
	if err != nil {
		return sums, err
	}
	examples, err := sum(ctx, r.Store(), r.Parts("examples"), readers, newExamples)
	if err != nil {
		return sums, err
	}
	return sink.Totals{Counts: counts.Rows(), LabelCounts: labelled.rows(), Examples: examples.Rows()}, nil
}

// Restore adds the counters of a run's committed segments, for a process that
// resumes the run.
func (n *Counts) Restore(ctx context.Context, r *sink.Run) error {
	counts, err := sum(ctx, r.Store(), r.Parts("summary"), readers, newCounts)
	if err != nil {
		return err
	}
	return n.Merge(counts)
}

// Read adds up the counters of a run. A run with another version of the bins
// is an error, because counts of different bins do not add up.
func Read(ctx context.Context, s store.Store, m *journal.Manifest) (*Counts, error) {
	if m.SummaryBins != schema.BinsVersion {
		return nil, fmt.Errorf("the distributions in summary of run %s have bins of version %d,"+
			" but this program reads version %d: use the version that wrote the run (%s)",
			m.Run, m.SummaryBins, schema.BinsVersion, m.ToolVersion)
	}
	most := mostCountersOf(m)
	return readTable(ctx, s, m, "summary", func() *Counts {
		n := newCounts()
		n.most = most
		return n
	})
}

// mostCountersOf bounds the counters of a run that somebody else may have written. In a
// stratum, each agent has some thirty counters under each profile, and the bins and keys
// of all other metrics are some thousands.
func mostCountersOf(m *journal.Manifest) int {
	agents := int64(0)
	for _, in := range m.Inputs {
		if in.Role == "agents" {
			agents = in.Rows
		}
	}
	if agents <= 0 || agents > mostCounters {
		return mostCounters
	}
	return int(min(mostCounters, int64(len(Strata)+1)*(64*agents*int64(max(1, len(m.Profiles)))+30_000)))
}

// ReadExamples reads the examples of a run. There are none if the run was
// published without a column of theirs: with hashes for hosts, an example has no text.
func ReadExamples(ctx context.Context, s store.Store, m *journal.Manifest) (*Examples, error) {
	if !HasExamples(m) {
		return newExamples(), nil
	}
	return readTable(ctx, s, m, "examples", newExamples)
}

// HasExamples reports whether a run has its examples whole.
func HasExamples(m *journal.Manifest) bool {
	return slices.Contains(m.Tables, "examples") &&
		!slices.ContainsFunc(m.Without, func(column string) bool { return strings.HasPrefix(column, "examples.") })
}

func newCounts() *Counts { return New(nil, nil) }

func newExamples() *Examples {
	e := new(Examples)
	e.Reset()
	return e
}

// additive is a total over parts that does not depend on their order.
type additive[T, R any] interface {
	fits(rows int64) error // an error for more rows than a part can have
	read(segment int, batch []R) error
	Merge(from T) error
}

func readTable[T additive[T, R], R any](
	ctx context.Context, s store.Store, m *journal.Manifest, table string, empty func() T,
) (T, error) {
	most := readers
	if table == "label_counts" {
		most = labelReaders
	}
	all, err := sum(ctx, s, m.PartsOf(table), most, empty)
	if err != nil && !m.Complete() {
		// A completion in the meantime removes the segments' counters and
		// examples.
		now, e := journal.ReadManifest(s, m.Run)
		switch {
		case e == nil && now.Complete():
			return sum(ctx, s, now.PartsOf(table), most, empty)
		case e != nil && !errors.Is(e, fs.ErrNotExist):
			return all, e
		}
	}
	return all, err
}

// readers is the number of parts that are read at the same time: an object
// store is mostly waited for. Each reader of counters by label may take half a gigabyte.
const (
	readers      = 8
	labelReaders = 2
)

// sum adds up all parts of a table.
func sum[T additive[T, R], R any](
	ctx context.Context, s store.Store, parts []journal.Part, most int, empty func() T,
) (all T, err error) {
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	all = empty()
	next := 0
	for range min(most, len(parts)) {
		g.Go(func() error {
			mine := empty()
			for {
				mu.Lock()
				at := next
				next++
				mu.Unlock()
				if at >= len(parts) {
					break
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := mine.fits(parts[at].Rows); err != nil {
					return rowio.Unreadable(s, parts[at], err)
				}
				err := rowio.Of(ctx, s, parts[at:at+1], rowio.Selection{}, func(batch []R) error {
					if err := mine.read(parts[at].Segment, batch); err != nil {
						return rowio.Unreadable(s, parts[at], err)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return all.Merge(mine)
		})
	}
	return all, g.Wait()
}

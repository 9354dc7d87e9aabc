package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
)

// A run of a hundred million hosts has fifty thousand segments, each with
// counters and examples of its own, and to read them takes two cores one minute
// or two. So completion adds them up, into one part of summary and one of
// examples.

// SumUp writes the parts of the run that its segments' counters and examples
// come to: the first step of [Run.Complete], for a caller that tells it apart
// from the others.
func (r *Run) SumUp(ctx context.Context) error {
	r.mu.Lock()
	of, closed := len(r.records), r.lock == nil
	r.mu.Unlock()
	if closed {
		return fmt.Errorf("run %s is closed", r.plan.Run)
	}
	var parts []Part
	for _, table := range r.plan.Tables {
		var p Part
		var err error
		switch table {
		case "summary":
			p, err = mergeTable(ctx, r, table, newCounts, (*counts).list)
		case "examples":
			p, err = mergeTable(ctx, r, table, newFew, (*few).list)
		default:
			continue
		}
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.merged, r.mergedOf = parts, of
	return nil
}

func mergeTable[T sum[T], R any](ctx context.Context, r *Run, table string, empty func() T, list func(T) []R) (Part, error) {
	all, err := sumParts(ctx, r.store, r.partsOf(table), empty)
	if err != nil {
		return Part{}, err
	}
	p := Part{Table: table, Path: partPath(table, r.plan.Run, 0)}
	w, err := newWriter[R](r.store, p, r.toolVersion, r.metadata, r.spareOf(table))
	if err != nil {
		return Part{}, err
	}
	if err = (Table[R]{w}).Write(list(all)...); err == nil {
		p, err = w.finish()
	}
	if err == nil {
		err = w.publish()
	}
	if err == nil {
		err = r.store.Sync(tableFolder(table, r.plan.Run))
	}
	if err != nil {
		w.discard()
		return Part{}, err
	}
	return p, nil
}

// Counts adds up the counters that are committed so far, for a process that
// resumes a run, and gives each sum once.
func (r *Run) Counts(ctx context.Context, add func(Count)) error {
	sums, err := sumParts(ctx, r.store, r.partsOf("summary"), newCounts)
	if err != nil {
		return err
	}
	for _, c := range sums.list() {
		add(c)
	}
	return nil
}

// partsOf are the parts that the committed segments have of a table.
func (r *Run) partsOf(table string) (parts []Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.records {
		for _, p := range record.Parts {
			if p.Table == table {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// ReadCounts adds up the counters of a run below dir, and gives each sum once.
// A run whose distributions have bins of another version is an error: they
// cannot be read as these.
func ReadCounts(ctx context.Context, dir string, m *Manifest, add func(Count)) error {
	if m.SummaryBins != BinsVersion {
		return fmt.Errorf("the distributions in summary of run %s have bins of version %d, but this program reads version %d: use the version that wrote the run (%s)", m.Run, m.SummaryBins, BinsVersion, m.ToolVersion)
	}
	sums, err := readSum(ctx, dir, m, "summary", newCounts)
	if err != nil {
		return err
	}
	for _, c := range sums.list() {
		add(c)
	}
	return nil
}

// ReadExamples gives a few examples of each metric and key of a run below dir:
// those of the best rank, and of what is largest and slowest the greatest. It
// reads what [ReadCounts] reads, of the table examples.
func ReadExamples(ctx context.Context, dir string, m *Manifest, add func(Example)) error {
	few, err := readSum(ctx, dir, m, "examples", newFew)
	if err != nil {
		return err
	}
	for _, e := range few.list() {
		add(e)
	}
	return nil
}

// sum is what parts come to, in whatever order they are added.
type sum[T any] interface {
	// columns are those of text that add wants as dictionaries.
	columns() []string
	// add takes rows of a segment's part; those of one part come in order.
	add(segment int, batch arrow.RecordBatch) error
	merge(from T) error
}

func readSum[T sum[T]](ctx context.Context, dir string, m *Manifest, table string, empty func() T) (T, error) {
	s, err := store.Open(dir)
	if err != nil {
		return empty(), err
	}
	defer s.Close()
	all, err := sumParts(ctx, s, m.PartsOf(table), empty)
	if err != nil && !m.Complete() {
		// Completion removes what segments have for the tables of the run.
		if now, e := readManifest(s, m.Run); e == nil {
			return sumParts(ctx, s, now.PartsOf(table), empty)
		} else if !errors.Is(e, fs.ErrNotExist) {
			return all, e
		}
	}
	return all, err
}

// sumParts reads all parts of a table.
func sumParts[T sum[T]](ctx context.Context, s *store.Store, parts []Part, empty func() T) (all T, err error) {
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	g, ctx := errgroup.WithContext(ctx)
	var mu sync.Mutex
	all = empty()
	next := 0
	for range workers {
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
				add := func(batch arrow.RecordBatch) error {
					if err := mine.add(parts[at].Segment, batch); err != nil {
						return unreadable(parts[at], err)
					}
					return nil
				}
				if err := readRows(ctx, s, parts[at], scan.Selection{Dictionaries: mine.columns()}, add); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return all.merge(mine)
		})
	}
	return all, g.Wait()
}

// tooMany tells that a table has more to tell apart than a run writes.
func tooMany(table, what string, n int) error {
	return fmt.Errorf("%s has more than %d different %s", table, n, what)
}

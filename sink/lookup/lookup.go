// Package lookup reads the rows of one host out of a run, and nothing else: for people
// who ask about a host, where the packages scan and sink read whole tables.
//
// The Bloom filters on host say which parts of fetches may have the host, its row there
// says the number of the target (seq), and the bounds of seq, which only grows, lead to
// the rows of other tables. In an object store the bytes that this needs are asked for
// by range. They are checked as far as they are read: package verify reads the rest.
package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// atOnce is the number of parts that are read at the same time: a bucket answers each
// request after some time. No more stay open, for a run may have thousands, and a process
// few descriptors.
const atOnce = 16

// Run is a run whose rows are looked up. It is safe for concurrent use.
type Run struct {
	*journal.Manifest
	in store.Store

	mu   sync.Mutex
	open []*openPart // the one that was used last is the last

	filters sync.Map // of parts, by path and column: a []filterAt
}

// Open prepares to look up rows of a run in an open store, which the Run does not close.
func Open(in store.Store, m *journal.Manifest) *Run {
	return &Run{Manifest: m, in: in}
}

// Close closes the parts.
func (r *Run) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, p := range r.open {
		errs = append(errs, p.close())
	}
	r.open = nil
	return errors.Join(errs...)
}

// Target is a target of a run: a host, or one of several origins or captures of it.
type Target struct {
	schema.Fetch
	Segment int
}

// Targets returns the targets that have one of the hosts, in the order of the input.
func (r *Run) Targets(ctx context.Context, hosts ...string) ([]Target, error) {
	var mu sync.Mutex
	var found []Target
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, p := range r.PartsOf("fetches") {
		group.Go(func() error {
			rows, err := read[schema.Fetch](ctx, r, p, func(f *openPart) ([]rowio.Span, error) {
				return f.ofTexts(ctx, "host", hosts)
			})
			mu.Lock()
			defer mu.Unlock()
			for _, row := range rows {
				found = append(found, Target{row, p.Segment})
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Target) int { return cmp.Compare(a.Seq, b.Seq) })
	return found, nil
}

// Last returns the targets that count, in the same order: of several captures of an
// origin the last one, by time and then in the order of the input.
func Last(targets []Target) (last []Target) {
	of := make(map[string]*Target) // by origin
	for i := range targets {
		t := &targets[i]
		other := of[t.Origin]
		if other == nil || cmp.Or(t.FetchTime.Compare(other.FetchTime), cmp.Compare(t.Seq, other.Seq)) >= 0 {
			of[t.Origin] = t
		}
	}
	for i := range targets {
		if of[targets[i].Origin] == &targets[i] {
			last = append(last, targets[i])
		}
	}
	return last
}

// Rows returns the rows of a table for a target, in the order of the table. R is the
// type of its rows. A run without the table has none.
func Rows[R any](ctx context.Context, r *Run, table string, t *Target) (all []R, err error) {
	for _, p := range r.PartsIn(t.Segment, table) {
		rows, err := read[R](ctx, r, p, func(f *openPart) ([]rowio.Span, error) { return f.ofTarget(ctx, t.Seq) })
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// FoundOf returns what a run holds of a target's file. body is what [Body] returned.
func FoundOf(ctx context.Context, r *Run, t *Target, body []byte) (*Found, error) {
	f := &Found{Fetch: t.Fetch, Body: body}
	if body != nil || t.KeptDigest() == nil {
		return f, nil
	}
	var err error
	if f.Groups, err = Rows[schema.Group](ctx, r, "groups", t); err != nil {
		return nil, err
	}
	f.Rules, err = Rows[schema.Rule](ctx, r, "rules", t)
	return f, err
}

// Body returns the body that decides about a target, byte for byte: that of the answer,
// or of the earlier copy in its place. It is nil if the run does not keep bodies, or the
// target has none.
func Body(ctx context.Context, r *Run, t *Target) ([]byte, error) {
	digest := t.KeptDigest()
	if digest == nil {
		return nil, nil
	}
	for _, p := range r.PartsIn(t.Segment, "bodies") {
		rows, err := read[schema.Body](ctx, r, p, func(f *openPart) ([]rowio.Span, error) {
			return f.ofTexts(ctx, "content_digest", []string{*digest})
		})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if schema.ContentDigest(row.Body) != *digest {
				return nil, rowio.Unreadable(r.in, p, fmt.Errorf("the body %s has another digest", *digest))
			}
			return append([]byte{}, row.Body...), nil
		}
	}
	return nil, nil
}

// read returns the rows that where finds in a part.
func read[R any](
	ctx context.Context, r *Run, p journal.Part, where func(*openPart) ([]rowio.Span, error),
) (all []R, err error) {
	f, err := r.part(p)
	defer r.release(f)
	if err == nil {
		all, err = readPart[R](f, where)
	}
	switch {
	case err == nil:
		return all, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, rowio.Unreadable(r.in, p, err)
}

func readPart[R any](f *openPart, where func(*openPart) ([]rowio.Span, error)) (all []R, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer rowio.Recovered(&err)
	found, err := where(f)
	if err != nil {
		return nil, err
	}
	for _, some := range found {
		rows, err := rowio.Some[R](f.rows, some)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// mostRows bounds the values that are looked at, at a time.
const mostRows = 1024

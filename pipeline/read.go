package pipeline

import (
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
)

// read cuts the source's targets into segments and fetches those without a
// capture. It opens segments and begins fetches until begin ends; fetches that
// have begun end with late.
func (n *census) read(begin, late context.Context, fetching *errgroup.Group) error {
	g, reading := errgroup.WithContext(begin) // reading ends before the fetches do
	g.SetLimit(runtime.GOMAXPROCS(0))
	if n.config.Source.Limit > 0 {
		g.SetLimit(1) // read volumes one by one: the limit takes the first targets
	} else if most := n.source.AtOnce(); most > 0 {
		g.SetLimit(min(most, runtime.GOMAXPROCS(0)))
	}
	for _, v := range n.source.Volumes {
		if reading.Err() != nil || n.source.Enough() {
			break
		}
		g.Go(func() error {
			take := func(j *job) error { return n.take(begin, late, fetching, j) }
			return n.readVolume(reading, late, v, take)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	n.progress.sourceEnds(n.source.Targets())
	return nil
}

// readVolume cuts the targets of a volume into segments, until ctx ends. It calls
// take with each target of a segment that is not committed yet.
func (n *census) readVolume(ctx, late context.Context, v *source.Volume, take func(*job) error) error {
	if v.Archive() != nil && n.config.Source.Limit == 0 {
		if passed, err := n.passOverArchive(v); passed || err != nil {
			return err
		}
	}
	c := &cutter{census: n, volume: v, next: v.First}
	err := v.Read(ctx, func(t target.Target) error {
		if err := c.begin(ctx, late); err != nil {
			return err
		}
		c.add(&t)
		if c.piece != nil {
			t.Labels = n.source.LabelsOf(&t)
			if err := take(&job{Target: t, piece: c.piece, ordinal: c.targets - 1}); err != nil {
				return err
			}
		}
		if c.atLimit() {
			return c.seal(late)
		}
		return nil
	})
	if err == nil && c.next == v.First && (v == n.source.Volumes[0] || v.Most == 1) {
		// A source without targets gets empty tables. So does a segment of an
		// earlier run if --hosts keeps none of it: segment numbers have no gaps.
		err = c.open(ctx)
	}
	if err != nil {
		return err
	}
	return c.seal(late)
}

// take fetches a job's capture in a goroutine, once the client has a slot for it.
// A capture that is stored, or that an earlier process of the run saved, is not
// fetched again.
func (n *census) take(begin, late context.Context, fetching *errgroup.Group, j *job) error {
	p, count := j.piece, n.progress.fetched
	if j.Capture == nil {
		count = n.progress.found
		if err := n.savedCapture(j); err != nil {
			return err
		}
	}
	if j.Capture != nil {
		p.jobs = append(p.jobs, j)
		count(j.Capture, j.Lines)
		return n.account(j)
	}
	lease, err := n.client.Enter(begin, late)
	if err != nil {
		return err
	}
	p.jobs = append(p.jobs, j)
	p.pending.Add(1)
	fetching.Go(func() error { return n.fetch(late, lease, j) })
	return nil
}

// fetch fetches a job's capture. It holds the lease until memory or disk has the
// body, so that a slow disk slows the requests down and bodies do not pile up.
func (n *census) fetch(ctx context.Context, lease *client.Lease, j *job) error {
	defer lease.Leave()
	if n.memory == nil {
		j.Capture = lease.Fetch(0, j.Candidates...)
	} else {
		j.Capture = n.memory.Fetch(lease, n.terms, j.Candidates...)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the capture may describe our own stop
	}
	switch err := j.Capture.Local; {
	case errors.Is(err, outage.ErrCutOff), errors.Is(err, outage.ErrNeverReached):
		return err
	case err != nil:
		return &LocalError{err}
	}
	if j.Capture.Error == answer.ErrorCanceled {
		return nil // it did not begin, and its segment stays open
	}
	done, err := n.evidence.record(ctx, lease, j)
	defer func() { done() }()
	if err != nil {
		return err
	}
	if err := n.saveCapture(j); err != nil {
		return err
	}
	n.progress.fetched(j.Capture, j.Lines)
	if err := n.account(j); err != nil {
		return err
	}
	done()
	done = func() {}
	return n.done(ctx, j.piece)
}

// account counts the memory of a job's capture. Bodies that do not fit go to disk, and
// records always: they are the largest, and wait for nothing but to be copied.
func (n *census) account(j *job) error {
	if err := n.lines.tell(&j.Target); err != nil {
		return err
	}
	j.part()
	weight := j.Capture.Weight()
	n.pressure.weigh(weight)
	j.piece.bytes.Add(int64(weight))
	bodies := j.bodies()
	j.spilled = make([]*place, len(bodies))
	for i, body := range bodies {
		if len(*body) == 0 {
			continue // from disk, no body would come back as an empty one
		}
		if body != &j.evidence && n.pressure.hold(len(*body)) {
			j.piece.bytes.Add(int64(len(*body)))
			continue
		}
		var err error
		if j.spilled[i], err = j.piece.spill.put(n.run.Scratch, *body); err != nil {
			return err
		}
		*body = nil
	}
	return nil
}

// LocalError is a failure of this machine, not of a host.
type LocalError struct{ Err error }

func (e *LocalError) Error() string {
	return "this machine cannot continue fetching: " + e.Err.Error()
}
func (e *LocalError) Unwrap() error { return e.Err }

// done records that a piece waits for one capture less.
func (n *census) done(ctx context.Context, p *piece) error {
	if p.pending.Add(-1) > 0 {
		return nil
	}
	n.pressure.filled()
	select {
	case n.ready <- p:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

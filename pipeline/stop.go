package pipeline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// Stopped is the error of a run that its context has ended.
type Stopped struct {
	Committed int64 // targets in the tables, by whichever process
	Kept      int64 // further ones whose answers are kept: resuming does not ask them
	Resumable bool  // the inputs can be read again
	err       error
}

func (e *Stopped) Error() string {
	return fmt.Sprintf("stopped with %d hosts in the tables and the answers of %d more: %v", e.Committed, e.Kept, e.err)
}

func (e *Stopped) Unwrap() error { return e.err }

// stopped counts what is left of a run that was stopped by err.
func (n *census) stopped(err error) error {
	committed, kept, e := n.run.Kept()
	if e != nil {
		return e
	}
	return &Stopped{committed, kept, n.again, err}
}

// grace is the context of what has begun when ctx ends: the hosts in flight and
// the segments that have all their captures. Nobody waits for stored captures.
func (n *census) grace(ctx context.Context) (context.Context, context.CancelFunc) {
	if n.Source.IsStored() {
		return context.WithCancel(ctx)
	}
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		select {
		case <-ctx.Done():
		case <-late.Done():
			return
		}
		select {
		case <-time.After(n.Grace):
			cancel()
		case <-late.Done():
		}
	}()
	return late, cancel
}

// record keeps a job's capture until its segment is committed, whatever becomes
// of this process.
func (n *census) record(j *job) error {
	if j.segment.answers == nil {
		return nil
	}
	answer, err := j.Capture.MarshalBinary()
	if err != nil {
		return fmt.Errorf("keep the answer of %s: %w", j.Capture.Origin, err)
	}
	return j.segment.answers.Keep(j.ordinal, answer)
}

// recall gives a job without a capture the one that an earlier process of the run
// has recorded, where this program can read it.
func (n *census) recall(j *job) error {
	if j.Capture != nil || j.segment.answers == nil {
		return nil
	}
	answer, err := j.segment.answers.Find(j.ordinal)
	if err != nil || answer == nil {
		return err
	}
	var c fetch.Capture
	if err := c.UnmarshalBinary(answer); err == nil && slices.Contains(j.Candidates, c.Origin) {
		j.Capture = &c
	}
	return nil
}

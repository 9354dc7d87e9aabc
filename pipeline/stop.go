package pipeline

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// Stopped is the error of a run whose context has ended.
type Stopped struct {
	Committed int64 // targets in the tables, of all processes of the run
	Kept      int64 // further targets whose answers are kept; resuming does not ask them
	Resumable bool  // the inputs can be read again
	err       error
}

func (e *Stopped) Error() string {
	return fmt.Sprintf("stopped with %d hosts in the tables and the answers of %d more: %v", e.Committed, e.Kept, e.err)
}

func (e *Stopped) Unwrap() error { return e.err }

// stopped makes the error of a run that err has stopped.
func (n *census) stopped(err error) error {
	committed, kept, e := n.run.Kept()
	if e != nil {
		return e
	}
	return &Stopped{committed, kept, n.again, err}
}

// grace returns a context that ends some time after ctx: for the hosts in flight
// and the segments that have all their captures. Stored captures get no grace.
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

// record keeps a job's capture on disk until its segment is committed, in case
// this process dies.
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
// recorded, if there is one and it can be decoded.
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

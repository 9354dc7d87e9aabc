package pipeline

import (
	"context"
	"fmt"
	"time"

	"github.com/robocensus/robocensus/sink/visible"
)

// Stopped is the error of a run whose context has ended.
type Stopped struct {
	Committed int64 // targets in the tables, of all processes of the run
	Kept      int64 // further targets whose answers are kept; resuming does not ask them
	Resumable bool  // the inputs can be read again
	err       error
}

func (e *Stopped) Error() string {
	return fmt.Sprintf("stopped with %s in the tables and the answers of %d more: %v",
		visible.Count(e.Committed, "host", "hosts"), e.Kept, e.err)
}

func (e *Stopped) Unwrap() error { return e.err }

// stopped makes the error of a run that err has stopped.
func (n *census) stopped(err error) error {
	committed, kept, e := n.run.Kept()
	if e != nil {
		return e
	}
	return &Stopped{committed, kept, n.rereadable, err}
}

// grace returns a context that ends some time after ctx: for the hosts in flight
// and the segments that have all their captures. Stored captures get no grace.
func (n *census) grace(ctx context.Context) (context.Context, context.CancelFunc) {
	if n.config.Source.IsStored() {
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
		case <-time.After(n.config.Grace):
			cancel()
		case <-late.Done():
		}
	}()
	return late, cancel
}

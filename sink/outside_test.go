package sink

import (
	"context"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/sink/journal"
)

// Functions of packages that import this one, and that its tests cannot import.
// Tests of package sink_test set them.
var (
	SumUp       func(context.Context, *Run) (Totals, error)
	Verify      func(ctx context.Context, dir, run string, progress func(parts, of int)) (*Verification, error)
	Export      func(ctx context.Context, w io.Writer, dir string, m *journal.Manifest, s Selection) error
	ErrNotThere error
	Schema      func(table string) (*arrow.Schema, error)
	OpenPart    func(ctx context.Context, dir string, p journal.Part) (*os.File, error)
)

// Verification is verify.Result.
type Verification struct {
	Complete        bool
	Segments, Parts int
	Rows, Bytes     int64
	Problems        []Problem
}

// Problem is verify.Problem.
type Problem struct{ Path, Kind, Text string }

// Selection is export.Selection.
type Selection struct {
	Table, Against string
	Columns        []string
}

// completeRun sums a run up and completes it.
func completeRun(run *Run, c Completion) (err error) {
	if c.Totals, err = SumUp(context.Background(), run); err != nil {
		return err
	}
	return run.Complete(c)
}

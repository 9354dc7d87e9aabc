package sink_test

import (
	"context"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/export"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest/oracle"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/verify"
)

func init() {
	sink.SumUp = func(ctx context.Context, r *sink.Run) (sink.Totals, error) { return summary.SumUp(ctx, r) }
	sink.ErrNotThere = export.ErrNotThere
	sink.OpenPart = func(ctx context.Context, dir string, p journal.Part) (*os.File, error) {
		in, err := store.Open(ctx, dir)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		f, err := rowio.OpenPart(ctx, in, p)
		if err != nil {
			return nil, err
		}
		return f.Raw, nil
	}
	sink.Verify = func(ctx context.Context, dir, run string, progress func(parts, of int)) (*sink.Verification, error) {
		in, err := store.Open(ctx, dir)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		r, err := verify.Run(ctx, in, run, progress)
		if err != nil {
			return nil, err
		}
		v := &sink.Verification{Complete: r.Complete, Segments: r.Segments, Parts: r.Parts, Rows: r.Rows, Bytes: r.Bytes}
		for _, p := range r.Problems {
			v.Problems = append(v.Problems, sink.Problem(p))
		}
		return v, nil
	}
	sink.Export = func(ctx context.Context, w io.Writer, dir string, m *journal.Manifest, s sink.Selection) error {
		in, err := store.Open(ctx, dir)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = export.Table(ctx, w, in, m, export.Selection{Table: s.Table, Against: s.Against, Columns: s.Columns},
			"arrow")
		return err
	}
	sink.Schema = func(table string) (*arrow.Schema, error) {
		content, err := schema.EmptyPart(table)
		if err != nil {
			return nil, err
		}
		return oracle.Arrow(panics{}, content, func(arrow.RecordBatch) {}), nil
	}
}

// panics fails outside of a test.
type panics struct{}

func (panics) Fatal(why ...any) { panic(why) }

package earlier

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
)

// rowReader reads the rows of the parts of a table, one after the other.
type rowReader[R any] struct {
	in     store.Store
	parts  []journal.Part // to open
	atOnce int            // rows that are read at once

	table  string // of the open part
	file   *os.File
	groups []parquet.RowGroup // to read
	rows   *parquet.GenericReader[R]
	batch  []R
}

// next returns the next row, or [io.EOF].
func (r *rowReader[R]) next(ctx context.Context) (_ *R, err error) {
	defer rowio.Recovered(&err)
	for len(r.batch) == 0 {
		switch {
		case r.rows != nil:
			batch := make([]R, r.atOnce)
			n, err := r.rows.Read(batch)
			if r.batch = batch[:n]; err == io.EOF {
				r.rows.Close()
				r.rows = nil
			} else if err != nil {
				return nil, err
			}
		case len(r.groups) > 0:
			g := r.groups[0]
			for _, c := range g.ColumnChunks() { // of a part that somebody else wrote
				if c.NumValues() > mostValues*(g.NumRows()+int64(r.atOnce)) {
					return nil, fmt.Errorf("a column of %s has %d values in %d rows", r.table, c.NumValues(), g.NumRows())
				}
			}
			r.groups, r.rows = r.groups[1:], parquet.NewGenericRowGroupReader[R](g)
		case len(r.parts) > 0:
			p := r.parts[0]
			r.close()
			if r.file, err = scan.OpenPart(ctx, r.in, p); err != nil {
				return nil, err
			}
			opened, err := openNeeded[R](r.file, p)
			if err != nil {
				return nil, err
			}
			r.parts, r.table, r.groups = r.parts[1:], p.Table, opened.RowGroups()
		default:
			return nil, io.EOF
		}
	}
	row := &r.batch[0]
	r.batch = r.batch[1:]
	return row, nil
}

// close closes the part that is open.
func (r *rowReader[R]) close() {
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

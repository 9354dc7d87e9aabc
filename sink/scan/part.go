package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// OpenPart opens a part, as a manifest names it, for those who read its rows with
// parquet-go. It returns an error if the contents do not match the part's digest, or if a
// page would take more memory than a page of ours. The file is read from its beginning.
func OpenPart(ctx context.Context, in store.Store, p journal.Part) (*os.File, error) {
	f, err := store.OpenWritten(ctx, in, p.Path, p.Digest)
	if err != nil {
		return nil, rowio.Unreadable(in, p, err)
	}
	opened, err := Open(io.NewSectionReader(f, 0, p.Bytes)) // leaves f where it is
	if err == nil {
		err = rowio.HasRows(opened.Rows(), p)
	}
	if err != nil {
		f.Close()
		return nil, rowio.Unreadable(in, p, err)
	}
	return f, nil
}

// Texts reads columns of a part as text. It calls row with the cells of each
// row, in the order of names, nil for null; they are valid until row returns.
func Texts(ctx context.Context, in store.Store, p journal.Part, names []string, row func(cells []*string)) error {
	return Rows(ctx, in, p, Selection{Columns: names}, func(batch arrow.RecordBatch) error {
		columns, texts, line := make([]arrow.Array, len(names)), make([]string, len(names)), make([]*string, len(names))
		for k, name := range names {
			columns[k] = Column[arrow.Array](batch, name)
		}
		for i := range int(batch.NumRows()) {
			for k, column := range columns {
				line[k] = nil
				if column.IsValid(i) {
					texts[k] = column.ValueStr(i)
					line[k] = &texts[k]
				}
			}
			row(line)
		}
		return nil
	})
}

// Rows reads a part batch by batch (see [File.Batches]). It returns an error of each
// unchanged.
func Rows(ctx context.Context, in store.Store, p journal.Part, s Selection, each func(arrow.RecordBatch) error) error {
	f, err := store.OpenWritten(ctx, in, p.Path, p.Digest)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return rowio.Unreadable(in, p, err)
	}
	defer f.Close()
	var own error // returned by each
	opened, err := Open(f)
	if err == nil {
		err = rowio.HasRows(opened.Rows(), p)
	}
	if err == nil {
		err = opened.Batches(ctx, s, func(batch arrow.RecordBatch) error {
			own = each(batch)
			return own
		})
	}
	if err == nil || own != nil {
		return own
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return rowio.Unreadable(in, p, err)
}

// AllRows reads the rows of several parts, one part after the other, as [Rows] does.
func AllRows(ctx context.Context, in store.Store, parts []journal.Part, s Selection, each func(arrow.RecordBatch) error) error {
	for _, p := range parts {
		if err := Rows(ctx, in, p, s, each); err != nil {
			return err
		}
	}
	return nil
}

// Empty returns a part of a table without rows, as package sink writes it. It is made once:
// each view of a table that a folder lacks takes its columns from it.
func Empty(table string) (*File, error) {
	once, _ := empties.LoadOrStore(table, sync.OnceValues(func() (*File, error) { return empty(table) }))
	return once.(func() (*File, error))()
}

var empties sync.Map // func() (*File, error) by table

func empty(table string) (*File, error) {
	content, err := schema.EmptyPart(table)
	if err != nil {
		return nil, err
	}
	f, err := Open(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", table, err)
	}
	return f, nil
}

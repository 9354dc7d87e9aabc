package sink

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// fewRows is the mean number of rows of parts, up to which the rows of a table are
// written anew into larger row groups when the parts are joined. A piece of 2,048
// hosts has a few thousand sitemaps, and readers take a row group at a time. To write
// larger tables anew would cost more than the run.
const fewRows = rowGroup / 32

// joinParts writes one part with the rows of several of a table.
func joinParts(ctx context.Context, w io.Writer, from store.Store, parts []journal.Part) error {
	if table := parts[0].Table; schema.Describe(table).Merges && len(parts) > 1 {
		rows := int64(0)
		for _, p := range parts {
			rows += p.Rows
		}
		if rows <= fewRows*int64(len(parts)) {
			return new(Segment).table(table).join(ctx, w, from, parts)
		}
	}
	return concatenate(w, func(yield func(namedFile, error) bool) {
		for _, p := range parts {
			f, err := store.OpenWritten(ctx, from, p.Path, p.Digest)
			if err != nil {
				yield(namedFile{}, err)
				return
			}
			more := yield(namedFile{Name: f.Name(), ReaderAt: f, Size: p.Bytes}, nil)
			f.Close()
			if !more {
				return
			}
		}
	})
}

// join writes the rows of parts anew.
func (*Table[T]) join(ctx context.Context, w io.Writer, from store.Store, parts []journal.Part) (err error) {
	var out *shred.Writer[T]
	defer func() {
		if out != nil {
			out.Release()
		}
	}()
	for _, p := range parts {
		f, err := store.OpenWritten(ctx, from, p.Path, p.Digest)
		if err != nil {
			return err
		}
		out, err = copyRows(ctx, out, w, f, p)
		f.Close()
		if err != nil {
			return fmt.Errorf("join %s: %w", p.Path, err)
		}
	}
	return out.Close()
}

// copyRows writes the rows of a part, whose file f is, to out, or to a new writer with
// the metadata of the part.
func copyRows[T any](
	ctx context.Context, out *shred.Writer[T], w io.Writer, f *os.File, p journal.Part,
) (_ *shred.Writer[T], err error) {
	in, err := rowio.Open(f, p.Bytes)
	if err != nil {
		return out, err
	}
	known := schema.ColumnsOf(reflect.TypeFor[T]())
	for _, column := range in.Columns() {
		if !slices.Contains(known, column) {
			return out, fmt.Errorf("has a column %q, which this program does not know: use the one that wrote it", column)
		}
	}
	if out == nil {
		metadata := in.AllMetadata()
		options := writerOptions[T](p.Table, metadata[layout.KeyToolVersion], metadata)
		if out, err = shred.New[T](w, new(sync.Pool), options...); err != nil {
			return nil, err
		}
	}
	if n := in.Rows(); n != p.Rows {
		return out, fmt.Errorf("%d rows, where the record has %d", n, p.Rows)
	}
	return out, rowio.Read(ctx, in, rowio.Selection{Partial: true}, func(batch []T) error { return out.Write(batch) })
}

package earlier

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// mostRows bounds the rows of fetches that are read at once. A piece of a segment has 2,048
// targets, and a row group has those of one piece.
const mostRows = 1 << 14

// mostValues bounds the mean number of values in a list: hops, and answers in memory.
const mostValues = 32

// fewRows is how many rows a row group has at least, when the values in its lists are bounded.
const fewRows = 256

// openNeeded opens a part that has the needed columns: a manifest may say that it has.
func openNeeded(ctx context.Context, in store.Store, p journal.Part) (*rowio.PartFile, error) {
	f, err := rowio.OpenPart(ctx, in, p)
	if err != nil {
		return nil, err
	}
	if err := journal.Lacking(journal.NeededBut(p.Table, f.Has)); err != nil {
		f.Close()
		return nil, fmt.Errorf("read %s: %w", p.Path, err)
	}
	return f, nil
}

// eachGroup calls f with the rows of each row group of parts of fetches.
func eachGroup(ctx context.Context, in store.Store, parts []journal.Part, f func([]schema.Fetch) error) error {
	for _, p := range parts {
		if err := eachGroupOf(ctx, in, p, f); err != nil {
			return err
		}
	}
	return nil
}

func eachGroupOf(ctx context.Context, in store.Store, p journal.Part, f func([]schema.Fetch) error) error {
	opened, err := openNeeded(ctx, in, p)
	if err != nil {
		return err
	}
	defer opened.Close()
	var sizes []int64
	for _, g := range opened.Groups() { // of a part that somebody else wrote
		if g.Rows > mostRows || g.Rows > p.Rows {
			return fmt.Errorf("read %s: a row group of %d rows, where the part has %d", p.Path, g.Rows, p.Rows)
		}
		if g.Values > mostValues*mostRows { // of lists, a row may have any number
			return fmt.Errorf("read %s: a column of a row group has %d values, more than %d for each of %d rows",
				p.Path, g.Values, mostValues, mostRows)
		}
		if g.Rows > 0 {
			sizes = append(sizes, g.Rows)
		}
	}
	var rows []schema.Fetch
	var own error // of f
	err = rowio.Read(ctx, opened.File, rowio.Selection{Partial: true}, func(batch []schema.Fetch) error {
		if rows = append(rows, batch...); int64(len(rows)) < sizes[0] {
			return nil
		}
		own = f(rows)
		rows, sizes = nil, sizes[1:]
		return own
	})
	if err == nil || own != nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("read %s: %w", p.Path, err)
}

// rowReader reads the rows of the parts of a table, one after the other.
type rowReader[R any] struct {
	pull func() (*R, error, bool)
	stop func() // must be called
}

func newRowReader[R any](ctx context.Context, in store.Store, parts []journal.Part) (r rowReader[R]) {
	r.pull, r.stop = iter.Pull2(rowsOf[R](ctx, in, parts))
	return r
}

// next returns the next row, which is valid until the one after it, or [io.EOF].
func (r *rowReader[R]) next() (*R, error) {
	row, err, ok := r.pull()
	if !ok {
		err = io.EOF
	}
	return row, err
}

func rowsOf[R any](ctx context.Context, in store.Store, parts []journal.Part) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		for _, p := range parts {
			err := eachRow(ctx, in, p, func(row *R) bool { return yield(row, nil) })
			if err == errFound {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// eachRow calls f with the rows of a part. It returns errFound if f returns false.
func eachRow[R any](ctx context.Context, in store.Store, p journal.Part, f func(*R) bool) error {
	opened, err := openNeeded(ctx, in, p)
	if err != nil {
		return err
	}
	defer opened.Close()
	for _, g := range opened.Groups() { // of a part that somebody else wrote
		if g.Values > mostValues*(g.Rows+fewRows) {
			return fmt.Errorf("a column of %s has %d values in %d rows", p.Table, g.Values, g.Rows)
		}
	}
	err = rowio.Read(ctx, opened.File, rowio.Selection{Partial: true}, func(batch []R) error {
		for i := range batch {
			if !f(&batch[i]) {
				return errFound
			}
		}
		return nil
	})
	if err == nil || err == errFound || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("read %s: %w", p.Path, err)
}

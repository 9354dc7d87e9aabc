package rowio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"unsafe"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// The rows of a target stand together in a part, and seqs ascend.

// Runs reads the rows of parts as [Of] does. It calls each with rows of one target, of a part at
// path: all that a batch has of them, so that a target may come several times one after another.
// Rows that are out of order are damage.
func Runs[T any](
	ctx context.Context, in store.Store, parts []journal.Part, s Selection,
	each func(path string, seq int64, rows []T) error,
) error {
	return runs(ctx, in, parts, s, func(path string, seq int64, rows []T, _ bool) error { return each(path, seq, rows) })
}

// runs also says whether rows are the last of a batch, so that more may follow.
func runs[T any](
	ctx context.Context, in store.Store, parts []journal.Part, s Selection,
	each func(path string, seq int64, rows []T, last bool) error,
) error {
	seqOf := seqs[T]()
	for _, p := range parts {
		var before int64
		begun := false
		err := ofPart(ctx, in, p, s, func(batch []T) error {
			for len(batch) > 0 {
				seq := seqOf(&batch[0])
				if begun && seq < before {
					return Unreadable(in, p, fmt.Errorf("seq %d follows seq %d", seq, before))
				}
				begun, before = true, seq
				n := 1
				for n < len(batch) && seqOf(&batch[n]) == seq {
					n++
				}
				if err := each(p.Path, seq, batch[:n:n], n == len(batch)); err != nil {
					return err
				}
				batch = batch[n:]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Targets calls each with all rows of one target after the other: see [Runs].
func Targets[T any](
	ctx context.Context, in store.Store, parts []journal.Part, s Selection, each func(seq int64, rows []T) error,
) error {
	var of int64
	var all []T // of a target that more rows may follow
	end := func() error {
		if len(all) == 0 {
			return nil
		}
		err := each(of, all)
		all = all[:0]
		return err
	}
	err := runs(ctx, in, parts, s, func(_ string, seq int64, rows []T, last bool) error {
		if seq != of {
			if err := end(); err != nil {
				return err
			}
			of = seq
		}
		if len(all) == 0 && !last {
			return each(seq, rows)
		}
		all = append(all, rows...)
		return nil
	})
	if err != nil {
		return err
	}
	return end()
}

// First calls each with the rows of the first target, some at a time.
func First[T any](ctx context.Context, in store.Store, parts []journal.Part, s Selection, each func(rows []T)) error {
	errAll := errors.New("all rows")
	var first *int64
	err := Runs(ctx, in, parts, s, func(_ string, seq int64, rows []T) error {
		if first == nil {
			first = &seq
		}
		if seq != *first {
			return errAll
		}
		each(rows)
		return nil
	})
	if err == errAll {
		return nil
	}
	return err
}

// A Cursor reads the rows of parts one by one, for those who read several tables in step.
type Cursor[T any] struct {
	pull  func() ([]T, error, bool)
	stop  func()
	seqOf func(*T) int64
	rows  []T // of the batch, not yet given
	of    []T // returned by Of
	err   error
}

// Follow returns a cursor before the first row. It must be closed.
func Follow[T any](ctx context.Context, in store.Store, parts []journal.Part, s Selection) *Cursor[T] {
	c := &Cursor[T]{seqOf: seqs[T]()}
	c.pull, c.stop = iter.Pull2(func(yield func([]T, error) bool) {
		errStopped := errors.New("stopped")
		err := Of(ctx, in, parts, s, func(batch []T) error {
			if !yield(batch, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	})
	return c
}

// Close ends the reading.
func (c *Cursor[T]) Close() { c.stop() }

// Next returns the next row, which is valid until the one after it, or [io.EOF].
func (c *Cursor[T]) Next() (*T, error) {
	if err := c.load(); err != nil {
		return nil, err
	}
	row := &c.rows[0]
	c.rows = c.rows[1:]
	return row, nil
}

// UpTo returns the next row with its seq, or nil if that is greater than last.
func (c *Cursor[T]) UpTo(last int64) (row *T, seq int64, err error) {
	if err := c.load(); err == io.EOF {
		return nil, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	if seq = c.seqOf(&c.rows[0]); seq > last {
		return nil, 0, nil
	}
	row, err = c.Next()
	return row, seq, err
}

// Of returns the rows of a target, which is behind those asked for before. They are valid until
// the next call.
func (c *Cursor[T]) Of(seq int64) ([]T, error) {
	c.of = c.of[:0]
	for {
		row, at, err := c.UpTo(seq)
		if row == nil || err != nil {
			return c.of, err
		}
		if at == seq {
			c.of = append(c.of, *row)
		}
	}
}

func (c *Cursor[T]) load() error {
	for len(c.rows) == 0 && c.err == nil {
		var more bool
		if c.rows, c.err, more = c.pull(); !more {
			c.err = io.EOF
		}
	}
	return c.err
}

// seqs returns a function that returns the seq of a row, 0 for a type without.
func seqs[T any]() func(*T) int64 {
	for _, l := range leavesOf(reflect.TypeFor[T]()) {
		if l.path == "seq" && l.goType == reflect.TypeFor[int64]() {
			return func(row *T) int64 { return *(*int64)(unsafe.Add(unsafe.Pointer(row), l.offset)) }
		}
	}
	return func(*T) int64 { return 0 }
}

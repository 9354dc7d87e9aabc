package rowio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// A Span is a number of consecutive rows of a row group.
type Span struct {
	Group    int
	First, N int64
}

// FileOf returns a file that is open, of which few bytes are to be read: in fetches them.
func FileOf(in io.ReaderAt, size int64, file *parquet.File) *File { return &File{in, size, file} }

// Some returns some rows, for those who know where they stand. It reads the pages that hold
// them, and no others. The file may lack any column of the row type.
func Some[T any](f *File, some Span) (rows []T, err error) {
	defer Recovered(&err)
	leaves, err := f.leaves(leavesOf(reflect.TypeFor[T]()), nil, true)
	if err != nil {
		return nil, err
	}
	leaves = slices.DeleteFunc(leaves, func(l leaf) bool { return l.column < 0 })
	var numbers []int
	for _, l := range leaves {
		numbers = append(numbers, l.column)
	}
	if err := f.CheckSome(some, numbers...); err != nil {
		return nil, err
	}
	g := f.columns(some.Group, leaves, nil)
	defer g.close()
	for _, c := range g.columns {
		if err := c.seek(some.First); err != nil {
			return nil, err
		}
	}
	for g.left = some.N; g.left > 0; {
		batch := reflect.ValueOf(make([]T, min(g.left, batchRows)))
		n, _, err := g.fill(batch.UnsafePointer(), batch.Type().Elem().Size(), batch.Len())
		if err != nil {
			return nil, err
		}
		rows = append(rows, batch.Interface().([]T)[:n]...)
	}
	return rows, nil
}

// CheckSome checks the pages of columns that hold some rows, as [Read] checks all.
func (f *File) CheckSome(some Span, columns ...int) error {
	group := f.file.RowGroups()[some.Group]
	m := f.file.Metadata().RowGroups[some.Group]
	schema := f.file.Schema()
	for _, i := range columns {
		offsets, err := group.ColumnChunks()[i].OffsetIndex()
		if err != nil {
			return err
		}
		data := &m.Columns[i].MetaData
		has, _ := schema.Lookup(schema.Columns()[i]...)
		chunk := pageChunk{
			Codec: data.Codec, MaxDef: has.MaxDefinitionLevel, MaxRep: has.MaxRepetitionLevel,
		}
		check := func(from, length int64) error {
			chunk.From, chunk.Length = from, length
			return checkPages(f.in, f.size, []pageChunk{chunk})
		}
		from, err := pagesFrom(data)
		if err == nil && from < data.DataPageOffset {
			err = check(from, data.DataPageOffset-from)
		}
		if err != nil {
			return err
		}
		for p := range offsets.NumPages() {
			next := group.NumRows()
			if p+1 < offsets.NumPages() {
				next = offsets.FirstRowIndex(p + 1)
			}
			if next <= some.First || offsets.FirstRowIndex(p) >= some.First+some.N {
				continue
			}
			chunk.NoDictionary = true
			if err := check(offsets.Offset(p), offsets.CompressedPageSize(p)); err != nil {
				return err
			}
		}
	}
	return nil
}

// seek goes to a row: to the page that holds it, and there over the rows before it.
func (c *cells[V]) seek(row int64) error {
	offsets, err := c.chunk.OffsetIndex()
	if err != nil {
		return err
	}
	first := int64(0)
	for p := range offsets.NumPages() {
		if at := offsets.FirstRowIndex(p); at <= row {
			first = max(first, at)
		}
	}
	if err := c.pages.SeekToRow(first); err != nil {
		return fmt.Errorf("damaged Parquet: column %s: %w", c.name(), err)
	}
	return c.pass(row - first)
}

// pass goes over rows.
func (c *cells[V]) pass(left int64) error {
	c.passing = true
	defer func() { c.passing = false }()
	for left > 0 {
		skipped, err := c.skip(left)
		if left -= skipped; err != nil || left == 0 {
			return err
		}
		if err := c.load(); err != nil {
			return err
		}
		if c.n == 0 {
			return c.damaged(errors.New("has fewer rows than its row group"))
		}
		rows, entries := c.upTo(left)
		present := entries
		if c.maxDef > 0 {
			present = bytes.Count(c.defs[c.at:c.at+entries], []byte{byte(c.maxDef)})
		}
		if _, err := c.take(present); err != nil {
			return c.damaged(err)
		}
		c.at, left = c.at+entries, left-rows
	}
	return nil
}

// upTo returns how many of the next rows, of at most n, the page has, and their entries.
func (c *cells[V]) upTo(n int64) (rows int64, entries int) {
	left := c.n - c.at
	if c.maxRep == 0 {
		entries = int(min(n, int64(left)))
		return int64(entries), entries
	}
	for i, r := range c.page.RepetitionLevels()[c.at:] {
		if r != 0 {
			continue
		}
		if rows == n {
			return rows, i
		}
		rows++
	}
	return rows, left
}

func (l *list) seek(row int64) error {
	for _, c := range l.leaves {
		if err := c.seek(row); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) pass(rows int64) error {
	for _, c := range l.leaves {
		if err := c.pass(rows); err != nil {
			return err
		}
	}
	return nil
}

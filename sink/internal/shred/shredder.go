package shred

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// shredder splits rows into columns, for parquet-go to write.
type shredder[T any] struct {
	file    *parquet.GenericWriter[T]
	columns []shred
	texts   []*textColumn
	spare   *sync.Pool // *[]*textColumn for reuse by this row type
	rows    int        // rows in the row group
}

// shred extracts one column from rows.
type shred struct {
	name   string
	offset uintptr // offset of the column's field
	write  func(cells) error
	each   func(n int, c *Column) error // writes each text n times; nil if the column cannot
	other  *Column                      // to write in place of the field, nil for none
}

// batchRows is the number of rows shredded at a time, so that they stay in the CPU
// cache from column to column.
const batchRows = 256

// repeatedRows is the most rows written at a time where rows repeat others: the verdicts of
// all agents that follow one group.
const repeatedRows = 4096

// dictionaryBytes bounds the texts of a column in a row group; more of them end the
// row group. Hostile files can reach it, and parquet-go would hold dictionaries of
// up to a gigabyte.
const dictionaryBytes = 16 << 20

// dictionaryTexts bounds their number: the lists of a row group can have many more
// than it has rows.
const dictionaryTexts = 1 << 18

// spareBytes bounds the memory of a column's texts that is kept for reuse: the values of lines of
// 2,048 files take 5 MB, with room 8.
const spareBytes = 16 << 20

// newShredder returns nil if T has a field of a kind that it does not support; then
// parquet-go shreds the rows.
func newShredder[T any](out io.Writer, spare *sync.Pool, options []parquet.WriterOption) (*shredder[T], error) {
	config, err := parquet.NewWriterConfig(options...)
	if err != nil {
		return nil, err
	}
	schema := parquet.SchemaOf(*new(T))
	root, fields := fieldsOf(reflect.TypeFor[T](), schema)
	if root == nil {
		return nil, nil
	}
	s := &shredder[T]{spare: spare}
	var used []*textColumn
	if left, ok := spare.Get().(*[]*textColumn); ok {
		used = *left
	}
	for _, f := range fields {
		if f.kind.Kind() != parquet.ByteArray {
			continue
		}
		if n := len(s.texts); n < len(used) {
			f.kind.texts = used[n]
		} else {
			f.kind.texts = &textColumn{texts: newTexts(), last: -1}
		}
		s.texts = append(s.texts, f.kind.texts)
	}
	if err := shareDictionaries(fields, config.Compression); err != nil {
		return nil, err
	}
	options = append(options, ofPages(schema)...)
	s.file = parquet.NewGenericWriter[T](out, append(options, parquet.NewSchema(schema.Name(), root))...)
	for i, w := range s.file.ColumnWriters() {
		if _, err := w.WriteRowValues(nil); err != nil { // creates the buffer
			return nil, err
		}
		s.columns = append(s.columns, fields[i].column(w))
	}
	return s, nil
}

// write appends rows. It keeps no reference to them.
func (s *shredder[T]) write(rows []T) error {
	for len(rows) > 0 {
		n := min(len(rows), batchRows, RowGroup-s.rows)
		if err := s.batch(rows[:n], 0, 1); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// writeEach appends rows once for each text of the columns.
func (s *shredder[T]) writeEach(rows []T, columns []Column) error {
	defer func() {
		for i := range s.columns {
			s.columns[i].other = nil
		}
	}()
	for i := range columns {
		column := &columns[i]
		at := slices.IndexFunc(s.columns, func(c shred) bool { return c.name == column.Name && c.each != nil })
		if at < 0 {
			return fmt.Errorf("no column %s of texts that are not null, with its own dictionary", column.Name)
		}
		s.columns[at].other = column
	}
	all := columns[0].To - columns[0].From
	for done := 0; done < all && len(rows) > 0; {
		times := min(all-done, repeatedRows/len(rows), (RowGroup-s.rows)/len(rows))
		if times > 0 && len(rows) <= batchRows {
			if err := s.batch(rows, done, times); err != nil {
				return err
			}
			done += times
			continue
		}
		for rest := rows; len(rest) > 0; {
			n := min(len(rest), batchRows, RowGroup-s.rows)
			if err := s.batch(rest[:n], done, 1); err != nil {
				return err
			}
			rest = rest[n:]
		}
		done++
	}
	return nil
}

// batch appends at most batchRows rows several times, at most repeatedRows. Other texts are
// those that follow the first done.
func (s *shredder[T]) batch(rows []T, done, times int) error {
	for i := range s.columns {
		c := &s.columns[i]
		var err error
		if o := c.other; o != nil {
			err = c.each(len(rows), &Column{List: o.List, From: o.From + done, To: o.From + done + times})
		} else {
			first := unsafe.Add(unsafe.Pointer(unsafe.SliceData(rows)), c.offset)
			err = c.write(cells{first: first, stride: unsafe.Sizeof(rows[0]), n: len(rows), times: times})
		}
		if err != nil {
			return err
		}
	}
	s.rows += len(rows) * times
	isFull := s.rows == RowGroup
	for _, t := range s.texts {
		isFull = isFull || len(t.values) >= dictionaryBytes || t.len() >= dictionaryTexts
	}
	if !isFull {
		return nil
	}
	s.rows = 0
	return s.file.Flush()
}

// release passes the memory of the texts on to the next part of the table, column by
// column: otherwise all would grow to the size of the largest.
func (s *shredder[T]) release() {
	if s.texts == nil {
		return
	}
	for _, t := range s.texts {
		t.empty()
		t.forget()
		if t.bytes() > spareBytes {
			t.texts = newTexts()
		}
	}
	left := s.texts
	s.spare.Put(&left)
	s.texts = nil
}

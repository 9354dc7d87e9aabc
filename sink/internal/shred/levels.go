package shred

import (
	"bytes"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// levels writes the definition levels of a nullable column: which cells are null.
type levels struct {
	writer  *parquet.ColumnWriter
	pattern [batchRows]byte // of the cells to write, 1 for a cell that is not null
	buffer  *nullableBuffer // nil if parquet-go keeps the levels
	values  []parquet.Value // which it gets then
}

// newLevels puts a buffer of ours in place of that of a nullable column, whose values
// parquet-go reads from cells.
//
// [parquet.ColumnWriter.WriteRowValues] appends a level and a row at a time, and counts the
// levels of a page one by one: together a fifth of the CPU of a census. Our buffer takes a
// batch at a time, and its nulls are counted once. newLevels finds the fields of the writer
// by name and type. A version of parquet-go that has none of them costs time only.
// parquet-go replaces the buffer of a column only with DictionaryMaxBytes, which this package
// must not set: levels would be lost.
func newLevels(w *parquet.ColumnWriter, cells parquet.ColumnBuffer) *levels {
	l := &levels{writer: w}
	used := fieldOf[parquet.ColumnBuffer](w, "columnBuffer")
	original := fieldOf[parquet.ColumnBuffer](w, "originalColumnBuffer")
	counts := fieldOf[[]int64](w, "definitionLevelHistogram")
	ofPages := fieldOf[[]int64](w, "pageDefinitionLevelHistograms")
	if used != nil && original != nil && counts != nil && ofPages != nil {
		l.buffer = &nullableBuffer{ColumnBuffer: *used, cells: cells, counts: counts, ofPages: ofPages, counted: -1}
		*used, *original = l.buffer, l.buffer
	} else {
		l.values = make([]parquet.Value, repeatedRows)
	}
	return l
}

// fieldOf returns a field of a writer, nil if it has none of this name and type.
func fieldOf[V any](w *parquet.ColumnWriter, name string) *V {
	field := reflect.ValueOf(w).Elem().FieldByName(name)
	if !field.IsValid() || field.Type() != reflect.TypeFor[V]() {
		return nil
	}
	return (*V)(field.Addr().UnsafePointer())
}

// write appends the pattern of n cells several times, and flushes a full page.
func (l *levels) write(n, times int) error {
	all := n * times
	var slow []parquet.Value
	if b := l.buffer; b != nil {
		from := len(b.levels)
		b.levels = append(room(b.levels, all), l.pattern[:n]...)[:from+all]
		fill(b.levels[from:], n)
		b.nulls += times * bytes.Count(l.pattern[:n], []byte{0})
	} else {
		slow = l.values[:all]
		for i, level := range l.pattern[:n] {
			slow[i] = levelOf[level]
		}
		fill(slow, n)
	}
	_, err := l.writer.WriteRowValues(slow)
	return err
}

// levelOf holds values that have only a definition level.
var levelOf = [...]parquet.Value{parquet.Value{}.Level(0, 0, 0), parquet.Value{}.Level(0, 1, 0)}

// nullableBuffer is the buffer of a nullable column. That of parquet-go stays empty.
type nullableBuffer struct {
	parquet.ColumnBuffer
	cells  parquet.ColumnBuffer // that are not null
	levels []byte
	nulls  int

	// The levels that the writer has counted, of the row group and of each page.
	counts, ofPages *[]int64
	counted         int // length of ofPages before the page that is being written, -1 for none
}

func (b *nullableBuffer) Len() int { return len(b.levels) }

// Size returns what the buffer of parquet-go takes, so that pages end where its pages end.
func (b *nullableBuffer) Size() int64 { return 5*int64(len(b.levels)) + b.cells.Size() }

func (b *nullableBuffer) WriteValues(values []parquet.Value) (int, error) { return len(values), nil }

func (b *nullableBuffer) Page() parquet.Page {
	b.counted = len(*b.ofPages)
	return &nullablePage{Page: b.cells.Page(), of: b}
}

// Reset removes the cells. If the writer has written them, it has counted no levels.
func (b *nullableBuffer) Reset() {
	if b.counted >= 0 && len(*b.ofPages) == b.counted+2 {
		for _, counts := range [][]int64{*b.counts, (*b.ofPages)[b.counted:]} {
			counts[0] += int64(b.nulls)
			counts[1] += int64(len(b.levels) - b.nulls)
		}
	}
	b.cells.Reset()
	b.levels, b.nulls, b.counted = b.levels[:0], 0, -1
}

// nullablePage is a page of a nullable column.
type nullablePage struct {
	parquet.Page
	of      *nullableBuffer
	encoded bool
}

func (p *nullablePage) NumRows() int64   { return int64(len(p.of.levels)) }
func (p *nullablePage) NumValues() int64 { return int64(len(p.of.levels)) }
func (p *nullablePage) NumNulls() int64  { return int64(p.of.nulls) }

// DefinitionLevels returns the levels for the writer to encode, and then none to count.
func (p *nullablePage) DefinitionLevels() []byte {
	if p.encoded {
		return nil
	}
	p.encoded = true
	return p.of.levels
}

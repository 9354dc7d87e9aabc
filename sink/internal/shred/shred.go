// Package shred writes rows of plain structs to Parquet, column by column.
//
// It exists for speed. parquet-go looks up every text in a map and handles the cells
// of a nullable column one by one, although most cells of a census repeat the cell
// above. [BenchmarkVerdicts] writes rows of verdicts both ways: this package takes
// about half the time.
//
// It shreds with unsafe: it reads a field of n consecutive rows through its offset in
// the struct and the size of a row, and the elements of a list in the same way. Offsets
// and types come from reflection over the row type, never from data. parquet-go shreds
// rows with fields of other types, such as the bytes of a body.
//
// A field of text tagged dictionary:"name" shares the dictionary of the column name,
// which is made and compressed once: in the table rules, a normalized pattern mostly is
// the pattern. parquet-go does not read this tag.
package shred

import (
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// RowGroup is the most rows of a row group: a multiple of DuckDB's vector size (120
// vectors of 2,048 rows), so that one thread scans one row group.
const RowGroup = 245_760

// Writer writes rows of one type to a Parquet file.
type Writer[T any] struct {
	parquet  *parquet.GenericWriter[T]
	shredder *shredder[T] // nil for rows that parquet-go shreds
}

// New returns a writer for one file. It keeps the memory of its dictionaries in
// spare, for the next writer of the same row type. A writer is not reused, because
// after Reset parquet-go 0.32 omits the column paths from the footer.
func New[T any](out io.Writer, spare *sync.Pool, options ...parquet.WriterOption) (*Writer[T], error) {
	options = append(options, parquet.MaxRowsPerRowGroup(RowGroup))
	s, err := newShredder[T](out, spare, options)
	if err != nil {
		return nil, err
	}
	if s != nil {
		return &Writer[T]{s.file, s}, nil
	}
	options = append(options, Bounds(parquet.SchemaOf(*new(T)))...)
	return &Writer[T]{parquet: parquet.NewGenericWriter[T](out, options...)}, nil
}

// Write appends rows. The caller may reuse their memory afterwards.
func (w *Writer[T]) Write(rows []T) error {
	if w.shredder != nil {
		return w.shredder.write(rows)
	}
	_, err := w.parquet.Write(rows)
	return err
}

// Column is a column that holds texts which are not null, with its own dictionary, and what
// stands in it in place of the texts of rows: some of a list that does not change.
type Column struct {
	Name     string
	List     []string
	From, To int
}

// WriteEach appends the rows once for each text of the columns, which have equally many.
func (w *Writer[T]) WriteEach(rows []T, columns ...Column) error {
	if w.shredder != nil {
		return w.shredder.writeEach(rows, columns)
	}
	return fmt.Errorf("rows of this type are not written once for each text of %s", columns[0].Name)
}

// Close finishes the file. Its error may be the first sign of a full disk.
func (w *Writer[T]) Close() error {
	err := w.parquet.Close()
	w.Release()
	return err
}

// Release frees the writer's memory without finishing the file.
func (w *Writer[T]) Release() {
	if w.shredder != nil {
		w.shredder.release()
	}
}

// Package scan reads Parquet files into Arrow batches: the parts of runs, and
// lists of hosts.
//
// [Open] takes a file; [File.Batches] yields the selected columns of the selected
// rows, batch by batch, and [Column] gives typed access to a column of a batch.
//
// It is the only reader of Parquet columns. It uses arrow-go's parquet/file instead
// of parquet/pqarrow, which supports every type but adds 10 MB of gRPC and Arrow
// Flight to the binary. The columns of a table are flat, lists, or lists of structs;
// this package reads nothing else.
//
// Files may be damaged or hostile. arrow-go panics on some of them; this package
// turns a panic into an error. It decodes one batch at a time, of [batchBytes] or of
// few rows.
package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// smallFile is the size in bytes up to which a file is read at once instead of
// column by column: a run of a hundred million hosts has fifty thousand parts of a
// table.
const smallFile = 1 << 20

// File is a Parquet file whose footer is read.
type File struct {
	reader *file.Reader
	fields []*field
}

// Open reads the footer of a file, and the headers of its pages.
func Open(in parquet.ReaderAtSeeker) (f *File, err error) {
	defer Recovered(&err)
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	// Stream column chunks: one of bodies may have gigabytes.
	properties := parquet.NewReaderProperties(memory.DefaultAllocator)
	properties.BufferedStreamEnabled = true
	properties.BufferSize = 256 << 10
	if size <= smallFile {
		content := make([]byte, size)
		if _, err := io.ReadFull(io.NewSectionReader(in, 0, size), content); err != nil {
			return nil, err
		}
		in, properties = bytes.NewReader(content), parquet.NewReaderProperties(memory.DefaultAllocator)
	}
	r, err := file.NewParquetReader(in, file.WithReadProps(properties))
	if err != nil {
		return nil, err
	}
	if err := checkPages(in, size, r); err != nil {
		return nil, err
	}
	return &File{r, fieldsOf(r.MetaData().Schema)}, nil
}

// Recovered, when deferred, turns a panic of a package that reads Parquet into an error:
// arrow-go and parquet-go panic on some damaged files.
func Recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case error: // perhaps of the disk
		*err = fmt.Errorf("damaged Parquet: %w", r)
	default:
		*err = fmt.Errorf("damaged Parquet: %v", r)
	}
}

// Rows returns the number of rows according to the footer.
func (f *File) Rows() int64 { return f.reader.NumRows() }

// Metadata returns a value of the footer's metadata, or nil.
func (f *File) Metadata(key string) *string {
	return f.reader.MetaData().KeyValueMetadata().FindValue(key)
}

// Schema returns the columns of the file as Arrow types, and its metadata. A column
// that this package cannot read has a type that only has a name.
func (f *File) Schema() *arrow.Schema { return schemaOf(f.reader, f.fields) }

func schemaOf(r *file.Reader, fields []*field) *arrow.Schema {
	all := make([]arrow.Field, len(fields))
	for i, f := range fields {
		all[i] = f.Field
	}
	pairs := r.MetaData().KeyValueMetadata()
	said := arrow.NewMetadata(pairs.Keys(), pairs.Values())
	return arrow.NewSchema(all, &said)
}

// Layout describes the leaf columns of the Parquet schema. Files with equal layouts
// have the same columns, types and nullability.
func (f *File) Layout() (columns []string) {
	s := f.reader.MetaData().Schema
	for i := range s.NumColumns() {
		c := s.Column(i)
		columns = append(columns, fmt.Sprintf("%s %s %s, levels %d and %d", c.Path(), c.PhysicalType(), c.LogicalType(), c.MaxDefinitionLevel(), c.MaxRepetitionLevel()))
	}
	return columns
}

// Selection says what is read of a file.
type Selection struct {
	// Columns are the columns to read, in the order of the file. Empty means all.
	Columns []string
	// Dictionaries are columns of text to return as dictionaries.
	Dictionaries []string
	// Wanted reports whether a row group whose statistics give seqs from least to
	// greatest may hold wanted rows. Nil wants all.
	Wanted func(least, greatest int64) bool
}

const (
	// batchRows is the most rows of a batch. The first batch has firstRows, because
	// a cell may have a megabyte.
	batchRows = 8192
	firstRows = 64

	// batchBytes is the size in bytes of a batch. After a batch that exceeds it, the
	// next has half as many rows.
	batchBytes = 8 << 20
)

// Batches reads a file batch by batch, in the order of its rows. A batch, and all
// values taken from it, are valid until each returns.
func (f *File) Batches(ctx context.Context, s Selection, each func(arrow.RecordBatch) error) (err error) {
	defer Recovered(&err)
	fields, err := f.selected(s)
	if err != nil {
		return err
	}
	schema := schemaOf(f.reader, fields)
	readers := make([]*reader, len(fields))
	for i, c := range fields {
		readers[i] = newReader(c, f.reader)
		defer readers[i].release()
	}
	rows := int64(firstRows)
	for g := range f.reader.NumRowGroups() {
		group := f.reader.RowGroup(g)
		if !isWanted(f.reader, group, s.Wanted) {
			continue
		}
		for i, r := range readers {
			if err := r.begin(group); err != nil {
				return fmt.Errorf("column %s: %w", fields[i].Name, err)
			}
		}
		for left := group.NumRows(); left > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(rows, left)
			bytes, err := take(schema, readers, n, each)
			if err != nil {
				return err
			}
			left -= n
			switch {
			case bytes > batchBytes:
				rows = max(rows/2, 1)
			case bytes <= batchBytes/2:
				rows = min(2*rows, batchRows)
			}
		}
		for i, r := range readers {
			more, err := r.next(1)
			if err != nil {
				return fmt.Errorf("column %s: %w", fields[i].Name, err)
			}
			if more.Len() > 0 {
				return fmt.Errorf("column %s: has more than the %d rows of its row group", fields[i].Name, group.NumRows())
			}
		}
	}
	return nil
}

// take reads one batch of n rows.
func take(schema *arrow.Schema, readers []*reader, n int64, each func(arrow.RecordBatch) error) (bytes int64, err error) {
	columns := make([]arrow.Array, 0, len(readers))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, r := range readers {
		column, err := r.next(n)
		if err == nil && int64(column.Len()) != n {
			err = fmt.Errorf("has %d rows, where %d are announced", column.Len(), n)
		}
		if err != nil {
			return 0, fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
		columns = append(columns, column)
		bytes += int64(column.Data().SizeInBytes())
		if d, ok := column.(*array.Dictionary); ok {
			// Fewer rows would not make it smaller: only what it has grown by counts.
			size := int64(d.Dictionary().Data().SizeInBytes())
			bytes -= min(size, r.dictionary)
			r.dictionary = size
		}
	}
	batch := array.NewRecordBatch(schema, columns, n)
	defer batch.Release()
	return bytes, each(batch)
}

// Column returns a column of a batch. It panics if the column has another type;
// [File.Batches] turns the panic into an error.
func Column[T arrow.Array](batch arrow.RecordBatch, name string) T {
	return batch.Column(batch.Schema().FieldIndices(name)[0]).(T)
}

// selected returns the fields to read.
func (f *File) selected(s Selection) (fields []*field, err error) {
	left := slices.Clone(s.Columns)
	for _, c := range f.fields {
		if s.Columns != nil && !slices.Contains(s.Columns, c.Name) {
			continue
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == c.Name })
		if unread, ok := c.Type.(foreign); ok {
			return nil, fmt.Errorf("column %s is of type %s, which is not read", c.Name, unread)
		}
		if slices.Contains(s.Dictionaries, c.Name) {
			c = c.asDictionary()
		}
		fields = append(fields, c)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("has no column %s", strings.Join(left, ", "))
	}
	return fields, nil
}

// isWanted reports whether a row group may hold a wanted seq.
func isWanted(r *file.Reader, group *file.RowGroupReader, wanted func(least, greatest int64) bool) bool {
	seq := r.MetaData().Schema.ColumnIndexByName("seq")
	if wanted == nil || seq < 0 {
		return true
	}
	chunk, err := group.MetaData().ColumnChunk(seq)
	if err != nil {
		return true
	}
	stats, err := chunk.Statistics()
	s, ok := stats.(*metadata.Int64Statistics)
	return err != nil || !ok || !s.HasMinMax() || wanted(s.Min(), s.Max())
}

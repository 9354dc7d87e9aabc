// Package scan reads Parquet files into Arrow batches: the parts of runs, and
// lists of hosts.
//
// [Open] takes a file; [File.Batches] yields the selected columns of the selected
// rows, batch by batch, and [Column] gives typed access to a column of a batch.
//
// Files may be damaged or hostile. arrow-go panics on some of them; this package
// turns a panic into an error. It decodes one batch at a time, of [batchBytes] or of
// few rows. parquet-go decodes pages in a seventh of the time, but whole: a page of a
// few bytes may have two billion values.
package scan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go/format"

	"github.com/robocensus/robocensus/sink/internal/pages"
	"github.com/robocensus/robocensus/sink/rowio"
)

// smallFile is the size in bytes up to which a file is read at once instead of
// column by column: a run of a hundred million hosts has fifty thousand parts of a
// table.
const smallFile = 1 << 20

// File is a Parquet file whose footer is read.
type File struct {
	reader *file.Reader
	schema *arrow.Schema

	extents [][]pages.Extent // by row group and column; nil if the pages are checked when they are read
	in      io.ReaderAt
	size    int64
}

// Open reads the footer of a file, and the headers of its pages.
func Open(in parquet.ReaderAtSeeker) (*File, error) { return open(in, true) }

// OpenLarge is [Open] for a file of which little may be read: the headers of pages are read
// when they are.
func OpenLarge(in parquet.ReaderAtSeeker) (*File, error) { return open(in, false) }

func open(in parquet.ReaderAtSeeker, check bool) (f *File, err error) {
	defer rowio.Recovered(&err)
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
	f = &File{reader: r, in: in, size: size}
	for i := 0; check && i < r.NumRowGroups(); i++ {
		extents, err := f.checked(i, nil)
		if err != nil {
			return nil, err
		}
		f.extents = append(f.extents, extents)
	}
	columns, err := f.columns()
	if err != nil {
		return nil, err
	}
	var fields []arrow.Field
	for _, c := range columns.Manifest.Fields {
		fields = append(fields, *c.Field)
	}
	f.schema = f.schemaOf(fields)
	return f, nil
}

// checked checks the pages of some columns of a row group, nil for all.
func (f *File) checked(i int, leaves []int) ([]pages.Extent, error) {
	m := f.reader.MetaData()
	group := m.RowGroup(i)
	chunks := make([]pages.Chunk, group.NumColumns())
	for j := range chunks {
		if leaves != nil && !slices.Contains(leaves, j) {
			continue // none of its pages is read
		}
		chunk, err := group.ColumnChunk(j)
		if err != nil {
			return nil, err
		}
		from, column := chunk.DataPageOffset(), m.Schema.Column(j)
		if at := chunk.DictionaryPageOffset(); chunk.HasDictionaryPage() && at > 0 && at < from {
			from = at
		}
		chunks[j] = pages.Chunk{
			From: from, Length: chunk.TotalCompressedSize(), Codec: format.CompressionCodec(chunk.Compression()),
			IsText: chunk.Type() == parquet.Types.ByteArray,
			MaxDef: int(column.MaxDefinitionLevel()), MaxRep: int(column.MaxRepetitionLevel()),
		}
	}
	extents, err := pages.Check(f.in, f.size, chunks)
	if err != nil {
		return nil, fmt.Errorf("damaged Parquet: row group %d: %w", i, err)
	}
	return extents, nil
}

// schemaOf returns a schema of columns as pqarrow describes them.
func (f *File) schemaOf(fields []arrow.Field) *arrow.Schema {
	for i := range fields {
		fields[i].Metadata = arrow.Metadata{} // the field ID
	}
	pairs := f.reader.MetaData().KeyValueMetadata()
	said := arrow.NewMetadata(pairs.Keys(), pairs.Values())
	return arrow.NewSchema(fields, &said)
}

// columns returns a reader of columns.
func (f *File) columns() (*pqarrow.FileReader, error) {
	schema, properties := f.reader.MetaData().Schema, pqarrow.ArrowReadProperties{}
	r, err := pqarrow.NewFileReader(f.reader, properties, memory.DefaultAllocator)
	if err == nil {
		// Types are those of the columns, whatever an Arrow schema in the metadata says.
		r.Manifest, err = pqarrow.NewSchemaManifest(schema, nil, &properties)
	}
	return r, err
}

// Rows returns the number of rows according to the footer.
func (f *File) Rows() int64 { return f.reader.NumRows() }

// Schema returns the columns of the file as Arrow types, and its metadata.
func (f *File) Schema() *arrow.Schema { return f.schema }

const (
	// batchRows is the most rows of a batch. The first batch has firstRows, because
	// a cell may have a megabyte.
	batchRows = 8192
	firstRows = 64

	// batchBytes is the size in bytes of a batch. After a batch that exceeds it, the
	// next has half as many rows.
	batchBytes = 8 << 20

	// largeBatch is the size of a batch that the garbage of others does not wait for: of
	// texts that are as large as pages are.
	largeBatch = pages.MostTexts / 2
)

// Batches reads a file batch by batch, in the order of its rows. A batch, and all
// values taken from it, are valid until each returns.
func (f *File) Batches(ctx context.Context, s Selection, each func(arrow.RecordBatch) error) (err error) {
	defer rowio.Recovered(&err)
	leaves, err := f.leaves(s.Columns)
	if err != nil {
		return err
	}
	columns, err := f.columns()
	if err != nil {
		return err
	}
	rows := int64(firstRows)
	for g := range f.reader.NumRowGroups() {
		if !s.wants(f.reader.MetaData(), g) {
			if s.Passed != nil {
				s.Passed(f.reader.MetaData().RowGroup(g).NumRows())
			}
			continue
		}
		var extents []pages.Extent
		if f.extents != nil {
			extents = f.extents[g]
		} else if extents, err = f.checked(g, leaves); err != nil {
			return err
		}
		if err := f.batches(ctx, columns, leaves, g, extents, &rows, each); err != nil {
			return err
		}
	}
	return nil
}

// batches reads a row group. The first batch has the given number of rows; then the
// number follows the size of batches.
func (f *File) batches(
	ctx context.Context, columns *pqarrow.FileReader, leaves []int, group int, extents []pages.Extent, rows *int64,
	each func(arrow.RecordBatch) error,
) error {
	readers, described, err := columns.GetFieldReaders(ctx, leaves, []int{group})
	if err != nil {
		return err
	}
	schema := f.schemaOf(described.Fields())
	defer func() {
		for _, r := range readers {
			r.Release()
		}
	}()
	most := int64(batchRows)
	for _, leaf := range leaves {
		most = min(most, extents[leaf].Rows(batchRows))
	}
	all := f.reader.MetaData().RowGroup(group).NumRows()
	for left := all; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(*rows, left, most)
		bytes, err := take(schema, readers, n, each)
		if err != nil {
			return err
		}
		left -= n
		if bytes > largeBatch {
			runtime.GC() // the next may be as large
		}
		switch {
		case bytes > batchBytes:
			*rows = max(*rows/2, 1)
		case bytes <= batchBytes/2:
			*rows = min(2**rows, batchRows)
		}
	}
	for i, r := range readers {
		more, err := next(r, 1)
		if err != nil {
			return fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
		defer more.Release()
		if more.Len() > 0 {
			return fmt.Errorf("column %s: has more than the %d rows of its row group", schema.Field(i).Name, all)
		}
	}
	return nil
}

// take reads one batch of n rows.
func take(
	schema *arrow.Schema, readers []*pqarrow.ColumnReader, n int64, each func(arrow.RecordBatch) error,
) (bytes int64, err error) {
	columns := make([]arrow.Array, 0, len(readers))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, r := range readers {
		column, err := next(r, n)
		if err != nil {
			return 0, fmt.Errorf("column %s: %w", schema.Field(i).Name, err)
		}
		columns = append(columns, column)
		if int64(column.Len()) != n {
			return 0, fmt.Errorf("column %s: has %d rows, where %d are announced", schema.Field(i).Name, column.Len(), n)
		}
		bytes += int64(column.Data().SizeInBytes())
	}
	batch := array.NewRecordBatch(schema, columns, n)
	defer batch.Release()
	return bytes, each(batch)
}

// next reads n rows of a column, or fewer at the end of the row group.
func next(r *pqarrow.ColumnReader, n int64) (arrow.Array, error) {
	read, err := r.NextBatch(n)
	if err != nil {
		return nil, err
	}
	defer read.Release()
	switch chunks := read.Chunks(); len(chunks) {
	case 0:
		return array.MakeArrayOfNull(memory.DefaultAllocator, read.DataType(), 0), nil
	case 1:
		chunks[0].Retain()
		return chunks[0], nil
	default:
		return array.Concatenate(chunks, memory.DefaultAllocator)
	}
}

// Column returns a column of a batch. It panics if the column has another type;
// [File.Batches] turns the panic into an error.
func Column[T arrow.Array](batch arrow.RecordBatch, name string) T {
	return batch.Column(batch.Schema().FieldIndices(name)[0]).(T)
}

// leaves returns the indexes of the Parquet columns that make these, nil for all.
func (f *File) leaves(columns []string) (leaves []int, err error) {
	var missing []string
	for _, name := range columns {
		if !f.schema.HasField(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("has no column %s", strings.Join(missing, ", "))
	}
	schema := f.reader.MetaData().Schema
	for i := range schema.NumColumns() {
		if columns == nil || slices.Contains(columns, schema.ColumnRoot(i).Name()) {
			leaves = append(leaves, i)
		}
	}
	return leaves, nil
}

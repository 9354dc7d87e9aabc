package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// ReadTexts streams columns of a Parquet file as text: row gets the cells of one
// row, in the order of names, nil for null. They hold only until it returns.
func ReadTexts(ctx context.Context, path string, names []string, row func(cells []*string)) error {
	return readBatches(ctx, path, names, nil, func(batch arrow.RecordBatch) error {
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

// partsOf are the parts of one table, in the order of the input.
func (m *Manifest) partsOf(table string) (parts []Part) {
	for _, p := range m.Parts {
		if p.Table == table {
			parts = append(parts, p)
		}
	}
	return parts
}

// read streams a part, some of its columns of text as dictionaries.
func (m *Manifest) read(ctx context.Context, dir string, p Part, dictionaries []string, take func(arrow.RecordBatch) error) error {
	// A path is not opened for its being written in a manifest.
	if p.Path != partPath(p.Table, m.Run, p.Segment) {
		return fmt.Errorf("the manifest of run %s is %w: it names %q as a part of %s", m.Run, errDamaged, p.Path, p.Table)
	}
	if err := readBatches(ctx, filepath.Join(dir, filepath.FromSlash(p.Path)), nil, dictionaries, take); err != nil {
		return unreadable(p, err)
	}
	return nil
}

// smallFile is read at once instead of column by column: a run of a hundred
// million hosts has fifty thousand parts of a table.
const smallFile = 1 << 20

// readBatches streams the named columns of a Parquet file, all where none is
// named.
func readBatches(ctx context.Context, path string, names, dictionaries []string, take func(arrow.RecordBatch) error) (err error) {
	defer func() {
		// arrow-go panics on some files that are damaged.
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged Parquet: %v", r)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var source parquet.ReaderAtSeeker = f
	properties := buffered()
	if info, err := f.Stat(); err == nil && info.Size() <= smallFile {
		content, err := io.ReadAll(io.LimitReader(f, smallFile))
		if err != nil {
			return err
		}
		source, properties = bytes.NewReader(content), parquet.NewReaderProperties(memory.DefaultAllocator)
	}
	reader, err := openParquet(source, properties)
	if err != nil {
		return err
	}
	column := func(name string) (int, error) {
		i := reader.MetaData().Schema.ColumnIndexByName(name)
		if i < 0 {
			return 0, fmt.Errorf("there is no column %s", name)
		}
		return i, nil
	}
	var columns []int
	for _, name := range names {
		i, err := column(name)
		if err != nil {
			return err
		}
		columns = append(columns, i)
	}
	options := pqarrow.ArrowReadProperties{BatchSize: 4096}
	for _, name := range dictionaries {
		i, err := column(name)
		if err != nil {
			return err
		}
		options.SetReadDict(i, true)
	}
	rows, err := pqarrow.NewFileReader(reader, options, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	batches, err := rows.GetRecordReader(ctx, columns, nil)
	if err != nil {
		return err
	}
	defer batches.Release()
	for batches.Next() {
		if err := take(batches.RecordBatch()); err != nil {
			return err
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

package rowio

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// smallFile is the size in bytes up to which a file is read at once instead of column by
// column: a run of a hundred million hosts has fifty thousand parts of a table.
const smallFile = 1 << 20

// File is a Parquet file whose footer is read.
type File struct {
	in   io.ReaderAt
	size int64
	file *parquet.File
}

// Open reads the footer of a file of size bytes.
func Open(in io.ReaderAt, size int64) (f *File, err error) {
	defer Recovered(&err)
	if size <= smallFile {
		content := make([]byte, size)
		if _, err := io.ReadFull(io.NewSectionReader(in, 0, size), content); err != nil {
			return nil, err
		}
		in = bytes.NewReader(content)
	}
	file, err := parquet.OpenFile(in, size,
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
	if err != nil {
		return nil, fmt.Errorf("damaged Parquet: %w", err)
	}
	return &File{in, size, file}, nil
}

// Rows returns the number of rows according to the footer.
func (f *File) Rows() int64 { return f.file.NumRows() }

// Metadata returns a value of the footer's metadata, or nil.
func (f *File) Metadata(key string) *string {
	if value, ok := f.file.Lookup(key); ok {
		return &value
	}
	return nil
}

// AllMetadata returns the footer's metadata.
func (f *File) AllMetadata() map[string]string {
	all := make(map[string]string)
	for _, pair := range f.file.Metadata().KeyValueMetadata {
		all[pair.Key] = pair.Value
	}
	return all
}

// Layout describes the leaf columns. Files with equal layouts have the same columns, types
// and nullability.
func (f *File) Layout() (columns []string) {
	schema := f.file.Schema()
	for _, path := range schema.Columns() {
		c, _ := schema.Lookup(path...)
		means := "none"
		if l := c.Node.Type().LogicalType(); l != nil {
			means = l.String()
		}
		columns = append(columns, fmt.Sprintf("%s %s %s, levels %d and %d",
			strings.Join(path, "."), c.Node.Type().Kind(), means, c.MaxDefinitionLevel, c.MaxRepetitionLevel))
	}
	return columns
}

// Has reports whether the file has a column.
func (f *File) Has(column string) bool { return f.file.Root().Column(column) != nil }

// Columns returns the names of the columns, in the order of the file.
func (f *File) Columns() (names []string) {
	for _, c := range f.file.Root().Columns() {
		names = append(names, c.Name())
	}
	return names
}

// Fits returns an error unless the file has columns, of those of a row type, with their types.
func (f *File) Fits(row reflect.Type, columns []string) error {
	_, err := f.leaves(leavesOf(row), columns, false)
	return err
}

// Group says how large a row group is, according to the footer.
type Group struct {
	Rows   int64
	Values int64 // of its longest column: a list has more than rows
}

// Groups returns the row groups.
func (f *File) Groups() (all []Group) {
	for _, of := range f.file.RowGroups() {
		g := Group{Rows: of.NumRows()}
		for _, c := range of.ColumnChunks() {
			g.Values = max(g.Values, c.NumValues())
		}
		all = append(all, g)
	}
	return all
}

// CheckPages checks all pages, for those who decode them otherwise than [Read].
func (f *File) CheckPages() (err error) {
	defer Recovered(&err)
	for i := range f.file.RowGroups() {
		if err := f.check(i, f.others(nil)); err != nil {
			return err
		}
	}
	return nil
}

// Recovered, when deferred, turns a panic of a package that reads Parquet into an error:
// arrow-go and parquet-go panic on some damaged files.
func Recovered(err *error) { *err = recovered(recover(), *err) }

// recovered returns the error of a panic, err for none.
func recovered(panicked any, err error) error {
	switch r := panicked.(type) {
	case nil:
		return err
	case error: // perhaps of the disk
		return fmt.Errorf("damaged Parquet: %w", r)
	default:
		return fmt.Errorf("damaged Parquet: %v", r)
	}
}

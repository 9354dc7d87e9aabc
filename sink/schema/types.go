package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// OpenRows opens a file whose rows are of type R, or of some of its columns.
func OpenRows[R any](in io.ReaderAt, size int64) (*parquet.File, error) {
	file, err := parquet.OpenFile(in, size)
	if err == nil {
		err = CheckTypes(parquet.SchemaOf(*new(R)), file)
	}
	return file, err
}

// Loosened are the columns, of any table, that an earlier version could not leave null.
var Loosened = map[string]bool{"is_utf8": true}

// CheckTypes returns an error if a column of a file is not in the schema of its rows,
// or has another type or nullability there. Columns may be missing, and those that are
// nullable now may have no null in a part of an earlier version.
//
// It must come before parquet-go reads rows of a file that somebody else wrote:
// parquet-go trusts the types that the file announces, and takes a number for the
// address of a text.
func CheckTypes(rows *parquet.Schema, file *parquet.File) error {
	columns := file.Schema().Columns()
	for i, path := range columns {
		has, _ := file.Schema().Lookup(path...)
		want, ok := rows.Lookup(path...)
		if !ok || !has.Node.Leaf() || has.Node.Type().Kind() != want.Node.Type().Kind() ||
			has.MaxDefinitionLevel != want.MaxDefinitionLevel && !(Loosened[path[0]] && has.MaxDefinitionLevel == 0) || has.MaxRepetitionLevel != want.MaxRepetitionLevel {
			return fmt.Errorf("damaged Parquet: column %q is not of the type that the table has", strings.Join(path, "."))
		}
		for _, g := range file.Metadata().RowGroups {
			if len(g.Columns) != len(columns) || !slices.Equal(g.Columns[i].MetaData.PathInSchema, path) ||
				parquet.Kind(g.Columns[i].MetaData.Type) != want.Node.Type().Kind() {
				return fmt.Errorf("damaged Parquet: a row group has no column %q of the type that the table has", strings.Join(path, "."))
			}
		}
	}
	return nil
}

// ColumnsDigest returns the SHA-256 of the columns of all tables, with their types, in
// hexadecimal: parts of runs that have it in common can be read as one.
func ColumnsDigest() string { return columnsDigest() }

var columnsDigest = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, t := range tables {
		rows := parquet.SchemaOf(reflect.New(t.row).Interface())
		for _, path := range rows.Columns() {
			c, _ := rows.Lookup(path...)
			fmt.Fprintln(sum, t.Name, path, c.Node.Type(), c.MaxRepetitionLevel, c.MaxDefinitionLevel)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
})

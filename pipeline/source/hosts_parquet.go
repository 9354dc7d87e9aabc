package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/robocensus/robocensus/configs/userfile"
)

func isParquet(f *os.File) bool {
	var head [4]byte
	n, _ := f.ReadAt(head[:], 0)
	return n == 4 && string(head[:]) == "PAR1"
}

// damaged turns a panic into an error: arrow-go panics on some files that are
// damaged.
func damaged(path string, err *error) {
	if r := recover(); r != nil {
		*err = &userfile.Error{Path: path, Err: fmt.Errorf("damaged Parquet: %v", r)}
	}
}

func parquetRows(f *os.File, size int64, sum io.Writer) (rows int64, err error) {
	defer damaged(f.Name(), &err)
	r, err := file.NewParquetReader(f)
	if err != nil {
		return 0, &userfile.Error{Path: f.Name(), Err: fmt.Errorf("is truncated or damaged Parquet: %w", err)}
	}
	rows = r.NumRows()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return 0, &userfile.Error{Path: f.Name(), Err: err}
	}
	return rows, nil
}

// readParquetHosts reads the columns host, host_rev, url and rank, as far as
// they are there; lines are rows, counted from 1.
func readParquetHosts(ctx context.Context, path string, f *os.File, yield func(row) error) (err error) {
	fail := func(line int64, err error) error { return &userfile.Error{Path: path, Line: line, Err: err} }
	defer damaged(path, &err)
	parquet, err := file.NewParquetReader(f)
	if err != nil {
		return fail(0, err)
	}
	r, err := pqarrow.NewFileReader(parquet, pqarrow.ArrowReadProperties{BatchSize: 8192}, memory.DefaultAllocator)
	if err != nil {
		return fail(0, err)
	}
	schema, err := r.Schema()
	if err != nil {
		return fail(0, err)
	}
	var wanted []int
	var names []string
	for i, field := range schema.Fields() {
		name := strings.ToLower(field.Name)
		if slices.Contains(slices.Concat(hostNames, hostRevNames, urlNames, rankNames), name) {
			if !isReadable(field.Type) {
				return fail(0, fmt.Errorf("column %q is of type %s; it must hold text or numbers", name, field.Type))
			}
			wanted, names = append(wanted, i), append(names, name)
		}
	}
	host, hostRev := indexOf(names, hostNames), indexOf(names, hostRevNames)
	url, rank := indexOf(names, urlNames), indexOf(names, rankNames)
	if host < 0 && hostRev < 0 && url < 0 {
		return fail(0, errors.New("has no column host, host_rev or url"))
	}
	// Column indexes are of leaves; top-level fields before a nested one
	// would differ, so ask the schema for each.
	var leaves []int
	for _, i := range wanted {
		leaves = append(leaves, parquet.MetaData().Schema.ColumnIndexByName(schema.Field(i).Name))
	}
	slices.Sort(leaves)
	batches, err := r.GetRecordReader(ctx, leaves, nil)
	if err != nil {
		return fail(0, err)
	}
	defer batches.Release()
	line := int64(0)
	for batches.Next() {
		batch := batches.RecordBatch()
		cell := func(column, i int) string {
			if column < 0 {
				return ""
			}
			return cellText(batch.Column(column), i)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range int(batch.NumRows()) {
			line++
			out := row{line: line}
			out.fill(strings.TrimSpace(cell(host, i)), cell(hostRev, i), cell(url, i), cell(rank, i))
			out.text = strings.Trim(strings.Join([]string{cell(rank, i), cell(host, i), cell(hostRev, i), cell(url, i)}, ","), ",")
			if err := yield(out); err != nil {
				return err
			}
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return fail(line+1, err)
	}
	return nil
}

// isReadable tells the types that cellText knows.
func isReadable(t arrow.DataType) bool {
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	return arrow.IsBaseBinary(t.ID()) || arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

// cellText is a value as a line of text would hold it, "" for null. Bytes that
// no writer has called text are read as such, and whole numbers kept as
// doubles (a column with gaps, out of pandas) as whole numbers.
func cellText(column arrow.Array, i int) string {
	if column.IsNull(i) {
		return ""
	}
	switch values := column.(type) {
	case *array.String:
		return strings.Clone(values.Value(i)) // the batch's memory is reused
	case *array.LargeString:
		return strings.Clone(values.Value(i))
	case *array.Binary:
		return string(values.Value(i))
	case *array.LargeBinary:
		return string(values.Value(i))
	case *array.Dictionary:
		return cellText(values.Dictionary(), values.GetValueIndex(i))
	case *array.Float64:
		return wholeNumber(values.Value(i))
	case *array.Float32:
		return wholeNumber(float64(values.Value(i)))
	}
	return column.ValueStr(i)
}

func wholeNumber(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

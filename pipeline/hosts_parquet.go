package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

func isParquet(f *os.File) bool {
	var head [4]byte
	n, _ := f.ReadAt(head[:], 0)
	return n == 4 && string(head[:]) == "PAR1"
}

func parquetRows(f *os.File, size int64, sum io.Writer) (int64, error) {
	r, err := file.NewParquetReader(f)
	if err != nil {
		return 0, &InputError{Path: f.Name(), Err: err}
	}
	rows := r.NumRows()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return 0, &InputError{Path: f.Name(), Err: err}
	}
	return rows, nil
}

// readParquetHosts reads the columns host, host_rev, url and rank, as far as
// they are there; lines are rows, counted from 1.
func readParquetHosts(path string, f *os.File, yield func(row) error) (err error) {
	fail := func(line int64, err error) error { return &InputError{Path: path, Line: line, Err: err} }
	defer func() {
		// arrow-go panics on some damaged files.
		if r := recover(); r != nil {
			err = fail(0, fmt.Errorf("damaged Parquet: %v", r))
		}
	}()
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
			if _, nested := field.Type.(arrow.NestedType); nested {
				return fail(0, fmt.Errorf("column %q is nested; it must hold one value a row", name))
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
	batches, err := r.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return fail(0, err)
	}
	defer batches.Release()
	line := int64(0)
	for batches.Next() {
		batch := batches.RecordBatch()
		cell := func(column, i int) string {
			if column < 0 || batch.Column(column).IsNull(i) {
				return ""
			}
			switch values := batch.Column(column).(type) {
			case *array.String:
				return values.Value(i)
			case *array.Int64:
				return strconv.FormatInt(values.Value(i), 10)
			default:
				return values.ValueStr(i)
			}
		}
		for i := range int(batch.NumRows()) {
			line++
			out := row{line: line}
			out.fill(strings.TrimSpace(cell(host, i)), cell(hostRev, i), cell(url, i), cell(rank, i))
			out.host = strings.Clone(out.host) // the batch's memory is reused
			out.url = strings.Clone(out.url)
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

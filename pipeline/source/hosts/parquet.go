package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/scan"
)

// rowsPerByte bounds the rows of a list by the bytes of its file. Sorted names of hosts
// take more than a hundredth of a byte each, however they are compressed; one value that
// repeats takes nothing, so that 1,300 bytes may hold two billion rows.
const rowsPerByte = 100

// openParquet opens a list and checks the number of its rows.
func openParquet(f *os.File, name string) (*scan.File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: err}
	}
	in, err := scan.Open(f)
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("is truncated or damaged Parquet: %w", err)}
	}
	if rows := in.Rows(); rows > rowsPerByte*info.Size() {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("has %d rows in %d bytes: not a list of distinct hosts or URLs", rows, info.Size())}
	}
	return in, nil
}

// parquetRows returns the number of rows of a list.
func parquetRows(f *os.File, name string) (rows int64, err error) {
	in, err := openParquet(f, name)
	if err != nil {
		return 0, err
	}
	return in.Rows(), nil
}

// readParquetHosts reads the columns host, host_rev, url and rank, as far as
// they are there; lines are rows, counted from 1.
func readParquetHosts(ctx context.Context, path string, f *os.File, yield func(row) error) error {
	fail := func(line int64, err error) error { return &userfile.Error{Path: path, Line: line, Err: err} }
	in, err := openParquet(f, path)
	if err != nil {
		return err
	}
	var columns, names []string
	for _, field := range in.Schema().Fields() {
		name := strings.ToLower(field.Name)
		if slices.Contains(slices.Concat(hostNames, hostRevNames, urlNames, rankNames), name) {
			if !scan.IsText(field.Type) {
				return fail(0, fmt.Errorf("column %q is of type %s; it must hold text or numbers", name, field.Type))
			}
			columns, names = append(columns, field.Name), append(names, name)
		}
	}
	host, hostRev := indexOf(names, hostNames), indexOf(names, hostRevNames)
	url, rank := indexOf(names, urlNames), indexOf(names, rankNames)
	if host < 0 && hostRev < 0 && url < 0 {
		return fail(0, errors.New("has no column host, host_rev or url"))
	}
	line := int64(0)
	var own error // what yield returned
	err = in.Batches(ctx, scan.Selection{Columns: columns}, func(batch arrow.RecordBatch) error {
		cell := func(column, i int) string {
			if column < 0 {
				return ""
			}
			return scan.Text(batch.Column(column), i)
		}
		for i := range int(batch.NumRows()) {
			line++
			out := row{line: line}
			out.fill(strings.TrimSpace(cell(host, i)), cell(hostRev, i), cell(url, i), cell(rank, i))
			out.text = strings.Trim(strings.Join([]string{cell(rank, i), cell(host, i), cell(hostRev, i), cell(url, i)}, ","), ",")
			if own = yield(out); own != nil {
				return own
			}
		}
		return nil
	})
	switch {
	case err == nil || own != nil:
		return own
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fail(line+1, err)
}

package hosts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/rowio"
)

// rowsPerByte bounds the rows of a list by the bytes of its file. Sorted names of hosts
// take more than a hundredth of a byte each, however they are compressed; one value that
// repeats takes nothing, so that 1,300 bytes may hold two billion rows.
const rowsPerByte = 100

// openParquet opens a list and checks the number of its rows.
func openParquet(f *os.File, name string) (*rowio.Foreign, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: err}
	}
	in, err := rowio.OpenForeign(f, info.Size())
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("is truncated or %w", err)}
	}
	if rows := in.Rows(); rows > rowsPerByte*info.Size() {
		return nil, &userfile.Error{Path: name,
			Err: fmt.Errorf("has %d rows in %d bytes: not a list of distinct hosts or URLs", rows, info.Size())}
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
// they are there, or the one of hosts that the user names; lines are rows, counted from 1.
func readParquetHosts(ctx context.Context, path string, f *os.File, asked form, yield func(row) error) error {
	column := asked.column
	fail := func(line int64, err error) error { return &userfile.Error{Path: path, Line: line, Err: err} }
	in, err := openParquet(f, path)
	if err != nil {
		return err
	}
	var all []string
	for _, field := range in.Columns() {
		all = append(all, field.Name)
	}
	found := named(all)
	if column != "" {
		if found = columnNamed(all, column); found == nil {
			return fail(0, noColumn(column, all))
		}
	}
	if found == nil {
		return fail(0, errors.New("has no column host, host_rev or url; name the one of hosts with --column"))
	}
	wanted := []int{found.host, found.hostRev, found.url, found.rank}
	if asked.labels != nil {
		if err := asked.labels.find(all, found); err != nil {
			return fail(0, err)
		}
		wanted = append(wanted, asked.labels.at...)
	}
	var columns []int
	at := make(map[int]int)
	for i, field := range in.Columns() {
		if !slices.Contains(wanted, i) {
			continue
		}
		isLabel := asked.labels != nil && slices.Contains(asked.labels.at, i)
		if !field.IsText && !(field.IsTime && isLabel) {
			if isLabel && slices.Contains(asked.labels.wanted, AllLabels) {
				return fail(0, fmt.Errorf("column %q is of type %s, which cannot be a label: name the labels with --label in "+
					"place of %q", field.Name, field.Type, AllLabels))
			}
			return fail(0, fmt.Errorf("column %q is of type %s; it must hold text, numbers or days", field.Name, field.Type))
		}
		at[i], columns = len(columns), append(columns, i)
	}
	line := int64(0)
	var own error // what yield returned
	selection := rowio.ForeignSelection{Columns: columns}
	err = in.Read(ctx, selection, func(rows int, cellOf func(row, column int) string) error {
		cell := func(field, i int) string {
			column, ok := at[field]
			if !ok {
				return ""
			}
			return cellOf(i, column)
		}
		for i := range rows {
			line++
			out := row{line: line, isNamed: found.isNamed}
			host, hostRev, url, rank := strings.TrimSpace(cell(found.host, i)), cell(found.hostRev, i), cell(found.url, i),
				cell(found.rank, i)
			out.fill(host, hostRev, url, rank)
			if asked.labels != nil {
				out.labels = asked.labels.of(func(field int) string { return cell(field, i) })
			}
			out.text = strings.Trim(strings.Join([]string{rank, host, hostRev, url}, ","), ",")
			if own = each(out.apart(), yield); own != nil {
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

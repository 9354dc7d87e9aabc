package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// readBatch is how many rows are held decoded.
const readBatch = 4096

// ReadRows reads the named columns of a committed part below dir, batch by
// batch in the order of its rows. A batch, and what is taken out of it, holds
// only until each returns. Row groups whose seqs lie from least to greatest are
// left out where wanted says so; a nil wanted reads all.
func ReadRows(ctx context.Context, dir string, p Part, columns []string, wanted func(least, greatest int64) bool, each func(arrow.RecordBatch) error) (err error) {
	defer func() {
		// arrow-go panics on some files that are damaged.
		if r := recover(); r != nil {
			err = unreadable(p, fmt.Errorf("damaged Parquet: %v", r))
		}
	}()
	f, err := OpenPart(ctx, dir, p)
	if err != nil {
		return err
	}
	defer f.Close()
	reader, err := openParquet(f, buffered())
	if err != nil {
		return unreadable(p, err)
	}
	leaves, err := leavesOf(reader, columns)
	if err != nil {
		return unreadable(p, err)
	}
	groups := groupsOf(reader, wanted)
	if len(groups) == 0 {
		return nil
	}
	rows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: readBatch}, memory.DefaultAllocator)
	if err != nil {
		return unreadable(p, err)
	}
	batches, err := rows.GetRecordReader(ctx, leaves, groups)
	if err != nil {
		return unreadable(p, err)
	}
	defer batches.Release()
	for batches.Next() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := each(batches.RecordBatch()); err != nil {
			return err
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return unreadable(p, err)
	}
	return nil
}

// Column is a column of a batch by its name. It panics, which [ReadRows] makes
// an error of, where the column is of another type.
func Column[T arrow.Array](batch arrow.RecordBatch, name string) T {
	return batch.Column(batch.Schema().FieldIndices(name)[0]).(T)
}

// leavesOf are the indices of the columns, and of what is nested in them.
func leavesOf(r *file.Reader, columns []string) ([]int, error) {
	var leaves []int
	left := slices.Clone(columns)
	s := r.MetaData().Schema
	for i := range s.NumColumns() {
		name, _, _ := strings.Cut(s.Column(i).Path(), ".")
		if slices.Contains(columns, name) {
			leaves = append(leaves, i)
			left = slices.DeleteFunc(left, func(c string) bool { return c == name })
		}
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("has no column %s", strings.Join(left, ", "))
	}
	return leaves, nil
}

// groupsOf are the row groups that hold a wanted seq, as far as their
// statistics tell.
func groupsOf(r *file.Reader, wanted func(least, greatest int64) bool) []int {
	seq := r.MetaData().Schema.ColumnIndexByName("seq")
	groups := []int{}
	for i := range r.NumRowGroups() {
		if wanted != nil && seq >= 0 {
			chunk, err := r.RowGroup(i).MetaData().ColumnChunk(seq)
			if err == nil {
				stats, err := chunk.Statistics()
				if s, ok := stats.(*metadata.Int64Statistics); err == nil && ok && s.HasMinMax() && !wanted(s.Min(), s.Max()) {
					continue
				}
			}
		}
		groups = append(groups, i)
	}
	return groups
}

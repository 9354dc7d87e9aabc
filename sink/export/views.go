package export

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// A view says what its rows have beside those of the table.
type view struct {
	adds *arrow.Field // a column that rows have where a selection names it, nil for none
	by   []string     // the columns of the table that it takes
	// of returns what makes rows of the view of those of a part. The batch that it returns is
	// released by its reader.
	of func(e *exporter, p journal.Part) (func(arrow.RecordBatch) (arrow.RecordBatch, error), error)
}

// wallColumn says who answered in place of the file. A run of before knows of no walls.
const wallColumn = "challenge"

// views are those of package views whose rows are those of a table.
var views = map[string]*view{
	"groups":   {rank, []string{"seq"}, adding(rank, ranks)},
	"rules":    {rank, []string{"seq"}, adding(rank, ranks)},
	"verdicts": {category, []string{"agent"}, adding(category, categories)},
	"fetches":  {nil, []string{"content_digest", wallColumn}, unread},
}

var (
	rank     = &arrow.Field{Name: "rank", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	category = &arrow.Field{Name: "category", Type: arrow.BinaryTypes.String, Nullable: true}
)

// view returns the view of the table, as far as the selection needs it.
func (e *exporter) view() *view {
	v := views[e.Table]
	switch {
	case v == nil, v.adds == nil && e.format.isArrow(): // which is the table as it is
		return &view{of: asItIs}
	case v.adds != nil && !slices.Contains(e.asked(), v.adds.Name):
		return &view{adds: v.adds, of: asItIs}
	}
	return v
}

func asItIs(*exporter, journal.Part) (func(arrow.RecordBatch) (arrow.RecordBatch, error), error) {
	return func(batch arrow.RecordBatch) (arrow.RecordBatch, error) { batch.Retain(); return batch, nil }, nil
}

// with returns the columns of a table and the one that its view adds.
func (v *view) with(all *arrow.Schema) *arrow.Schema {
	if v.adds == nil {
		return all
	}
	said := all.Metadata()
	return arrow.NewSchema(append(slices.Clone(all.Fields()), *v.adds), &said)
}

// adding returns what adds a column whose values a function makes.
func adding(c *arrow.Field, of func(e *exporter, p journal.Part) (func(arrow.RecordBatch) arrow.Array, error)) func(
	*exporter, journal.Part) (func(arrow.RecordBatch) (arrow.RecordBatch, error), error) {
	return func(e *exporter, p journal.Part) (func(arrow.RecordBatch) (arrow.RecordBatch, error), error) {
		values, err := of(e, p)
		return func(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
			added := values(batch)
			defer added.Release()
			columns := (&view{adds: c}).with(batch.Schema())
			return array.NewRecordBatch(columns, append(slices.Clone(batch.Columns()), added), batch.NumRows()), nil
		}, err
	}
}

// ranks returns the ranks of targets, which the table fetches has in the same segment.
func ranks(e *exporter, p journal.Part) (func(arrow.RecordBatch) arrow.Array, error) {
	type target struct {
		Seq  int64  `parquet:"seq"`
		Rank *int64 `parquet:"rank" rowio:"maybe"`
	}
	of := make(map[int64]int64)
	var parts []journal.Part
	for _, f := range e.m.PartsOf("fetches") {
		if f.Segment == p.Segment {
			parts = append(parts, f)
		}
	}
	err := rowio.Of(e.ctx, e.in, parts, rowio.Selection{}, func(batch []target) error {
		for _, t := range batch {
			if t.Rank != nil {
				of[t.Seq] = *t.Rank
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("join ranks: %w", err)
	}
	return func(batch arrow.RecordBatch) arrow.Array {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		for _, seq := range column[*array.Int64](batch, "seq").Int64Values() {
			if rank, known := of[seq]; known {
				b.Append(rank)
			} else {
				b.AppendNull()
			}
		}
		return b.NewArray()
	}, nil
}

// categories returns the categories of agents.
func categories(e *exporter, _ journal.Part) (func(arrow.RecordBatch) arrow.Array, error) {
	of := make(map[string]string)
	type agent struct {
		Name     string `parquet:"agent"`
		Category string `parquet:"category" rowio:"maybe"`
	}
	err := rowio.Of(e.ctx, e.in, e.m.PartsOf("agents"), rowio.Selection{}, func(batch []agent) error {
		for _, a := range batch {
			of[a.Name] = a.Category
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("join categories: %w", err)
	}
	return func(batch arrow.RecordBatch) arrow.Array {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		names := column[*array.String](batch, "agent")
		for i := range names.Len() {
			if category := of[names.Value(i)]; category != "" {
				b.Append(category)
			} else {
				b.AppendNull()
			}
		}
		return b.NewArray()
	}, nil
}

// unread makes what fetches says of a file null where nobody has read one: an outage must
// not count as 0 in an average.
func unread(*exporter, journal.Part) (func(arrow.RecordBatch) (arrow.RecordBatch, error), error) {
	return func(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
		if !batch.Schema().HasField("content_digest") || !batch.Schema().HasField(wallColumn) {
			batch.Retain()
			return batch, nil
		}
		digest, wall := column[arrow.Array](batch, "content_digest"), column[arrow.Array](batch, wallColumn)
		isUnread := func(row int) bool { return digest.IsNull(row) || wall.IsValid(row) }
		columns, fields := slices.Clone(batch.Columns()), slices.Clone(batch.Schema().Fields())
		for i, f := range fields {
			if !slices.Contains(schema.OfFile, f.Name) {
				continue
			}
			fields[i].Nullable = true
			switch c := columns[i].(type) {
			case *array.Int32:
				b := array.NewInt32Builder(memory.DefaultAllocator)
				defer b.Release()
				for row := range c.Len() {
					if b.Append(c.Value(row)); c.IsNull(row) || isUnread(row) {
						b.SetNull(row)
					}
				}
				columns[i] = b.NewArray()
				defer columns[i].Release()
			case *array.Boolean:
				b := array.NewBooleanBuilder(memory.DefaultAllocator)
				defer b.Release()
				for row := range c.Len() {
					if c.IsNull(row) || isUnread(row) {
						b.AppendNull()
					} else {
						b.Append(c.Value(row))
					}
				}
				columns[i] = b.NewArray()
				defer columns[i].Release()
			}
		}
		return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, batch.NumRows()), nil
	}, nil
}

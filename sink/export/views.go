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
	"github.com/robocensus/robocensus/sink/summary"
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
	latest:     {nil, []string{"seq", "content_digest", wallColumn}, lastOnly},
}

// latest is the view of fetches without the captures of an origin that a later one replaces.
const latest = "fetches_latest"

// tableOf returns the table whose parts a view reads.
func tableOf(name string) string {
	if d := derivedViews[name]; d != nil {
		return d.table
	}
	if name == latest {
		return "fetches"
	}
	return name
}

var (
	rank     = &arrow.Field{Name: "rank", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	category = &arrow.Field{Name: "category", Type: arrow.BinaryTypes.String, Nullable: true}
)

// view returns the view of the table, as far as the selection needs it.
func (e *exporter) view() *view {
	v := views[e.Table]
	switch {
	case v == nil, e.Table == "fetches" && e.format.isArrow(): // which is the table as it is
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

// target is a row of fetches that others are joined with.
type target struct {
	Seq  int64   `parquet:"seq"`
	Rank *int64  `parquet:"rank" rowio:"maybe"`
	CDN  *string `parquet:"cdn" rowio:"maybe"`
}

// ofTargets returns what the table fetches has of targets, in the segment of a part.
func ofTargets[V any](e *exporter, p journal.Part, value func(*target) *V) (map[int64]V, error) {
	of := make(map[int64]V)
	var parts []journal.Part
	for _, f := range e.m.PartsOf("fetches") {
		if f.Segment == p.Segment {
			parts = append(parts, f)
		}
	}
	err := rowio.Of(e.ctx, e.in, parts, rowio.Selection{}, func(batch []target) error {
		for i := range batch {
			if v := value(&batch[i]); v != nil {
				of[batch[i].Seq] = *v
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("join %s with fetches: %w", e.Table, err)
	}
	return of, nil
}

// ranks returns the ranks of targets.
func ranks(e *exporter, p journal.Part) (func(arrow.RecordBatch) arrow.Array, error) {
	of, err := ofTargets(e, p, func(t *target) *int64 { return t.Rank })
	if err != nil {
		return nil, err
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

// lastOnly is unread without earlier captures of an origin.
func lastOnly(e *exporter, p journal.Part) (func(arrow.RecordBatch) (arrow.RecordBatch, error), error) {
	if e.counts == nil {
		counts, err := summary.LastCaptures(e.ctx, e.in, e.m)
		if err != nil {
			return nil, err
		}
		e.counts = counts
	}
	next, err := unread(e, p)
	if e.format.isArrow() {
		next, err = asItIs(e, p)
	}
	return func(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
		seqs := column[*array.Int64](batch, "seq")
		last, err := rowsOf(batch, func(row int) bool { return e.counts(seqs.Value(row)) })
		if err != nil || last == nil {
			return last, err
		}
		defer last.Release()
		return next(last)
	}, err
}

package export

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Condition is one that a row fulfils if its cell of the column is one of the values, as
// CSV has it without a guard; of a list, if an element is. "" is a null, or an empty text.
type Condition struct {
	Column string
	Values []string
}

// holds returns whether a row of a column fulfils the condition.
func (c *Condition) holds(column arrow.Array) func(row int) bool {
	switch column := column.(type) {
	case *array.String:
		return func(row int) bool { return slices.Contains(c.Values, column.Value(row)) } // "" of null
	case *array.List:
		return func(row int) bool {
			from, to := column.ValueOffsets(row)
			for i := from; i < to; i++ {
				if slices.Contains(c.Values, text(value(column.ListValues(), int(i)))) {
					return true
				}
			}
			return from == to && slices.Contains(c.Values, "")
		}
	}
	return func(row int) bool { return slices.Contains(c.Values, text(value(column, row))) }
}

// wanted returns the rows of a batch that fulfil the conditions, nil for none.
func wanted(batch arrow.RecordBatch, where []Condition) (arrow.RecordBatch, error) {
	var fulfilled []func(row int) bool
	for i := range where {
		fulfilled = append(fulfilled, where[i].holds(column[arrow.Array](batch, where[i].Column)))
	}
	return rowsOf(batch, func(row int) bool {
		return !slices.ContainsFunc(fulfilled, func(f func(row int) bool) bool { return !f(row) })
	})
}

// rowsOf returns the rows of a batch that are chosen, nil for none.
func rowsOf(batch arrow.RecordBatch, isChosen func(row int) bool) (arrow.RecordBatch, error) {
	var spans [][2]int64
	for row := range batch.NumRows() {
		switch n := len(spans); {
		case !isChosen(int(row)):
		case n > 0 && spans[n-1][1] == row:
			spans[n-1][1]++
		default:
			spans = append(spans, [2]int64{row, row + 1})
		}
	}
	switch {
	case spans == nil:
		return nil, nil
	case len(spans) == 1:
		return batch.NewSlice(spans[0][0], spans[0][1]), nil
	}
	columns, n := make([]arrow.Array, batch.NumCols()), int64(0)
	for i, c := range batch.Columns() {
		slices := make([]arrow.Array, len(spans))
		for k, s := range spans {
			slices[k] = array.NewSlice(c, s[0], s[1])
			defer slices[k].Release()
		}
		whole, err := array.Concatenate(slices, memory.DefaultAllocator)
		if err != nil {
			return nil, err
		}
		defer whole.Release()
		columns[i] = whole
	}
	for _, s := range spans {
		n += s[1] - s[0]
	}
	return array.NewRecordBatch(batch.Schema(), columns, n), nil
}

// chosen returns the columns of a batch with these names.
func chosen(batch arrow.RecordBatch, names []string) arrow.RecordBatch {
	columns := only(batch.Schema(), names)
	var arrays []arrow.Array
	for _, c := range columns.Fields() {
		arrays = append(arrays, column[arrow.Array](batch, c.Name))
	}
	return array.NewRecordBatch(columns, arrays, batch.NumRows())
}

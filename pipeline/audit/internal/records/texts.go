package records

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink/scan"
)

// texts is a column whose texts repeat, but for the own URLs of targets.
type texts struct {
	*array.Dictionary
	index  []int32
	values *array.String
	ids    []uint64 // by index in values: the number of the text plus 1, or 0
}

func textsOf(batch arrow.RecordBatch, name string) *texts {
	d := scan.Column[*array.Dictionary](batch, name)
	values := d.Dictionary().(*array.String)
	return &texts{d, d.Indices().(*array.Int32).Int32Values(), values, make([]uint64, values.Len())}
}

func (t *texts) value(i int) string { return t.values.Value(int(t.index[i])) }

// idOf returns the number of a cell's text, which the configuration set.
func (r *reader) idOf(t *texts, i int) uint64 {
	n := t.index[i]
	if t.ids[n] == 0 {
		t.ids[n] = r.id(t.values.Value(int(n))) + 1
	}
	return t.ids[n] - 1
}

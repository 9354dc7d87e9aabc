package sink

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink/scan"
)

// countColumns are those of text by which counters are told apart.
var countColumns = []string{"metric", "stratum", "agent", "category", "profile", "key"}

// labels are the texts of a counter as numbers: in each part there are
// thousands of counters, of few texts.
type labels [6]uint32

// counts are sums of counters.
type counts struct {
	ids   map[string]uint32
	texts []string
	sums  map[labels]int64
}

// mostTotals bounds the counters that are told apart. There are as many as
// agents and known keys make, unless another hand has written the parts.
const mostTotals = 4 << 20

func newCounts() *counts {
	return &counts{ids: map[string]uint32{"": 0}, texts: []string{""}, sums: make(map[labels]int64)}
}

func (t *counts) columns() []string { return countColumns }

func (t *counts) id(text string) uint32 {
	id, ok := t.ids[text]
	if !ok {
		id = uint32(len(t.texts))
		text = strings.Clone(text)
		t.ids[text] = id
		t.texts = append(t.texts, text)
	}
	return id
}

// add takes the rows of a batch whose columns of text are dictionaries.
func (t *counts) add(_ int, batch arrow.RecordBatch) error {
	var columns [len(labels{})]*array.Dictionary
	var ids [len(labels{})][]uint32 // by index of the dictionary
	for k, name := range countColumns {
		columns[k] = scan.Column[*array.Dictionary](batch, name)
		texts := columns[k].Dictionary().(*array.String)
		for i := range texts.Len() {
			ids[k] = append(ids[k], t.id(texts.Value(i)))
		}
	}
	counts := scan.Column[*array.Int64](batch, "count")
	for i := range int(batch.NumRows()) {
		var l labels
		for k, column := range columns {
			if column.IsValid(i) {
				l[k] = ids[k][column.GetValueIndex(i)]
			}
		}
		t.sums[l] += counts.Value(i)
	}
	return t.bounded()
}

func (t *counts) bounded() error {
	if len(t.sums) > mostTotals {
		return tooMany("summary", "counters", mostTotals)
	}
	return nil
}

func (t *counts) merge(from *counts) error {
	ids := make([]uint32, len(from.texts))
	for i, text := range from.texts {
		ids[i] = t.id(text)
	}
	for l, n := range from.sums {
		for k := range l {
			l[k] = ids[l[k]]
		}
		t.sums[l] += n
	}
	return t.bounded()
}

// list gives the sums in one order, whatever the order of reading.
func (t *counts) list() []Count {
	keys := slices.SortedFunc(maps.Keys(t.sums), func(a, b labels) int {
		for k := range a {
			if a[k] != b[k] {
				return cmp.Compare(t.texts[a[k]], t.texts[b[k]])
			}
		}
		return 0
	})
	all := make([]Count, len(keys))
	for i, l := range keys {
		text := func(k int) *string { return NonZero(t.texts[l[k]]) }
		all[i] = Count{
			Metric: t.texts[l[0]], Stratum: t.texts[l[1]], Agent: text(2), Category: text(3), Profile: text(4), Key: text(5), Count: t.sums[l],
		}
	}
	return all
}

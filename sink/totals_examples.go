package sink

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink/scan"
)

// few are the examples of a run, a few of each metric and key.
type few struct {
	of map[[2]string][]placed
	at placed // where the part under way has come to
}

// placed is an example and where it stands in the input.
type placed struct {
	Example
	segment int
	row     int64
	size    int64 // of what is largest or slowest, by which it is told
}

const (
	firstExamples = 3
	topExamples   = 10

	// mostExamples bounds the keys that are told apart: a run has some hundred
	// of them, unless another hand has written the parts.
	mostExamples = 10_000
)

func newFew() *few { return &few{of: make(map[[2]string][]placed)} }

func (f *few) columns() []string { return nil }

func (f *few) add(segment int, batch arrow.RecordBatch) error {
	if f.at.segment != segment {
		f.at = placed{segment: segment}
	}
	lines := scan.Column[*array.Int32](batch, "line")
	ranks := scan.Column[*array.Int64](batch, "rank")
	metric, key, host, text := scan.Column[*array.String](batch, "metric"), scan.Column[*array.String](batch, "key"), scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "text")
	for i := range int(batch.NumRows()) {
		e := f.at
		e.Example = Example{Metric: metric.Value(i), Key: key.Value(i), Host: host.Value(i), Text: text.Value(i)}
		if ranks.IsValid(i) {
			e.Rank = Some(ranks.Value(i))
		}
		if lines.IsValid(i) {
			e.Line = Some(lines.Value(i))
		}
		f.at.row++
		if err := f.keep(e); err != nil {
			return err
		}
	}
	return nil
}

func (f *few) merge(from *few) error {
	for _, list := range from.of {
		for _, e := range list {
			if err := f.keep(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep takes a copy of an example if it is one of those that are wanted.
func (f *few) keep(e placed) error {
	most := firstExamples
	if e.Key == "largest" || e.Key == "slowest" {
		// The greatest of every part are there, and the greatest of all wanted.
		most = topExamples
		e.size, _ = strconv.ParseInt(e.Text, 10, 64)
	}
	id := [2]string{e.Metric, e.Key}
	have := f.of[id]
	at, _ := slices.BinarySearchFunc(have, e, func(a, b placed) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a.segment, b.segment), cmp.Compare(a.row, b.row))
	})
	if at == most {
		return nil
	}
	if have == nil {
		if len(f.of) == mostExamples {
			return tooMany("examples", "keys", mostExamples)
		}
		id = [2]string{strings.Clone(e.Metric), strings.Clone(e.Key)}
	}
	e.Metric, e.Key, e.Host, e.Text = strings.Clone(e.Metric), strings.Clone(e.Key), strings.Clone(e.Host), strings.Clone(e.Text)
	have = slices.Insert(have, at, e)
	f.of[id] = have[:min(len(have), most)]
	return nil
}

// rankOf puts hosts without a rank last.
func rankOf(e placed) int64 {
	if e.Rank == nil {
		return math.MaxInt64
	}
	return *e.Rank
}

// list gives the examples by metric and key, those of one in their order.
func (f *few) list() []Example {
	var all []Example
	for _, list := range f.of {
		for _, e := range list {
			all = append(all, e.Example)
		}
	}
	slices.SortStableFunc(all, func(a, b Example) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Key, b.Key))
	})
	return all
}

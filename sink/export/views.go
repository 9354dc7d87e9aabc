package export

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// A view says what its rows have beside those of the table.
type view struct {
	adds []string // a column that rows have where a selection names it, if any
	by   []string // the columns of the table that it takes
	// of returns the columns of the rows of a part, by those of the table, and what reports whether
	// a row is one of the view, nil for all.
	of func(e *exporter, p journal.Part, table []column) (columns []column, isOf func(row reflect.Value) bool, err error)
}

// wallColumn says who answered in place of the file. A run of before knows of no walls.
const wallColumn = "challenge"

// views are those of package views whose rows are those of a table.
var views = map[string]*view{
	"groups":   {[]string{"rank"}, []string{"seq"}, ranked},
	"rules":    {[]string{"rank"}, []string{"seq"}, ranked},
	"verdicts": {[]string{"category"}, []string{"agent"}, categorised},
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

// view returns the view of the table, as far as the selection needs it.
func (e *exporter) view() *view {
	v := views[e.Table]
	switch {
	case v == nil, e.Table == "fetches" && e.format.isArrow(): // which is the table as it is
		return &view{of: asItIs}
	case v.adds != nil && !slices.Contains(e.asked(), v.adds[0]):
		return &view{adds: v.adds, of: asItIs}
	}
	return v
}

func asItIs(_ *exporter, _ journal.Part, table []column) ([]column, func(reflect.Value) bool, error) {
	return table, nil, nil
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
	err := rowio.Of(e.ctx, e.in, e.m.PartsIn(p.Segment, "fetches"), rowio.Selection{}, func(batch []target) error {
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

// ranked adds the rank of the target.
func ranked(e *exporter, p journal.Part, table []column) ([]column, func(reflect.Value) bool, error) {
	of, err := ofTargets(e, p, func(t *target) *int64 { return t.Rank })
	seq := columnNamed(table, "seq").cell
	return append(table, column{"rank", reflect.TypeFor[*int64](), func(row reflect.Value) reflect.Value {
		var rank *int64
		if n, known := of[seq(row).Int()]; known {
			rank = &n
		}
		return reflect.ValueOf(rank)
	}}), nil, err
}

// categorised adds the category of the agent.
func categorised(e *exporter, _ journal.Part, table []column) ([]column, func(reflect.Value) bool, error) {
	of := make(map[string]*string)
	type agent struct {
		Name     string  `parquet:"agent"`
		Category *string `parquet:"category" rowio:"maybe"`
	}
	err := rowio.Of(e.ctx, e.in, e.m.PartsOf("agents"), rowio.Selection{}, func(batch []agent) error {
		for _, a := range batch {
			of[a.Name] = schema.NonZero(schema.OrZero(a.Category))
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("join categories: %w", err)
	}
	name := columnNamed(table, "agent").cell
	return append(table, column{"category", reflect.TypeFor[*string](), func(row reflect.Value) reflect.Value {
		return reflect.ValueOf(of[name(row).String()])
	}}), nil, nil
}

// unread makes what fetches says of a file null where nobody has read one: an outage must
// not count as 0 in an average.
func unread(_ *exporter, _ journal.Part, table []column) ([]column, func(reflect.Value) bool, error) {
	digest, wall := columnNamed(table, "content_digest"), columnNamed(table, wallColumn)
	if digest == nil || wall == nil {
		return table, nil, nil
	}
	hasDigest, hasWall := digest.cell, wall.cell
	columns := slices.Clone(table)
	for i, c := range table {
		if !slices.Contains(schema.OfFile, c.name) {
			continue
		}
		columns[i].cell = func(row reflect.Value) reflect.Value {
			if hasDigest(row).IsNil() || !hasWall(row).IsNil() {
				return reflect.ValueOf((*bool)(nil))
			}
			return c.cell(row)
		}
	}
	return columns, nil, nil
}

// lastOnly is unread without earlier captures of an origin.
func lastOnly(e *exporter, p journal.Part, table []column) ([]column, func(reflect.Value) bool, error) {
	if e.counts == nil {
		counts, err := summary.LastCaptures(e.ctx, e.in, e.m)
		if err != nil {
			return nil, nil, err
		}
		e.counts = counts
	}
	columns := table
	if !e.format.isArrow() {
		columns, _, _ = unread(e, p, table)
	}
	seq := columnNamed(table, "seq").cell
	return columns, func(row reflect.Value) bool { return e.counts(seq(row).Int()) }, nil
}

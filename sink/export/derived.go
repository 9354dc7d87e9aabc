package export

import (
	"maps"
	"reflect"
	"slices"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// A derived view has rows of its own, made of those of a table. The files configs/changes.sql and
// configs/series.sql say the same in SQL; of the columns of theirs, run and against are left out.
type derived struct {
	table   string
	columns []column
	rows    func(e *exporter, each func(row reflect.Value) error) error
}

// derivedViews are those that can be made host by host, or as sums of which there are few, so that
// memory does not grow with the run.
var derivedViews = map[string]*derived{
	"policy_changes":     derivedFrom(layout.Changes, grouped(policyKeyOf, (*policyChange).add)),
	"preference_changes": derivedFrom(layout.Changes, grouped(preferenceKeyOf, (*preferenceChange).add)),
	"identity_changes":   changesIn(append([]string{"kind"}, ofIdentities...), summary.Turns, "answer", "page"),
	"answer_changes":     changesIn(ofIdentities, summary.Turns, "answer"),
	"page_changes":       changesIn(ofIdentities, summary.Turns, "page"),
	"document_changes":   changesIn(ofDocuments, summary.Comings, "document"),
	"statement_changes":  changesIn(ofStatements, summary.Statements, "preference"),
	"pages_met":          derivedFrom(answers, pagesMet),
	"paper_and_practice": derivedFrom(answers, paperAndPractice),
	"turned_away":        derivedFrom(answers, turnedAway),
}

// Derived returns the names of views whose rows are not those of a table, and that can be exported.
func Derived() []string { return append(slices.Sorted(maps.Keys(derivedViews)), latest) }

func derivedFrom[R any](table string, rows func(*exporter, func(*R) error) error) *derived {
	return &derived{table: table, columns: columnsOf(reflect.TypeFor[R]()),
		rows: func(e *exporter, each func(reflect.Value) error) error {
			return rows(e, func(row *R) error { return each(reflect.ValueOf(row).Elem()) })
		}}
}

func (e *exporter) ofDerived(d *derived) error {
	return e.rows(d.columns, func() error { return d.rows(e, e.write) })
}

// changesIn makes a row of each change of some kinds, with columns of changes, and what it means.
// Of preferences these are the changes of documents, and not of robots.txt.
func changesIn(names []string, means []summary.Meaning, kinds ...string) *derived {
	of := rowio.Selection{Columns: append([]string{"kind", "document"}, names...)}
	d := derivedFrom(layout.Changes, func(e *exporter, each func(*schema.Change) error) error {
		return rowio.Of(e.ctx, e.in, e.parts, of, func(batch []schema.Change) error {
			for i := range batch {
				c := &batch[i]
				if !slices.Contains(kinds, c.Kind) || c.Kind == "preference" && c.Document == nil {
					continue
				}
				if err := each(c); err != nil {
					return err
				}
			}
			return nil
		})
	})
	all := d.columns
	d.columns = nil
	for _, name := range names {
		d.columns = append(d.columns, *columnNamed(all, name))
	}
	for _, m := range means {
		d.columns = append(d.columns, column{m.Name, reflect.TypeFor[bool](), func(row reflect.Value) reflect.Value {
			return reflect.ValueOf(m.Is(row.Addr().Interface().(*schema.Change)))
		}})
	}
	return d
}

// grouped makes a row of the changes of a host that have the same key, in their order. The
// changes of a host stand together.
func grouped[K comparable, R any](
	key func(*schema.Change) (K, R, bool), add func(*R, *schema.Change),
) func(*exporter, func(*R) error) error {
	return func(e *exporter, each func(*R) error) error {
		var origin [2]string
		var rows []*R
		index := make(map[K]*R)
		flush := func() error {
			for _, row := range rows {
				if err := each(row); err != nil {
					return err
				}
			}
			rows = rows[:0]
			clear(index)
			return nil
		}
		err := rowio.Of(e.ctx, e.in, e.parts, rowio.Selection{}, func(batch []schema.Change) error {
			for i := range batch {
				c := &batch[i]
				if at := [2]string{c.Host, c.Origin}; at != origin {
					if err := flush(); err != nil {
						return err
					}
					origin = at
				}
				k, begun, ok := key(c)
				if !ok {
					continue
				}
				row := index[k]
				if row == nil {
					row = &begun
					index[k], rows = row, append(rows, row)
				}
				add(row, c)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return flush()
	}
}

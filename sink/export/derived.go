package export

import (
	"maps"
	"reflect"
	"slices"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// A derived view has rows of its own, made of those of a table. The files configs/changes.sql and
// configs/series.sql say the same in SQL; of the columns of theirs, run and against are left out.
type derived struct {
	table string
	row   reflect.Type
	rows  func(e *exporter, each func(row reflect.Value) error) error
	but   string // a column of the row that the view does not have, "" for none
}

// derivedViews are those that can be made host by host, or as sums of which there are few, so that
// memory does not grow with the run.
var derivedViews = map[string]*derived{
	"policy_changes":     derivedFrom(layout.Changes, grouped(policyKeyOf, (*policyChange).add)),
	"preference_changes": derivedFrom(layout.Changes, grouped(preferenceKeyOf, (*preferenceChange).add)),
	"identity_changes":   changesIn((*identityChange).judge, "answer", "page"),
	"answer_changes":     changesIn((*identityChange).judge, "answer"),
	"page_changes":       changesIn((*identityChange).judge, "page"),
	"document_changes":   changesIn((*documentChange).judge, "document"),
	"statement_changes":  changesIn((*statementChange).judge, "preference"),
	"pages_met":          derivedFrom(answers, pagesMet),
	"paper_and_practice": derivedFrom(answers, paperAndPractice),
	"turned_away":        derivedFrom(answers, turnedAway),
}

// Derived returns the names of views whose rows are not those of a table, and that can be exported.
func Derived() []string { return append(slices.Sorted(maps.Keys(derivedViews)), latest) }

func derivedFrom[R any](table string, rows func(*exporter, func(*R) error) error) *derived {
	return &derived{table: table, row: reflect.TypeFor[R](),
		rows: func(e *exporter, each func(reflect.Value) error) error {
			return rows(e, func(row *R) error { return each(reflect.ValueOf(row).Elem()) })
		}}
}

func (e *exporter) ofDerived(d *derived) error {
	columns := slices.DeleteFunc(columnsOf(d.row), func(c column) bool { return c.name == d.but })
	return e.rows(columns, func() error { return d.rows(e, e.write) })
}

// changesIn makes a row of each change of some kinds; a view of one kind has no column for it.
// The row has columns of changes, and what judge adds, which returns the kind, "" to leave it out.
func changesIn[R any](judge func(*R) (kind string), kinds ...string) *derived {
	d := derivedFrom(layout.Changes, func(e *exporter, each func(*R) error) error {
		return rowio.Of(e.ctx, e.in, e.parts, rowio.Selection{}, func(batch []R) error {
			for i := range batch {
				if !slices.Contains(kinds, judge(&batch[i])) {
					continue
				}
				if err := each(&batch[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if len(kinds) == 1 {
		d.but = "kind"
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

// Package export writes tables for other programs: as an Arrow IPC stream, as CSV, as
// lines of JSON, or as a workbook.
//
//		parts ─► rows of the columns that are needed ─► added columns ─► rows that are wanted ─► format
//
//	  - export.go: the rows that a selection has
//	  - views.go: what the rows of views have beside those of tables
//	  - derived.go: views that have rows of their own
//	  - where.go: which rows are wanted
//	  - access.go: sites × agents
//	  - rows.go: columns of rows
//	  - format.go, cells.go, arrow.go, xlsx.go: the formats
package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// ErrNotThere reports that the run lacks a table, column or comparison. The error
// that wraps it lists what the run has.
var ErrNotThere = errors.New("is not there")

// Selection says what [Table] writes.
type Selection struct {
	Table   string      // a table of the run, changes, or [Access]
	Against string      // for changes: the earlier run; "" if there is only one comparison
	Columns []string    // nil for all; they keep the order of the table
	Where   []Condition // all of which a row fulfils
}

// Written says what [Table] has written.
type Written struct {
	Rows int64
	// More says that the format holds no more rows, and the selection has some.
	More bool
	// Cut is the number of cells whose text the format does not hold whole.
	Cut int64
}

// Table writes a table of the run m in a format, in the order of its parts, batch by
// batch. For an incomplete run it writes the committed segments. If it fails, readers find
// an Arrow stream incomplete, and there is no workbook. It returns [ErrNotThere], and
// writes nothing, if there is no such table, column or comparison.
func Table(
	ctx context.Context, w io.Writer, in store.Store, m *journal.Manifest, s Selection, format string,
) (Written, error) {
	e := &exporter{ctx: ctx, in: in, m: m, Selection: s}
	var err error
	if e.format, err = newFormat(format, w); err != nil {
		return e.written, err
	}
	if s.Table == Access {
		err = e.access()
	} else if e.parts, err = partsOf(in, m, s); err == nil {
		if d := derivedViews[s.Table]; d != nil {
			err = e.ofDerived(d)
		} else {
			err = e.ofParts()
		}
	}
	if errors.Is(err, errFull) {
		e.written.More, err = true, nil
	}
	if err == nil {
		err = e.format.end()
	} else if e.begun {
		e.format.abort()
	}
	e.written.Cut = e.format.cut()
	return e.written, err
}

// errFull is the error of a format that holds no more rows.
var errFull = errors.New("no room for more rows")

// partsOf returns the parts of a table. There are none if the run has not committed
// a segment.
func partsOf(in store.Store, m *journal.Manifest, s Selection) ([]journal.Part, error) {
	what := fmt.Sprintf("table %q", tableOf(s.Table))
	if s.Table != tableOf(s.Table) {
		what += ", of which the view " + s.Table + " is made,"
	}
	s.Table = tableOf(s.Table)
	compared, err := journal.ComparedWith(in, m.Run)
	if err != nil {
		return nil, fmt.Errorf("look for comparisons: %w", err)
	}
	if s.Table == layout.Changes && len(compared) > 0 {
		return changesOf(in, m.Run, s.Against, compared)
	}
	if !slices.Contains(m.Tables, s.Table) || !slices.Contains(schema.TableNames, s.Table) {
		there := m.Tables
		if len(compared) > 0 {
			there = append(slices.Clip(there), layout.Changes)
		}
		return nil, fmt.Errorf("%s %w: run %s has %s", what, ErrNotThere, m.Run, strings.Join(there, ", "))
	}
	if s.Against != "" {
		return nil, fmt.Errorf(
			"comparison of table %s with %q %w: only %s are compared", s.Table, s.Against, ErrNotThere,
			layout.Changes,
		)
	}
	return m.PartsOf(s.Table), nil
}

func changesOf(in store.Store, run, against string, compared []string) ([]journal.Part, error) {
	switch {
	case against == "" && len(compared) > 1:
		return nil, fmt.Errorf(
			"--against %w, and run %s has several comparisons: choose one of %s", ErrNotThere, run,
			strings.Join(compared, ", "),
		)
	case against == "":
		against = compared[0]
	case !slices.Contains(compared, against):
		return nil, fmt.Errorf(
			"comparison of run %s with %q %w: it was compared with %s", run, against, ErrNotThere,
			strings.Join(compared, ", "),
		)
	}
	c, err := journal.ReadComparison(in, run, against)
	if err != nil {
		return nil, fmt.Errorf("look for the part of %s: %w", layout.Changes, err)
	}
	return []journal.Part{*c.Part}, nil
}

// exporter writes rows in one format.
type exporter struct {
	Selection
	ctx     context.Context
	in      store.Store
	m       *journal.Manifest
	parts   []journal.Part
	format  format
	row     reflect.Type // of the first part, as far as it is read
	begun   bool
	shown   []column                       // the columns that are written
	wanted  []func(row reflect.Value) bool // all of which a row fulfils that is written
	cells   []reflect.Value                // of a row, reused
	n       int                            // rows of the batch that were read
	texts   int                            // bytes of those that are written
	most    int                            // rows of a batch, 0 for batchRows
	counts  func(seq int64) bool           // whether a target is its origin's last capture; nil if not asked
	written Written
}

func (e *exporter) ofParts() error {
	v := e.view()
	for _, p := range e.parts {
		f, err := rowio.OpenPart(e.ctx, e.in, p)
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if err != nil {
			return err
		}
		err = e.part(f.File, p, v)
		f.Close()
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if errors.Is(err, errFull) {
			return err
		}
		if err != nil {
			return fmt.Errorf("export %s: %w", p.Path, err)
		}
	}
	if len(e.parts) > 0 {
		return nil
	}
	// A table without parts still has columns.
	content, err := schema.EmptyPart(tableOf(e.Table))
	if err != nil {
		return err
	}
	empty, err := rowio.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return err
	}
	return e.part(empty, journal.Part{}, v)
}

func (e *exporter) part(f *rowio.File, p journal.Part, v *view) error {
	all, err := f.Type(nil)
	if err != nil {
		return fmt.Errorf("%w (see robocensus verify)", err)
	}
	has := names(columnsOf(all))
	if err := e.check(append(slices.Clip(has), v.adds...)); err != nil {
		return err
	}
	row, err := f.Type(e.needed(has, v))
	if err != nil {
		return err
	}
	switch {
	case e.row == nil:
		e.row = row
	case e.row != row:
		return fmt.Errorf("has other columns than the parts before it: %s, and not %s", fieldNames(row), fieldNames(e.row))
	}
	columns, isOf, err := v.of(e, p, columnsOf(row))
	if err != nil {
		return err
	}
	if err := e.begin(columns, has, f.AllMetadata()); err != nil {
		return err
	}
	if isOf != nil {
		e.wanted = append(e.wanted, isOf)
	}
	err = rowio.ReadType(e.ctx, f, rowio.Selection{}, row, func(batch reflect.Value) error {
		for i := range batch.Len() {
			if err := e.write(batch.Index(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.flush()
}

// rows writes what each gives to write, of rows that have these columns and are no table's.
func (e *exporter) rows(columns []column, each func() error) error {
	has := names(columns)
	if err := e.check(has); err != nil {
		return err
	}
	if err := e.begin(columns, has, nil); err != nil {
		return err
	}
	if err := each(); err != nil {
		return err
	}
	return e.flush()
}

// begin chooses the columns that are written, by default those shown, of all that rows have, and tells
// the format of them, once.
func (e *exporter) begin(all []column, shown []string, said map[string]string) error {
	if e.Columns != nil {
		shown = e.Columns
	}
	e.shown, e.wanted = only(all, shown), nil
	e.cells = make([]reflect.Value, len(e.shown))
	for i := range e.Where {
		condition := &e.Where[i]
		cell := columnNamed(all, condition.Column).cell
		e.wanted = append(e.wanted, func(row reflect.Value) bool { return condition.holds(cell(row)) })
	}
	if e.begun {
		return nil
	}
	e.begun = true
	return e.format.begin(e.shown, said)
}

// write writes a row if it is wanted.
func (e *exporter) write(row reflect.Value) error {
	if !slices.ContainsFunc(e.wanted, func(holds func(reflect.Value) bool) bool { return !holds(row) }) {
		texts := 0
		for i := range e.shown {
			e.cells[i] = e.shown[i].cell(row)
			if texts += textsIn(e.cells[i]); texts > mostTexts {
				return fmt.Errorf("damaged Parquet: a row whose texts take more than %d bytes", mostTexts)
			}
		}
		if err := e.format.write(e.cells); err != nil {
			return err
		}
		e.written.Rows++
		e.texts += texts
	}
	if e.n++; e.n < cmp.Or(e.most, batchRows) && e.texts < batchTexts {
		return nil
	}
	return e.flush()
}

// flush ends a batch.
func (e *exporter) flush() error {
	e.n, e.texts = 0, 0
	return e.format.flush()
}

// check returns an error for a column that rows do not have.
func (e *exporter) check(has []string) error {
	for _, name := range e.asked() {
		if !e.begun && !slices.Contains(has, name) {
			return fmt.Errorf("column %q %w: the table has %s", name, ErrNotThere, strings.Join(has, ", "))
		}
	}
	return nil
}

// needed returns the columns of a table that are read, nil for all.
func (e *exporter) needed(has []string, v *view) (names []string) {
	if e.Columns == nil {
		return nil
	}
	return slices.DeleteFunc(append(e.asked(), v.by...), func(name string) bool { return !slices.Contains(has, name) })
}

// asked returns the columns that the selection names.
func (e *exporter) asked() []string {
	names := slices.Clone(e.Columns)
	for _, c := range e.Where {
		names = append(names, c.Column)
	}
	return names
}

func fieldNames(row reflect.Type) string {
	var names []string
	for _, f := range fieldsOf(columnsOf(row)) {
		names = append(names, fmt.Sprintf("%s %s", f.Name, f.Type))
	}
	return strings.Join(names, ", ")
}

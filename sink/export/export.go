// Package export writes tables as Arrow IPC streams.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// ErrNotThere reports that the run lacks a table, column or comparison. The error
// that wraps it lists what the run has.
var ErrNotThere = errors.New("is not there")

// Selection says what [Table] writes.
type Selection struct {
	Table   string   // a table of the run, or changes
	Against string   // for changes: the earlier run; "" if there is only one comparison
	Columns []string // nil for all; they keep the order of the table
}

// broken is the prefix of an Arrow IPC message of 8 bytes, which never follow. A
// stream needs no mark at its end, so one that an error cuts would look whole.
var broken = []byte{0xff, 0xff, 0xff, 0xff, 8, 0, 0, 0}

// Table writes a table of the run m as an Arrow IPC stream, in the order of
// its parts, batch by batch. For an incomplete run it writes the committed segments.
// If it fails, readers find the stream incomplete. It returns [ErrNotThere], and
// writes nothing, if there is no such table, column or comparison.
func Table(ctx context.Context, w io.Writer, in store.Store, m *journal.Manifest, s Selection) error {
	parts, err := partsOf(in, m, s)
	if err != nil {
		return err
	}
	e := &exporter{ctx: ctx, out: bufio.NewWriter(w), Selection: s}
	err = e.parts(in, parts)
	if err == nil {
		err = e.stream.Close()
	} else if e.stream != nil {
		e.out.Write(broken)
	}
	if e := e.out.Flush(); err == nil {
		err = e
	}
	return err
}

// partsOf returns the parts of a table. There are none if the run has not committed
// a segment.
func partsOf(in store.Store, m *journal.Manifest, s Selection) ([]journal.Part, error) {
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
		return nil, fmt.Errorf("table %q %w: run %s has %s", s.Table, ErrNotThere, m.Run, strings.Join(there, ", "))
	}
	if s.Against != "" {
		return nil, fmt.Errorf("comparison of table %s with %q %w: only %s are compared", s.Table, s.Against, ErrNotThere, layout.Changes)
	}
	return m.PartsOf(s.Table), nil
}

func changesOf(in store.Store, run, against string, compared []string) ([]journal.Part, error) {
	switch {
	case against == "" && len(compared) > 1:
		return nil, fmt.Errorf("the only comparison of run %s %w: choose one with --against: %s", run, ErrNotThere, strings.Join(compared, ", "))
	case against == "":
		against = compared[0]
	case !slices.Contains(compared, against):
		return nil, fmt.Errorf("comparison of run %s with %q %w: it was compared with %s", run, against, ErrNotThere, strings.Join(compared, ", "))
	}
	c, err := journal.ReadComparison(in, run, against)
	if err != nil {
		return nil, fmt.Errorf("look for the part of %s: %w", layout.Changes, err)
	}
	return []journal.Part{*c.Part}, nil
}

// exporter writes parts to one stream.
type exporter struct {
	Selection
	ctx    context.Context
	out    *bufio.Writer
	schema *arrow.Schema // the columns of the first part that are exported
	stream *ipc.Writer
}

func (e *exporter) parts(in store.Store, parts []journal.Part) error {
	for _, p := range parts {
		f, err := scan.OpenPart(e.ctx, in, p)
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if err != nil {
			return err
		}
		err = e.part(scan.Open(f))
		f.Close()
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("export %s: %w", p.Path, err)
		}
	}
	if len(parts) > 0 {
		return nil
	}
	// A table without parts still has columns.
	return e.part(scan.Empty(e.Table))
}

func (e *exporter) part(f *scan.File, err error) error {
	if err != nil {
		return fmt.Errorf("%w (see robocensus verify)", err)
	}
	columns, err := e.columns(f)
	if err != nil {
		return err
	}
	if e.stream == nil {
		e.schema = columns
		e.stream = ipc.NewWriter(e.out, ipc.WithSchema(e.schema))
	} else if !e.schema.Equal(columns) {
		return fmt.Errorf("has other columns than the parts before it: %s, and not %s", fieldNames(columns), fieldNames(e.schema))
	}
	return f.Batches(e.ctx, scan.Selection{Columns: e.Columns}, func(batch arrow.RecordBatch) error { return e.stream.Write(batch) })
}

// columns returns the wanted columns of a part.
func (e *exporter) columns(f *scan.File) (*arrow.Schema, error) {
	all := f.Schema()
	var names []string
	var wanted []arrow.Field
	for _, c := range all.Fields() {
		names = append(names, c.Name)
		if e.Columns == nil || slices.Contains(e.Columns, c.Name) {
			wanted = append(wanted, c)
		}
	}
	for _, c := range e.Columns {
		if e.stream == nil && !slices.Contains(names, c) {
			return nil, fmt.Errorf("column %q %w: the table has %s", c, ErrNotThere, strings.Join(names, ", "))
		}
	}
	said := all.Metadata()
	return arrow.NewSchema(wanted, &said), nil
}

func fieldNames(s *arrow.Schema) string {
	var names []string
	for _, f := range s.Fields() {
		names = append(names, fmt.Sprintf("%s %s", f.Name, f.Type))
	}
	return strings.Join(names, ", ")
}

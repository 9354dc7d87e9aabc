package diffs

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// listing says which rows of changes are listed, and how.
type listing struct {
	agents, kinds []string // none for all
	format        string   // text, csv or ndjson
}

func (l *listing) has(row *schema.Change) bool {
	if len(l.agents) > 0 && (row.Agent == nil || !containsFold(l.agents, *row.Agent)) {
		return false
	}
	return len(l.kinds) == 0 || containsFold(l.kinds, row.Kind)
}

func containsFold(list []string, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, text) })
}

// list prints the rows of the comparison that the folder has, as far as the listing asks
// for them, in the order of the table. It returns how many.
func (l *listing) list(ctx context.Context, c diff.Config, stdout io.Writer) (n int64, err error) {
	record, err := journal.ReadComparison(c.In, c.After, c.Before)
	if err != nil {
		return 0, fmt.Errorf("look for the comparison: %w", err)
	}
	out := bufio.NewWriterSize(stdout, 1<<16)
	print, end := l.printer(out)
	err = rowio.Of(ctx, c.In, []journal.Part{*record.Part}, rowio.Selection{}, func(batch []schema.Change) error {
		for i := range batch {
			if row := &batch[i]; l.has(row) {
				n++
				if err := print(row); err != nil {
					return fmt.Errorf("write to standard output: %w", err)
				}
			}
		}
		return nil
	})
	if e := errors.Join(end(), out.Flush()); err == nil && e != nil {
		err = fmt.Errorf("write to standard output: %w", e)
	}
	return n, err
}

// printer returns what prints a row, and what ends the list.
func (l *listing) printer(out *bufio.Writer) (print func(*schema.Change) error, end func() error) {
	names, nothing := schema.ColumnsOf(reflect.TypeFor[schema.Change]()), func() error { return nil }
	switch l.format {
	case "csv":
		w := csv.NewWriter(out)
		w.Write(names)
		return func(row *schema.Change) error { return w.Write(schema.CSV(row)) },
			func() error { w.Flush(); return w.Error() }
	case "ndjson":
		return func(row *schema.Change) error {
			text, err := json.Marshal(object{row})
			if err == nil {
				_, err = out.Write(append(visible.JSON(text), '\n'))
			}
			return err
		}, nothing
	}
	p := &cli.Text{Out: out}
	return func(row *schema.Change) error {
		_, err := fmt.Fprintf(
			out, "%s\t%s\t%s\n", p.Foreign(row.Severity), p.Foreign(row.Origin),
			ToldOfHost(p, &diff.Example{Change: *row}),
		)
		return err
	}, nothing
}

// object is a row as an object of JSON.
type object struct{ row *schema.Change }

func (o object) MarshalJSON() ([]byte, error) { return schema.JSON(o.row, "") }

// unknownKind returns a kind that no change has, "" if there is none.
func (l *listing) unknownKind() string {
	for _, kind := range l.kinds {
		if !containsFold(change.Kinds, kind) {
			return kind
		}
	}
	return ""
}

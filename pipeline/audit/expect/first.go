package expect

import (
	"context"
	"errors"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// errEnoughRows ends a scan early.
var errEnoughRows = errors.New("enough rows")

// firstTarget holds the agents and the paths for all hosts that a run judged, as its
// first target shows them. A list is empty if the run lacks the table or has no
// target.
type firstTarget struct {
	agents []schema.Agent
	paths  []string
}

// readFirst reads the first target of a run.
func readFirst(ctx context.Context, in store.Store, m *journal.Manifest) (f firstTarget, err error) {
	err = firstRows(ctx, in, m, "policies", []string{"agent", "category"}, func(cell func(column string) string) {
		f.agents = append(f.agents, schema.Agent{Name: strings.Clone(cell("agent")), Category: strings.Clone(cell("category"))})
	})
	if err != nil {
		return f, err
	}
	known := make(map[string]bool)
	err = firstRows(ctx, in, m, "verdicts", []string{"url"}, func(cell func(column string) string) {
		if url := cell("url"); strings.HasPrefix(url, "/") && !known[url] {
			url = strings.Clone(url)
			known[url] = true
			f.paths = append(f.paths, url)
		}
	})
	return f, err
}

// firstRows calls each for the rows of the first target in a table.
func firstRows(ctx context.Context, in store.Store, m *journal.Manifest, table string, columns []string, each func(cell func(column string) string)) error {
	for _, p := range m.Parts {
		if p.Table != table || p.Rows == 0 {
			continue
		}
		var first *int64
		err := scan.Rows(ctx, in, p, scan.Selection{Columns: append([]string{"seq"}, columns...)}, func(batch arrow.RecordBatch) error {
			seq := scan.Column[*array.Int64](batch, "seq")
			texts := make(map[string]*array.String)
			for _, name := range columns {
				texts[name] = scan.Column[*array.String](batch, name)
			}
			for i := range int(batch.NumRows()) {
				if first == nil {
					first = new(seq.Value(i))
				}
				if *first != seq.Value(i) {
					return errEnoughRows
				}
				each(func(column string) string { return texts[column].Value(i) })
			}
			return nil
		})
		if errors.Is(err, errEnoughRows) {
			err = nil
		}
		return err
	}
	return nil
}

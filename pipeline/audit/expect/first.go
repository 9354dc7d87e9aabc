package expect

import (
	"context"
	"errors"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
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
	err = firstRows(ctx, in, m, "policies", func(p *policy) int64 { return p.Seq }, func(p *policy) {
		f.agents = append(f.agents, schema.Agent{Name: p.Agent, Category: p.Category})
	})
	if err != nil {
		return f, err
	}
	known := make(map[string]bool)
	err = firstRows(ctx, in, m, "verdicts", func(v *verdict) int64 { return v.Seq }, func(v *verdict) {
		if strings.HasPrefix(v.URL, "/") && !known[v.URL] {
			known[v.URL] = true
			f.paths = append(f.paths, v.URL)
		}
	})
	return f, err
}

// firstRows calls each for the rows of the first target in a table.
func firstRows[T any](ctx context.Context, in store.Store, m *journal.Manifest, table string, seq func(*T) int64,
	each func(*T)) error {
	columns := rowio.Selection{Columns: []string{"seq", "agent", "category", "url"}}
	for _, p := range m.Parts {
		if p.Table != table || p.Rows == 0 {
			continue
		}
		var first *int64
		err := rowio.Of(ctx, in, []journal.Part{p}, columns, func(batch []T) error {
			for i := range batch {
				if first == nil {
					first = new(seq(&batch[i]))
				}
				if *first != seq(&batch[i]) {
					return errEnoughRows
				}
				each(&batch[i])
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

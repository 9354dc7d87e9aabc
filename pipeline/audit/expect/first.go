package expect

import (
	"context"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// firstTarget holds the agents and the paths for all hosts that a run judged, as its
// first target shows them. A list is empty if the run lacks the table or has no
// target.
type firstTarget struct {
	agents []schema.Agent
	paths  []string
}

// readFirst reads the first target of a run.
func readFirst(ctx context.Context, in store.Store, m *journal.Manifest) (f firstTarget, err error) {
	err = first(ctx, in, m, "policies", func(p *schema.Policy) {
		f.agents = append(f.agents, schema.Agent{Name: p.Agent, Category: p.Category})
	})
	if err != nil {
		return f, err
	}
	known := make(map[string]bool)
	err = first(ctx, in, m, "verdicts", func(v *schema.Verdict) {
		if strings.HasPrefix(v.URL, "/") && !known[v.URL] {
			known[v.URL] = true
			f.paths = append(f.paths, v.URL)
		}
	})
	return f, err
}

// first calls each for the rows of the first target in a table.
func first[T any](ctx context.Context, in store.Store, m *journal.Manifest, table string, each func(*T)) error {
	columns := rowio.Selection{Columns: []string{"seq", "agent", "category", "url"}}
	return rowio.First(ctx, in, m.PartsOf(table), columns, func(rows []T) {
		for i := range rows {
			each(&rows[i])
		}
	})
}

package series

import (
	"context"
	"hash/maphash"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
)

// sharing is the share of hosts with a registered domain in common from which on intervals
// that take them for a simple sample are worth a warning.
const sharing = 0.02

// warnOfDomains warns that intervals are too narrow without clusters, because hosts of the
// last run share registered domains. It reads one column of fetches, and nothing where that
// is not cheap: of a run in an object store, or of more hosts than a panel keeps at once.
func warnOfDomains(ctx context.Context, c Config, runs []*countedRun, r *Result) error {
	last := runs[len(runs)-1]
	if store.IsURL(c.In.Path(".")) || last.Targets > mostKeys || !slices.Contains(last.Tables, "fetches") || slices.Contains(last.Without, "fetches.registered_domain") {
		return nil
	}
	var domains []uint64
	err := scan.AllRows(ctx, c.In, last.PartsOf("fetches"), scan.Selection{Columns: []string{"registered_domain"}}, func(batch arrow.RecordBatch) error {
		column := scan.Column[*array.String](batch, "registered_domain")
		for i := range column.Len() {
			if column.IsValid(i) { // a host without one is a cluster of its own
				domains = append(domains, maphash.String(seed, column.Value(i)))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.Sort(domains)
	shared := 0
	for i := range domains {
		if i > 0 && domains[i] == domains[i-1] || i+1 < len(domains) && domains[i] == domains[i+1] {
			shared++
		}
	}
	if share := float64(shared) / float64(max(1, last.Targets)); share >= sharing {
		r.warn("%.1f%% of the hosts of run %s share a registered domain with others, whose files one operator writes: the intervals are too narrow; --clustered allows for that", 100*share, last.ID())
	}
	return nil
}

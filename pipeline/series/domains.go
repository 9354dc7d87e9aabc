package series

import (
	"context"
	"hash/maphash"
	"slices"

	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
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
	if store.IsURL(c.In.Path(".")) || last.Targets > mostKeys || !slices.Contains(last.Tables, "fetches") ||
		slices.Contains(last.Without, "fetches.registered_domain") {
		return nil
	}
	var domains []uint64
	err := rowio.Of(ctx, c.In, last.PartsOf("fetches"), rowio.Selection{Columns: []string{"registered_domain"}},
		func(batch []schema.Fetch) error {
			for i := range batch {
				if domain := batch[i].RegisteredDomain; domain != nil { // a host without one is a cluster of its own
					domains = append(domains, maphash.String(seed, *domain))
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
		r.warn("%.1f%% of the hosts of run %s share a registered domain with others, whose files one operator writes: "+
			"the intervals are too narrow; --clustered allows for that", 100*share, last.ID())
	}
	return nil
}

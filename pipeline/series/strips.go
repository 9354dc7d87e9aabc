package series

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// MostSites is how many sites have a strip each.
const MostSites = 200

// Strips say of each site what it lets agents do, run by run.
type Strips struct {
	Of    string   `json:"of"`   // the agent or category
	Runs  []string `json:"runs"` // by date
	Sites []Strip  `json:"sites"`
}

// Strip is the course of one site, named by its origin or, in a data set without, its host.
// Access has a word of access for each run: shut out if all agents are, partly if
// some are, or have some paths closed; "" if the run does not have the site.
type Strip struct {
	Site   string   `json:"site"`
	Access []string `json:"access"`
}

// ReadStrips reads the strips of runs for one agent or the agents of a category, nil if a run
// has too many sites, or no policies. A site comes in the order of its rank, then its name.
func ReadStrips(ctx context.Context, in store.Store, runs []string, profile, of string) (*Strips, error) {
	s := &Strips{Of: of, Runs: runs}
	known, ranks := make(map[string][]string), make(map[string]int64)
	for i, run := range runs {
		m, err := journal.ReadManifest(in, run)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(m.Profiles, profile) {
			continue
		}
		t, err := summary.ReadAccess(ctx, in, m, profile)
		if errors.Is(err, summary.ErrNoPolicies) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		n := 0
		err = t.Sites(ctx, func(site *summary.SiteAccess) error {
			if n++; n > MostSites {
				return fs.SkipAll
			}
			name := cmp.Or(site.Origin, site.Host)
			if known[name] == nil {
				known[name] = make([]string, len(runs))
			}
			if site.Rank != nil {
				ranks[name] = *site.Rank
			}
			known[name][i] = together(t, site, of)
			return nil
		})
		if err != nil || n > MostSites || len(known) > MostSites {
			return nil, err
		}
	}
	if len(known) == 0 {
		return nil, nil
	}
	rank := func(name string) int64 {
		if r, ok := ranks[name]; ok {
			return r
		}
		return 1<<63 - 1
	}
	for _, name := range slices.SortedFunc(maps.Keys(known),
		func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) }) {
		s.Sites = append(s.Sites, Strip{name, known[name]})
	}
	return s, nil
}

// together returns the word for an agent, or for those of a category, "" for none.
func together(t *summary.AccessTable, site *summary.SiteAccess, of string) string {
	n := make(map[string]int)
	agents := 0
	for i, word := range site.Access {
		if t.Agents[i] == of || t.Categories[i] == of {
			agents++
			n[word]++
		}
	}
	switch {
	case agents == 0:
		return ""
	case n[summary.AccessUnread] > 0:
		return summary.AccessUnread
	case n[summary.AccessShutOut] == agents:
		return summary.AccessShutOut
	case n[summary.AccessOpen] == agents:
		return summary.AccessOpen
	}
	return summary.AccessPartly
}

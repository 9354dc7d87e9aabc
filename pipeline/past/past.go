// Package past is the one reading of past runs: what a run was made of, and what of
// two runs can be compared.
//
// A run is described by its manifest, by its table agents and by its counters, never
// by this program: built-in profiles and agents change from version to version. So
// whoever compares runs, or re-evaluates one, asks this package: diff, series, report,
// reproduce and run --from-run.
//
//	past.go      a run
//	profile.go   its profiles
//	registry.go  its agents
//	compare.go   what differs between two runs, and what that makes incomparable
//	settings.go  how two runs asked for their answers differently
package past

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// Run is a past run.
type Run struct {
	*journal.Manifest
	Registry *Registry
	// Category has the category of each agent that the run judged.
	Category map[string]string
	// Source says where most answers come from: network, warc, body. It is "" if the
	// counters of the run do not say it.
	Source string
	// Identities are the further ones under which hosts were asked, by name. They are not
	// known of a run without counters.
	Identities map[string]Identity
	// Counted are the metrics that the run counted.
	Counted map[string]bool
}

// An Identity is one under which a run asked hosts too.
type Identity struct {
	Agent     string // of the registry, "" for none
	IsControl bool   // it is our own once more
}

// Read reads a run. It returns [fs.ErrNotExist] if there is none.
func Read(ctx context.Context, in store.Store, run string) (*Run, error) {
	m, err := journal.ReadManifest(in, run)
	if err != nil {
		return nil, err
	}
	r := &Run{Manifest: m, Category: make(map[string]string), Counted: make(map[string]bool)}
	if r.Registry, err = readRegistry(ctx, in, m); err != nil {
		return nil, err
	}
	sources := make(map[string]int64)
	err = rowio.Of(ctx, in, m.PartsOf("summary"),
		rowio.Selection{Columns: []string{"metric", "agent", "category", "key", "count"}}, func(batch []schema.Count) error {
			for _, c := range batch {
				r.Counted[c.Metric] = true
				switch agent, key := schema.OrZero(c.Agent), schema.OrZero(c.Key); c.Metric {
				case "source":
					sources[key] += c.Count
				case "answer":
					r.addIdentity(key, agent)
				case "policy":
					r.Category[agent] = schema.OrZero(c.Category)
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	r.Source = mostly(sources)
	if len(r.Category) == 0 {
		for _, a := range r.Registry.Agents {
			r.Category[a.Name] = a.Category
		}
	}
	return r, nil
}

// addIdentity adds the identity that a key of the counter answer is about.
func (r *Run) addIdentity(key, agent string) {
	name, _, _ := strings.Cut(key, " ")
	name, isControl := strings.CutPrefix(name, summary.Control)
	if r.Identities == nil {
		r.Identities = make(map[string]Identity)
	}
	r.Identities[name] = Identity{Agent: agent, IsControl: isControl}
}

// mostly returns the source of most answers. Answers from the memory of earlier runs
// came over the network.
func mostly(sources map[string]int64) (source string) {
	if n := sources["cache"]; n > 0 {
		sources["network"] += n
		delete(sources, "cache")
	}
	most := int64(0)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if sources[name] > most {
			source, most = name, sources[name]
		}
	}
	return source
}

// ID returns the ID of the run.
func (r *Run) ID() string { return r.Plan.Run }

// asked reports whether the answers came over the network, now or for an earlier run.
func (r *Run) asked() bool { return r.Source == "network" }

// isAgain reports whether a run re-evaluates the captures of an earlier one.
func (r *Run) isAgain() bool {
	return slices.ContainsFunc(r.Inputs, func(in journal.Input) bool { return in.Role == "run" })
}

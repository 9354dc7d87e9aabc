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
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
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
	// KnowsWalls reports whether the run counted walls.
	KnowsWalls bool
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
	r := &Run{Manifest: m, Category: make(map[string]string)}
	if r.Registry, err = readRegistry(ctx, in, m); err != nil {
		return nil, err
	}
	sources := make(map[string]int64)
	for _, p := range m.PartsOf("summary") {
		err := scan.Texts(ctx, in, p, []string{"metric", "agent", "category", "key", "count"}, func(c []*string) {
			switch text(c[0]) {
			case "source":
				sources[text(c[3])] += number(c[4])
			case "answer":
				r.addIdentity(text(c[3]), text(c[1]))
			case "challenge":
				r.KnowsWalls = true
			case "policy":
				r.Category[text(c[1])] = text(c[2])
			}
		})
		if err != nil {
			return nil, err
		}
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

// number returns a cell as a number, 0 for null.
func number(cell *string) int64 {
	n, _ := strconv.ParseInt(text(cell), 10, 64)
	return n
}

// text returns a copy of a cell, "" for null.
func text(cell *string) string { return strings.Clone(schema.OrZero(cell)) }

package series

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// changes counts what happened to policies between two neighbouring runs, by the table
// changes (see package change).
type changes struct {
	hosts  int64            // in both runs, and compared: with an earlier run, if the first of the two could not read them
	less   map[string]int64 // by agent, those of them whose earlier run does not have it
	counts map[id]int64
	notes  []string // what was not compared
}

// reworded is a key of the metric change besides the names of [change.Counts].
const reworded = "reworded"

// readChanges counts the changes between two runs, or returns nil if they are not
// compared.
func readChanges(ctx context.Context, c Config, before, after *journal.Manifest) (*changes, error) {
	record, err := journal.ReadComparison(c.In, after.Run, before.Run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	counter, origin := change.NewCounter(c.Profiles), ""
	columns := []string{"origin", "kind", "severity", "agent", "category", "profile", "before", "after"}
	err = rowio.Of(ctx, c.In, []journal.Part{*record.Part}, rowio.Selection{Columns: columns},
		func(batch []schema.Change) error {
			for i := range batch {
				if batch[i].Origin != origin {
					counter.EndOfHost()
					origin = batch[i].Origin
				}
				counter.Add(&batch[i])
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	counter.EndOfHost()
	out := &changes{hosts: record.Hosts - record.Unread, less: make(map[string]int64), counts: make(map[id]int64),
		notes: record.Notes}
	for _, earlier := range record.Earlier {
		for _, agent := range earlier.Without {
			out.less[agent] += earlier.Hosts
		}
	}
	for of, counts := range counter.Agents {
		for key, n := range counts.Each() {
			out.counts[id{metric: "change", agent: of.Agent, profile: of.Profile, key: key}] += n
		}
	}
	for profile, totals := range counter.Profiles {
		for key, n := range totals.Each() {
			out.counts[id{metric: "change", profile: profile, key: key}] = n
		}
		out.counts[id{metric: "change", profile: profile, key: reworded}] = totals.Reworded
	}
	return out, nil
}

// changes adds the points of changes between neighbours.
func (p *pointMaker) changes() {
	seen := make(map[id]bool)
	var without []string
	noted := make(map[string][]string) // pairs by note
	for i, r := range p.runs {
		pair := ""
		if i > 0 {
			pair = fmt.Sprintf("%s and %s", p.runs[i-1].ID(), r.ID())
		}
		if r.changes != nil {
			for k, n := range r.changes.counts {
				seen[k] = seen[k] || n > 0 || k.agent == ""
			}
			for _, note := range r.changes.notes {
				if slices.Contains(p.pairs[i].Told(), note) {
					continue // a mark says it
				}
				noted[note] = append(noted[note], pair)
			}
		} else if i > 0 {
			without = append(without, pair)
		}
	}
	for _, note := range slices.Sorted(maps.Keys(noted)) {
		p.result.warn("%s (changes between %s)", note, past.Some(noted[note], 3))
	}
	if len(without) > 0 {
		p.result.warn("there are no changes between runs that are not compared (%s): robocensus diff compares two",
			past.Some(without, 3))
	}
	maps.DeleteFunc(seen, func(_ id, any bool) bool { return !any })
	for _, k := range slices.SortedFunc(maps.Keys(seen), compareIDs) {
		for i, r := range p.runs {
			if r.changes == nil {
				continue
			}
			k, ok := p.labelled(r, k)
			if _, before := p.labelled(p.runs[i-1], k); !ok || !before {
				continue // a policy of which only one of the runs knows
			}
			n := r.changes.counts[id{metric: "change", agent: k.agent, profile: k.profile, key: k.key}]
			row := p.row(i, k, All, All, baseBoth, n, r.changes.hosts-r.changes.less[k.agent])
			if k.agent == "" && k.profile == p.Profiles[0] {
				row.Profile = nil // the first profile's reading
			}
			p.add(row, i, k, All)
		}
	}
}

// movements adds the points of hosts that come and go.
func (p *pointMaker) movements() {
	if !p.Panel {
		return
	}
	for _, metric := range []string{"entered", "left"} {
		for i, r := range p.runs[1:] {
			n, of, base := r.moved.entered, r.moved.entered+r.moved.stayed, baseHosts
			if metric == "left" {
				n, of, base = r.moved.left, r.moved.left+r.moved.stayed, baseBefore
			}
			k := id{metric: metric}
			p.add(p.row(i+1, k, All, All, base, n, of), i+1, k, All)
		}
	}
}

package series

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// changes counts what happened to policies between two neighbouring runs, by the table
// changes. Its rows of kind rules compare policies by their meaning on every path;
// where there is none for an agent, a row of kind policy_class compares the classes.
type changes struct {
	hosts  int64 // in both runs, and readable in both
	counts map[id]int64
	notes  []string // what was not compared
}

// Keys of the metric change.
const (
	closed    = "closed"
	opened    = "opened"
	both      = "both"
	undecided = "undecided"
	reworded  = "reworded"
)

// readChanges counts the changes between two runs, or returns nil if they are not
// compared.
func readChanges(ctx context.Context, c Config, before, after *sink.Manifest) (*changes, error) {
	record, err := sink.ReadComparison(ctx, c.Dir, after.Run, before.Run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &changeReader{changes: changes{hosts: record.Hosts - record.Unread, counts: make(map[id]int64), notes: record.Notes}, ways: make(map[agentOf]string)}
	err = scan.Texts(ctx, c.Dir, *record.Part, []string{"origin", "kind", "agent", "profile", "before", "after", "severity"}, func(cells []*string) {
		if cells[3] == nil || slices.Contains(c.Profiles, *cells[3]) {
			r.add(cells)
		}
	})
	r.endOfHost()
	return &r.changes, err
}

// agentOf identifies a policy of the current host.
type agentOf struct{ agent, profile string }

// changeReader adds up rows host by host: those of a host are adjacent.
type changeReader struct {
	changes
	origin string
	ways   map[agentOf]string
	text   string // severity of the row of kind text
}

func (r *changeReader) add(cells []*string) {
	if origin := *cells[0]; origin != r.origin {
		r.endOfHost()
		r.origin = strings.Clone(origin)
	}
	cell := func(k int) string {
		if cells[k] == nil {
			return ""
		}
		return strings.Clone(*cells[k])
	}
	of := agentOf{cell(2), cell(3)}
	switch cell(1) {
	case "text":
		r.text = cell(6)
	case "rules":
		r.ways[of] = map[string]string{"closes": closed, "opens": opened, "both": both, "undecided": undecided}[cell(5)]
	case "policy_class":
		if _, ok := r.ways[of]; !ok {
			r.ways[of] = wayOf(cell(4), cell(5))
		}
	}
}

// wayOf returns the way of a change of class, "" for one from or to unknown.
func wayOf(before, after string) string {
	order := []string{"allow_all", "partial", "disallow_all"}
	switch a, b := slices.Index(order, before), slices.Index(order, after); {
	case a < 0 || b < 0 || a == b:
		return ""
	case a < b:
		return closed
	}
	return opened
}

// endOfHost counts the current host: for each agent, and once for all of them.
func (r *changeReader) endOfHost() {
	all := make(map[string]bool)
	for of, way := range r.ways {
		if way != "" {
			all[way] = true
			r.counts[id{metric: "change", agent: of.agent, profile: of.profile, key: way}]++
		}
	}
	key := ""
	switch {
	case all[both], all[closed] && all[opened]:
		key = both
	case all[closed]:
		key = closed
	case all[opened]:
		key = opened
	case all[undecided], r.text != "" && r.text != "cosmetic":
		key = undecided
	case r.text != "":
		key = reworded
	}
	if key != "" {
		r.counts[id{metric: "change", key: key}]++
	}
	clear(r.ways)
	r.text = ""
}

// changes adds the points of changes between neighbours.
func (p *pointer) changes() {
	seen := make(map[id]bool)
	for _, key := range []string{closed, opened, both, undecided, reworded} {
		seen[id{metric: "change", key: key}] = true
	}
	var without []string
	noted := make(map[string][]string) // pairs by note
	for i, r := range p.runs {
		pair := ""
		if i > 0 {
			pair = fmt.Sprintf("%s and %s", p.runs[i-1].ID(), r.ID())
		}
		if r.changes != nil {
			for k := range r.changes.counts {
				seen[k] = true
			}
			for _, note := range r.changes.notes {
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
		p.result.warn("there are no changes between runs that are not compared (%s): robocensus diff compares two", past.Some(without, 3))
	}
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
			p.add(p.row(i, k, All, All, baseBoth, n, r.changes.hosts), i, k, All)
		}
	}
}

// movements adds the points of hosts that come and go.
func (p *pointer) movements() {
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

// Package changes has the figures of what changed between two runs.
//
//   - changes.go: hosts counted in one pass over the table changes
//   - figures.go: how many hosts changed, how, which agents they closed to, and together
//   - said.go: how hosts answer identities, and what they state about use
//   - words.go: whose words the changes are
//   - hosts.go: what changed on single hosts
package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

type severity struct{ key, class string }

// severities are the severities of changes, worst first.
var severities = []severity{
	{"critical", "closed"}, {"major", "partly"}, {"minor", "star"}, {"cosmetic", "unknown"},
}

// Changes counts the rows of the table changes by host. The table holds the rows
// of a host next to each other.
type Changes struct {
	run, against, profile string

	Since string // date of the earlier run, or its ID
	all   string // what the run has, in words
	rows  int64

	kinds      map[string]*tally         // by kind
	bySeverity map[string]int64          // hosts in both runs, by most severe change
	gone, new  int64                     // hosts in one run only
	changed    int64                     // hosts in both runs with a change
	closing    *change.Counter           // hosts that closed or opened
	examples   map[string][]diff.Example // one per host, by its most severe change, best ranked first
	together   diff.Ways                 // hosts that changed in the same way
	closers    map[string][]diff.Example // by agent, hosts that closed a path to it, best ranked first
	openers    map[string][]diff.Example // the same of those that opened one
	Notes      []string                  // what was not compared
	compared   int64                     // hosts in both runs
	unread     int64                     // of these, unreadable in one run or both, and not compared
	// of these, compared with a run before the earlier one, which could not read them
	earlier int64

	// State of the current host.
	origin string
	worst  int             // index into severities
	first  *diff.Example   // first row of that severity
	seen   map[string]bool // kinds
}

// Compared returns the hosts whose policies were compared, and those of them whose policies
// mean the same for every agent as before. Hosts of which that is undecided are not among
// these.
func (c *Changes) Compared() (hosts, same int64) {
	n := c.closing.Profiles[c.profile].Counts
	hosts = c.compared - c.unread
	return hosts, hosts - (n.Closed + n.Opened - n.Both + n.Undecided)
}

func newChanges(profile, since string) *Changes {
	return &Changes{
		profile: profile, Since: since, kinds: make(map[string]*tally), bySeverity: make(map[string]int64),
		closing: change.NewCounter([]string{profile}), closers: make(map[string][]diff.Example),
		openers:  make(map[string][]diff.Example),
		examples: make(map[string][]diff.Example), seen: make(map[string]bool), worst: len(severities),
	}
}

// tally counts the hosts and rows of a kind.
type tally struct{ hosts, rows int64 }

const (
	changeExamples = 6
	changeNames    = 2000 // distinct kinds counted
	changeNotes    = 20
)

// Read counts the changes from run against to the run of m under one
// profile.
func Read(ctx context.Context, in store.Store, m *journal.Manifest, against, profile string) (*Changes, error) {
	compared, err := journal.ReadComparison(in, m.Run, against)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: run robocensus diff --out %s %s %s first", ErrNoChanges, in.Path("."), against, m.Run)
	}
	if err != nil {
		return nil, err
	}
	c := newChanges(profile, "run "+against)
	c.run, c.against = m.Run, against
	switch before, err := journal.ReadManifestHead(in, against); {
	case err == nil && words.Day(before.Date) != words.Day(m.Date):
		c.Since = words.Day(before.Date)
	case err == nil && !before.Date.Equal(m.Date):
		c.Since = before.Date.Format("2 January 2006, 15:04:05")
	case err == nil: // the ID tells them apart
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	c.compared, c.unread, c.earlier = compared.Hosts, compared.Unread, compared.EarlierHosts()
	err = rowio.Of(ctx, in, []journal.Part{*compared.Part}, rowio.Selection{Columns: changeColumns},
		func(batch []schema.Change) error {
			for i := range batch {
				c.add(&batch[i])
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	for _, note := range compared.Notes[:min(len(compared.Notes), changeNotes)] {
		c.Notes = append(c.Notes, clipped(note))
	}
	c.endOfHost()
	return c, nil
}

// changeColumns are the columns that are read.
var changeColumns = []string{
	"host", "origin", "rank", "kind", "severity", "agent", "category", "profile", "url", "before", "after",
	"line_before", "line_after", "use", "template", "identity", "document",
}

// add counts a row.
func (c *Changes) add(row *schema.Change) {
	if row.Profile != nil && *row.Profile != c.profile {
		return
	}
	if row.Origin != c.origin || c.rows == 0 {
		c.endOfHost()
		c.origin = row.Origin
	}
	c.rows++
	k := c.kinds[row.Kind]
	if k == nil && len(c.kinds) < changeNames {
		k = new(tally)
		c.kinds[row.Kind] = k
	}
	if k != nil {
		k.rows++
		if !c.seen[row.Kind] {
			c.seen[row.Kind] = true
			k.hosts++
		}
	}
	c.closing.Add(row)
	c.together.Add(row)
	if move, ok := summary.MoveOf(row); ok {
		if move.Closes {
			mover(c.closers, row)
		}
		if move.Opens {
			mover(c.openers, row)
		}
	}
	c.example(row)
}

// mover keeps the host of a row that closes a path to an agent, or opens one, if it is one of
// the best ranked. A change of class tells more than one of rules.
func mover(movers map[string][]diff.Example, row *schema.Change) {
	have, known := movers[*row.Agent]
	if !known && len(movers) == changeNames {
		return
	}
	if at := slices.IndexFunc(have, func(h diff.Example) bool { return h.Host == row.Host }); at >= 0 {
		if row.Kind == "policy_class" {
			have[at] = *moverOf(row)
		}
		return
	}
	if len(have) == changeExamples && summary.CompareRanks(row.Rank, have[len(have)-1].Rank) >= 0 {
		return
	}
	movers[strings.Clone(*row.Agent)] = placed(have, moverOf(row))
}

// moverOf copies a row with the line that decides now.
func moverOf(row *schema.Change) *diff.Example {
	x := exampleOf(row)
	x.LineAfter = row.LineAfter
	return x
}

// placed adds an example to those with the best rank.
func placed(have []diff.Example, x *diff.Example) []diff.Example {
	at, _ := slices.BinarySearchFunc(have, x.Rank,
		func(h diff.Example, rank *int64) int { return cmp.Or(summary.CompareRanks(h.Rank, rank), -1) })
	if at < changeExamples {
		have = slices.Insert(have, at, *x)
	}
	return have[:min(len(have), changeExamples)]
}

// exampleOf copies what the page shows of a row: texts from the network, clipped.
func exampleOf(row *schema.Change) *diff.Example {
	x := &diff.Example{Change: *row}
	x.Host, x.Kind, x.LineAfter = clipped(row.Host), clipped(row.Kind), nil
	for _, s := range []**string{&x.Agent, &x.URL, &x.Use, &x.Identity, &x.Document, &x.Before, &x.After} {
		if *s != nil {
			*s = new(clipped(**s))
		}
	}
	return x
}

// example keeps the first of the most severe rows of the current host.
func (c *Changes) example(row *schema.Change) {
	at := slices.IndexFunc(severities, func(s severity) bool { return s.key == row.Severity })
	switch {
	case at < 0 || at > c.worst:
	case at == c.worst && c.first != nil:
		c.first.More++
	default:
		c.worst, c.first = at, exampleOf(row)
	}
}

// endOfHost counts the current host and clears its state.
func (c *Changes) endOfHost() {
	defer func() {
		c.worst, c.first = len(severities), nil
		clear(c.seen)
	}()
	if len(c.seen) == 0 {
		return
	}
	c.together.EndOfHost()
	c.closing.EndOfHost()
	switch {
	case c.seen["host_new"]:
		c.new++
		return
	case c.seen["host_gone"]:
		c.gone++
		return
	}
	c.changed++
	if c.first != nil {
		key := severities[c.worst].key
		c.bySeverity[key]++
		c.examples[key] = placed(c.examples[key], c.first)
	}
}

// clipped returns a copy of s of bounded length.
func clipped(s string) string {
	const longest = 300
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return strings.Clone(s)
}

// ErrNoChanges reports that the two runs have not been compared.
var ErrNoChanges = errors.New("the runs have not been compared")

package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

type severity struct{ key, class string }

// severities are the severities of changes, worst first.
var severities = []severity{
	{"critical", "closed"}, {"major", "partly"}, {"minor", "star"}, {"cosmetic", "unknown"},
}

// ways are the ways in which a host can change its policy for an agent.
var ways = []struct{ key, class, name string }{
	{"shut_out", "closed", "shut out"}, {"narrowed", "partly", "closed in part"}, {"widened", "open", "opened further"}, {"let_in", "allow", "let in again"},
}

// changes counts the rows of the table changes by host. The table holds the rows
// of a host next to each other.
type changes struct {
	profile string
	since   string // date of the earlier run, or its ID
	rows    int64

	kinds      map[string]*change          // by kind
	gravest    map[string]int64            // hosts in both runs, by their gravest change
	gone, new  int64                       // hosts in one run only
	changed    int64                       // hosts in both runs with a change
	closed     int64                       // hosts that shut out an agent
	opened     int64                       // hosts that let one in again
	agents     map[string]map[string]int64 // hosts by agent and way
	categories map[string]map[string]int64 // hosts by category and way
	examples   map[string][]changeExample  // one per host, by its gravest change, best ranked first
	notes      []string                    // what was not compared
	compared   int64                       // hosts in both runs
	unread     int64                       // of these, unreadable in one run or both

	// State of the current host.
	origin string
	worst  int                // index into severities
	first  *changeExample     // first row of that severity
	seen   map[string]bool    // kinds
	went   map[[2]string]bool // pairs of category and way
}

// change counts the hosts and rows of a kind.
type change struct{ hosts, rows int64 }

// changeExample is a row of a host. Its strings are text from the network.
type changeExample struct {
	Host, Kind, Agent, URL, Before, After string
	rank                                  int64
	more                                  int // further rows of that severity
}

const (
	changeExamples = 6
	changeNames    = 2000 // distinct kinds, agents or categories counted
	changeNotes    = 20
)

// readChanges counts the changes from run against to the run of m under one
// profile.
func readChanges(ctx context.Context, dir string, m *sink.Manifest, against, profile string) (*changes, error) {
	compared, err := sink.ReadComparison(dir, m.Run, against)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: run robocensus diff --out %s %s %s first", ErrNoChanges, dir, against, m.Run)
	}
	if err != nil {
		return nil, err
	}
	c := &changes{
		profile: profile, since: "run " + against, kinds: make(map[string]*change), gravest: make(map[string]int64), agents: make(map[string]map[string]int64),
		categories: make(map[string]map[string]int64), examples: make(map[string][]changeExample), seen: make(map[string]bool), went: make(map[[2]string]bool),
	}
	switch before, err := sink.ReadManifestHead(dir, against); {
	case err == nil && day(before.Started) == day(m.Started):
		c.since = before.Started.UTC().Format("2 January 2006, 15:04:05")
	case err == nil:
		c.since = day(before.Started)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	c.compared, c.unread = compared.Hosts, compared.Unread
	columns := []string{"severity", "kind", "agent", "before", "after", "host", "url", "profile", "category", "origin", "rank"}
	if err := scan.Texts(ctx, dir, *compared.Part, columns, c.add); err != nil {
		return nil, err
	}
	for _, note := range compared.Notes[:min(len(compared.Notes), changeNotes)] {
		c.notes = append(c.notes, clipped(note))
	}
	c.endOfHost()
	return c, nil
}

func (c *changes) add(cells []*string) {
	kind, agent, before, after := text(cells[1]), text(cells[2]), text(cells[3]), text(cells[4])
	if of := text(cells[7]); of != "" && of != c.profile {
		return
	}
	if origin := text(cells[9]); origin != c.origin || c.rows == 0 {
		c.endOfHost()
		c.origin = strings.Clone(origin)
	}
	c.rows++
	k := c.kinds[kind]
	if k == nil && len(c.kinds) < changeNames {
		kind = strings.Clone(kind)
		k = new(change)
		c.kinds[kind] = k
	}
	if k != nil {
		k.rows++
		if !c.seen[kind] {
			c.seen[strings.Clone(kind)] = true
			k.hosts++
		}
	}
	if kind == "policy_class" {
		way := wayOf(before, after)
		tally(c.agents, agent, way)
		if at := [2]string{text(cells[8]), way}; !c.went[at] {
			c.went[[2]string{strings.Clone(at[0]), way}] = true
			tally(c.categories, at[0], way)
		}
	}
	c.example(cells)
}

// example keeps the first of the gravest rows of the current host.
func (c *changes) example(cells []*string) {
	at := slices.IndexFunc(severities, func(s severity) bool { return s.key == text(cells[0]) })
	switch {
	case at < 0 || at > c.worst:
	case at == c.worst && c.first != nil:
		c.first.more++
	default:
		c.worst = at
		c.first = &changeExample{
			Kind: clipped(text(cells[1])), Agent: clipped(text(cells[2])), Before: clipped(text(cells[3])), After: clipped(text(cells[4])),
			Host: clipped(text(cells[5])), URL: clipped(text(cells[6])), rank: math.MaxInt64,
		}
		if n, err := strconv.ParseInt(text(cells[10]), 10, 64); err == nil {
			c.first.rank = n
		}
	}
}

// endOfHost counts the current host and clears its state.
func (c *changes) endOfHost() {
	defer func() {
		c.worst, c.first = len(severities), nil
		clear(c.seen)
		clear(c.went)
	}()
	if len(c.seen) == 0 {
		return
	}
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
		c.gravest[key]++
		have := c.examples[key]
		at, _ := slices.BinarySearchFunc(have, c.first.rank, func(x changeExample, rank int64) int { return cmp.Or(cmp.Compare(x.rank, rank), -1) })
		if at < changeExamples {
			have = slices.Insert(have, at, *c.first)
			c.examples[key] = have[:min(len(have), changeExamples)]
		}
	}
	closed, opened := false, false
	for at := range c.went {
		closed, opened = closed || at[1] == "shut_out", opened || at[1] == "let_in"
	}
	if closed {
		c.closed++
	}
	if opened {
		c.opened++
	}
}

// wayOf returns the way of a change from one policy class to another.
func wayOf(before, after string) string {
	switch {
	case after == "disallow_all":
		return "shut_out"
	case before == "disallow_all":
		return "let_in"
	case after == "partial":
		return "narrowed"
	}
	return "widened"
}

// wayIs holds the SQL condition of each way.
var wayIs = map[string]string{
	"shut_out": "after = 'disallow_all'",
	"let_in":   "before = 'disallow_all' AND after <> 'disallow_all'",
	"narrowed": "after = 'partial' AND before <> 'disallow_all'",
	"widened":  "after NOT IN ('disallow_all', 'partial') AND before <> 'disallow_all'",
}

func tally(of map[string]map[string]int64, name, key string) {
	row := of[name]
	if row == nil {
		if len(of) >= changeNames {
			return
		}
		row = make(map[string]int64)
		of[strings.Clone(name)] = row
	}
	row[key]++
}

// clipped returns a copy of s of bounded length. The copy shares no memory with
// the batch that s is part of.
func clipped(s string) string {
	const longest = 300
	if len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "") + "…"
	}
	return strings.Clone(s)
}

func (d *data) fromChanges() string {
	return fmt.Sprintf("FROM history.changes WHERE run = %s AND against = %s AND coalesce(profile, %[3]s) = %[3]s", quote(d.run), quote(d.against), quote(d.profile))
}

// changedHosts shows how many hosts changed, by their gravest change.
func (d *data) changedHosts() *figure {
	c := d.changes
	f := &figure{ID: "changes", Of: fmt.Sprintf("Shares of the run's %s.", hosts(d.hosts)), Names: func(s string) string { return s }, Head: []string{"gravest", "hosts"}}
	if len(c.notes) > 0 {
		f.Note = "Not everything was compared: " + strings.Join(c.notes, "; ") + "."
	}
	if c.unread > 0 {
		f.Note = strings.TrimSpace(fmt.Sprintf("Of the %s in both runs, %s could not be read in one or in both: their policies are not compared. ", hosts(c.compared), count(c.unread)) + f.Note)
	}
	if c.rows == 0 {
		switch {
		case c.unread > 0 && c.unread == c.compared:
			f.Title = fmt.Sprintf("Changes since %s are unknown: no host could be read in both runs", c.since)
		case c.unread > 0 || len(c.notes) > 0:
			f.Title = fmt.Sprintf("Of what was compared, nothing has changed since %s", c.since)
		default:
			f.Title = fmt.Sprintf("Nothing has changed since %s", c.since)
		}
		return f
	}
	f.Title = fmt.Sprintf("%s of %s changed since %s", count(c.changed), hosts(d.hosts), c.since)
	var said []string
	if c.closed > 0 {
		said = append(said, count(c.closed)+" shut out an agent that could come in before")
	}
	if c.opened > 0 {
		said = append(said, count(c.opened)+" let one in that was shut out")
	}
	if len(said) > 0 {
		f.Title += ": " + and(said)
	}
	if c.new+c.gone > 0 {
		f.Title += fmt.Sprintf("; %s new, %s gone", count(c.new), count(c.gone))
	}
	most := int64(0)
	for _, n := range c.gravest {
		most = max(most, n)
	}
	scale := scaleFor(most, d.hosts)
	if most > 0 {
		f.Axis = fmt.Sprintf("%d%% of hosts", scale)
	}
	f.Note = strings.TrimSpace("A host counts once, by its gravest change. Critical: it shuts an agent out. Major: it closes a part, lets an agent in again, changes what content may be used for, or is no longer reachable. Cosmetic: a different text with the same meaning. " + f.Note)
	f.Examples = &listed{Caption: "Examples", What: "change", HasKey: true}
	for _, s := range severities {
		n := c.gravest[s.key]
		if n > 0 {
			f.Rows = append(f.Rows, []string{s.key, number(n)})
			f.Bars = append(f.Bars, bar{Name: s.key, Tracks: []track{{Parts: parts(scale, d.hosts, share{s.class, "hosts", n}), Values: []string{hosts(n), percent(n, d.hosts)}}}})
		}
		for i, x := range c.examples[s.key] {
			row := example{Host: x.Host, Text: x.words()}
			if x.rank < math.MaxInt64 {
				row.Rank, f.Examples.HasRank = count(x.rank), true
			}
			if i == 0 {
				row.Key, row.Span = s.key, len(c.examples[s.key])
			}
			f.Examples.Rows = append(f.Examples.Rows, row)
		}
	}
	f.SQL = fmt.Sprintf(`SELECT ['critical', 'major', 'minor', 'cosmetic'][worst] AS gravest, count(*) AS hosts
FROM (SELECT min(list_position(['critical', 'major', 'minor', 'cosmetic'], severity)) AS worst
    %s
    GROUP BY origin HAVING NOT bool_or(kind IN ('host_new', 'host_gone')))
GROUP BY worst ORDER BY worst`, d.fromChanges())
	return f
}

func (x *changeExample) words() (s string) {
	said := func(value string) string {
		switch x.Kind {
		case "policy_class", "group":
			return words.Class.Of(value)
		case "outcome":
			return words.Outcome.Of(value)
		case "reachability":
			return words.Reason.Of(value)
		case "host_new", "host_gone":
			return words.Outcome.Of(value)
		case "rules":
			return words.Effect.Of(value)
		}
		return value
	}
	s = words.Kind.Of(x.Kind)
	if x.Agent != "" {
		s += ", " + x.Agent
	}
	if x.URL != "" && x.URL != x.Before && x.URL != x.After {
		s += ", " + x.URL
	}
	if x.more > 0 {
		defer func() { s += fmt.Sprintf(" (and %s more)", count(int64(x.more))) }()
	}
	switch {
	case x.Kind == "text": // its before and after are digests
	case x.Kind == "rules":
		s += ": " + said(x.After)
	case x.Before != "" && x.After != "":
		s += ": " + said(x.Before) + " → " + said(x.After)
	case x.After != "":
		s += ": now " + said(x.After)
	case x.Before != "":
		s += ": was " + said(x.Before)
	}
	return s
}

// changeKinds shows the hosts by kind of change.
func (d *data) changeKinds() *figure {
	c := d.changes
	if len(c.kinds) == 0 {
		return nil
	}
	onHosts, most := make(map[string]int64), int64(0)
	for kind, n := range c.kinds {
		onHosts[kind] = n.hosts
		most = max(most, n.hosts)
	}
	kinds := ranked(onHosts)
	full := roundUp(most)
	names, tied := leading(onHosts, quoted(words.Kind.Of))
	title := fmt.Sprintf("The commonest change is %s, on %s", names, hosts(most))
	if strings.HasSuffix(tied, "each") {
		title = fmt.Sprintf("The commonest changes are %s, on %s each", names, hosts(most))
	}
	f := &figure{
		ID: "change-kinds", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", count(d.hosts)), Names: words.Kind.Of,
		Title: title, Axis: hosts(full),
		Note: "A host counts once for each kind. The table changes has a row for each agent, URL or token concerned; the numbers show both.",
		Head: []string{"kind", "hosts", "rows"},
	}
	for i, kind := range kinds {
		n := c.kinds[kind]
		if i < barsDrawn {
			f.Bars = append(f.Bars, bar{Name: words.Kind.Of(kind), Tracks: []track{{Parts: lengths(full, share{"allow", "hosts", n.hosts}), Values: []string{hosts(n.hosts)}}}})
		}
		f.Rows = append(f.Rows, []string{kind, number(n.hosts), number(n.rows)})
	}
	f.SQL = "SELECT kind, count(DISTINCT origin) AS hosts, count(*) AS rows\n" + d.fromChanges() + "\nGROUP BY kind ORDER BY hosts DESC, kind"
	return f
}

// changeWays shows to which agents or categories hosts closed or opened.
func (d *data) changeWays(id, name string, by map[string]map[string]int64, named func(string) string) *figure {
	if len(by) == 0 {
		return nil
	}
	all, rank, occurs := make(map[string]int64), make(map[string]int64), make(map[string]bool)
	most, lost := int64(0), int64(0)
	for k, n := range by {
		for _, w := range ways {
			all[k] += n[w.key]
			occurs[w.key] = occurs[w.key] || n[w.key] > 0
		}
		rank[k] = n["shut_out"]<<31 + all[k]
		most, lost = max(most, all[k]), max(lost, n["shut_out"])
	}
	names := ranked(rank)
	f := &figure{
		ID: id, Of: fmt.Sprintf("Numbers of hosts; the run has %s.", count(d.hosts)), Names: named, Head: []string{name},
	}
	tied := 0
	for _, k := range names {
		if by[k]["shut_out"] == lost {
			tied++
		}
	}
	many := map[string]string{"agent": "agents", "category": "categories"}[name]
	switch {
	case lost == 0:
		f.Title = fmt.Sprintf("No %s was newly shut out anywhere", name)
	case tied == 1:
		f.Title = fmt.Sprintf("%s lost most: %s newly shut it out", f.Cell(0, names[0]), hosts(lost))
		if name == "category" {
			f.Title = fmt.Sprintf("%s lost most: %s newly shut out at least one of its agents", f.Cell(0, names[0]), hosts(lost))
		}
	default:
		f.Title = fmt.Sprintf("%s %s lost most: %s newly shut out each of them", count(int64(tied)), many, hosts(lost))
		if name == "category" {
			f.Title = fmt.Sprintf("%s %s lost most: %s newly shut out at least one agent of each", count(int64(tied)), many, hosts(lost))
		}
	}
	if name == "category" {
		f.Note = "A host counts once for each category and way, however many agents of the category it concerns; it may shut out one agent and let in another."
	}
	columns := []string{name}
	for _, w := range ways {
		if occurs[w.key] { // the numbers beside a bar follow the legend
			f.Legend = append(f.Legend, legend{w.class, w.name})
		}
		f.Head = append(f.Head, w.key)
		columns = append(columns, fmt.Sprintf("count(DISTINCT origin) FILTER (%s) AS %s", wayIs[w.key], w.key))
	}
	full := roundUp(most)
	f.Axis = hosts(full)
	for i, k := range names {
		row, shares := []string{k}, []share(nil)
		var said []string
		for _, w := range ways {
			n := by[k][w.key]
			row, shares = append(row, number(n)), append(shares, share{w.class, w.name, n})
			if occurs[w.key] {
				said = append(said, count(n))
			}
		}
		if i < barsDrawn {
			f.Bars = append(f.Bars, bar{Name: f.Cell(0, k), Tracks: []track{{Parts: lengths(full, shares...), Values: []string{strings.Join(said, " + ")}}}})
		}
		f.Rows = append(f.Rows, row)
	}
	f.SQL = "SELECT " + strings.Join(columns, ",\n  ") + "\n" + d.fromChanges() + " AND kind = 'policy_class'\nGROUP BY " + name +
		" ORDER BY shut_out DESC, shut_out + narrowed + widened + let_in DESC, " + name
	return f
}

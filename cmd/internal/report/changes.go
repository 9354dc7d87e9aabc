package report

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// severities of changes, the worst first.
var severities = []struct{ key, class string }{
	{"critical", "closed"}, {"major", "partly"}, {"minor", "star"}, {"cosmetic", "unknown"},
}

// changes are the rows of the table of that name, counted.
type changes struct {
	profile  string
	n        int64
	kinds    map[string]map[string]int64 // by kind and severity
	agents   map[string]map[string]int64 // of policies: closed, opened or other
	examples map[string][]change         // by severity
	notes    []string                    // what was not compared
}

// change is an example of one. Texts are strangers'.
type change struct{ Host, Kind, Agent, URL, Before, After string }

const (
	changeExamples = 6
	changeNames    = 2000 // kinds, or agents, that are told apart
	changeNotes    = 20
)

// readChanges counts what diff has found between two runs, in one profile's
// reading.
func readChanges(ctx context.Context, dir, run, against, profile string) (*changes, error) {
	if err := sink.CheckRunID(against); err != nil {
		return nil, err
	}
	parts, err := filepath.Glob(filepath.Join(escapeGlob(dir), "changes", "run="+run, "against="+against, "*.parquet"))
	if err != nil {
		return nil, fmt.Errorf("look for changes: %w", err)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: run robocensus diff --out %s %s %s first", ErrNoChanges, dir, against, run)
	}
	slices.Sort(parts)
	c := &changes{profile: profile, kinds: make(map[string]map[string]int64), agents: make(map[string]map[string]int64), examples: make(map[string][]change)}
	columns := []string{"severity", "kind", "agent", "before", "after", "host", "url", "profile"}
	for _, path := range parts {
		if err := sink.ReadTexts(ctx, path, columns, c.add); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		notes, err := sink.ComparisonNotes(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		for _, note := range notes[:min(len(notes), changeNotes)] {
			c.notes = append(c.notes, clipped(note))
		}
	}
	return c, nil
}

// escapeGlob takes a folder's name for what it is.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func (c *changes) add(cells []*string) {
	severity, kind, agent, before, after := text(cells[0]), text(cells[1]), text(cells[2]), text(cells[3]), text(cells[4])
	if of := text(cells[7]); of != "" && of != c.profile {
		return
	}
	c.n++
	tally(c.kinds, kind, severity)
	if kind == "policy_class" {
		way := "other"
		switch "disallow_all" {
		case after:
			way = "closed"
		case before:
			way = "opened"
		}
		tally(c.agents, agent, way)
	}
	// A host gives one of each severity.
	host, have := text(cells[5]), c.examples[severity]
	if len(have) < changeExamples && (have == nil && len(c.examples) < len(severities) || have != nil && have[len(have)-1].Host != clipped(host)) {
		c.examples[strings.Clone(severity)] = append(have, change{
			Host: clipped(host), Kind: clipped(kind), Agent: clipped(agent), URL: clipped(text(cells[6])), Before: clipped(before), After: clipped(after),
		})
	}
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
	if _, ok := row[key]; !ok {
		if len(row) >= 10 {
			return
		}
		key = strings.Clone(key)
	}
	row[key]++
}

// clipped is a text of its own memory, and of a bounded length.
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

// changeKinds is what changed, by kind and severity.
func (d *data) changeKinds() *figure {
	c := d.changes
	f := &figure{
		ID: "changes", Of: fmt.Sprintf("Of the %s since %s; the run has %s.", counted(c.n, "change", "changes"), d.against, hosts(d.targets)),
		Head: []string{"kind"},
	}
	if len(c.notes) > 0 {
		f.Note = "Not all was compared: " + strings.Join(c.notes, "; ") + "."
	}
	if c.n == 0 {
		f.Title = fmt.Sprintf("Nothing has changed since %s", d.against)
		if len(c.notes) > 0 {
			f.Title = fmt.Sprintf("Of what was compared, nothing has changed since %s", d.against)
		}
		f.Of = fmt.Sprintf("Of all %s asked.", hosts(d.targets))
		return f
	}
	all, most, worst := make(map[string]int64), int64(0), int64(0)
	for kind, n := range c.kinds {
		for _, s := range severities {
			all[kind] += n[s.key]
		}
		most, worst = max(most, all[kind]), worst+n["critical"]
	}
	kinds := ranked(all)
	words := "most of kind"
	if len(kinds) == 1 {
		words = "of kind"
	}
	f.Title = fmt.Sprintf("%s since %s, %s critical; %s %s", counted(c.n, "change", "changes"), d.against, count(worst), words, kinds[0])
	f.Examples = &listed{Caption: "The first of each severity", What: "change", HasKey: true}
	columns := []string{"kind"}
	for _, s := range severities {
		f.Legend = append(f.Legend, legend{s.class, s.key})
		f.Head = append(f.Head, s.key)
		columns = append(columns, fmt.Sprintf("count(*) FILTER (severity = %s) AS %s", quote(s.key), s.key))
		for i, x := range c.examples[s.key] {
			row := example{Host: x.Host, Text: x.words()}
			if i == 0 {
				row.Key, row.Span = s.key, len(c.examples[s.key])
			}
			f.Examples.Rows = append(f.Examples.Rows, row)
		}
	}
	scale, whole := scaleFor(most, c.n)
	f.Of += whole
	for i, kind := range kinds {
		var shares []share
		row := []string{kind}
		for _, s := range severities {
			n := c.kinds[kind][s.key]
			shares = append(shares, share{s.class, s.key, n})
			row = append(row, count(n))
		}
		if i < agentsDrawn {
			f.Bars = append(f.Bars, bar{Name: kind, Parts: plain(parts(scale, c.n, shares...)), Value: count(all[kind])})
		}
		f.Rows = append(f.Rows, row)
	}
	f.SQL = fmt.Sprintf("SELECT %s\n%s\nGROUP BY kind ORDER BY count(*) DESC, kind", strings.Join(columns, ",\n  "), d.fromChanges())
	return f
}

func (x *change) words() string {
	s := x.Kind
	if x.Agent != "" {
		s += ", " + x.Agent
	}
	if x.URL != "" && x.URL != x.Before && x.URL != x.After {
		s += ", " + x.URL
	}
	switch {
	case x.Before != "" && x.After != "":
		s += ": " + x.Before + " → " + x.After
	case x.After != "":
		s += ": now " + x.After
	case x.Before != "":
		s += ": was " + x.Before
	}
	return s
}

// changeAgents is to whom policies closed and opened.
func (d *data) changeAgents() *figure {
	c := d.changes
	if len(c.agents) == 0 {
		return nil
	}
	all, most, closed, opened := make(map[string]int64), int64(0), int64(0), int64(0)
	rank := make(map[string]int64)
	for agent, n := range c.agents {
		all[agent] = n["closed"] + n["opened"] + n["other"]
		rank[agent] = n["closed"]<<32 + all[agent]
		most, closed, opened = max(most, all[agent]), closed+n["closed"], opened+n["opened"]
	}
	agents := ranked(rank)
	lost := c.agents[agents[0]]["closed"]
	losers, each := agents[0], ""
	if n := slices.IndexFunc(agents, func(agent string) bool { return c.agents[agent]["closed"] != lost }); n != 1 && len(agents) > 1 {
		if n < 0 {
			n = len(agents)
		}
		losers, each = count(int64(n))+" agents", " each"
	}
	f := &figure{
		ID: "change-agents", Of: fmt.Sprintf("Of the %s that changed since %s: one for each host and agent.", counted(sumOf(all), "policy", "policies"), d.against),
		Title:  fmt.Sprintf("%s closed and %s opened; %s lost most, %s%s", counted(closed, "policy", "policies"), count(opened), losers, hosts(lost), each),
		Legend: []legend{{"closed", "closed"}, {"partly", "became more or less open"}, {"allow", "opened, was closed"}},
		Head:   []string{"agent", "closed", "other", "opened"},
	}
	if closed == 0 {
		f.Title = fmt.Sprintf("No policy closed; %s opened", count(opened))
	}
	whole := sumOf(all)
	scale, words := scaleFor(most, whole)
	f.Of += words
	for i, agent := range agents {
		n := c.agents[agent]
		if i < agentsDrawn {
			f.Bars = append(f.Bars, bar{Name: agent, Parts: plain(parts(scale, whole, share{"closed", "closed", n["closed"]}, share{"partly", "became more or less open", n["other"]}, share{"allow", "opened", n["opened"]})), Value: count(all[agent])})
		}
		f.Rows = append(f.Rows, []string{agent, count(n["closed"]), count(n["other"]), count(n["opened"])})
	}
	f.SQL = "SELECT agent,\n  count(*) FILTER (after = 'disallow_all') AS closed,\n  count(*) FILTER (after IS DISTINCT FROM 'disallow_all' AND before IS DISTINCT FROM 'disallow_all') AS other,\n  count(*) FILTER (before = 'disallow_all' AND after IS DISTINCT FROM 'disallow_all') AS opened\n" +
		d.fromChanges() + " AND kind = 'policy_class'\nGROUP BY agent ORDER BY closed DESC, count(*) DESC, agent"
	return f
}

func sumOf(counts map[string]int64) (n int64) {
	for _, count := range counts {
		n += count
	}
	return n
}

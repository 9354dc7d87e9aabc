package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

const (
	// mostSites is how many sites a figure shows, and mostColumns of how many agents.
	mostSites   = 200
	mostColumns = 24
	// mostCaptures bounds what is read to count the sites of archives.
	mostCaptures = 10 * mostSites
)

// sites is what each site of a run lets each agent do.
type sites struct {
	agents   []string
	column   string     // of policies, which has their names: origin if two are of one host, else host
	names    []string   // of the sites
	access   [][]string // by site and agent
	byOrigin bool       // the table fetches has origins, to find the last captures
}

// sitesOf reads the sites of a run, nil if there are more than a figure shows, or the run
// does not say it.
func sitesOf(ctx context.Context, in store.Store, m *journal.Manifest, hosts int64, profile string) (*sites, error) {
	if hosts > mostCaptures {
		return nil, nil
	}
	m, err := journal.ReadManifest(in, m.Run) // with its parts, of which the page needs no others
	if err != nil {
		return nil, err
	}
	t, err := summary.ReadAccess(ctx, in, m, profile)
	if errors.Is(err, summary.ErrNoPolicies) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	s := &sites{agents: t.Agents, column: "host", byOrigin: slices.Contains(m.Tables, "fetches") &&
		!slices.Contains(m.Without, "fetches.origin")}
	var origins []string
	of := make(map[string]bool) // hosts
	err = t.Sites(ctx, func(site *summary.SiteAccess) error {
		if s.names = append(s.names, site.Host); len(s.names) > mostSites {
			return fs.SkipAll
		}
		of[site.Host] = true
		if site.Origin != "" {
			origins = append(origins, site.Origin)
		}
		s.access = append(s.access, slices.Clone(site.Access))
		return nil
	})
	if len(s.names) > mostSites || len(s.names) == 0 {
		return nil, err
	}
	if len(of) < len(s.names) && len(origins) == len(s.names) {
		s.column, s.names = "origin", origins
	}
	return s, err
}

// siteColumn is an agent, and those that every site treats alike.
type siteColumn struct {
	agent           int
	alike           []string
	shutOut, partly int
}

// columns returns the agents that some site does not let in, those first that most sites
// shut out.
func (s *sites) columns() (all []*siteColumn) {
	by := make(map[string]*siteColumn)
	for i, name := range s.agents {
		var key strings.Builder
		c := &siteColumn{agent: i}
		for _, site := range s.access {
			switch key.WriteString(site[i] + "\n"); site[i] {
			case summary.AccessShutOut:
				c.shutOut++
			case summary.AccessPartly:
				c.partly++
			}
		}
		switch same := by[key.String()]; {
		case same != nil:
			same.alike = append(same.alike, name)
		case c.shutOut+c.partly > 0:
			by[key.String()], all = c, append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *siteColumn) int {
		return cmp.Or(cmp.Compare(b.shutOut, a.shutOut), cmp.Compare(b.partly, a.partly))
	})
	return all
}

// eachSite shows what each of few sites lets each agent do.
func (d *data) eachSite() *draw.Figure {
	s := d.sites
	if s == nil {
		return nil
	}
	columns := s.columns()
	if len(columns) == 0 {
		return nil
	}
	open, unread, closing := int64(0), int64(0), int64(0)
	for _, site := range s.access {
		switch {
		case slices.Contains(site, summary.AccessShutOut):
			closing++
		case !slices.ContainsFunc(site, func(word string) bool { return word != summary.AccessOpen }):
			open++
		case !slices.ContainsFunc(site, func(word string) bool { return word != summary.AccessUnread }):
			unread++
		}
	}
	n := int64(len(s.names))
	f := &draw.Figure{
		ID: "sites", Of: "Each site of the run, in the order of the input.", Legend: draw.AccessLegend(),
		Heat: new(draw.Heat), Head: []string{s.column},
		Title: fmt.Sprintf("%s of %s %s at least one agent out, and %s %s open to all of them", words.Number(closing),
			words.Count(n, "site"),
			words.Agree(closing, "shuts", "shut"), words.Number(open), words.Agree(open, "is", "are")),
	}
	if unread > 0 {
		f.Title += fmt.Sprintf("; %s could not be read", words.Number(unread))
	}
	var notes []string
	shown := columns[:min(len(columns), mostColumns)]
	var queries []string
	for _, c := range shown {
		name := s.agents[c.agent]
		f.Head = append(f.Head, name)
		queries = append(queries, fmt.Sprintf("any_value(word) FILTER (agent = %s) AS \"%s\"", views.Quote(name),
			strings.ReplaceAll(name, `"`, `""`)))
		if len(c.alike) > 0 {
			name += fmt.Sprintf(" and %d more", len(c.alike))
			notes = append(notes, fmt.Sprintf("%s: %s", s.agents[c.agent], past.Some(c.alike, mostFree)))
		}
		f.Heat.Columns = append(f.Heat.Columns, name)
	}
	for i, site := range s.names {
		row, numbers := draw.HeatRow{Name: site}, []string{site}
		for k, c := range shown {
			word := s.access[i][c.agent]
			row.Cells = append(row.Cells, draw.AccessCell(word, site+", "+f.Heat.Columns[k]))
			numbers = append(numbers, word)
		}
		f.Heat.Rows = append(f.Heat.Rows, row)
		f.AddRow(numbers)
	}
	f.Note = "Unread: an outage or a wall, so that nobody knows."
	if len(notes) > 0 {
		f.Note += " Agents that every site treats alike have one column. " + strings.Join(notes, "; ") + "."
	}
	if more := len(columns) - len(shown); more > 0 {
		f.Note += fmt.Sprintf(" Not drawn: and %d more agents, or groups of them, that fewer sites shut out.", more)
	}
	f.Note += fmt.Sprintf(" All agents: robocensus export --out DIR %s access --format csv.", d.run)
	last := ""
	if s.byOrigin {
		last = fmt.Sprintf("\nSEMI JOIN (SELECT max_by(seq, {'time': fetch_time, 'seq': seq}) AS seq FROM "+
			"history.fetches WHERE run = %s GROUP BY origin) USING (seq)", views.Quote(d.run))
	}
	f.SQL = fmt.Sprintf(`SELECT %[1]s, %[2]s
FROM (SELECT seq, %[1]s, agent, CASE class WHEN 'allow_all' THEN 'open' WHEN 'partial' THEN 'partly'
        WHEN 'disallow_all' THEN 'shut out' ELSE 'unread' END AS word
      FROM history.policies WHERE run = %[3]s AND profile = %[4]s)%[5]s
GROUP BY seq, %[1]s ORDER BY seq`, s.column, strings.Join(queries, ",\n  "), views.Quote(d.run),
		views.Quote(d.profile), last)
	return f
}

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
	hosts    []string
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
	s := &sites{agents: t.Agents, byOrigin: slices.Contains(m.Tables, "fetches") &&
		!slices.Contains(m.Without, "fetches.origin")}
	err = t.Sites(ctx, func(site *summary.SiteAccess) error {
		if s.hosts = append(s.hosts, site.Host); len(s.hosts) > mostSites {
			return fs.SkipAll
		}
		s.access = append(s.access, slices.Clone(site.Access))
		return nil
	})
	if len(s.hosts) > mostSites || len(s.hosts) == 0 {
		return nil, err
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
	n := int64(len(s.hosts))
	f := &draw.Figure{
		ID: "sites", Of: "Each site of the run, in the order of the input.", Legend: draw.AccessLegend(),
		Heat: new(draw.Heat), Head: []string{"host"},
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
	for i, host := range s.hosts {
		row, numbers := draw.HeatRow{Name: host}, []string{host}
		for k, c := range shown {
			word := s.access[i][c.agent]
			row.Cells = append(row.Cells, draw.AccessCell(word, host+", "+f.Heat.Columns[k]))
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
	f.SQL = fmt.Sprintf(`SELECT host, %s
FROM (SELECT seq, host, agent, CASE class WHEN 'allow_all' THEN 'open' WHEN 'partial' THEN 'partly'
        WHEN 'disallow_all' THEN 'shut out' ELSE 'unread' END AS word
      FROM history.policies WHERE run = %s AND profile = %s)%s
GROUP BY seq, host ORDER BY seq`, strings.Join(queries, ",\n  "), views.Quote(d.run), views.Quote(d.profile), last)
	return f
}

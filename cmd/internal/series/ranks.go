package series

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/views"
)

// Bounds of the table of agents, bands of rank and runs: the last runs stand side by side.
const (
	mostRanked = 6
	mostRuns   = 12
)

// ofRanks shows how many hosts of each band of rank shut an agent out, run by run.
func (d *seriesData) ofRanks() *draw.Figure {
	agents := d.values(subject{bases: []string{"hosts"}, line: d.ofPolicy("policy")}, byAgent)
	if len(agents) == 0 {
		return nil
	}
	shutOut := len(agents)
	agents = agents[:min(len(agents), mostRanked)]
	of := func(agent string) subject {
		return subject{named: strataName, line: func(stratum, base string) followed {
			l := d.ofPolicy("policy")(agent, base)
			l.stratum = stratum
			return l
		}}
	}
	first := of(agents[0])
	bands := slices.DeleteFunc(d.strataOf(first), func(name string) bool {
		return name == series.Weighted || strings.Contains(name, "=") // of the whole, or of a label
	})
	if len(bands) < 2 {
		return nil
	}
	from := max(0, len(d.Runs)-mostRuns)
	f := &draw.Figure{
		ID: "agents-ranks", Title: "Shut out most often, by rank: " + agents[0] + ", " +
			d.tell(first, bands[:min(len(bands), leaders)], "hosts"),
		Of: "Shares of the hosts of each band of rank that shut the agent out, run by run: the darker, the more.",
		Note: "A cell with a bar before its share cannot be compared with the cell before it; its tooltip says why, and " +
			"has the interval of 95%.",
		Head: []string{"run", "date", "agent", "stratum", "count", "hosts"}, Heat: new(draw.Heat),
		SQL: d.query(subject{column: "agent, stratum", bases: []string{"hosts"}}, "series_policies",
			"class = 'disallow_all' AND stratum IN ("+counters.QuoteAll(bands)+") AND profile = "+views.Quote(d.profile)+
				" AND agent IN ("+counters.QuoteAll(agents)+")"),
	}
	for _, run := range d.Runs[from:] {
		f.Heat.Columns = append(f.Heat.Columns, shortDay(run.Date))
	}
	for _, agent := range agents {
		for _, band := range bands {
			row := draw.HeatRow{Name: agent + ", " + words.Rank(band)}
			for _, run := range d.Runs[from:] {
				p := d.at(of(agent).line(band, "hosts"), run.Run)
				if p == nil || p.Share == nil {
					row.Cells = append(row.Cells, draw.HeatCell{})
					continue
				}
				row.Cells = append(row.Cells, rankedCell(row.Name, p))
			}
			f.Heat.Rows = append(f.Heat.Rows, row)
		}
	}
	f.Heat.Shade()
	for _, agent := range slices.Sorted(slices.Values(agents)) {
		for _, band := range slices.Sorted(slices.Values(bands)) {
			for _, p := range d.lines[of(agent).line(band, "hosts")] {
				f.AddRow([]string{p.Run, p.Date.Format(time.DateOnly), agent, band}, p.Count, p.Denominator)
			}
		}
	}
	if more := shutOut - len(agents); more > 0 {
		f.Note += fmt.Sprintf(" Not drawn: %s that fewer hosts shut out, or as many.", words.Count(int64(more), "agent"))
	}
	if from > 0 {
		f.Note += fmt.Sprintf(" The last %d runs; the numbers have all.", mostRuns)
	}
	return f
}

// rankedCell is the cell of a point.
func rankedCell(of string, p *schema.Point) draw.HeatCell {
	c := draw.HeatCell{Text: words.Share(*p.Share), Share: *p.Share, Tip: of + ": " + tipOf(p, "of hosts")}
	if p.Comparable != nil && !*p.Comparable {
		c.Text, c.Tip = "| "+c.Text, c.Tip+"; not comparable with the run before: "+schema.OrZero(p.WhyNot)
	}
	return c
}

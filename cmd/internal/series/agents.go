package series

import (
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// showAgents prints the shares of hosts that shut the agents out, by run and stratum.
func (f *seriesFlags) showAgents(out io.Writer, r *series.Result) error {
	names, err := f.named(r)
	if err != nil {
		return err
	}
	population := series.All
	if r.Panel != nil {
		population = "panel"
	}
	c := r.Courses(population, names)
	if f.json {
		return cli.JSON(out, c)
	}
	p := &cli.Text{Out: out}
	var shut []series.Stage
	for i := range c.Agents {
		if repeats(f.strata, c.Agents[i].Stratum, c.Agents[i].Runs, &shut) {
			continue
		}
		if i > 0 {
			p.Line("")
		}
		showCourse(p, r, &c.Agents[i])
	}
	var listed []series.ListedStage
	for i := range c.Listed {
		if repeats(f.strata, c.Listed[i].Stratum, c.Listed[i].Runs, &listed) {
			continue
		}
		p.Line("")
		showListed(p, &c.Listed[i])
	}
	var met []series.MetStage
	for i := range c.Pages {
		if repeats(f.strata, c.Pages[i].Stratum, c.Pages[i].Runs, &met) {
			continue
		}
		p.Line("")
		showMet(p, &c.Pages[i])
	}
	p.Line("intervals of 95% of each share; a difference in percentage points, with an interval that holds for all of " +
		"them together in 95% of samples; ~ may be chance")
	p.Line(howCompared(c.Method, int64(c.Differences), "differences", r.Panel != nil))
	for _, text := range r.Warnings {
		p.Line(p.Foreign(text))
	}
	return nil
}

// repeats reports whether a table of a stratum has the numbers of the table of all hosts, which
// comes before it and is kept in all: the series has one stratum, and nobody has asked for it.
func repeats[S any](asked []string, stratum string, runs []S, all *[]S) bool {
	if stratum == series.All {
		*all = runs
		return false
	}
	return len(asked) == 0 && reflect.DeepEqual(runs, *all)
}

// named returns the names of the agents as the runs have them.
func (f *seriesFlags) named(r *series.Result) (names []string, err error) {
	var known []string
	for i := range r.Points {
		if p := &r.Points[i]; p.Metric == "policy" && p.Agent != nil && !slices.Contains(known, *p.Agent) {
			known = append(known, *p.Agent)
		}
	}
	for _, name := range f.agents {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if i < 0 {
			return nil, cli.Usagef("--agent: no run has an agent %q%s", name, flags.Suggest(name, known))
		}
		names = append(names, known[i])
	}
	return names, nil
}

// showCourse prints the course of one agent in one stratum.
func showCourse(p *cli.Text, r *series.Result, c *series.Course) {
	title := "Hosts that shut out " + c.Agent
	if c.Stratum != series.All {
		title += ", of the stratum " + c.Stratum
	}
	if r.Panel != nil {
		title += ", of " + words.Count(r.Panel.Hosts, "host") + " in all runs"
	}
	p.Line(p.Foreign(title))
	var rows [][]string
	var why *string
	for _, s := range c.Runs {
		row := []string{p.Foreign(s.Run), cli.Date(s.Date), words.Number(s.Count), words.Number(s.Denominator), "", "",
			"", ""}
		if s.Share != nil {
			row[4] = words.Share(*s.Share)
		}
		if s.Low != nil {
			row[5] = words.Share(*s.Low) + " to " + words.Share(*s.High)
		}
		if s.Since != nil {
			row[6], row[7] = points(s.Since.Difference), points(s.Since.Low)+" to "+points(s.Since.High)
			if s.IsChance {
				row[6] = "~" + row[6]
			}
		}
		if s.WhyNot != nil {
			why, row[7] = s.WhyNot, "not comparable"
		}
		rows = append(rows, row)
	}
	p.Rows([]string{"run", "date", "shut out", "hosts", "share", "interval", "since first", "interval"}, 2, rows)
	if why != nil {
		p.Line("not comparable: " + p.Foreign(schema.OrZero(why)))
	}
}

// showListed prints how much of what they list hosts let one agent fetch.
func showListed(p *cli.Text, l *series.Listed) {
	title := "What hosts list that " + l.Agent + " may fetch"
	if l.Stratum != series.All {
		title += ", of the stratum " + l.Stratum
	}
	p.Line(p.Foreign(title))
	percent := func(n *int64) string {
		if n == nil {
			return ""
		}
		return words.Number(*n) + "%"
	}
	var rows [][]string
	var why *string
	for _, s := range l.Runs {
		row := []string{p.Foreign(s.Run), cli.Date(s.Date), words.Number(s.Hosts), words.Number(s.Closed), percent(s.Lower),
			percent(s.Median), percent(s.Upper), "", ""}
		if s.Low != nil {
			row[7] = percent(s.Low) + " to " + percent(s.High)
		}
		if s.WhyNot != nil && s.Hosts > 0 {
			why, row[8] = s.WhyNot, "not comparable with the run above"
		}
		rows = append(rows, row)
	}
	p.Rows([]string{"run", "date", "list pages", "close sitemaps", "lower quartile", "median", "upper quartile",
		"interval", ""}, 2, rows)
	p.Line("close sitemaps: hosts whose sitemaps are closed to this census and so missing, whatever they list")
	p.Line("the interval is that of the median, for hosts drawn at random; the share of a host is that " +
		"of a sample of its pages, which moves a median of 500 hosts by up to 4 points more (simulated)")
	if why != nil {
		p.Line("not comparable: " + p.Foreign(*why))
	}
}

// showMet prints how often hosts turn one identity away from a page.
func showMet(p *cli.Text, m *series.Met) {
	title := "Hosts that turn " + m.Identity + " away from the page, where robots.txt " + words.PaperSays.Of(m.Paper) +
		" to " + m.Agent
	if m.Stratum != series.All {
		title += ", of the stratum " + m.Stratum
	}
	p.Line(p.Foreign(title))
	var rows [][]string
	var why *string
	for _, s := range m.Runs {
		row := []string{p.Foreign(s.Run), cli.Date(s.Date), words.Number(s.TurnedAway), words.Number(s.Hosts), "",
			words.Number(s.ControlAway), "", "", ""}
		if s.Beyond != nil {
			row[4] = words.Percent(s.TurnedAway, s.Hosts)
			row[6], row[7] = points(*s.Beyond), points(*s.Low)+" to "+points(*s.High)
		}
		if s.WhyNot != nil && s.Hosts > 0 {
			why, row[8] = s.WhyNot, "not comparable with the run above"
		}
		rows = append(rows, row)
	}
	p.Rows([]string{"run", "date", "turned away", "hosts", "share", "control", "beyond it", "interval", ""}, 2, rows)
	p.Line("of hosts that served the page to our own user agent; control: those of them that turned it away " +
		"when it asked again")
	if why != nil {
		p.Line("not comparable: " + p.Foreign(*why))
	}
}

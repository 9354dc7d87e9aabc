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
	p.Line("with rules: hosts whose rules decide, of which the shares are; a host that is down does not count as open")
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
	of := ""
	if r.Panel != nil && c.Stratum == series.All {
		of = ", of " + words.Count(r.Panel.Hosts, "host") + " in all runs"
	}
	t := newRunsTable(p, "Hosts that shut out "+c.Agent, c.Stratum, of)
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
		t.add(row, s.WhyNot, "not comparable")
	}
	t.print([]string{"run", "date", "shut out", "with rules", "share", "interval", "since first", "interval"})
}

// showListed prints how much of what they list hosts let one agent fetch.
func showListed(p *cli.Text, l *series.Listed) {
	percent := func(n *int64) string {
		if n == nil {
			return ""
		}
		return words.Number(*n) + "%"
	}
	t := newRunsTable(p, "What hosts list that "+l.Agent+" may fetch", l.Stratum, "")
	for _, s := range l.Runs {
		row := []string{p.Foreign(s.Run), cli.Date(s.Date), words.Number(s.Hosts), words.Number(s.Closed), percent(s.Lower),
			percent(s.Median), percent(s.Upper), "", ""}
		if s.Low != nil {
			row[7] = percent(s.Low) + " to " + percent(s.High)
		}
		t.addHosts(row, s.Hosts, s.WhyNot)
	}
	t.print([]string{"run", "date", "list pages", "close sitemaps", "lower quartile", "median", "upper quartile",
		"interval", ""}, "close sitemaps: hosts whose sitemaps are closed to this census and so missing, whatever they list",
		"the interval is that of the median, for hosts drawn at random; the share of a host is that "+
			"of a sample of its pages, which moves a median of 500 hosts by up to 4 points more (simulated)")
}

// showMet prints how often hosts turn one identity away from a page.
func showMet(p *cli.Text, m *series.Met) {
	t := newRunsTable(p, "Hosts that turn "+m.Identity+" away from the page, where robots.txt "+
		words.PaperSays.Of(m.Paper)+" to "+m.Agent, m.Stratum, "")
	for _, s := range m.Runs {
		row := []string{p.Foreign(s.Run), cli.Date(s.Date), words.Number(s.TurnedAway), words.Number(s.Hosts), "",
			words.Number(s.ControlAway), "", "", ""}
		if s.Beyond != nil {
			row[4] = words.Percent(s.TurnedAway, s.Hosts)
			row[6], row[7] = points(*s.Beyond), points(*s.Low)+" to "+points(*s.High)
		}
		t.addHosts(row, s.Hosts, s.WhyNot)
	}
	t.print([]string{"run", "date", "turned away", "hosts", "share", "control", "beyond it", "interval", ""},
		"of hosts that served the page to our own user agent; control: those of them that turned it away when it asked again")
}

// A runsTable has a row for each run.
type runsTable struct {
	*cli.Text
	rows [][]string
	why  *string // why one run cannot be compared, the last of them
}

// newRunsTable prints the title of a table; of says of which hosts it is, beside their stratum.
func newRunsTable(p *cli.Text, title, stratum, of string) *runsTable {
	if stratum != series.All {
		title += ", of the stratum " + stratum
	}
	p.Line(p.Foreign(title + of))
	return &runsTable{Text: p}
}

// add adds the row of a run; if it cannot be compared, the last cell says so.
func (t *runsTable) add(row []string, whyNot *string, says string) {
	if whyNot != nil {
		t.why, row[len(row)-1] = whyNot, says
	}
	t.rows = append(t.rows, row)
}

// addHosts adds the row of a run that is compared with the one above, as far as it has hosts.
func (t *runsTable) addHosts(row []string, hosts int64, whyNot *string) {
	if hosts == 0 {
		whyNot = nil
	}
	t.add(row, whyNot, "not comparable with the run above")
}

func (t *runsTable) print(head []string, remarks ...string) {
	t.Rows(head, 2, t.rows)
	for _, text := range remarks {
		t.Line(text)
	}
	if t.why != nil {
		t.Line("not comparable: " + t.Foreign(*t.why))
	}
}

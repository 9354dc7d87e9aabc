package series

import (
	"fmt"
	"io"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/visible"
)

// mostMovers is how many movers the terminal shows. --json has all.
const mostMovers = 30

// movers returns what moved most of what the series shows: the hosts that all runs have,
// if they are counted apart, and the stratum of the overview.
func movers(r *series.Result) series.Movers {
	population := series.All
	if r.Panel != nil {
		population = "panel"
	}
	return r.Movers(population, overviewStratum(r.Points))
}

// showMovers prints the agents, categories and signals that moved most.
func showMovers(out io.Writer, r *series.Result) {
	p, m := &cli.Text{Out: out}, movers(r)
	title := "What moved most, as shares of hosts whose rules decide (signals: that have a file)"
	if m.Method == series.Paired {
		title = "What moved most, as shares of hosts whose rules decide in both runs"
	}
	switch m.Stratum {
	case series.All:
	case series.Weighted:
		title += ", strata weighted by --weights"
	default:
		title += " of the stratum " + p.Foreign(m.Stratum)
	}
	if r.Panel != nil && m.Stratum == series.All {
		title += ", of " + words.Count(r.Panel.Hosts, "host") + " in all runs"
	}
	var rows [][]string
	for i := range m.Movers[:min(len(m.Movers), mostMovers)] {
		of := &m.Movers[i]
		rows = append(rows, []string{
			visible.Text(moverName(of)), cli.Date(of.From.Date), cli.Date(of.To.Date), words.Share(of.From.Share),
			words.Share(of.To.Share), points(of.Difference), points(of.Low) + " to " + points(of.High),
		})
	}
	p.Line(title)
	if len(rows) > 0 {
		p.Rows([]string{"figure", "from", "to", "then", "now", "points", "interval"}, 3, rows)
	}
	if more := len(m.Movers) - len(rows); more > 0 {
		p.Line(fmt.Sprintf("and %s more, all in --json", words.Number(int64(more))))
	}
	p.Line(fmt.Sprintf("%d of %s moved by more than chance: the intervals, of percentage points, hold for all figures "+
		"together in 95%% of samples", len(m.Movers), words.Count(int64(m.Compared), "comparable figure")))
	p.Line(howCompared(m.Method, int64(m.Compared), "figures", r.Panel != nil))
	if m.Broken > 0 {
		p.Line(words.Count(int64(m.Broken), "figure") +
			" of the last run cannot be compared with the run before; the column why_not of --csv says why")
	}
	for _, text := range r.Warnings {
		p.Line(p.Foreign(text))
	}
}

// howCompared says how runs were compared, and how that allows for many figures.
func howCompared(method string, n int64, what string, isPanel bool) string {
	text := "paired: of the hosts that all runs have those whose rules decide in both, host by host (McNemar's exact " +
		"test; of few hosts it takes for chance what the interval does not)"
	switch {
	case method == series.Paired:
	case isPanel:
		text = "unpaired: as samples that differ, which claims less than pairs; weights and --clustered have no pairs"
	default:
		text = "unpaired: as samples that differ; --panel compares the hosts that all runs have host by host, which " +
			"tells more"
	}
	if n > 1 {
		text += fmt.Sprintf("; adjusted for %s %s (Bonferroni)", words.Number(n), what)
	}
	return text
}

// points returns a difference of shares in percentage points.
func points(share float64) string { return fmt.Sprintf("%+.1f", 100*share) }

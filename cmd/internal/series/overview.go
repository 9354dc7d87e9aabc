package series

import (
	"cmp"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// showSeries prints an overview: one figure of each run, for each stratum that was asked for,
// what happened, and warnings.
func showSeries(out io.Writer, r *series.Result, strata []string) {
	p := &cli.Text{Out: out}
	if len(strata) == 0 {
		strata = []string{overviewStratum(r.Points)}
	}
	for i, stratum := range strata {
		if i > 0 {
			p.Line("")
		}
		showStratum(p, r, stratum)
	}
	if r.Panel != nil {
		p.Line("in all runs: " + words.Count(r.Panel.Hosts, "host"))
	}
	for _, text := range markLines(r.Marks) {
		p.Line(p.Foreign(text))
	}
	for _, text := range r.Warnings {
		p.Line(p.Foreign(text))
	}
	p.Line("--html draws all figures; --parquet, --csv and --json write them")
}

// showStratum prints the figure of each run for a stratum.
func showStratum(p *cli.Text, r *series.Result, stratum string) {
	shares := make(map[string]map[string]*schema.Point) // by run and base
	for i := range r.Points {
		if pt := &r.Points[i]; pt.Stratum == stratum && isOverview(pt) && *pt.Profile == r.Profiles[0] {
			if shares[pt.Run] == nil {
				shares[pt.Run] = make(map[string]*schema.Point)
			}
			shares[pt.Run][pt.Base] = pt
		}
	}
	title := "Hosts that shut out an agent for AI training"
	switch stratum {
	case series.All:
	case series.Weighted:
		title += ", strata weighted by --weights"
	default:
		title += ", of the stratum " + p.Foreign(stratum)
	}
	var rows [][]string
	for _, run := range r.Runs {
		row := []string{run.Run, cli.Date(run.Date), "", "", "", "", ""}
		if stratum == series.All { // a run may lack the category
			row[2] = words.Number(run.Hosts)
			if run.Files != nil {
				row[3] = words.Number(*run.Files)
			}
		}
		for k, base := range []string{"hosts", "files"} {
			pt := shares[run.Run][base]
			if pt == nil {
				continue
			}
			row[2+k] = words.Number(pt.Denominator)
			if pt.Share != nil {
				row[4+k] = shareOf(pt)
			}
			if pt.Comparable != nil {
				row[6] = map[bool]string{true: "yes", false: "no"}[*pt.Comparable]
			}
		}
		rows = append(rows, row)
	}
	p.Line(title)
	p.Rows([]string{"run", "date", "hosts", "with rules", "of hosts", "of the latter", "comparable"}, 2, rows)
}

// isOverview reports whether a point is of the figure that the overview shows.
func isOverview(pt *schema.Point) bool {
	return pt.Metric == "category" && *pt.Key == "any" && *pt.Category == "ai-training" && pt.Population == series.All
}

// overviewStratum returns the stratum that the overview shows: all hosts, with weights
// if there are some, or else the highest band of rank.
func overviewStratum(points []schema.Point) string {
	stratum := ""
	for i := range points {
		pt := &points[i]
		switch {
		case !isOverview(pt):
		case pt.Stratum == series.Weighted:
			return series.Weighted
		case stratum == "": // that of all hosts comes first
			stratum = pt.Stratum
		}
	}
	return cmp.Or(stratum, series.All)
}

// mostAgents is the number of agents that marks of a run name one by one.
const mostAgents = 3

// markLines returns what happened, a line each. Of many agents to which the same
// happened in a run, a line names the first ones.
func markLines(marks []series.Mark) (lines []string) {
	type kind struct{ run, kind string }
	of := make(map[kind][]string)
	for _, m := range marks {
		of[kind{m.Run, m.Kind}] = append(of[kind{m.Run, m.Kind}], m.Of)
	}
	what := map[string]string{
		"agent_new": "%s enter the registry", "agent_gone": "%s leave the registry",
		"agent_changed": "the entries of %s changed",
	}
	for _, m := range marks {
		agents := of[kind{m.Run, m.Kind}]
		switch {
		case what[m.Kind] == "" || len(agents) <= mostAgents:
			lines = append(lines, m.Run+": "+m.Text)
		case m.Of == agents[0]:
			named := fmt.Sprintf("%s (%s)", words.Count(int64(len(agents)), "agent"), past.Some(agents, mostAgents))
			lines = append(lines, m.Run+": "+fmt.Sprintf(what[m.Kind], named))
		}
	}
	return lines
}

package series

import (
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// differences shows what moved by more than chance, with intervals.
func (d *seriesData) differences() *draw.Figure {
	if len(d.Runs) < 2 {
		return nil
	}
	population, of := series.All, "the hosts whose rules decide (of signals: that have a file)"
	if d.Panel != nil {
		population, of = "panel", of+", of "+words.Hosts(d.Panel.Hosts)+" that all runs have"
	}
	m := d.Movers(population, series.All)
	if m.Method == series.Paired {
		of = "the hosts whose rules decide in both, of " + words.Hosts(d.Panel.Hosts) + " that all runs have,"
	}
	if len(m.Movers) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "differences", Title: fmt.Sprintf("%s of %s moved by more than chance, %s most",
			words.Number(int64(len(m.Movers))), words.Count(int64(m.Compared), "figure"), moverName(&m.Movers[0])),
		Of:   "Differences of shares of " + of + " between the first and the last of comparable runs.",
		Note: "The intervals hold for all figures together in 95% of samples (Bonferroni).",
		Head: []string{"figure", "from", "to", "then", "of_then", "now", "of_now", "gained", "lost", "difference", "low",
			"high"},
	}
	if m.Method == series.Paired {
		f.Note += " The same hosts are compared, host by host: a figure is here where McNemar's exact test says that " +
			"hosts did not change one way and the other by chance."
	} else {
		f.Note += " The runs count as samples that differ, which claims less than the same hosts would; --panel compares " +
			"those, host by host."
	}
	var all []draw.Spread
	for i := range m.Movers {
		x := &m.Movers[i]
		s := draw.Spread{Name: moverName(x), At: x.Difference, Low: x.Low, High: x.High, Class: "closed",
			Value: fmt.Sprintf("%+.1f, %+.1f to %+.1f", 100*x.Difference, 100*x.Low, 100*x.High)}
		if x.Difference < 0 {
			s.Class = "allow"
		}
		all = append(all, s)
		gained, lost := "", ""
		if x.Pairs != nil {
			gained, lost = fmt.Sprint(x.Gained), fmt.Sprint(x.Lost)
		}
		f.AddRow([]string{moverName(x), x.From.Run, x.To.Run, fmt.Sprint(x.From.Count), fmt.Sprint(x.From.Denominator),
			fmt.Sprint(x.To.Count), fmt.Sprint(x.To.Denominator), gained, lost,
			fmt.Sprintf("%.6f", x.Difference), fmt.Sprintf("%.6f", x.Low), fmt.Sprintf("%.6f", x.High)})
	}
	f.Forest(all, true)
	return f
}

// moverName names a figure: an agent or category that is shut out, or a signal.
func moverName(m *series.Mover) string {
	switch m.Metric {
	case "policy":
		return *m.Agent + " shut out"
	case "category":
		return "any of " + words.Category.Of(*m.Category) + " shut out"
	}
	return schema.OrZero(m.Key)
}

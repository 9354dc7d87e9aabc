package recap

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/summary"
)

// pageColumns are what a page does, each left out where no identity met it.
var pageColumns = []struct {
	treatment consent.Treatment
	head      string
}{
	{consent.PageServed, "served"}, {consent.PageServedOther, "other page"}, {consent.PageRefused, "refused"},
	{consent.PageChallenged, "wall"}, {consent.PagePayment, "to pay"}, {consent.PageRateLimited, "to slow down"},
	{consent.PageRedirectedAway, "elsewhere"}, {consent.PageServerError, "error"}, {consent.PageNoAnswer, "no answer"},
}

// metOf returns what identities met on pages, by the counters of the metric page_met: the control,
// then each identity where robots.txt lets its agent in or it was not asked, and where it was
// asked all the same (--pages=all).
func metOf(counts map[string]int64) []*summary.Practice {
	merged := make(map[string]int64)
	for key, n := range counts {
		identity, rest, _ := strings.Cut(key, " ")
		paper, treatment, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(identity, summary.Control) || summary.LetsIn(paper) ||
			strings.HasPrefix(treatment, string(consent.PageNotAsked)) {
			paper = summary.PaperOpen
		} else {
			paper = summary.PaperShutOut
		}
		merged[identity+" "+paper+" "+treatment] += n
	}
	return summary.PracticeOf(merged)
}

// showPages prints what pages did under each identity, where they were asked for.
func showPages(p *cli.Text, f *figures) {
	all := metOf(f.met)
	if len(all) == 0 {
		return
	}
	total := make(map[consent.Treatment]int64)
	for _, m := range all {
		for treatment, n := range m.By {
			total[consent.Treatment(treatment)] += n
		}
	}
	head := []string{"identity", "not asked", "asked", "compared"}
	for _, c := range pageColumns {
		if total[c.treatment] > 0 {
			head = append(head, c.head)
		}
	}
	var rows [][]string
	for _, m := range all {
		asked := -m.By[string(consent.PageNotAsked)]
		for _, n := range m.By {
			asked += n
		}
		row := []string{p.Foreign(m.Identity), words.Number(m.By[string(consent.PageNotAsked)]), words.Number(asked), ""}
		for _, c := range pageColumns {
			if total[c.treatment] > 0 {
				row = append(row, words.Number(m.By[string(c.treatment)]))
			}
		}
		switch hosts := m.Compared(); {
		case m.Control:
			row[0] += " (control: as we)"
			row = append(row, "", "")
		case hosts == 0:
			row[3] = "0"
			row = append(row, "", "")
		default:
			row[3] = words.Number(hosts)
			row = append(row, words.Percent(m.TurnedAway(), hosts), words.Percent(m.Once+m.Both, hosts))
		}
		if m.Paper == summary.PaperShutOut {
			row[0] += ", not let in on paper"
		}
		rows = append(rows, row)
	}
	p.Table("What the page did under each identity, in "+f.noun+"s", append(head, "turned away", "control"), 1, rows)
	p.Line("compared: served the page to the control; refused: 403, 404 or any other status 4xx;\n" +
		"turned away: of those compared, all but served and other page; control: the same when the control asked again")
}

// showFront prints how many front pages were read, and what their headers state about use.
func showFront(p *cli.Text, f *figures) {
	asked := int64(0)
	for _, n := range f.front {
		asked += n
	}
	if asked == 0 {
		return
	}
	p.Line(fmt.Sprintf("\nThe front page was read of %s of %s.", words.Number(f.front[string(usage.PageRead)]),
		words.Count(asked, f.noun)))
	if n := f.refused["any"]; n > 0 {
		p.Line(fmt.Sprintf("The header of %s refuses AI training, which the robots.txt of %s of these does not.",
			words.Number(n), words.Number(f.refused["alone"])))
	}
	var stated []string
	for _, key := range counters.Ranked(f.stated) {
		stated = append(stated, p.Foreign(counters.PageStatement(key))+" by "+words.Count(f.stated[key], f.noun))
	}
	switch {
	case len(stated) > 0:
		p.Line("Their headers state:")
		p.List(stated)
	case f.front[string(usage.PageRead)] > 0:
		p.Line("No header of them states anything about use.")
	}
}

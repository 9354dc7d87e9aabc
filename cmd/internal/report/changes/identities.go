package changes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/views"
)

// changeIdentities shows how hosts answer identities now, and did not before.
func (c *Changes) changeIdentities() *draw.Figure {
	return c.identityFigure(&draw.Figure{
		ID: "change-identities",
		Note: "Answers to the requests for robots.txt, of hosts that answered us in both runs. Turned away: refused, or " +
			"met with a wall. Otherwise: what it is served compares otherwise with the host's own answer than before, or it " +
			"is turned away in another way. " +
			"What looks like an outage is undecided. Where a run has a control, hosts do not count that answered our own " +
			"second request otherwise than the first.",
	}, "answer_changes", c.closing.Identities, " from robots.txt")
}

// changePages shows what identities meet on pages now, and did not before.
func (c *Changes) changePages() *draw.Figure {
	return c.identityFigure(&draw.Figure{
		ID: "change-pages",
		Note: "What identities met on the page of --pages, of hosts that both runs read. Turned away: refused, met with a " +
			"wall, to pay or to slow down, or redirected to another site. Otherwise: another page, or turned away in another " +
			"way. What looks like an outage is undecided. Where a run has a control, hosts do not count that did not serve it " +
			"the page each time.",
	}, "page_changes", c.closing.Pages, " from the page")
}

// identityFigure completes a figure of how hosts treat identities now, and did not before. of are
// the hosts by identity, which a view has too; where says what of.
func (c *Changes) identityFigure(f *draw.Figure, view string, of map[string]*change.IdentityCounts,
	where string) *draw.Figure {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		x, y := of[a], of[b]
		return cmp.Or(cmp.Compare(y.TurnedAway, x.TurnedAway), cmp.Compare(y.LetIn, x.LetIn),
			cmp.Compare(y.Otherwise, x.Otherwise), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return nil
	}
	f.Of, f.Names = fmt.Sprintf("Numbers of hosts; the run has %s.", c.all), clipped
	f.Head = []string{"identity", "turned_away", "let_in", "otherwise", "undecided"}
	f.Legend = []draw.Legend{{Class: "closed", Name: "turned away"}, {Class: "allow", Name: "let in again"},
		{Class: "partly", Name: "answered otherwise"}, {Class: "unknown", Name: "undecided"}}
	for _, name := range names {
		n := of[name]
		f.AddRow([]string{name}, n.TurnedAway, n.LetIn, n.Otherwise, n.Undecided)
		addHosts(f, clipped(name), draw.Share{Class: "closed", Name: "turned away", N: n.TurnedAway},
			draw.Share{Class: "allow", Name: "let in", N: n.LetIn},
			draw.Share{Class: "partly", Name: "otherwise", N: n.Otherwise}, draw.Share{Class: "unknown", Name: "undecided",
				N: n.Undecided})
	}
	f.FitHosts()
	f.Title = identitiesTitle(clipped(names[0]), where, of[names[0]].TurnedAway, of[names[0]].LetIn)
	f.SQL = fmt.Sprintf(`SELECT identity, count(*) FILTER (turned_away) AS turned_away, count(*) FILTER (let_in) AS let_in,
  count(*) FILTER (otherwise) AS otherwise, count(*) FILTER (undecided) AS undecided
FROM history.%s WHERE run = %s AND against = %s
GROUP BY identity ORDER BY turned_away DESC, let_in DESC, otherwise DESC, identity`, view, views.Quote(c.run),
		views.Quote(c.against))
	return f
}

// identitiesTitle says how many hosts newly turn an identity away, and let it in again, and from
// what.
func identitiesTitle(name, where string, away, in int64) string {
	turn := func(n int64) string { return words.Agree(n, "turns", "turn") }
	name += where
	switch {
	case away > 0 && in > 0:
		return fmt.Sprintf("%s newly %s away %s, and %s no longer %s", words.Hosts(away), turn(away), name,
			words.Number(in), words.Agree(in, "does", "do"))
	case away > 0:
		return fmt.Sprintf("%s newly %s away %s", words.Hosts(away), turn(away), name)
	case in > 0:
		return fmt.Sprintf("%s no longer %s away %s, and none newly turns away an identity", words.Hosts(in), turn(in), name)
	}
	return "No host newly turns an identity away" + where + " for certain, and none lets one in again"
}

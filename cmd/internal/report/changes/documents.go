package changes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/views"
)

// changeDocuments shows which documents of consent hosts have now, and did not before.
func (c *Changes) changeDocuments() *draw.Figure {
	of := c.closing.Documents
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].Came, of[a].Came), cmp.Compare(of[b].Gone, of[a].Gone), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "change-documents", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all),
		Head: []string{"document", "came", "gone", "reworded", "otherwise"}, Names: clipped,
		Note: "Of hosts that both runs asked for the document, and got an answer. A page that stands for everything is no " +
			"document. Otherwise: it is not there, for another reason than before.",
		Legend: []draw.Legend{{Class: "allow", Name: "came"}, {Class: "closed", Name: "gone"},
			{Class: "star", Name: "with another text"}, {Class: "unknown", Name: "otherwise not there"}},
	}
	for _, name := range names {
		n := of[name]
		f.AddRow([]string{name}, n.Came, n.Gone, n.Reworded, n.Otherwise)
		addHosts(f, clipped(name), draw.Share{Class: "allow", Name: "came", N: n.Came},
			draw.Share{Class: "closed", Name: "gone", N: n.Gone},
			draw.Share{Class: "star", Name: "with another text", N: n.Reworded},
			draw.Share{Class: "unknown", Name: "otherwise not there", N: n.Otherwise})
	}
	f.FitHosts()
	f.Title = "No document of consent came to a host or went"
	if top := of[names[0]]; top.Came+top.Gone > 0 {
		f.Title = fmt.Sprintf("%s: %s newly %s it, and %s no longer %s", clipped(names[0]), words.Hosts(top.Came),
			words.Agree(top.Came, "has", "have"), words.Number(top.Gone), words.Agree(top.Gone, "does", "do"))
	}
	f.SQL = fmt.Sprintf(`SELECT document, count(*) FILTER (came) AS came, count(*) FILTER (gone) AS gone,
  count(*) FILTER (reworded) AS reworded, count(*) FILTER (otherwise) AS otherwise
FROM history.document_changes WHERE run = %s AND against = %s
GROUP BY document ORDER BY came DESC, gone DESC, document`, views.Quote(c.run), views.Quote(c.against))
	return f
}

// changeStatements shows what documents of consent state about uses now, and did not before.
func (c *Changes) changeStatements() *draw.Figure {
	of := c.closing.Stated
	all := slices.SortedFunc(maps.Keys(of), func(a, b change.OfDocument) int {
		return cmp.Or(cmp.Compare(of[b].Refuses, of[a].Refuses), strings.Compare(a.Document, b.Document),
			strings.Compare(a.Use, b.Use))
	})
	if len(all) == 0 {
		return nil
	}
	name := func(d change.OfDocument) string { return clipped(d.Document) + ", " + words.Use.Of(d.Use) }
	f := &draw.Figure{
		ID: "change-statements", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all),
		Head: []string{"document", "use", "refuses", "permits", "prices", "depends", "ends", "undecided"},
		Names: func(value string) string {
			if use, ok := words.Use[value]; ok {
				return use
			}
			return clipped(value)
		},
		Note: "What documents beside robots.txt state, and the front page by its header and HTML, where " +
			"both runs asked for the document and got an answer. Robots.txt itself has a figure of its own.",
		Legend: []draw.Legend{{Class: "closed", Name: "refused"}, {Class: "allow", Name: "permitted"},
			{Class: "away", Name: "for money"}, {Class: "partly", Name: "depends on the path, or on who asks"},
			{Class: "unknown", Name: "nothing stated any more"}},
	}
	for _, d := range all {
		n := of[d]
		f.AddRow([]string{d.Document, d.Use}, n.Refuses, n.Permits, n.Prices, n.Depends, n.Withdraws, n.Undecided)
		addHosts(f, name(d), draw.Share{Class: "closed", Name: "refused", N: n.Refuses},
			draw.Share{Class: "allow", Name: "permitted", N: n.Permits},
			draw.Share{Class: "away", Name: "for money", N: n.Prices},
			draw.Share{Class: "partly", Name: "depends", N: n.Depends + n.Undecided},
			draw.Share{Class: "unknown", Name: "no more", N: n.Withdraws})
	}
	f.FitHosts()
	top := of[all[0]]
	f.Title = fmt.Sprintf("%s: %s newly %s it, %s %s it, and %s no longer %s anything", name(all[0]),
		words.Hosts(top.Refuses), words.Agree(top.Refuses, "refuses", "refuse"), words.Number(top.Permits),
		words.Agree(top.Permits, "permits", "permit"), words.Number(top.Withdraws),
		words.Agree(top.Withdraws, "states", "state"))
	f.SQL = fmt.Sprintf(`SELECT document, use, count(*) FILTER (refuses) AS refuses, count(*) FILTER (permits) AS permits,
  count(*) FILTER (prices) AS prices, count(*) FILTER (depends) AS depends, count(*) FILTER (ends) AS ends,
  count(*) FILTER (undecided) AS undecided
FROM history.statement_changes WHERE run = %s AND against = %s
GROUP BY document, use ORDER BY refuses DESC, document, use`, views.Quote(c.run), views.Quote(c.against))
	return f
}

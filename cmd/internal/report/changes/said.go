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

// Figures of what hosts newly do, by a view of changes: how they answer identities, which
// documents of consent they have, and what these and their files state.

// A way is what a host may newly do: a column of a view.
type way struct {
	column, class string
	legend, bar   string // "" for what has no bar, and is drawn with that of its class
}

// waysOf counts the hosts that took each way: for one identity, document or use of a view.
type waysOf struct {
	name   string   // beside the bars
	keys   []string // in the columns of the view
	counts []int64
}

// draw completes a figure of ways: a bar for each that some hosts took. keys are the columns of
// the view that say of what it tells.
func (c *Changes) draw(f *draw.Figure, keys []string, ways []way, of []waysOf) {
	f.Of = fmt.Sprintf("Numbers of hosts; the run has %s.", c.all)
	f.Head = slices.Clone(keys)
	for _, w := range ways {
		if f.Head = append(f.Head, w.column); w.legend != "" {
			f.Legend = append(f.Legend, draw.Legend{Class: w.class, Name: w.legend})
		}
	}
	for _, x := range of {
		f.AddRow(x.keys, x.counts...)
		for i, w := range ways {
			n := x.counts[i]
			for k, other := range ways {
				if other.bar == "" && other.class == w.class {
					n += x.counts[k]
				}
			}
			if n > 0 && w.bar != "" {
				f.AddBar(x.name, w.bar, draw.Part(w.class, w.bar, n, 0, words.Hosts(n)))
			}
		}
	}
	f.FitHosts()
}

// query returns the SQL of a figure of ways: two of them on the first line, and three on each
// other one. and is a further condition, and order what comes before the keys.
func (c *Changes) query(view string, keys []string, ways []way, and, order string) string {
	by := strings.Join(keys, ", ")
	sql := "SELECT " + by
	for i, w := range ways {
		if sql += ", "; i >= 2 && (i-2)%3 == 0 {
			sql = strings.TrimSpace(sql) + "\n  "
		}
		sql += fmt.Sprintf("count(*) FILTER (%s) AS %s", strings.TrimPrefix(w.column, "by_"), w.column)
	}
	return fmt.Sprintf("%s\nFROM history.%s WHERE run = %s AND against = %s%s\nGROUP BY %s ORDER BY %s%[6]s", sql, view,
		views.Quote(c.run), views.Quote(c.against), and, by, order)
}

var turns = []way{{"turned_away", "closed", "turned away", "turned away"},
	{"let_in", "allow", "let in again", "let in"}, {"otherwise", "partly", "answered otherwise", "otherwise"},
	{"undecided", "unknown", "undecided", "undecided"}}

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
	var all []waysOf
	for _, name := range names {
		n := of[name]
		all = append(all, waysOf{clipped(name), []string{name}, []int64{n.TurnedAway, n.LetIn, n.Otherwise, n.Undecided}})
	}
	keys := []string{"identity"}
	f.Names = clipped
	c.draw(f, keys, turns, all)
	f.Title = identitiesTitle(clipped(names[0]), where, of[names[0]].TurnedAway, of[names[0]].LetIn)
	f.SQL = c.query(view, keys, turns, "", "turned_away DESC, let_in DESC, otherwise DESC, ")
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

var comings = []way{{"came", "allow", "came", "came"}, {"gone", "closed", "gone", "gone"},
	{"reworded", "star", "with another text", "with another text"},
	{"otherwise", "unknown", "otherwise not there", "otherwise not there"}}

// changeDocuments shows which documents of consent hosts have now, and did not before.
func (c *Changes) changeDocuments() *draw.Figure {
	of := c.closing.Documents
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].Came, of[a].Came), cmp.Compare(of[b].Gone, of[a].Gone), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return nil
	}
	var all []waysOf
	for _, name := range names {
		n := of[name]
		all = append(all, waysOf{clipped(name), []string{name}, []int64{n.Came, n.Gone, n.Reworded, n.Otherwise}})
	}
	f := &draw.Figure{
		ID: "change-documents", Names: clipped, Title: "No document of consent came to a host or went",
		Note: "Of hosts that both runs asked for the document, and got an answer. A page that stands for everything is no " +
			"document. Otherwise: it is not there, for another reason than before.",
	}
	keys := []string{"document"}
	c.draw(f, keys, comings, all)
	if top := of[names[0]]; top.Came+top.Gone > 0 {
		f.Title = fmt.Sprintf("%s: %s newly %s it, and %s no longer %s", clipped(names[0]), words.Hosts(top.Came),
			words.Agree(top.Came, "has", "have"), words.Number(top.Gone), words.Agree(top.Gone, "does", "do"))
	}
	f.SQL = c.query("document_changes", keys, comings, "", "came DESC, gone DESC, ")
	return f
}

var statements = []way{{"refuses", "closed", "refused", "refused"}, {"permits", "allow", "permitted", "permitted"},
	{"prices", "away", "for money", "for money"}, {"depends", "partly", "depends on the path, or on who asks", "depends"},
	{"ends", "unknown", "nothing stated any more", "no more"}, {column: "undecided", class: "partly"}}

// changeStatements shows what documents of consent state about uses now, and did not before.
func (c *Changes) changeStatements() *draw.Figure {
	of := c.closing.Stated
	docs := slices.SortedFunc(maps.Keys(of), func(a, b change.OfDocument) int {
		return cmp.Or(cmp.Compare(of[b].Refuses, of[a].Refuses), strings.Compare(a.Document, b.Document),
			strings.Compare(a.Use, b.Use))
	})
	if len(docs) == 0 {
		return nil
	}
	name := func(d change.OfDocument) string { return clipped(d.Document) + ", " + words.Use.Of(d.Use) }
	var all []waysOf
	for _, d := range docs {
		n := of[d]
		all = append(all, waysOf{name(d), []string{d.Document, d.Use},
			[]int64{n.Refuses, n.Permits, n.Prices, n.Depends, n.Withdraws, n.Undecided}})
	}
	f := &draw.Figure{
		ID: "change-statements",
		Names: func(value string) string {
			if use, ok := words.Use[value]; ok {
				return use
			}
			return clipped(value)
		},
		Note: "What documents beside robots.txt state, and the front page by its header and HTML, where " +
			"both runs asked for the document and got an answer. Robots.txt itself has a figure of its own.",
	}
	keys := []string{"document", "use"}
	c.draw(f, keys, statements, all)
	top := of[docs[0]]
	f.Title = fmt.Sprintf("%s: %s newly %s it, %s %s it, and %s no longer %s anything", name(docs[0]),
		words.Hosts(top.Refuses), words.Agree(top.Refuses, "refuses", "refuse"), words.Number(top.Permits),
		words.Agree(top.Permits, "permits", "permit"), words.Number(top.Withdraws),
		words.Agree(top.Withdraws, "states", "state"))
	f.SQL = c.query("statement_changes", keys, statements, "", "refuses DESC, ")
	return f
}

var uses = []way{{"refuses", "closed", "refused", "refused"}, {"permits", "allow", "permitted", "permitted"},
	{"depends", "partly", "depends on the path", "by path"},
	{"ends", "unknown", "nothing stated any more to some agent", "no more"}, {column: "by_template"}}

// changeUses shows what files state about each use and did not state before.
func (c *Changes) changeUses() *draw.Figure {
	of := c.closing.Uses
	names := slices.SortedFunc(maps.Keys(of), func(a, b change.OfUse) int { return strings.Compare(a.Use, b.Use) })
	if len(names) == 0 {
		return nil
	}
	top := names[0]
	var all []waysOf
	for _, u := range names {
		n := of[u]
		if n.Refuses > of[top].Refuses {
			top = u
		}
		all = append(all, waysOf{words.Use.Of(u.Use), []string{u.Use},
			[]int64{n.Refuses, n.Permits, n.Depends, n.Withdraws, n.Template}})
	}
	f := &draw.Figure{
		ID: "change-uses", Names: words.Use.Of,
		Note: "What a file states to some agent, by any mechanism, and did not state before. A host may state " +
			"different things to different agents. By template: to all of them in a template's words.",
	}
	keys := []string{"use"}
	c.draw(f, keys, uses, all)
	n := of[top]
	f.Title = fmt.Sprintf("%s newly %s %s to some agent, %s %s it, and %s no longer %s anything about it to some agent",
		words.Hosts(n.Refuses), words.Agree(n.Refuses, "refuses", "refuse"), words.Use.Of(top.Use),
		words.Number(n.Permits), words.Agree(n.Permits, "permits", "permit"), words.Number(n.Withdraws),
		words.Agree(n.Withdraws, "states", "state"))
	f.SQL = c.query("preference_changes", keys, uses, " AND profile = "+views.Quote(c.profile), "")
	return f
}

package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/views"
)

func (c *Changes) from() string {
	return fmt.Sprintf("FROM history.changes WHERE run = %s AND against = %s AND coalesce(profile, %[3]s) = %[3]s",
		views.Quote(c.run), views.Quote(c.against), views.Quote(c.profile))
}

// Figures returns the figures of the changes. All says what the run has.
func (c *Changes) Figures(all string) []*draw.Figure {
	c.all = all
	return []*draw.Figure{
		c.changedHosts(), c.changeWays("change-agents", "agent", c.closedAgents(), nil),
		c.changeWays("change-categories", "category", c.closedCategories(), words.Category.Of),
		c.changeWords(), c.changeUses(), c.changeIdentities(), c.changePages(), c.changeDocuments(), c.changeStatements(),
		c.changedTogether(), c.changeKinds(),
	}
}

// changedHosts shows how many hosts changed, by most severe change.
func (c *Changes) changedHosts() *draw.Figure {
	f := &draw.Figure{ID: "changes", Of: fmt.Sprintf("Shares of the %s in both runs.", words.Hosts(c.compared)),
		Names: words.Plain, Head: []string{"severity", "hosts"}}
	if c.earlier > 0 {
		f.Note = strings.TrimSpace(fmt.Sprintf(
			"Compared with a run before the earlier one, which could not read them: %s. ", words.Hosts(c.earlier)) + f.Note)
	}
	if c.unread > 0 {
		f.Note = strings.TrimSpace(fmt.Sprintf(
			"Of the %s in both runs, %s could not be read in one or in both: their policies are not compared. ",
			words.Hosts(c.compared), words.Number(c.unread)) + f.Note)
	}
	if c.rows == 0 {
		switch {
		case c.unread > 0 && c.unread == c.compared:
			f.Title = fmt.Sprintf("Changes since %s are unknown: no host could be read in both runs", c.Since)
		case c.unread > 0 || len(c.Notes) > 0:
			f.Title = fmt.Sprintf("Of what was compared, nothing has changed since %s", c.Since)
		default:
			f.Title = fmt.Sprintf("Nothing has changed since %s", c.Since)
		}
		return f
	}
	f.Title = fmt.Sprintf("%s of %s changed since %s", words.Number(c.changed), words.Hosts(c.compared), c.Since)
	if said := closings(c.closing.Profiles[c.profile].Counts); said != "" {
		f.Title += ": " + said
	}
	if c.new+c.gone > 0 {
		f.Title += fmt.Sprintf("; %s new, %s gone", words.Number(c.new), words.Number(c.gone))
	}
	f.Note = strings.TrimSpace("A host counts once, by its most severe change. Critical: it shuts an agent out. " +
		"Major: it closes a part, lets an agent in again, changes what content may be used for, turns an identity away, " +
		"lets it in or serves it a stricter file, or is no longer reachable. Cosmetic: a different text with the same " +
		"meaning. " + f.Note)
	f.Examples = &draw.Listed{Caption: "Examples", What: "change", HasKey: true}
	left := int64(0)
	for _, s := range severities {
		n := c.bySeverity[s.key]
		if n > 0 {
			f.AddRow([]string{s.key}, n)
			f.AddBar(s.key, "", draw.Part(s.class, "hosts", n, c.compared, words.Hosts(n), words.Percent(n, c.compared)))
		}
		list(f.Examples, s.key, c.examples[s.key], told)
		left += n - int64(len(c.examples[s.key]))
	}
	if left > 0 {
		f.Examples.Rest = fmt.Sprintf("and %s more hosts: robocensus diff --out DIR %s %s --list", words.Number(left),
			c.against, c.run)
	}
	f.Fit("hosts")
	f.SQL = fmt.Sprintf(`SELECT ['critical', 'major', 'minor', 'cosmetic'][worst] AS severity, count(*) AS hosts
FROM (SELECT min(list_position(['critical', 'major', 'minor', 'cosmetic'], severity)) AS worst
    %s
    GROUP BY origin HAVING NOT bool_or(kind IN ('host_new', 'host_gone')))
GROUP BY worst ORDER BY worst`, c.from())
	return f
}

// changeKinds shows the hosts by kind of change.
func (c *Changes) changeKinds() *draw.Figure {
	if len(c.kinds) == 0 {
		return nil
	}
	onHosts := make(map[string]int64)
	for kind, n := range c.kinds {
		onHosts[kind] = n.hosts
	}
	names, most, each := counters.Leading(onHosts, func(kind string) string {
		if means, ok := words.KindMeans[kind]; ok {
			return means + " (" + words.Kind(kind) + ")"
		}
		return words.Kind(kind)
	})
	f := &draw.Figure{
		ID: "change-kinds", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all), Names: words.Kind,
		Title: fmt.Sprintf("What changed on most hosts: %s, on %s%s", names, words.Number(most), each),
		Note: "A host counts once for each kind. The kinds have the names of the column kind of the table changes, " +
			"which has a row for each agent, URL or token concerned; the numbers show both.",
		Head: []string{"kind", "hosts", "rows"},
	}
	for _, kind := range counters.Ranked(onHosts) {
		n := c.kinds[kind]
		f.AddBar(words.Kind(kind), words.KindMeans[kind],
			draw.Part("allow", "hosts", n.hosts, 0, words.Hosts(n.hosts)))
		f.AddRow([]string{kind}, n.hosts, n.rows)
	}
	f.FitHosts()
	f.Shorten()
	f.SQL = "SELECT kind, count(DISTINCT origin) AS hosts, count(*) AS rows\n" + c.from() +
		"\nGROUP BY kind ORDER BY hosts DESC, kind"
	return f
}

// changedTogether shows the ways in which several hosts changed, as hosts do whose
// files come from one template.
func (c *Changes) changedTogether() *draw.Figure {
	ways := c.together.Commonest()
	if len(ways) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "change-together", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all), Names: words.Plain,
		Note: "Two hosts changed in the same way if the table changes has the same rows for both, apart from their " +
			"names, line numbers, sitemaps, redirects and reachability. They often use one template. Each bar is named " +
			"after the best-ranked host, and coloured by its most severe change.",
		Head: []string{"such_as", "hosts"},
	}
	f.Examples = &draw.Listed{Caption: "The most severe change of each set", What: "change"}
	for _, s := range severities {
		if slices.ContainsFunc(ways, func(w diff.Example) bool { return w.Severity == s.key }) {
			f.Legend = append(f.Legend, draw.Legend{Class: s.class, Name: s.key})
		}
	}
	for i, w := range ways {
		x := exampleOf(&w.Change)
		x.More = w.More
		at := slices.IndexFunc(severities, func(s severity) bool { return s.key == w.Severity })
		f.AddBar(x.Host, "", draw.Track{Shares: []draw.Share{{Class: severities[max(at, 0)].class, Name: w.Severity,
			N: w.Hosts}}, Values: []string{words.Hosts(w.Hosts)}})
		f.AddRow([]string{w.Origin}, w.Hosts)
		if i == 0 {
			f.Title = fmt.Sprintf("%s changed in the same way, such as %s: %s", words.Hosts(w.Hosts), x.Host, told(x))
		}
		list(f.Examples, "", []diff.Example{*x}, told)
	}
	f.FitHosts()
	f.SQL = fmt.Sprintf(`WITH ways AS (SELECT origin, any_value(host) AS host, any_value(rank) AS rank,
      min(list_position(['critical', 'major', 'minor', 'cosmetic'], severity)) AS worst,
      list_sort(list([kind, agent, profile, use, identity, document, template,
        replace(url, host, '*'), replace(before, host, '*'), replace(after, host, '*')])) AS way
    %s
      AND kind NOT IN ('%s') AND NOT (kind = 'rules' AND agent IS NULL)
    GROUP BY origin)
SELECT first(origin ORDER BY rank NULLS LAST, host, origin) AS such_as, count(*) AS hosts
FROM ways GROUP BY way HAVING hosts > 1
ORDER BY hosts DESC, min(worst), first(host ORDER BY rank NULLS LAST, host, origin) LIMIT %d`, c.from(),
		strings.Join(change.OwnKinds, "', '"), diff.MaxExamples)
	return f
}

// closings says how many hosts closed and opened to an agent.
func closings(n change.Counts) string {
	var said []string
	for _, x := range []struct {
		n, whole int64
		what, of string
	}{
		{n.Closed, n.ShutOut, "closed a path to an agent", "shut one out entirely"},
		{n.Opened, n.LetIn, "opened one", "let in an agent that was shut out"},
	} {
		if x.n > 0 && x.whole > 0 {
			said = append(said, fmt.Sprintf("%s %s (%s %s)", words.Number(x.n), x.what, words.Number(x.whole), x.of))
		} else if x.n > 0 {
			said = append(said, words.Number(x.n)+" "+x.what)
		}
	}
	return words.And(said)
}

// closedTo is an agent or a category that hosts closed or opened to.
type closedTo struct {
	name string
	change.Counts
}

// closedTos returns the agents or categories that hosts closed or opened to, those that lost
// most first.
func closedTos[K comparable](counts map[K]*change.Counts, name func(K) string) (out []closedTo) {
	for of, n := range counts {
		out = append(out, closedTo{name(of), *n})
	}
	slices.SortFunc(out, func(a, b closedTo) int { return cmp.Or(a.Compare(&b.Counts), cmp.Compare(a.name, b.name)) })
	return out
}

func (c *Changes) closedAgents() []closedTo {
	return closedTos(c.closing.Agents, func(of change.OfAgent) string { return of.Agent })
}

func (c *Changes) closedCategories() []closedTo {
	return closedTos(c.closing.Categories, func(of change.OfCategory) string { return of.Category })
}

// movedAgents is of how many agents, at most, a list names hosts that closed a path or opened
// one.
const movedAgents = draw.MostBars / 2

// moverList lists the best-ranked hosts that closed a path to the first of the agents, and
// those that opened one to the agents that most hosts opened to.
func (c *Changes) moverList(of []closedTo) *draw.Listed {
	out := &draw.Listed{Caption: "Hosts that closed a path, and hosts that opened one, the best ranked first",
		What: "change", HasKey: true}
	left := int64(0)
	add := func(how string, movers map[string][]diff.Example, n func(closedTo) int64) {
		of := slices.DeleteFunc(slices.Clone(of), func(x closedTo) bool { return n(x) == 0 })
		slices.SortStableFunc(of, func(a, b closedTo) int { return cmp.Compare(n(b), n(a)) })
		for _, a := range of[:min(len(of), movedAgents)] {
			list(out, a.name+how, movers[a.name], moved)
			left += n(a) - int64(len(movers[a.name]))
		}
	}
	add("", c.closers, func(x closedTo) int64 { return x.Closed })
	add(", opened", c.openers, func(x closedTo) int64 { return x.Opened })
	if out.Rows == nil {
		return nil
	}
	if left > 0 {
		out.Rest = fmt.Sprintf("and %s more: robocensus diff --out DIR %s %s --list --agent NAME", words.Number(left),
			c.against, c.run)
	}
	return out
}

// changeWays shows to which agents or categories hosts closed or opened.
func (c *Changes) changeWays(id, name string, of []closedTo, named func(string) string) *draw.Figure {
	of = slices.DeleteFunc(of, func(x closedTo) bool { return x.Closed+x.Opened == 0 }) // undecided
	if len(of) == 0 {
		return nil
	}
	opened := false
	var leaders []string
	for _, x := range of {
		opened = opened || x.Opened > 0
		if x.Closed == of[0].Closed && x.ShutOut == of[0].ShutOut {
			leaders = append(leaders, x.name)
		}
	}
	f := &draw.Figure{
		ID: id, Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all), Names: named,
		Head:   []string{name, "closed", "shut_out", "opened", "let_in"},
		Legend: []draw.Legend{{Class: "closed", Name: "shut out entirely"}, {Class: "partly", Name: "closed on some path"}},
		Note: "Closed and opened are by the meaning of the rules on every path. A host may close one " +
			"path and open another.",
	}
	many := map[string]string{"agent": "agents", "category": "categories"}[name]
	to := map[string]string{"agent": "it", "category": "at least one of its agents"}[name]
	out := map[string]string{"agent": "it", "category": "one"}[name]
	if len(leaders) > 1 {
		to = map[string]string{"agent": "each of them", "category": "at least one agent of each"}[name]
	}
	for i, name := range leaders {
		leaders[i] = f.Cell(0, name)
	}
	it := words.Tied(leaders, many)
	switch x := of[0]; {
	case x.Closed == 0:
		f.Title = fmt.Sprintf("No %s lost a path anywhere", name)
	case x.ShutOut == 0:
		f.Title = fmt.Sprintf("%s lost most: %s closed a path to %s, none shut %s out entirely", it, words.Hosts(x.Closed),
			to, out)
	default:
		f.Title = fmt.Sprintf("%s lost most: %s closed a path to %s, and %s shut %s out entirely", it,
			words.Hosts(x.Closed), to, words.Number(x.ShutOut), out)
	}
	if opened {
		f.Legend = append(f.Legend, draw.Legend{Class: "allow", Name: "let in again"},
			draw.Legend{Class: "open", Name: "opened on some path"})
	}
	for _, x := range of {
		f.AddRow([]string{x.name}, x.Closed, x.ShutOut, x.Opened, x.LetIn)
		tracks := []draw.Track{{
			Shares: []draw.Share{{Class: "closed", Name: "shut out entirely", N: x.ShutOut},
				{Class: "partly", Name: "closed on some path", N: x.Closed - x.ShutOut}},
			Values: []string{fmt.Sprintf("%s closed, %s entirely", words.Number(x.Closed), words.Number(x.ShutOut))},
		}}
		if opened {
			tracks[0].Label = "closed"
			tracks = append(tracks, draw.Track{
				Label: "opened", Shares: []draw.Share{{Class: "allow", Name: "let in again", N: x.LetIn},
					{Class: "open", Name: "opened on some path", N: x.Opened - x.LetIn}},
				Values: []string{fmt.Sprintf("%s opened, %s let in", words.Number(x.Opened), words.Number(x.LetIn))},
			})
		}
		f.AddBar(f.Cell(0, x.name), "", tracks...)
	}
	f.FitHosts()
	f.Shorten()
	if name == "agent" {
		f.Examples = c.moverList(of)
	}
	columns := []string{name}
	for _, column := range f.Head[1:] {
		columns = append(columns, fmt.Sprintf("count(DISTINCT origin) FILTER (%s) AS %[1]s", column))
	}
	f.SQL = "SELECT " + strings.Join(columns, ",\n  ") + fmt.Sprintf(
		"\nFROM history.policy_changes p WHERE run = %s AND against = %s AND profile = %s", views.Quote(c.run),
		views.Quote(c.against), views.Quote(c.profile)) +
		"\nGROUP BY " + name + " HAVING bool_or(p.closed OR p.opened) ORDER BY 2 DESC, 3 DESC, 4 DESC, 5 DESC, " + name
	return f
}

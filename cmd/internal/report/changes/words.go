package changes

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/views"
)

// Figures of what changed: whose words the changes are, and what files state about use.

// changeWords tells hosts that closed to an agent because their template did from those
// that decided.
func (c *Changes) changeWords() *draw.Figure {
	type whose struct {
		agent     string
		all, own  int64
		templates map[string]int64
	}
	var of []whose
	for _, a := range c.closedAgents() {
		w := whose{agent: a.name, all: a.Closed, templates: make(map[string]int64)}
		for key, n := range c.closing.Words {
			switch {
			case key.Agent != a.name:
			case key.Template == "":
				w.own += n.Closed
			case n.Closed > 0:
				w.templates[clipped(key.Template)] += n.Closed
			}
		}
		if len(w.templates) > 0 {
			of = append(of, w)
		}
	}
	if len(of) == 0 {
		return nil
	}
	top := of[0]
	for _, w := range of { // of those that as many closed to, the headline's own
		if w.all == top.all && w.agent == "GPTBot" {
			top = w
		}
	}
	said := make([]string, 0, len(top.templates)+1)
	for _, t := range counters.Ranked(top.templates) {
		said = append(said, fmt.Sprintf("%s in the words of %s", words.Number(top.templates[t]), t))
	}
	if top.own > 0 {
		said = append(said, words.Number(top.own)+" in their own")
	}
	f := &draw.Figure{
		ID: "change-words", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all),
		Head:  []string{"agent", "template", "closed"},
		Title: fmt.Sprintf("%s closed to %s: %s", words.Hosts(top.all), top.agent, words.And(said)),
		Note: "A host whose template changed, or that began to use one, has not chosen the names in it. Agents that " +
			"some host closed to in a template's words.",
		Legend: []draw.Legend{{Class: "closed", Name: "in the file's own words"},
			{Class: "star", Name: "in a template's words"}},
	}
	for _, w := range of {
		shares := []draw.Share{{Class: "closed", Name: "in the file's own words", N: w.own}}
		for _, t := range counters.Ranked(w.templates) {
			shares = append(shares, draw.Share{Class: "star", Name: t, N: w.templates[t]})
			f.AddRow([]string{w.agent, t}, w.templates[t])
		}
		if w.own > 0 {
			f.AddRow([]string{w.agent, ""}, w.own)
		}
		f.AddBar(w.agent, "", draw.Track{Shares: shares,
			Values: []string{fmt.Sprintf("%s of %s", words.Number(w.all-w.own), words.Hosts(w.all))}})
	}
	f.FitHosts()
	f.Shorten()
	slices.SortFunc(f.Rows, func(a, b []string) int {
		return cmp.Or(strings.Compare(a[0], b[0]),
			strings.Compare(a[1], b[1]))
	})
	f.SQL = fmt.Sprintf(`SELECT agent, coalesce(template, '') AS template, count(DISTINCT origin) AS closed
FROM history.policy_changes WHERE run = %[1]s AND against = %[2]s AND profile = %[3]s AND closed
  AND agent IN (SELECT agent FROM history.policy_changes
    WHERE run = %[1]s AND against = %[2]s AND profile = %[3]s AND closed AND template IS NOT NULL)
GROUP BY ALL ORDER BY agent, template`, views.Quote(c.run), views.Quote(c.against), views.Quote(c.profile))
	return f
}

// changeUses shows what files state about each use and did not state before.
func (c *Changes) changeUses() *draw.Figure {
	uses := slices.SortedFunc(maps.Keys(c.closing.Uses),
		func(a, b change.OfUse) int { return strings.Compare(a.Use, b.Use) })
	if len(uses) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "change-uses", Of: fmt.Sprintf("Numbers of hosts; the run has %s.", c.all),
		Head: []string{"use", "refuses", "permits", "depends", "ends", "by_template"}, Names: words.Use.Of,
		Note: "What a file states to some agent, by any mechanism, and did not state before. A host may state " +
			"different things to different agents. By template: to all of them in a template's words.",
		Legend: []draw.Legend{{Class: "closed", Name: "refused"}, {Class: "allow", Name: "permitted"},
			{Class: "partly", Name: "depends on the path"}, {Class: "unknown", Name: "nothing stated any more to some agent"}},
	}
	top := uses[0]
	for _, u := range uses {
		n := c.closing.Uses[u]
		if n.Refuses > c.closing.Uses[top].Refuses {
			top = u
		}
		f.AddRow([]string{u.Use}, n.Refuses, n.Permits, n.Depends, n.Withdraws, n.Template)
		addHosts(f, words.Use.Of(u.Use), draw.Share{Class: "closed", Name: "refused", N: n.Refuses},
			draw.Share{Class: "allow", Name: "permitted", N: n.Permits},
			draw.Share{Class: "partly", Name: "by path", N: n.Depends}, draw.Share{Class: "unknown", Name: "no more",
				N: n.Withdraws})
	}
	f.FitHosts()
	n := c.closing.Uses[top]
	f.Title = fmt.Sprintf("%s newly %s %s to some agent, %s %s it, and %s no longer %s anything about it to some agent",
		words.Hosts(n.Refuses), words.Agree(n.Refuses, "refuses", "refuse"), words.Use.Of(top.Use),
		words.Number(n.Permits), words.Agree(n.Permits, "permits", "permit"), words.Number(n.Withdraws),
		words.Agree(n.Withdraws, "states", "state"))
	f.SQL = fmt.Sprintf(`SELECT use, count(*) FILTER (refuses) AS refuses, count(*) FILTER (permits) AS permits,
  count(*) FILTER (depends) AS depends, count(*) FILTER (ends) AS ends, count(*) FILTER (template) AS by_template
FROM history.preference_changes WHERE run = %s AND against = %s AND profile = %s
GROUP BY use ORDER BY use`, views.Quote(c.run), views.Quote(c.against), views.Quote(c.profile))
	return f
}

package changes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/views"
)

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

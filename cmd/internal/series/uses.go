package series

import (
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// ofRefusals follows the ways in which files refuse the training of models.
func (d *seriesData) ofRefusals() *draw.Figure {
	s := subject{
		column: "way", bases: []string{"hosts", "files"},
		named: func(way string) string {
			if way == summary.AnyRefusal {
				return "in any way"
			}
			return words.Refusal.Of(way)
		},
		line: func(way, base string) followed {
			return followed{metric: "refusal", population: series.All, stratum: series.All, profile: d.profile, key: way,
				base: base}
		},
	}
	if s.names = d.values(s, byKeyName); s.names == nil {
		return nil
	}
	return d.follow(&draw.Figure{
		ID: "refusals", Title: d.told(s, summary.AnyRefusal, "refuses AI training in robots.txt",
			"refuse AI training in robots.txt"),
		Legend: d.twoBases(),
		Of: "Shares of hosts. A file may use several ways. A file that uses none and names a licence counts apart: the " +
			"terms of the licence permit or refuse.",
	}, s, d.query(s, "series_refusals", "stratum = 'all' AND profile = "+views.Quote(d.profile)), d.multiples(s)...)
}

// ofWords follows the agents that templates shut out.
func (d *seriesData) ofWords() *draw.Figure {
	name := func(l followed) string { return l.agent + ", " + l.key }
	templated := make(map[string]followed) // by agent and template
	for l := range d.lines {
		if l == (followed{metric: "policy_template", population: series.All, stratum: series.All, agent: l.agent,
			profile: d.profile, key: l.key, base: "hosts"}) {
			templated[name(l)] = l
		}
	}
	s := subject{
		column: "words", bases: []string{"hosts", "files"},
		named: func(name string) string { return templated[name].agent + " (" + templated[name].key + ")" },
		line: func(name, base string) followed {
			l := templated[name]
			l.base = base
			return l
		},
	}
	s.names = d.values(s, name)
	title := d.leading(s, "hosts")
	note := d.apart(&s, "agents", "that templates shut out")
	return d.follow(&draw.Figure{
		ID: "words", Title: "Shut out in a template's words: " + title, Legend: d.twoBases(), Note: note,
		Of: "Shares of hosts in whose file every group that decides about the agent is the template's.",
	}, s, d.query(s, "series_templates", "stratum = 'all' AND profile = "+views.Quote(d.profile)+
		" AND words IN ("+counters.QuoteAll(s.names)+")"), d.multiples(s)...)
}

package series

import (
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/views"
)

// What hosts say and do beside their robots.txt.

// ofDocuments follows the documents of consent that hosts have, each of the hosts that were asked
// for it.
func (d *seriesData) ofDocuments() *draw.Figure {
	const there = " " + string(consent.Present)
	s := subject{
		column: "key", bases: []string{"asked"},
		named: func(key string) string { return strings.TrimSuffix(key, there) },
		line: func(key, base string) followed {
			return followed{metric: "document", population: series.All, stratum: series.All, key: key, base: base}
		},
	}
	for _, key := range d.values(s, byKeyName) {
		if strings.HasSuffix(key, there) && key != "page"+there {
			s.names = append(s.names, key)
		}
	}
	if s.names == nil {
		return nil
	}
	s.names = s.names[:min(len(s.names), mostMultiples)]
	return d.follow(&draw.Figure{
		ID: "documents", Title: d.movers(s, "Documents of consent that hosts have", "asked"),
		Of: "Shares of the hosts that were to be asked for the document.",
		Note: "A page that stands for everything is no document. It is asked for only where robots.txt lets this " +
			"census fetch it.",
	}, s, d.query(s, "series_documents", "stratum = 'all' AND key IN ("+counters.QuoteAll(s.names)+")"), d.multiples(s)...)
}

// ofPages follows the hosts that turn identities away from a page, by what robots.txt says to the
// identity's agent, beside those that turn the control away when it asks again.
func (d *seriesData) ofPages() *draw.Figure {
	const again = " control"
	s := subject{
		column: "key", bases: []string{"compared"}, named: pageName,
		line: func(key, base string) followed {
			return followed{metric: "page_met", population: series.All, stratum: series.All, profile: d.profile,
				key: key, base: base}
		},
	}
	var names []string
	for _, key := range d.values(s, byKeyName) {
		if !strings.HasSuffix(key, again) {
			names = append(names, key)
		}
	}
	if names == nil {
		return nil
	}
	names = names[:min(len(names), mostMultiples)]
	s.names = names
	f := &draw.Figure{
		ID: "pages", Title: d.movers(s, "Identities that hosts turn away from a page, by what robots.txt says to the agent",
			"compared"),
		Of: "Shares of the hosts that served the page to our own user agent, and of which the identity asked for it.",
		Note: "What the second line shows would happen to any visitor: only what is beyond it is about the identity. Where " +
			"robots.txt shuts the agent out, its page was asked for only with --pages=all.",
		Legend: []draw.Legend{{Class: "closed", Name: "the identity"},
			{Class: "star", Name: "our own user agent, when it asks again"}},
	}
	var all []*lines
	for _, name := range names {
		m := &lines{name: pageName(name)}
		m.add(d, "closed", "turned away", s.line(name, "compared"))
		m.add(d, "star", "of our own", s.line(name+again, "compared"))
		all = append(all, m)
		s.names = append(s.names, name+again)
	}
	return d.follow(f, s, d.query(s, "series_pages", "stratum = 'all' AND profile = "+views.Quote(d.profile)+
		" AND key IN ("+counters.QuoteAll(s.names)+")"), all...)
}

// pageName names an identity with what robots.txt says to its agent.
func pageName(key string) string {
	identity, paper, _ := strings.Cut(key, " ")
	paper, _, _ = strings.Cut(paper, " ")
	return identity + ": " + words.Paper.Of(paper)
}

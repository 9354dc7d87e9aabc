package trends

import (
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
)

// ofRefusals follows the ways in which files refuse the training of models.
func (d *seriesData) ofRefusals() *draw.Figure {
	line := func(way, base string) followed {
		return followed{metric: "refusal", population: series.All, stratum: series.All, profile: d.profile, key: way, base: base}
	}
	ways := d.values(byKeyName, func(l followed) bool { return l == line(l.key, "hosts") })
	if ways == nil {
		return nil
	}
	var all []*lines
	for _, way := range ways {
		name := words.Refusal.Of(way)
		if way == "any" {
			name = "in any way"
		}
		all = append(all, d.bothBases(name, nil, "files", nil, func(base string) followed { return line(way, base) }))
	}
	f := d.follow(&draw.Figure{
		ID: "refusals", Title: d.told(func(base string) followed { return line("any", base) }, "refuse AI training in some way"), Legend: d.twoBases(),
		Of: "Shares of hosts. A file may use several ways; a licence counts where a file names one, for its terms are not read.",
	}, d.query("series_refusals", "way", "hosts, files", "stratum = 'all' AND profile = "+counters.Quote(d.profile)), all...)
	if f != nil {
		d.rows(f, "way", []string{"hosts", "files"}, ways, line)
	}
	return f
}

// ofWords follows the agents that templates shut out.
func (d *seriesData) ofWords() *draw.Figure {
	templated := make(map[string]followed) // by agent and template
	for l := range d.lines {
		if l == (followed{metric: "policy_template", population: series.All, stratum: series.All, agent: l.agent, profile: d.profile, key: l.key, base: "hosts"}) {
			templated[l.agent+", "+l.key] = l
		}
	}
	line := func(name, base string) followed {
		l := templated[name]
		l.base = base
		return l
	}
	names := d.values(func(l followed) string { return l.agent + ", " + l.key }, func(l followed) bool { return l == templated[l.agent+", "+l.key] })
	named := func(name string) string { return templated[name].agent + " (" + templated[name].key + ")" }
	onHosts := func(name string) followed { return line(name, "hosts") }
	title := d.leading(names, named, onHosts)
	names, alike, note := d.apart(names, named, "agents", "that templates shut out", onHosts)
	var all []*lines
	for _, name := range names {
		all = append(all, d.bothBases(named(name), alike[name], "files", nil, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&draw.Figure{
		ID: "words", Title: "Shut out in a template's words: " + title, Legend: d.twoBases(), Note: note,
		Of: "Shares of hosts in whose file every group that decides about the agent is the template's.",
	}, d.query("series_templates", "words", "hosts, files", "stratum = 'all' AND profile = "+counters.Quote(d.profile)+" AND words IN ("+counters.QuoteAll(names)+")"), all...)
	if f != nil {
		d.rows(f, "words", []string{"hosts", "files"}, names, line)
	}
	return f
}

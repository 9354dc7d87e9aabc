package trends

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// mostMultiples is the most small drawings of a figure.
const mostMultiples = 12

func byAgent(l followed) string    { return l.agent }
func byCategory(l followed) string { return l.category }
func byKeyName(l followed) string  { return l.key }

// training follows the hosts that shut out an agent for AI training.
func (d *seriesData) training() *draw.Figure {
	line := func(_, base string) followed { return d.closing(counters.Headline, series.All, series.All, base) }
	f := &draw.Figure{
		ID: "closed", Legend: d.twoBases(), Wide: true,
		Of:    "Shares of all hosts, and of those with rules. A host that is down shuts nobody out, so that an outage lowers the share of hosts alone.",
		Title: d.told(func(base string) followed { return line("", base) }, "shut out an agent for AI training"),
	}
	f = d.follow(f, d.query("series_categories", "category", "hosts, files", "closes = 'any' AND stratum = 'all' AND category = "+counters.Quote(counters.Headline)+" AND profile = "+counters.Quote(d.profile)),
		d.bothBases("AI training", nil, "files", nil, func(base string) followed { return line("", base) }))
	if f != nil {
		d.rows(f, "category", []string{"hosts", "files"}, []string{counters.Headline}, func(_, base string) followed { return line("", base) })
	}
	return f
}

// ofCategories follows each category of agents.
func (d *seriesData) ofCategories() *draw.Figure {
	names := d.values(byCategory, func(l followed) bool {
		return l == d.closing(l.category, series.All, series.All, "hosts")
	})
	if len(names) < 2 {
		return nil
	}
	line := func(name, base string) followed { return d.closing(name, series.All, series.All, base) }
	title := d.leading(names, categoryWords, func(name string) followed { return line(name, d.titled()) })
	names, alike, note := d.apart(names, categoryWords, "categories", "", func(name string) followed { return line(name, "hosts") })
	var all []*lines
	for _, name := range names {
		all = append(all, d.bothBases(categoryWords(name), alike[name], "files", nil, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&draw.Figure{
		ID: "categories", Title: "Categories that most hosts shut out: " + title, Note: note,
		Of: "Shares of hosts that shut out at least one agent of the category.", Legend: d.twoBases(),
	}, d.query("series_categories", "category", "hosts, files", "closes = 'any' AND stratum = 'all' AND profile = "+counters.Quote(d.profile)+" AND category IN ("+counters.QuoteAll(names)+")"), all...)
	if f != nil {
		d.rows(f, "category", []string{"hosts", "files"}, names, line)
	}
	return f
}

// ofStrata follows AI training in each band of rank.
func (d *seriesData) ofStrata() *draw.Figure {
	var names []string
	for l := range d.lines {
		if l == d.closing(counters.Headline, series.All, l.stratum, "hosts") && l.stratum != series.All {
			names = append(names, l.stratum)
		}
	}
	if len(names) < 2 {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return int(min(1, max(-1, counters.First(a)-counters.First(b))))
	})
	line := func(name, base string) followed { return d.closing(counters.Headline, series.All, name, base) }
	var all []*lines
	for _, name := range names {
		all = append(all, d.bothBases(strataName(name), nil, "files", nil, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&draw.Figure{
		ID: "strata", Title: "Agents for AI training are shut out, by rank: " + d.tell(names[:min(len(names), leaders)], strataName, func(name string) followed { return line(name, d.titled()) }), Of: "Shares of the hosts of each band of rank.", Legend: d.twoBases(),
	}, d.query("series_categories", "stratum", "hosts, files", "closes = 'any' AND stratum IN ("+counters.QuoteAll(names)+") AND category = "+counters.Quote(counters.Headline)+" AND profile = "+counters.Quote(d.profile)), all...)
	if f != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return name == series.Weighted }) // the views have no weights
		d.rows(f, "stratum", []string{"hosts", "files"}, names, line)
	}
	return f
}

func strataName(name string) string {
	if name == series.Weighted {
		return "all, weighted by stratum"
	}
	return words.Rank(name)
}

func (d *seriesData) ofPolicy(metric, key, agent, base string) followed {
	return followed{metric: metric, population: series.All, stratum: series.All, agent: agent, profile: d.profile, key: key, base: base}
}

// ofAgents follows the agents that most hosts shut out.
func (d *seriesData) ofAgents() *draw.Figure {
	names := d.values(byAgent, func(l followed) bool { return l == d.ofPolicy("policy", "disallow_all", l.agent, "hosts") })
	if names == nil {
		return nil
	}
	line := func(name, base string) followed { return d.ofPolicy("policy", "disallow_all", name, base) }
	title := d.leading(names, words.Plain, func(name string) followed { return line(name, d.titled()) })
	names, alike, note := d.apart(names, words.Plain, "agents", "that hosts shut out", func(name string) followed { return line(name, "hosts") })
	var all []*lines
	for _, name := range names {
		marks := d.marksOf([]string{"agent_new", "agent_gone", "agent_changed"}, name)
		all = append(all, d.bothBases(name, alike[name], "files", marks, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&draw.Figure{
		ID: "agents", Title: "Shut out by most hosts: " + title, Legend: d.twoBases(), Note: note,
		Of: "Shares of hosts that shut the agent out, by its name or by the group for all. A dashed line also marks where it enters the registry, leaves it, or has another entry.",
	}, d.query("series_policies", "agent", "hosts, files", "class = 'disallow_all' AND stratum = 'all' AND profile = "+counters.Quote(d.profile)+" AND agent IN ("+counters.QuoteAll(names)+")"), all...)
	if f != nil {
		d.rows(f, "agent", []string{"hosts", "files"}, names, line)
	}
	return f
}

// ofNamed follows the agents that most files name in order to shut them out.
func (d *seriesData) ofNamed() *draw.Figure {
	names := d.values(byAgent, func(l followed) bool { return l == d.ofPolicy("policy_explicit", "disallow_all", l.agent, "files") })
	if names == nil {
		return nil
	}
	line := func(name string) followed { return d.ofPolicy("policy_explicit", "disallow_all", name, "files") }
	title := d.leading(names, words.Plain, line)
	names, alike, note := d.apart(names, words.Plain, "agents", "that files shut out by name", line)
	var all []*lines
	for _, name := range names {
		m := &lines{name: name, alike: alike[name], marks: d.marksOf([]string{"agent_new", "agent_gone", "agent_changed"}, name)}
		m.add(d, "closed", "of hosts with rules", line(name))
		all = append(all, m)
	}
	f := d.follow(&draw.Figure{
		ID: "named", Title: "Shut out by name: " + title, Note: note, Of: "Shares of hosts with rules, of which a group names the agent and lets it fetch nothing.",
	}, "", all...)
	if f != nil {
		d.rows(f, "agent", []string{"files"}, names, func(name, base string) followed { return d.ofPolicy("policy_explicit", "disallow_all", name, base) })
	}
	return f
}

// populations follows the panel and the others beside all hosts.
func (d *seriesData) populations() *draw.Figure {
	others := func(p *schema.Point) bool { return p.Denominator > 0 }
	if d.Panel == nil || !slices.ContainsFunc(d.lines[d.closing(counters.Headline, "others", series.All, "hosts")], others) {
		return nil // the lines would be those of all hosts
	}
	var all []*lines
	for _, base := range []string{"hosts", "files"} {
		m := &lines{name: map[string]string{"hosts": "AI training, of all hosts", "files": "AI training, of hosts with rules"}[base]}
		for _, p := range []struct{ class, name, population string }{{"allow", "all", series.All}, {"closed", "panel", "panel"}, {"broken", "others", "others"}} {
			m.add(d, p.class, p.name, d.closing(counters.Headline, p.population, series.All, base))
		}
		all = append(all, m)
	}
	f := d.follow(&draw.Figure{
		ID: "panel", Wide: true, Title: words.Verbed(d.Panel.Hosts, "host is", "hosts are") + " in every run; an agent for AI training is shut out by " + d.tell([]string{"panel", series.All}, populationName, func(name string) followed { return d.closing(counters.Headline, name, series.All, "hosts") }),
		Of:     "Shares of hosts, and of hosts with rules, that shut out an agent for AI training: of all that a run has, of those that every run has, and of the others.",
		Legend: []draw.Legend{{Class: "allow", Name: "all hosts of the run"}, {Class: "closed", Name: "panel: hosts of every run"}, {Class: "broken", Name: "the others"}},
	}, "", all...)
	if f != nil {
		d.rows(f, "population", []string{"hosts", "files"}, []string{series.All, "panel", "others"}, func(name, base string) followed { return d.closing(counters.Headline, name, series.All, base) })
	}
	return f
}

func populationName(name string) string {
	return map[string]string{"panel": "the same hosts", series.All: "all hosts"}[name]
}

// movements follows the hosts that come and go.
func (d *seriesData) movements() *draw.Figure {
	m := &lines{name: "Hosts that come and go"}
	ofMove := func(name string) followed {
		return followed{metric: name, population: series.All, stratum: series.All, base: map[string]string{"entered": "hosts", "left": "before"}[name]}
	}
	moved := func(p *schema.Point) bool { return p.Count > 0 }
	if !slices.ContainsFunc(d.lines[ofMove("entered")], moved) && !slices.ContainsFunc(d.lines[ofMove("left")], moved) {
		return nil
	}
	m.add(d, "allow", "entered", ofMove("entered"))
	m.add(d, "closed", "left", ofMove("left"))
	f := d.follow(&draw.Figure{
		ID: "movements", Title: "Hosts that enter and leave: " + d.tell([]string{"entered", "left"}, words.Plain, ofMove), Of: "Shares of the run's hosts that the run before did not have, and of the hosts of the run before that this one does not have.",
		Legend: []draw.Legend{{Class: "allow", Name: "entered"}, {Class: "closed", Name: "left"}}, Wide: true,
	}, "", m)
	if f != nil {
		d.rows(f, "what", []string{"of"}, []string{"entered", "left"}, func(name, _ string) followed { return ofMove(name) })
	}
	return f
}

// ofChanges follows what happened to policies between neighbours.
func (d *seriesData) ofChanges() *draw.Figure {
	ofChange := func(key string) followed {
		return followed{metric: "change", population: series.All, stratum: series.All, key: key, base: "both"}
	}
	var all []*lines
	for _, c := range []struct{ key, name string }{
		{"closed", "closed on some path"}, {"shut_out", "of these, shut out entirely"}, {"opened", "opened on some path"}, {"let_in", "of these, let in again"},
		{"both", "closed here and opened there"}, {"reworded", "only reworded"}, {"undecided", "undecided"},
	} {
		m := &lines{name: c.name}
		m.add(d, "allow", "of hosts in both", ofChange(c.key))
		all = append(all, m)
	}
	f := d.follow(&draw.Figure{
		ID: "changes", Title: "Hosts that closed a path since the run before, and that opened one: " + d.tell([]string{"closed", "opened"}, words.Plain, ofChange), Of: "Shares of the hosts that both runs have and could read, by the meaning of all policies on every path.",
		Note: "Only runs that robocensus diff has compared.",
	}, "", all...)
	if f != nil {
		d.rows(f, "change", []string{"hosts_in_both"}, []string{"closed", "shut_out", "opened", "let_in", "both", "reworded", "undecided"}, func(name, _ string) followed { return ofChange(name) })
	}
	return f
}

// byStatus follows the keys of a metric of answers.
func (d *seriesData) byStatus(id, title, metric string, names func(string) string, profiled bool) *draw.Figure {
	profile := ""
	if profiled {
		profile = d.profile
	}
	line := func(key, base string) followed {
		return followed{metric: metric, population: series.All, stratum: series.All, profile: profile, key: key, base: base}
	}
	keys := d.values(byKeyName, func(l followed) bool { return l == line(l.key, "hosts") })
	if keys == nil {
		return nil
	}
	keys = keys[:min(len(keys), mostMultiples)]
	var all []*lines
	for _, key := range keys {
		m := &lines{name: names(key)}
		m.add(d, "allow", "of hosts", line(key, "hosts"))
		all = append(all, m)
	}
	where := "metric = " + counters.Quote(metric) + " AND stratum = 'all' AND key IN (" + counters.QuoteAll(keys) + ")"
	if profiled {
		where += " AND profile = " + counters.Quote(profile)
	}
	f := d.follow(&draw.Figure{ID: id, Title: d.movers(title, keys, names, func(key string) followed { return line(key, "hosts") }), Of: "Shares of hosts."}, d.query("series_statuses", "key", "hosts", where), all...)
	if f != nil {
		d.rows(f, "key", []string{"hosts"}, keys, line)
	}
	return f
}

func (d *seriesData) ofReasons() *draw.Figure {
	return d.byStatus("reasons", "What hosts answer", "reason", words.Reason.Of, true)
}

func (d *seriesData) ofStatuses() *draw.Figure {
	if !slices.ContainsFunc(d.Runs, func(run series.Run) bool { return run.Source != "body" }) {
		return nil // stored files have no status
	}
	return d.byStatus("statuses", "The most frequent HTTP statuses", "status", func(key string) string {
		if key == "none" {
			return "no HTTP status"
		}
		return key
	}, false)
}

// byContent follows the keys of a metric of contents.
func (d *seriesData) byContent(id, title, view, column, metric string, names func(string) string) *draw.Figure {
	line := func(key, base string) followed {
		return followed{metric: metric, population: series.All, stratum: series.All, key: key, base: base}
	}
	keys := d.values(byKeyName, func(l followed) bool { return l == line(l.key, "hosts") })
	if keys == nil {
		return nil
	}
	if metric == "signal" && len(d.values(byKeyName, func(l followed) bool {
		return l == followed{metric: "preference", population: series.All, stratum: series.All, key: l.key, base: "hosts"}
	})) > 0 { // the figure of preferences shows these
		keys = slices.DeleteFunc(keys, func(key string) bool {
			return strings.HasPrefix(key, "content-signal ") || strings.HasPrefix(key, "content-usage ")
		})
	}
	if len(keys) == 0 {
		return nil
	}
	keys = keys[:min(len(keys), mostMultiples)]
	var all []*lines
	for _, key := range keys {
		all = append(all, d.bothBases(names(key), nil, "texts", nil, func(base string) followed { return line(key, base) }))
	}
	where := "stratum = 'all' AND " + column + " IN (" + counters.QuoteAll(keys) + ")"
	name := column
	if column == "key" {
		where, name = "metric = "+counters.Quote(metric)+" AND "+where, "key"
	}
	f := d.follow(&draw.Figure{
		ID: id, Title: d.movers(title, keys, names, func(key string) followed { return line(key, "texts") }),
		Of: "Shares of hosts, and of those with a file.", Legend: []draw.Legend{{Class: "allow", Name: "of hosts"}, {Class: "closed", Name: "of hosts with a file"}},
	}, d.query(view, name, "hosts, texts", where), all...)
	if f != nil {
		d.rows(f, name, []string{"hosts", "texts"}, keys, line)
	}
	return f
}

func (d *seriesData) ofSignals() *draw.Figure {
	return d.byContent("signals", "Extensions with a format", "series_signals", "key", "signal", words.Plain)
}

func (d *seriesData) ofPreferences() *draw.Figure {
	return d.byContent("preferences", "What files say about the use of their content", "series_signals", "key", "preference", counters.Statement)
}

func (d *seriesData) ofTemplates() *draw.Figure {
	return d.byContent("templates", "Templates of products in files", "series_signals", "key", "template", words.Plain)
}

func (d *seriesData) ofBodies() *draw.Figure {
	return d.byContent("bodies", "Oddities of files", "series_signals", "key", "body", words.Body.Of)
}

func (d *seriesData) ofFeatures() *draw.Figure {
	return d.byContent("features", "What files contain", "series_features", "feature", "feature", words.Feature.Of)
}

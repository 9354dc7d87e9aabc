package series

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/views"
)

// mostMultiples is the most small drawings of a figure.
const mostMultiples = 12

func byAgent(l followed) string    { return l.agent }
func byCategory(l followed) string { return l.category }
func byKeyName(l followed) string  { return l.key }

// ofTraining are the lines of the hosts that shut out an agent for AI training, by base.
func (d *seriesData) ofTraining(_, base string) followed {
	return d.closing(counters.Headline, series.All, series.All, base)
}

// training follows the hosts that shut out an agent for AI training.
func (d *seriesData) training() *draw.Figure {
	s := subject{column: "category", bases: []string{"hosts", "files"}, named: words.Category.Of, line: d.ofTraining,
		names: []string{counters.Headline}}
	return d.follow(&draw.Figure{
		ID: "closed", Legend: d.twoBases(), Wide: true,
		Of: "Shares of all hosts, and of those with rules. A host that is down or behind a wall shuts nobody out, so " +
			"that an outage lowers the share of hosts alone.",
		Title: d.told(s, counters.Headline, "shuts out an agent for AI training", "shut out an agent for AI training"),
	}, s, d.query(s, "series_categories", "closes = 'any' AND stratum = 'all' AND category = "+views.Quote(
		counters.Headline)+" AND profile = "+views.Quote(d.profile)), d.multiples(s)...)
}

// ofCategories follows each category of agents.
func (d *seriesData) ofCategories() *draw.Figure {
	s := subject{column: "category", bases: []string{"hosts", "files"}, named: words.Category.Of,
		line: func(name, base string) followed { return d.closing(name, series.All, series.All, base) }}
	if s.names = d.values(s, byCategory); len(s.names) < 2 {
		return nil
	}
	title := d.leading(s, d.titled())
	note := d.apart(&s, "categories", "")
	return d.follow(&draw.Figure{
		ID: "categories", Title: "Categories that most hosts shut out: " + title, Note: note,
		Of: "Shares of hosts that shut out at least one agent of the category.", Legend: d.twoBases(),
	}, s, d.query(s, "series_categories", "closes = 'any' AND stratum = 'all' AND profile = "+views.Quote(d.profile)+
		" AND category IN ("+counters.QuoteAll(s.names)+")"), d.multiples(s)...)
}

// ofStrata follows AI training in each band of rank.
func (d *seriesData) ofStrata() *draw.Figure {
	s := subject{column: "stratum", bases: []string{"hosts", "files"}, named: strataName,
		line: func(name, base string) followed { return d.closing(counters.Headline, series.All, name, base) }}
	if s.names = d.strataOf(s); len(s.names) < 2 {
		return nil
	}
	all, query := d.multiples(s), d.query(s, "series_categories", "closes = 'any' AND stratum IN ("+counters.QuoteAll(
		s.names)+") AND category = "+views.Quote(counters.Headline)+" AND profile = "+views.Quote(d.profile))
	title := d.tell(s, s.names[:min(len(s.names), leaders)], d.titled())
	// the views have no weights
	s.names = slices.DeleteFunc(s.names, func(name string) bool { return name == series.Weighted })
	return d.follow(&draw.Figure{
		ID: "strata", Title: "Agents for AI training are shut out, by rank: " + title,
		Of: "Shares of the hosts of each band of rank.", Legend: d.twoBases(),
	}, s, query, all...)
}

// strataOf returns the strata that have a line, by rank.
func (d *seriesData) strataOf(s subject) (names []string) {
	for l := range d.lines {
		if l == s.line(l.stratum, "hosts") && l.stratum != series.All {
			names = append(names, l.stratum)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(counters.First(a), counters.First(b)) })
	return names
}

func strataName(name string) string {
	if name == series.Weighted {
		return "all, weighted by stratum"
	}
	return words.Rank(name)
}

// ofPolicy returns the lines of the hosts that shut agents out, as a metric counts them.
func (d *seriesData) ofPolicy(metric string) func(agent, base string) followed {
	return func(agent, base string) followed {
		return followed{metric: metric, population: series.All, stratum: series.All, agent: agent, profile: d.profile,
			key: "disallow_all", base: base}
	}
}

// ofAgents follows the agents that most hosts shut out.
func (d *seriesData) ofAgents() *draw.Figure {
	s := subject{column: "agent", bases: []string{"hosts", "files"}, named: words.Plain, line: d.ofPolicy("policy"),
		agents: true}
	if s.names = d.values(s, byAgent); s.names == nil {
		return nil
	}
	title := d.leading(s, d.titled())
	note := d.apart(&s, "agents", "that hosts shut out")
	return d.follow(&draw.Figure{
		ID: "agents", Title: "Shut out most often: " + title, Legend: d.twoBases(), Note: note,
		Of: "Shares of hosts that shut the agent out, by its name or by the group for all. A dashed line also marks " +
			"where it enters the registry, leaves it, or has another entry.",
	}, s, d.query(s, "series_policies", "class = 'disallow_all' AND stratum = 'all' AND profile = "+views.Quote(
		d.profile)+" AND agent IN ("+counters.QuoteAll(s.names)+")"), d.multiples(s)...)
}

// ofNamed follows the agents that most files name in order to shut them out.
func (d *seriesData) ofNamed() *draw.Figure {
	s := subject{column: "agent", bases: []string{"files"}, named: words.Plain, line: d.ofPolicy("policy_explicit"),
		agents: true}
	if s.names = d.values(s, byAgent); s.names == nil {
		return nil
	}
	title := d.leading(s, "files")
	note := d.apart(&s, "agents", "that files shut out by name")
	return d.follow(&draw.Figure{
		ID: "named", Title: "Shut out by name: " + title, Note: note,
		Of: "Shares of hosts with rules, of which a group names the agent and lets it fetch nothing.",
	}, s, "", d.multiples(s)...)
}

// populations follows the panel and the others beside all hosts.
func (d *seriesData) populations() *draw.Figure {
	others := func(p *schema.Point) bool { return p.Denominator > 0 }
	if d.Panel == nil || !slices.ContainsFunc(d.lines[d.closing(counters.Headline, "others", series.All, "hosts")],
		others) {
		return nil // the lines would be those of all hosts
	}
	s := subject{
		column: "population", bases: []string{"hosts", "files"}, names: []string{series.All, "panel", "others"},
		named: func(name string) string {
			return map[string]string{"panel": "the same hosts", series.All: "all hosts"}[name]
		},
		line: func(name, base string) followed { return d.closing(counters.Headline, name, series.All, base) },
	}
	var all []*lines
	for _, base := range s.bases {
		m := &lines{name: map[string]string{"hosts": "AI training, of all hosts",
			"files": "AI training, of hosts with rules"}[base]}
		for _, p := range []struct{ class, name, population string }{{"allow", "all", series.All},
			{"closed", "panel", "panel"}, {"broken", "others", "others"}} {
			m.add(d, p.class, p.name, s.line(p.population, base))
		}
		all = append(all, m)
	}
	return d.follow(&draw.Figure{
		ID: "panel", Wide: true, Title: words.Verbed(d.Panel.Hosts, "host is", "hosts are") +
			" in every run; an agent for AI training is shut out by " + d.tell(s, []string{"panel", series.All}, "hosts"),
		Of: "Shares of hosts, and of hosts with rules, that shut out an agent for AI training: of all that a run " +
			"has, of those that every run has, and of the others.",
		Legend: []draw.Legend{{Class: "allow", Name: "all hosts of the run"},
			{Class: "closed", Name: "panel: hosts of every run"}, {Class: "broken", Name: "the others"}},
	}, s, "", all...)
}

// movements follows the hosts that come and go.
func (d *seriesData) movements() *draw.Figure {
	s := subject{column: "what", bases: []string{"of"}, named: words.Plain, names: []string{"entered", "left"},
		line: func(name, _ string) followed {
			return followed{metric: name, population: series.All, stratum: series.All,
				base: map[string]string{"entered": "hosts", "left": "before"}[name]}
		}}
	if !slices.ContainsFunc(s.names, func(name string) bool {
		return slices.ContainsFunc(d.lines[s.line(name, "")], func(p *schema.Point) bool { return p.Count > 0 })
	}) {
		return nil
	}
	m := &lines{name: "Hosts that come and go"}
	m.add(d, "allow", "entered", s.line("entered", ""))
	m.add(d, "closed", "left", s.line("left", ""))
	return d.follow(&draw.Figure{
		ID: "movements", Title: "Hosts that enter and leave: " + d.tell(s, s.names, ""),
		Of: "Shares of the run's hosts that the run before did not have, and of the hosts of the run before that " +
			"this one does not have.",
		Legend: []draw.Legend{{Class: "allow", Name: "entered"}, {Class: "closed", Name: "left"}}, Wide: true,
	}, s, "", m)
}

// ofChanges follows what happened to policies between neighbours.
func (d *seriesData) ofChanges() *draw.Figure {
	s := subject{column: "change", bases: []string{"hosts_in_both"}, named: words.Plain,
		line: func(key, _ string) followed {
			return followed{metric: "change", population: series.All, stratum: series.All, key: key, base: "both"}
		}}
	var all []*lines
	for _, c := range []struct{ key, name string }{
		{"closed", "closed on some path"}, {"shut_out", "of these, shut out entirely"}, {"opened", "opened on some path"},
		{"let_in", "of these, let in again"},
		{"both", "closed here and opened there"}, {"reworded", "only reworded"}, {"undecided", "undecided"},
	} {
		s.names = append(s.names, c.key)
		m := &lines{name: c.name}
		m.add(d, "allow", "of hosts in both", s.line(c.key, ""))
		all = append(all, m)
	}
	return d.follow(&draw.Figure{
		ID: "changes", Title: "Hosts that closed a path since the run before, and that opened one: " + d.tell(
			s, []string{"closed", "opened"}, ""),
		Of: "Shares of the hosts that both runs have and could read, by the meaning of all policies on every path.",
		Note: "Only runs that robocensus diff has compared. A host that one of both could not read, because of an outage " +
			"or a wall, is not in the base.",
	}, s, "", all...)
}

// byStatus follows the keys of a metric of answers, under a profile if it is not "".
func (d *seriesData) byStatus(id, title, metric, profile string, named func(string) string) *draw.Figure {
	s := subject{column: "key", bases: []string{"hosts"}, named: named, line: func(key, base string) followed {
		return followed{metric: metric, population: series.All, stratum: series.All, profile: profile, key: key, base: base}
	}}
	keys := d.values(s, byKeyName)
	if keys == nil {
		return nil
	}
	s.names = keys[:min(len(keys), mostMultiples)]
	where := "metric = " + views.Quote(metric) + " AND stratum = 'all' AND key IN (" + counters.QuoteAll(s.names) + ")"
	if profile != "" {
		where += " AND profile = " + views.Quote(profile)
	}
	return d.follow(&draw.Figure{ID: id, Title: d.movers(s, title, "hosts"), Of: "Shares of hosts."}, s,
		d.query(s, "series_statuses", where), d.multiples(s)...)
}

func (d *seriesData) ofReasons() *draw.Figure {
	return d.byStatus("reasons", "What hosts answer", "reason", d.profile, words.Reason.Of)
}

func (d *seriesData) ofStatuses() *draw.Figure {
	if !slices.ContainsFunc(d.Runs, func(run series.Run) bool { return run.Source != "body" }) {
		return nil // stored files have no status
	}
	return d.byStatus("statuses", "The most frequent HTTP statuses", "status", "", func(key string) string {
		if key == "none" {
			return "no HTTP status"
		}
		return key
	})
}

// byContent follows the keys of a metric of contents.
func (d *seriesData) byContent(id, title, view, column, metric string, named func(string) string) *draw.Figure {
	of := func(metric string) subject {
		return subject{column: column, bases: []string{"hosts", "texts"}, named: named,
			line: func(key, base string) followed {
				return followed{metric: metric, population: series.All, stratum: series.All, key: key, base: base}
			}}
	}
	s := of(metric)
	keys := d.values(s, byKeyName)
	if metric == "signal" && len(d.values(of("preference"), byKeyName)) > 0 { // the figure of preferences shows these
		keys = slices.DeleteFunc(keys, func(key string) bool {
			return strings.HasPrefix(key, "content-signal ") || strings.HasPrefix(key, "content-usage ")
		})
	}
	if len(keys) == 0 {
		return nil
	}
	s.names = keys[:min(len(keys), mostMultiples)]
	where := "stratum = 'all' AND " + column + " IN (" + counters.QuoteAll(s.names) + ")"
	if column == "key" {
		where = "metric = " + views.Quote(metric) + " AND " + where
	}
	return d.follow(&draw.Figure{
		ID: id, Title: d.movers(s, title, "texts"),
		Of: "Shares of hosts, and of those with a file.", Legend: []draw.Legend{{Class: "allow", Name: "of hosts"},
			{Class: "closed", Name: "of hosts with a file"}},
	}, s, d.query(s, view, where), d.multiples(s)...)
}

func (d *seriesData) ofSignals() *draw.Figure {
	return d.byContent("signals", "Extensions with a format", "series_signals", "key", "signal", words.Plain)
}

func (d *seriesData) ofPreferences() *draw.Figure {
	return d.byContent("preferences", "What files say about the use of their content", "series_signals", "key",
		"preference", counters.Statement)
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

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/visible"
)

// mostMultiples is the most small drawings of a figure.
const mostMultiples = 12

func byAgent(l followed) string    { return l.agent }
func byCategory(l followed) string { return l.category }
func byKeyName(l followed) string  { return l.key }

// training follows the hosts that shut out an agent for AI training.
func (d *seriesData) training() *figure {
	line := func(_, base string) followed { return d.closing(headline, series.All, series.All, base) }
	f := &figure{
		ID: "closed", Legend: d.twoBases(), Wide: true,
		Of:    "Shares of hosts, and of files: the hosts whose rules decide. A host that is down shuts nobody out, so that an outage lowers the share of hosts alone.",
		Title: d.told(line("", "hosts"), "shut out an agent for AI training"),
	}
	f = d.follow(f, d.query("series_categories", "category", "hosts, files", "closes = 'any' AND stratum = 'all' AND category = "+quote(headline)+" AND profile = "+quote(d.profile)),
		d.bothBases("AI training", "", "files", nil, func(base string) followed { return line("", base) }))
	if f != nil {
		d.rows(f, "category", []string{"hosts", "files"}, []string{headline}, func(_, base string) followed { return line("", base) })
	}
	return f
}

// ofCategories follows each category of agents.
func (d *seriesData) ofCategories() *figure {
	names := d.values(byCategory, func(l followed) bool {
		return l == d.closing(l.category, series.All, series.All, "hosts")
	})
	if len(names) < 2 {
		return nil
	}
	line := func(name, base string) followed { return d.closing(name, series.All, series.All, base) }
	var all []*multiple
	for _, name := range names {
		all = append(all, d.bothBases(categoryWords(name), "", "files", nil, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&figure{
		ID: "categories", Title: fmt.Sprintf("Shut out most, of %s of agents: %s", counted(int64(len(names)), "category"), categoryWords(names[0])),
		Of: "Shares of hosts and files that shut out at least one agent of the category.", Legend: d.twoBases(),
	}, d.query("series_categories", "category", "hosts, files", "closes = 'any' AND stratum = 'all' AND profile = "+quote(d.profile)+" AND category IN ("+quoteAll(names)+")"), all...)
	if f != nil {
		f.Title = strings.Replace(f.Title, "categorys", "categories", 1)
		d.rows(f, "category", []string{"hosts", "files"}, names, line)
	}
	return f
}

// ofStrata follows AI training in each band of rank.
func (d *seriesData) ofStrata() *figure {
	var names []string
	for l := range d.lines {
		if l == d.closing(headline, series.All, l.stratum, "hosts") && l.stratum != series.All {
			names = append(names, l.stratum)
		}
	}
	if len(names) < 2 {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return int(min(1, max(-1, first(a)-first(b))))
	})
	line := func(name, base string) followed { return d.closing(headline, series.All, name, base) }
	var all []*multiple
	for _, name := range names {
		shown := rankName(name)
		if name == series.Weighted {
			shown = "all, weighted by stratum"
		}
		all = append(all, d.bothBases(shown, "", "files", nil, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&figure{
		ID: "strata", Title: "By rank: hosts that shut out an agent for AI training", Of: "Shares of the hosts and files of each band of rank.", Legend: d.twoBases(),
	}, d.query("series_categories", "stratum", "hosts, files", "closes = 'any' AND stratum IN ("+quoteAll(names)+") AND category = "+quote(headline)+" AND profile = "+quote(d.profile)), all...)
	if f != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return name == series.Weighted }) // the views have no weights
		d.rows(f, "stratum", []string{"hosts", "files"}, names, line)
	}
	return f
}

func quoteAll(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = quoteVisible(name)
	}
	return strings.Join(out, ", ")
}

// quoteVisible quotes a text of a registry or a file for SQL. A character that does
// not show, or that reverses text, is written by its number.
func quoteVisible(s string) string {
	var out strings.Builder
	for _, r := range s {
		if text := string(r); visible.Text(text) != text {
			fmt.Fprintf(&out, "' || chr(%d) || '", r)
		} else {
			out.WriteString(strings.ReplaceAll(text, "'", "''"))
		}
	}
	return "'" + out.String() + "'"
}

func (d *seriesData) ofPolicy(metric, key, agent, base string) followed {
	return followed{metric: metric, population: series.All, stratum: series.All, agent: agent, profile: d.profile, key: key, base: base}
}

// ofAgents follows the agents that most hosts shut out.
func (d *seriesData) ofAgents() *figure {
	names := d.values(byAgent, func(l followed) bool { return l == d.ofPolicy("policy", "disallow_all", l.agent, "hosts") })
	if names == nil {
		return nil
	}
	names = names[:min(len(names), mostMultiples)]
	line := func(name, base string) followed { return d.ofPolicy("policy", "disallow_all", name, base) }
	var all []*multiple
	for _, name := range names {
		marks := d.marksOf([]string{"agent_new", "agent_gone", "agent_changed"}, name)
		all = append(all, d.bothBases(name, "", "files", marks, func(base string) followed { return line(name, base) }))
	}
	f := d.follow(&figure{
		ID: "agents", Title: fmt.Sprintf("%s is shut out most, by %s", names[0], d.told(line(names[0], "hosts"), "")), Legend: d.twoBases(),
		Of: "Shares of hosts and files that shut the agent out, by its name or by the group for all. A dashed line marks where it enters the registry, leaves it, or has another entry.",
	}, d.query("series_policies", "agent", "hosts, files", "class = 'disallow_all' AND stratum = 'all' AND profile = "+quote(d.profile)+" AND agent IN ("+quoteAll(names)+")"), all...)
	if f != nil {
		f.Title = strings.ReplaceAll(f.Title, "hosts  on", "hosts on")
		d.rows(f, "agent", []string{"hosts", "files"}, names, line)
	}
	return f
}

// ofNamed follows the agents that most files name in order to shut them out.
func (d *seriesData) ofNamed() *figure {
	names := d.values(byAgent, func(l followed) bool { return l == d.ofPolicy("policy_explicit", "disallow_all", l.agent, "files") })
	if names == nil {
		return nil
	}
	names = names[:min(len(names), mostMultiples)]
	var all []*multiple
	for _, name := range names {
		m := &multiple{Name: name, marks: d.marksOf([]string{"agent_new", "agent_gone", "agent_changed"}, name)}
		m.add(d, "closed", "of files", d.ofPolicy("policy_explicit", "disallow_all", name, "files"))
		all = append(all, m)
	}
	f := d.follow(&figure{
		ID: "named", Title: fmt.Sprintf("%s is shut out by name most", names[0]), Of: "Shares of files with a group that names the agent and lets it fetch nothing.",
	}, "", all...)
	if f != nil {
		d.rows(f, "agent", []string{"files"}, names, func(name, base string) followed { return d.ofPolicy("policy_explicit", "disallow_all", name, base) })
	}
	return f
}

// populations follows the panel and the others beside all hosts.
func (d *seriesData) populations() *figure {
	if d.Panel == nil {
		return nil
	}
	var all []*multiple
	for _, base := range []string{"hosts", "files"} {
		m := &multiple{Name: "AI training, of " + base}
		for _, p := range []struct{ class, name, population string }{{"allow", "all", series.All}, {"closed", "panel", "panel"}, {"broken", "others", "others"}} {
			m.add(d, p.class, p.name, d.closing(headline, p.population, series.All, base))
		}
		all = append(all, m)
	}
	f := d.follow(&figure{
		ID: "panel", Wide: true, Title: verbed(d.Panel.Hosts, "host is", "hosts are") + " in every run",
		Of:     "Shares of hosts and files that shut out an agent for AI training: of all that a run has, of those that every run has, and of the others.",
		Legend: []legend{{"allow", "all hosts of the run"}, {"closed", "panel: hosts of every run"}, {"broken", "the others"}},
	}, "", all...)
	if f != nil {
		d.rows(f, "population", []string{"hosts", "files"}, []string{series.All, "panel", "others"}, func(name, base string) followed { return d.closing(headline, name, series.All, base) })
	}
	return f
}

// movements follows the hosts that come and go.
func (d *seriesData) movements() *figure {
	m := &multiple{Name: "Hosts that come and go"}
	m.add(d, "allow", "entered", followed{metric: "entered", population: series.All, stratum: series.All, base: "hosts"})
	m.add(d, "closed", "left", followed{metric: "left", population: series.All, stratum: series.All, base: "before"})
	f := d.follow(&figure{
		ID: "movements", Title: "Hosts that enter and leave", Of: "Shares of the run's hosts that the run before did not have, and of the hosts of the run before that this one does not have.",
		Legend: []legend{{"allow", "entered"}, {"closed", "left"}}, Wide: true,
	}, "", m)
	if f != nil {
		d.rows(f, "what", []string{"of"}, []string{"entered", "left"}, func(name, _ string) followed {
			return followed{metric: name, population: series.All, stratum: series.All, base: map[string]string{"entered": "hosts", "left": "before"}[name]}
		})
	}
	return f
}

// ofChanges follows what happened to policies between neighbours.
func (d *seriesData) ofChanges() *figure {
	var all []*multiple
	for _, c := range []struct{ key, name string }{
		{"closed", "closed on some path"}, {"shut_out", "of these, shut out entirely"}, {"opened", "opened on some path"}, {"let_in", "of these, let in again"},
		{"both", "closed here and opened there"}, {"reworded", "only reworded"}, {"undecided", "undecided"},
	} {
		m := &multiple{Name: c.name}
		m.add(d, "allow", "of hosts in both", followed{metric: "change", population: series.All, stratum: series.All, key: c.key, base: "both"})
		all = append(all, m)
	}
	f := d.follow(&figure{
		ID: "changes", Title: "What hosts did to their policies since the run before", Of: "Shares of the hosts that both runs have and could read, by the meaning of all policies on every path.",
		Note: "Only runs that robocensus diff has compared.",
	}, "", all...)
	if f != nil {
		d.rows(f, "change", []string{"hosts_in_both"}, []string{"closed", "shut_out", "opened", "let_in", "both", "reworded", "undecided"}, func(name, _ string) followed {
			return followed{metric: "change", population: series.All, stratum: series.All, key: name, base: "both"}
		})
	}
	return f
}

// byStatus follows the keys of a metric of answers.
func (d *seriesData) byStatus(id, title, metric string, names func(string) string, profiled bool) *figure {
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
	var all []*multiple
	for _, key := range keys {
		m := &multiple{Name: names(key)}
		m.add(d, "allow", "of hosts", line(key, "hosts"))
		all = append(all, m)
	}
	where := "metric = " + quote(metric) + " AND stratum = 'all' AND key IN (" + quoteAll(keys) + ")"
	if profiled {
		where += " AND profile = " + quote(profile)
	}
	f := d.follow(&figure{ID: id, Title: title, Of: "Shares of hosts."}, d.query("series_statuses", "key", "hosts", where), all...)
	if f != nil {
		d.rows(f, "key", []string{"hosts"}, keys, line)
	}
	return f
}

func (d *seriesData) ofOutcomes() *figure {
	return d.byStatus("outcomes", "What the answers mean for crawlers", "outcome", words.Outcome.Of, true)
}

func (d *seriesData) ofReasons() *figure {
	return d.byStatus("reasons", "Reasons for that: a robots.txt, none, or an error", "reason", words.Reason.Of, true)
}

func (d *seriesData) ofStatuses() *figure {
	return d.byStatus("statuses", "The most frequent HTTP statuses", "status", func(key string) string {
		if key == "none" {
			return "no answer"
		}
		return key
	}, false)
}

// byContent follows the keys of a metric of contents.
func (d *seriesData) byContent(id, title, view, column, metric string, names func(string) string) *figure {
	line := func(key, base string) followed {
		return followed{metric: metric, population: series.All, stratum: series.All, key: key, base: base}
	}
	keys := d.values(byKeyName, func(l followed) bool { return l == line(l.key, "hosts") })
	if keys == nil {
		return nil
	}
	keys = keys[:min(len(keys), mostMultiples)]
	var all []*multiple
	for _, key := range keys {
		all = append(all, d.bothBases(names(key), "", "texts", nil, func(base string) followed { return line(key, base) }))
	}
	where := "stratum = 'all' AND " + column + " IN (" + quoteAll(keys) + ")"
	name := column
	if column == "key" {
		where, name = "metric = "+quote(metric)+" AND "+where, "key"
	}
	f := d.follow(&figure{
		ID: id, Title: title, Of: "Shares of hosts, and of texts: the hosts that have a file.", Legend: []legend{{"allow", "of hosts"}, {"closed", "of texts"}},
	}, d.query(view, name, "hosts, texts", where), all...)
	if f != nil {
		d.rows(f, name, []string{"hosts", "texts"}, keys, line)
	}
	return f
}

func (d *seriesData) ofSignals() *figure {
	return d.byContent("signals", "Signals about the use of content, and other extensions", "series_signals", "key", "signal", plainName)
}

func (d *seriesData) ofPreferences() *figure {
	return d.byContent("preferences", "What files state about the use of their content", "series_signals", "key", "preference", plainName)
}

func (d *seriesData) ofTemplates() *figure {
	return d.byContent("templates", "Whose words the files have: templates of products", "series_signals", "key", "template", plainName)
}

func (d *seriesData) ofBodies() *figure {
	return d.byContent("bodies", "Oddities of files, and files of comments alone", "series_signals", "key", "body", words.Body.Of)
}

func (d *seriesData) ofFeatures() *figure {
	return d.byContent("features", "What files contain", "series_features", "feature", "feature", words.Feature.Of)
}

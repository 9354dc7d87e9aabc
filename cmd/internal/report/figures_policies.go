package report

import (
	"cmp"
	"fmt"
	"slices"
)

// agentsDrawn bounds the bars of agents; the table has all of them.
const agentsDrawn = 24

// fate is how hosts treat an agent.
type fate struct {
	agent, category string
	named           int64 // hosts with a group of its own
	closed          int64
	byName          int64 // of these, by a group of its own
	byFallback      int64 // by that of an agent that it falls back to
	open, partly    int64
	unknown         int64
}

func (d *data) fates() []fate {
	policies := d.sums.pivot("policy", d.profile, func(l label) string { return l.agent })
	explicit := d.sums.pivot("policy_explicit", d.profile, func(l label) string { return l.agent })
	fallback := d.sums.pivot("policy_fallback", d.profile, func(l label) string { return l.agent })
	var out []fate
	for agent, category := range d.sums.agents(d.profile) {
		p, e := policies[agent], explicit[agent]
		f := fate{agent: agent, category: category, closed: p["disallow_all"], byName: e["disallow_all"], byFallback: fallback[agent]["disallow_all"], open: p["allow_all"], partly: p["partial"], unknown: p["unknown"]}
		for _, n := range e {
			f.named += n
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b fate) int { return cmp.Compare(a.agent, b.agent) })
	return out
}

const categoryOf = "any_value(category) AS category"

// closedAgents is who is kept out, by name and by *.
func (d *data) closedAgents() *figure {
	all := d.fates()
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b fate) int {
		return cmp.Or(cmp.Compare(b.closed, a.closed), cmp.Compare(b.named, a.named))
	})
	top := all[0]
	f := &figure{
		ID: "agents", Of: fmt.Sprintf("Of all %s asked; an outage closes nobody.", hosts(d.targets)), Title: "No agent is shut out anywhere",
		Note:   "A host closes an agent where nothing may be fetched: by a group of the agent's own, by that of another agent which it follows where none names it, or by the one for all (*). The outline is the hosts that have a group of the agent's own, whatever is in it.",
		Legend: []legend{{"star", "closed by * or by another agent's group"}, {"closed", "closed by its own group"}, {"named", "has a group of its own"}},
	}
	if top.closed > 0 {
		f.Title = fmt.Sprintf("%s is closed on %s of %s, most of all %s agents", top.agent, percent(top.closed, d.targets), hosts(d.targets), count(int64(len(all))))
	}
	most := int64(0)
	for _, a := range all[:min(len(all), agentsDrawn)] {
		most = max(most, a.closed-a.byName+a.named)
	}
	scale, words := scaleFor(most, d.targets)
	f.Of += words
	for i, a := range all {
		if i < agentsDrawn {
			star := share{"star", "closed by * or by another agent's group", a.closed - a.byName}
			p := plain(parts(scale, d.targets, star, share{"closed", "closed by its own group", a.byName}))
			if a.named > 0 {
				// Such a host has no group of the agent's own: the two lie side by side.
				beside := plain(parts(scale, d.targets, star, share{"named", "has a group of its own", a.named}))
				p = append(p, beside[len(beside)-1])
			}
			f.Bars = append(f.Bars, bar{Name: a.agent, Sub: a.category, Parts: p, Value: percent(a.closed, d.targets)})
		}
		f.Rows = append(f.Rows, []string{a.agent, a.category, count(a.closed), count(a.byName), count(a.byFallback), count(a.closed - a.byName - a.byFallback), count(a.named)})
	}
	f.Head = []string{"agent", "category", "closed", "by_name", "by_fallback", "by_star", "named"}
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  %s,\n  %s,\n  %s,\n  closed - by_name - by_fallback AS by_star,\n  %s\n%s\nGROUP BY agent ORDER BY closed DESC, named DESC, agent", categoryOf,
		sumIf("metric = 'policy' AND key = 'disallow_all'", "closed"),
		sumIf("metric = 'policy_explicit' AND key = 'disallow_all'", "by_name"),
		sumIf("metric = 'policy_fallback' AND key = 'disallow_all'", "by_fallback"),
		sumIf("metric = 'policy_explicit'", "named"), d.from("policy policy_explicit policy_fallback", true))
	return f
}

var classes = []struct{ key, class, name string }{
	{"disallow_all", "closed", "closed"},
	{"partial", "partly", "open in part"},
	{"allow_all", "allow", "open"},
	{"unknown", "unknown", "not known, as of an outage"},
}

// agentClasses is what agents may do, for those that hosts speak of most.
func (d *data) agentClasses() *figure {
	all := d.fates()
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b fate) int {
		return cmp.Or(cmp.Compare(b.named, a.named), cmp.Compare(b.closed, a.closed))
	})
	top := all[0]
	f := &figure{
		ID: "classes", Of: fmt.Sprintf("Of all %s asked.", hosts(d.targets)),
		Title: fmt.Sprintf("%s is the agent that most hosts address, %s of %s; %s close it, %s leave it open in part", top.agent,
			percent(top.named, d.targets), hosts(d.targets), percent(top.closed, d.targets), percent(top.partly, d.targets)),
		Note: "The agents that most hosts have a group for; the number on the right is the share of hosts that have one.",
		Head: []string{"agent", "category", "disallow_all", "partial", "allow_all", "unknown"},
	}
	if top.named == 0 {
		f.Title = "No host addresses an agent by name"
	}
	for _, c := range classes {
		f.Legend = append(f.Legend, legend{c.class, c.name})
	}
	for i, a := range all {
		n := []int64{a.closed, a.partly, a.open, a.unknown}
		row := []string{a.agent, a.category}
		var shares []share
		for k, c := range classes {
			shares = append(shares, share{c.class, c.name, n[k]})
			row = append(row, count(n[k]))
		}
		if i < agentsDrawn {
			f.Bars = append(f.Bars, bar{Name: a.agent, Sub: a.category, Parts: parts(100, d.targets, shares...), Value: percent(a.named, d.targets)})
		}
		f.Rows = append(f.Rows, row)
	}
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n", categoryOf)
	for i, c := range classes {
		f.SQL += "  " + sumIf("metric = 'policy' AND key = "+quote(c.key), c.key) + [...]string{",\n", ",\n", ",\n", "\n"}[i]
	}
	f.SQL += d.from("policy policy_explicit", true) + "\nGROUP BY agent ORDER BY coalesce(sum(count) FILTER (metric = 'policy_explicit'), 0) DESC, disallow_all DESC, agent"
	return f
}

var closings = []struct{ key, class, name string }{
	{"all", "closed", "close all of its agents"},
	{"some", "partly", "close some"},
	{"none", "allow", "close none"},
	{"unknown", "unknown", "not known, as of an outage"},
}

// categories is how many agents of a category hosts close.
func (d *data) categories() *figure {
	by := d.sums.pivot("category", d.profile, func(l label) string { return l.category })
	if len(by) == 0 {
		return nil
	}
	f := &figure{
		ID: "categories", Of: fmt.Sprintf("Of all %s asked.", hosts(d.targets)),
		Note: "A category is closed in part where some of its agents may fetch nothing and others something.",
		Head: []string{"category", "all_closed", "some_closed", "none_closed", "unknown"},
	}
	closed := make(map[string]int64)
	for category, n := range by {
		closed[category] = n["all"] + n["some"]
	}
	names := ranked(closed)
	top := by[names[0]]
	f.Title = fmt.Sprintf("The category most often shut out is %s: %s of %s close all of its agents, %s more some", names[0],
		percent(top["all"], d.targets), hosts(d.targets), percent(top["some"], d.targets))
	scale, words := scaleFor(closed[names[0]], d.targets)
	f.Of += words
	for _, c := range closings[:2] {
		f.Legend = append(f.Legend, legend{c.class, c.name})
	}
	for _, name := range names {
		row := []string{name}
		for _, c := range closings {
			row = append(row, count(by[name][c.key]))
		}
		f.Rows = append(f.Rows, row)
		all, some := closings[0], closings[1]
		f.Bars = append(f.Bars, bar{
			Name: name, Value: percent(closed[name], d.targets),
			Parts: plain(parts(scale, d.targets, share{all.class, all.name, by[name]["all"]}, share{some.class, some.name, by[name]["some"]})),
		})
	}
	f.SQL = "SELECT category,\n  " + sumIf("key = 'all'", "all_closed") + ",\n  " + sumIf("key = 'some'", "some_closed") + ",\n  " + sumIf("key = 'none'", "none_closed") + ",\n  " + sumIf("key = 'unknown'", "unknown") +
		"\n" + d.from("category", true) + "\nGROUP BY category ORDER BY all_closed + some_closed DESC, category"
	return f
}

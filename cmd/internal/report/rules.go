package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
)

// versusStar are the relations of an agent's own group to the group for all (*).
var versusStar = draw.Kinds{
	{Key: "equal", Class: "star", Name: "the same as for all (*)"}, {Key: "stricter", Class: "closed", Name: "stricter"},
	{Key: "looser", Class: "allow", Name: "looser"},
	{Key: "mixed", Class: "partly", Name: "stricter here, looser there"},
	{Key: "undecided", Class: "unknown", Name: "undecided"},
}

// versusStar compares the groups that name an agent with the group for all.
func (d *data) versusStar() *draw.Figure {
	by := d.sums.Pivot("policy_versus_star", d.profile, func(l counters.Label) string { return l.Agent })
	agents, named := counters.ByTotal(by)
	if len(agents) == 0 {
		return nil
	}
	top := agents[0]
	f := &draw.Figure{
		ID: "versus-star", Of: "Shares of the hosts whose file has a group for one of the agent's own names.",
		Title: fmt.Sprintf("Of the %s %s %s, %s only %s what holds for all", words.Hosts(named[top]),
			words.Agree(named[top], "that names", "that name"), top,
			words.Percent(by[top]["equal"], named[top]), words.Agree(named[top], "repeats", "repeat")),
		Note: "Groups are compared by what they mean on every path, not by their text. A group is stricter than the one " +
			"for all (*) where it forbids all that the other forbids, and more. A file without a group for all allows all.",
		Heads: []string{"named by", "the same"},
	}
	ofNamed(f, d.from("policy_versus_star", true), d.sums.Agents(d.profile), versusStar, by,
		func(n map[string]int64) int64 { return n["equal"] })
	f.Fill("the hosts that name the agent")
	f.Shorten()
	if !slices.ContainsFunc(agents, func(a string) bool { return by[a]["undecided"] > 0 }) {
		f.Legend = f.Legend[:len(f.Legend)-1]
	}
	return f
}

// ofNamed adds the bars, the numbers and the query of a figure of kinds of files that name an agent;
// by are the counters that from selects, by agent and key, and category has the agents'. Beside each
// bar is the share of those that are told.
func ofNamed(f *draw.Figure, from string, category map[string]string, kinds draw.Kinds,
	by map[string]map[string]int64, told func(map[string]int64) int64) {
	f.Head, f.Legend = append([]string{"agent", "category", "named"}, kinds.Keys()...), kinds.Legend()
	agents, named := counters.ByTotal(by)
	for _, agent := range agents {
		f.AddRow([]string{agent, category[agent], counters.Digits(named[agent])}, kinds.Numbers(by[agent])...)
		f.AddBar(agent, words.Category.Of(category[agent]), draw.Track{
			Whole: named[agent], Shares: kinds.Shares(by[agent]),
			Values: []string{words.Number(named[agent]), words.Percent(told(by[agent]), named[agent])},
		})
	}
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  sum(count)::BIGINT AS named,\n  %s\n%s\n"+
		"GROUP BY agent ORDER BY named DESC, agent", categoryOf, counters.SumKeys(kinds.Keys()...),
		from)
}

// versusFirst are the relations of a file's meaning under a profile to that under the
// first.
var versusFirst = draw.Kinds{
	{Key: "different", Class: "closed", Name: "different"}, {Key: "undecided", Class: "unknown", Name: "undecided"},
	{Key: "escapes_only", Class: "partly", Name: "escapes only"}, {Key: "equal", Class: "open", Name: "the same"},
}

const versusFirstNote = "The rules are compared on every path but /robots.txt, not on samples. Hosts whose rules " +
	"decide under both profiles are counted; what each profile makes of a status is not compared. Where profiles " +
	"differ only on URLs with needless escapes, that counts apart: rfc9309 takes /%61dmin for /admin and google does " +
	"not, but nobody links to that. Figure #profiles lists some of the paths."

// profiles shows on how many files the profiles differ.
func (d *data) profiles() *draw.Figure {
	by := make(map[string]map[string]int64)
	for l, n := range d.sums["versus_first_hosts"] {
		if by[l.Profile] == nil {
			by[l.Profile] = make(map[string]int64)
		}
		by[l.Profile][l.Key] += n
		by[l.Profile]["files"] += n
	}
	if len(by) == 0 {
		return nil
	}
	different := make(map[string]int64)
	for profile, n := range by {
		different[profile] = n["different"]
	}
	names := counters.Ranked(different)
	top := by[names[0]]
	f := &draw.Figure{
		ID: "profiles", Of: "Shares of the hosts whose rules decide under both profiles.", Note: versusFirstNote,
		Title: fmt.Sprintf("%s allows or forbids some path that %s does not, for at least one agent, at %s%s", names[0],
			d.profile, words.OfHosts(top["different"], top["files"]), d.shutOutUnder(names[0])),
		Head: append([]string{"profile", "files"}, versusFirst.Keys()...), Legend: versusFirst.Legend(),
		Heads:    []string{"different"},
		Examples: d.examples.List("A path on which they differ", "agent, path, verdicts", "versus_first", nil, names...),
	}
	for _, name := range names {
		n := by[name]
		f.AddRow([]string{name, counters.Digits(n["files"])}, versusFirst.Numbers(n)...)
		f.AddBar(name, "", draw.Track{Whole: n["files"], Shares: versusFirst.Shares(n),
			Values: []string{words.Percent(n["different"], n["files"])}})
	}
	f.Fill("the hosts")
	f.SQL = fmt.Sprintf("SELECT profile, sum(count)::BIGINT AS files,\n  %s\n%s\n"+
		"GROUP BY profile ORDER BY different DESC, profile", counters.SumKeys(versusFirst.Keys()...),
		d.from("versus_first_hosts", false))
	return f
}

// shutOutUnder says at how many hosts agents for AI training are shut out under a profile
// and under the first, because most paths on which profiles differ shut out nobody.
func (d *data) shutOutUnder(profile string) string {
	closed := func(profile string) (n int64, ok bool) {
		for l, count := range d.sums["category"] {
			if l.Profile == profile && l.Category == counters.Headline {
				ok = true
				if l.Key == "all" || l.Key == "some" {
					n += count
				}
			}
		}
		return n, ok
	}
	n, ok := closed(profile)
	first, of := closed(d.profile)
	switch {
	case !ok || !of:
		return ""
	case n == first:
		return fmt.Sprintf("; under both %s shut out an agent for AI training", words.Hosts(n))
	}
	return fmt.Sprintf("; under it %s shut out an agent for AI training, under %s %s", words.Hosts(n), d.profile,
		words.Number(first))
}

// profileAgents shows for which agents the profiles differ most.
func (d *data) profileAgents() *draw.Figure {
	type asked struct{ agent, category, profile string }
	by := make(map[asked]map[string]int64)
	for l, n := range d.sums["versus_first"] {
		a := asked{l.Agent, l.Category, l.Profile}
		if by[a] == nil {
			by[a] = make(map[string]int64)
		}
		by[a][l.Key] += n
		by[a]["files"] += n
	}
	all := make([]asked, 0, len(by))
	for a := range by {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b asked) int {
		return cmp.Or(cmp.Compare(by[b]["different"], by[a]["different"]), cmp.Compare(a.agent, b.agent),
			cmp.Compare(a.profile, b.profile))
	})
	if len(all) == 0 || by[all[0]]["different"] == 0 {
		return nil
	}
	top := by[all[0]]
	most := make(map[string]bool)
	for _, a := range all {
		if by[a]["different"] == top["different"] {
			most[a.agent] = true
		}
	}
	lead := all[0].agent
	if len(most) > 1 {
		lead = fmt.Sprintf("%s agents, such as %s", words.Number(int64(len(most))), lead)
	}
	drawn := versusFirst[:2] // different, and undecided
	f := &draw.Figure{
		ID: "profile-agents", Of: "Shares of the hosts whose rules decide under both profiles.",
		Note: versusFirstNote + " A crawler that the group for all (*) does not bind under one of them, such as " +
			"AdsBot-Google under google, differs wherever that group closes a path.",
		Title: fmt.Sprintf("The profiles differ most for %s: %s allows or forbids some path that %s does not at %s", lead,
			all[0].profile, d.profile, words.OfHosts(top["different"], top["files"])),
		Legend: drawn.Legend(), Heads: []string{"files", "different"},
		Head: append([]string{"agent", "category", "profile", "files"}, versusFirst.Keys()...),
	}
	for i, a := range all {
		n := by[a]
		f.AddRow([]string{a.agent, a.category, a.profile, counters.Digits(n["files"])}, versusFirst.Numbers(n)...)
		if i >= draw.MostBars {
			f.Cut++
		} else {
			f.AddBar(a.agent, a.profile, draw.Track{Whole: n["files"], Shares: drawn.Shares(n),
				Values: []string{words.Number(n["files"]), words.Percent(n["different"], n["files"])}})
		}
	}
	f.Fit("the hosts")
	f.SQL = fmt.Sprintf("SELECT agent, %s, profile,\n  sum(count)::BIGINT AS files,\n  %s\n%s\n"+
		"GROUP BY agent, profile ORDER BY different DESC, agent, profile", categoryOf,
		counters.SumKeys(versusFirst.Keys()...), d.from("versus_first", false))
	return f
}

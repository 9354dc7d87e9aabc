package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// versusStar are the relations of an agent's own group to the group for all (*).
var versusStar = []struct{ key, class, name string }{
	{"equal", "star", "the same as for all (*)"}, {"stricter", "closed", "stricter"}, {"looser", "allow", "looser"},
	{"mixed", "partly", "stricter here, looser there"}, {"undecided", "unknown", "undecided"},
}

// versusStar compares the groups that name an agent with the group for all.
func (d *data) versusStar() *figure {
	by := d.sums.pivot("policy_versus_star", d.profile, func(l label) string { return l.agent })
	agents, named := byTotal(by)
	if len(agents) == 0 {
		return nil
	}
	category, top := d.sums.agents(d.profile), agents[0]
	f := &figure{
		ID: "versus-star", Of: "Shares of the hosts whose file has a group for one of the agent's own names.",
		Title: fmt.Sprintf("Of the %s %s %s, %s only %s what holds for all", hosts(named[top]), map[bool]string{true: "that names", false: "that name"}[named[top] == 1], top,
			percent(by[top]["equal"], named[top]), map[bool]string{true: "repeats", false: "repeat"}[named[top] == 1]),
		Note: "Groups are compared by what they mean on every path, not by their text. A group is stricter than the one for all (*) where it forbids all that the other forbids, and more. A file without a group for all allows all.",
		Head: []string{"agent", "category", "named"}, Heads: []string{"named by", "the same"},
	}
	for _, s := range versusStar {
		f.Head = append(f.Head, s.key)
		if s.key != "undecided" || slices.ContainsFunc(agents, func(a string) bool { return by[a]["undecided"] > 0 }) {
			f.Legend = append(f.Legend, legend{s.class, s.name})
		}
	}
	for i, agent := range agents {
		row, shares := []string{agent, category[agent], number(named[agent])}, []share(nil)
		for _, s := range versusStar {
			row = append(row, number(by[agent][s.key]))
			shares = append(shares, share{s.class, s.name, by[agent][s.key]})
		}
		f.Rows = append(f.Rows, row)
		if i < barsDrawn {
			f.Bars = append(f.Bars, bar{Name: agent, Sub: words.Category.Of(category[agent]), Tracks: []track{{
				Parts: inscribed(parts(100, named[agent], shares...)), Values: []string{count(named[agent]), percent(by[agent]["equal"], named[agent])},
			}}})
		}
	}
	f.Axis = "100% of the hosts that name the agent"
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  sum(count)::BIGINT AS named", categoryOf)
	for _, s := range versusStar {
		f.SQL += ",\n  " + sumIf("key = "+quote(s.key), s.key)
	}
	f.SQL += "\n" + d.from("policy_versus_star", true) + "\nGROUP BY agent ORDER BY named DESC, agent"
	return f
}

// versusFirst are the relations of a file's meaning under a profile to that under the
// first.
var versusFirst = []struct{ key, class, name string }{
	{"different", "closed", "different"}, {"undecided", "unknown", "undecided"}, {"escapes_only", "partly", "escapes only"}, {"equal", "open", "the same"},
}

const versusFirstNote = "The rules are compared on every path, not on samples. Hosts whose rules decide under both profiles are counted; what each profile makes of a status is not compared. Where profiles differ only on URLs with needless escapes, that counts apart: rfc9309 takes /%61dmin for /admin and google does not, but nobody links to that. Figure #profiles lists some of the paths."

// profiles shows on how many files the profiles differ.
func (d *data) profiles() *figure {
	by := make(map[string]map[string]int64)
	for l, n := range d.sums["versus_first_hosts"] {
		if by[l.profile] == nil {
			by[l.profile] = make(map[string]int64)
		}
		by[l.profile][l.key] += n
		by[l.profile]["files"] += n
	}
	if len(by) == 0 {
		return nil
	}
	different := make(map[string]int64)
	for profile, n := range by {
		different[profile] = n["different"]
	}
	names := ranked(different)
	top := by[names[0]]
	f := &figure{
		ID: "profiles", Of: "Shares of the hosts whose rules decide under both profiles.", Note: versusFirstNote,
		Title: fmt.Sprintf("%s allows or forbids some path that %s does not, for at least one agent, at %s%s", names[0], d.profile, ofHosts(top["different"], top["files"]), d.shutOutUnder(names[0])),
		Head:  []string{"profile", "files"}, Heads: []string{"different"}, Axis: "100% of the hosts",
		Examples: d.examples.list("A path on which they differ", "agent, path, verdicts", "versus_first", nil, names...),
	}
	for _, s := range versusFirst {
		f.Head = append(f.Head, s.key)
		f.Legend = append(f.Legend, legend{s.class, s.name})
	}
	for _, name := range names {
		n := by[name]
		row, shares := []string{name, number(n["files"])}, []share(nil)
		for _, s := range versusFirst {
			row = append(row, number(n[s.key]))
			shares = append(shares, share{s.class, s.name, n[s.key]})
		}
		f.Rows = append(f.Rows, row)
		f.Bars = append(f.Bars, bar{Name: name, Tracks: []track{{Parts: inscribed(parts(100, n["files"], shares...)), Values: []string{percent(n["different"], n["files"])}}}})
	}
	f.SQL = "SELECT profile, sum(count)::BIGINT AS files"
	for _, s := range versusFirst {
		f.SQL += ",\n  " + sumIf("key = "+quote(s.key), s.key)
	}
	f.SQL += "\n" + d.from("versus_first_hosts", false) + "\nGROUP BY profile ORDER BY different DESC, profile"
	return f
}

// shutOutUnder says at how many hosts agents for AI training are shut out under a profile
// and under the first, because most paths on which profiles differ shut out nobody.
func (d *data) shutOutUnder(profile string) string {
	closed := func(profile string) (n int64, ok bool) {
		for l, count := range d.sums["category"] {
			if l.profile == profile && l.category == headline {
				ok = true
				if l.key == "all" || l.key == "some" {
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
		return fmt.Sprintf("; under both %s shut out an agent for AI training", hosts(n))
	}
	return fmt.Sprintf("; under it %s shut out an agent for AI training, under %s %s", hosts(n), d.profile, count(first))
}

// profileAgents shows for which agents the profiles differ most.
func (d *data) profileAgents() *figure {
	type asked struct{ agent, category, profile string }
	by := make(map[asked]map[string]int64)
	for l, n := range d.sums["versus_first"] {
		a := asked{l.agent, l.category, l.profile}
		if by[a] == nil {
			by[a] = make(map[string]int64)
		}
		by[a][l.key] += n
		by[a]["files"] += n
	}
	all := make([]asked, 0, len(by))
	for a := range by {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b asked) int {
		return cmp.Or(cmp.Compare(by[b]["different"], by[a]["different"]), cmp.Compare(a.agent, b.agent), cmp.Compare(a.profile, b.profile))
	})
	if len(all) == 0 || by[all[0]]["different"] == 0 {
		return nil
	}
	top := by[all[0]]
	f := &figure{
		ID: "profile-agents", Of: "Shares of the hosts whose rules decide under both profiles.", Note: versusFirstNote,
		Title:  fmt.Sprintf("The profiles differ most for %s: %s allows or forbids some path that %s does not at %s", all[0].agent, all[0].profile, d.profile, ofHosts(top["different"], top["files"])),
		Legend: []legend{{"closed", "different"}, {"unknown", "undecided"}}, Heads: []string{"files", "different"},
		Head: []string{"agent", "category", "profile", "files", "different", "undecided", "escapes_only", "equal"},
	}
	scale := scaleFor(top["different"]+top["undecided"], top["files"])
	for _, a := range all[:min(len(all), barsDrawn)] {
		scale = max(scale, scaleFor(by[a]["different"]+by[a]["undecided"], by[a]["files"]))
	}
	f.Axis = fmt.Sprintf("%d%% of the hosts", scale)
	for i, a := range all {
		n := by[a]
		f.Rows = append(f.Rows, []string{a.agent, a.category, a.profile, number(n["files"]), number(n["different"]), number(n["undecided"]), number(n["escapes_only"]), number(n["equal"])})
		if i < barsDrawn {
			f.Bars = append(f.Bars, bar{Name: a.agent, Sub: a.profile, Tracks: []track{{
				Parts:  parts(scale, n["files"], share{"closed", "different", n["different"]}, share{"unknown", "undecided", n["undecided"]}),
				Values: []string{count(n["files"]), percent(n["different"], n["files"])},
			}}})
		}
	}
	f.SQL = fmt.Sprintf("SELECT agent, %s, profile,\n  sum(count)::BIGINT AS files,\n  %s,\n  %s,\n  %s,\n  %s\n%s\nGROUP BY agent, profile ORDER BY different DESC, agent, profile", categoryOf,
		sumIf("key = 'different'", "different"), sumIf("key = 'undecided'", "undecided"), sumIf("key = 'escapes_only'", "escapes_only"), sumIf("key = 'equal'", "equal"), d.from("versus_first", false))
	return f
}

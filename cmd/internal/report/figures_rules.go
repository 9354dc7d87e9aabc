package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// standings are how an agent's own group may stand to the one for all.
var standings = []struct{ key, class, name string }{
	{"equal", "star", "the same as for all (*)"}, {"stricter", "closed", "stricter"}, {"looser", "allow", "looser"},
	{"mixed", "partly", "stricter here, looser there"}, {"undecided", "unknown", "undecided"},
}

// versusStar is how the groups that name an agent stand to the group for all.
func (d *data) versusStar() *figure {
	by := d.sums.pivot("policy_versus_star", d.profile, func(l label) string { return l.agent })
	category, named := d.sums.agents(d.profile), make(map[string]int64)
	var agents []string
	for agent, n := range by {
		agents = append(agents, agent)
		for _, count := range n {
			named[agent] += count
		}
	}
	if len(agents) == 0 {
		return nil
	}
	slices.SortFunc(agents, func(a, b string) int { return cmp.Or(cmp.Compare(named[b], named[a]), cmp.Compare(a, b)) })
	top := agents[0]
	f := &figure{
		ID: "versus-star", Of: "Shares of the hosts whose file has a group for one of the agent's own names.",
		Title: fmt.Sprintf("Of the %s %s %s, %s only %s what holds for all", hosts(named[top]), map[bool]string{true: "that names", false: "that name"}[named[top] == 1], top,
			percent(by[top]["equal"], named[top]), map[bool]string{true: "repeats", false: "repeat"}[named[top] == 1]),
		Note: "Groups are compared by what they mean on every path, not by their text. A group is stricter than the one for all (*) where it forbids all that the other forbids, and more. A file without a group for all allows all.",
		Head: []string{"agent", "category", "named"}, Heads: []string{"named by", "the same"},
	}
	for _, s := range standings {
		f.Head = append(f.Head, s.key)
		if s.key != "undecided" || slices.ContainsFunc(agents, func(a string) bool { return by[a]["undecided"] > 0 }) {
			f.Legend = append(f.Legend, legend{s.class, s.name})
		}
	}
	for i, agent := range agents {
		row, shares := []string{agent, category[agent], number(named[agent])}, []share(nil)
		for _, s := range standings {
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
	for _, s := range standings {
		f.SQL += ",\n  " + sumIf("key = "+quote(s.key), s.key)
	}
	f.SQL += "\n" + d.from("policy_versus_star", true) + "\nGROUP BY agent ORDER BY named DESC, agent"
	return f
}

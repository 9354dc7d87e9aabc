package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
)

// leadingFates returns the agents that most hosts shut out, at most so many. Those that tie
// with the first one without room have none either.
func leadingFates(all []counters.Fate, most int, by func(counters.Fate) int64) []counters.Fate {
	all = slices.DeleteFunc(slices.Clone(all), func(a counters.Fate) bool { return by(a) == 0 })
	slices.SortStableFunc(all, func(a, b counters.Fate) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(b.Names, a.Names))
	})
	if len(all) <= most {
		return all
	}
	n := most
	for n > 1 && by(all[n]) == by(all[n-1]) {
		n--
	}
	return all[:n]
}

// moreAgents says how many agents a table leaves out that any host shuts out, and how to get
// them; "" if there are none.
func moreAgents(all []counters.Fate, shown int, by func(counters.Fate) int64) string {
	n := int64(-shown)
	for _, a := range all {
		if by(a) > 0 {
			n++
		}
	}
	if n <= 0 {
		return ""
	}
	return "And " + words.Count(n, "agent") + " more: leave out the condition on agent in the SQL."
}

// Most agents of the two tables.
const (
	mostRanked   = 15
	mostTogether = 8
)

// ranks shows what share of the hosts of each band of rank shut out the leading agents.
func (d *data) ranks() *draw.Figure {
	hostsOf := d.sums.By("targets", d.profile, func(l counters.Label) string { return l.Stratum })
	bands := counters.Ascending(hostsOf)
	agents := leadingFates(d.sums.Fates(d.profile), mostRanked, func(a counters.Fate) int64 { return a.Closed })
	if len(bands) < 2 || len(agents) == 0 {
		return nil
	}
	closed, known := make(map[[2]string]int64), make(map[[2]string]int64) // by agent and band
	for l, n := range d.sums["policy"] {
		if l.Profile != d.profile || l.Key == "unknown" {
			continue
		}
		known[[2]string{l.Agent, l.Stratum}] += n
		if l.Key == "disallow_all" {
			closed[[2]string{l.Agent, l.Stratum}] += n
		}
	}
	bands = slices.DeleteFunc(bands, func(band string) bool { return known[[2]string{agents[0].Agent, band}] == 0 })
	if len(bands) < 2 {
		return nil
	}
	f := &draw.Figure{
		ID: "ranks",
		Of: "Shares of the hosts of each band of rank whose policy for the agent is known that shut it out: the darker, " +
			"the more.",
		Heat: new(draw.Heat),
		Head: []string{"agent", "stratum", "shut_out", "known"},
	}
	for _, band := range bands {
		f.Heat.Columns = append(f.Heat.Columns, words.Rank(band)+", "+words.Hosts(hostsOf[band]))
	}
	var names []string
	for _, a := range agents {
		row := draw.HeatRow{Name: a.Agent, Sub: words.Category.Of(a.Category)}
		for _, band := range bands {
			n, of := closed[[2]string{a.Agent, band}], known[[2]string{a.Agent, band}]
			row.Cells = append(row.Cells, draw.HeatCell{Text: words.PercentKnown(n, of), Share: float64(n) / float64(max(1, of)),
				Tip: fmt.Sprintf("%s, %s: %s of %s", a.Agent, words.Rank(band), words.Number(n), words.Hosts(of))})
		}
		f.Heat.Rows, names = append(f.Heat.Rows, row), append(names, a.Agent)
	}
	f.Note = moreAgents(d.sums.Fates(d.profile), len(agents), func(a counters.Fate) int64 { return a.Closed })
	f.Heat.Shade()
	top := f.Heat.Rows[0]
	most := namesOf(d.sums.Fates(d.profile), func(a counters.Fate) bool { return a.Closed == agents[0].Closed })
	lead := agents[0].Agent + " is shut out"
	if len(most) > 1 {
		lead = fmt.Sprintf("%s are shut out most often; %s", words.Tied(most, "agents"), agents[0].Agent)
	}
	f.Title = fmt.Sprintf("%s by %s of %s, and by %s of %s", lead,
		words.ShareOf(closed[[2]string{agents[0].Agent, bands[0]}], known[[2]string{agents[0].Agent, bands[0]}], "hosts"),
		rankWords(bands[0]),
		top.Cells[len(bands)-1].Text, rankWords(bands[len(bands)-1]))
	slices.Sort(names)
	for _, name := range names {
		for _, band := range bands {
			if of := known[[2]string{name, band}]; of > 0 {
				f.AddRow([]string{name, band}, closed[[2]string{name, band}], of)
			}
		}
	}
	f.SQL = fmt.Sprintf(`SELECT agent, stratum, coalesce(sum(count) FILTER (key = 'disallow_all'), 0)::BIGINT AS shut_out,
  coalesce(sum(count) FILTER (key <> 'unknown'), 0)::BIGINT AS known
FROM (SELECT stratum, agent, key, count %s)
WHERE agent IN (%s)
GROUP BY agent, stratum HAVING known > 0 ORDER BY agent, %s`, d.from("policy", true),
		counters.QuoteAll(names), counters.StratumOrder)
	return f
}

// ofRank says of hosts what their stratum is.
func ofRank(stratum string) string {
	if stratum == "unranked" {
		return "without a rank"
	}
	return "of " + words.Rank(stratum)
}

// rankWords names a stratum in a sentence.
func rankWords(stratum string) string {
	if stratum == "unranked" {
		return "those " + ofRank(stratum)
	}
	return words.Rank(stratum)
}

// together shows which agents for AI training the same hosts shut out by name.
func (d *data) together() *draw.Figure {
	both := make(map[[2]string]int64)
	for l, n := range d.sums["policy_pair"] {
		if l.Profile == d.profile {
			both[[2]string{l.Agent, l.Key}] += n
			both[[2]string{l.Key, l.Agent}] += n
		}
	}
	named := func(a counters.Fate) int64 { return a.ByName + a.ByFallback }
	training := slices.DeleteFunc(d.sums.Fates(d.profile),
		func(a counters.Fate) bool { return a.Category != counters.Headline })
	agents := leadingFates(training, mostTogether, named)
	if len(both) == 0 || len(agents) < 2 {
		return nil
	}
	f := &draw.Figure{
		ID: "together", Of: "Of the hosts that shut out the agent of a row by name, the share that shut out the agent of " +
			"a column by name too.", Heat: new(draw.Heat),
		Note: "By name: by a group for one of the agent's own names, or of a crawler that it follows. A group for all " +
			"(*) shuts out all of them and is not counted. The leading agents for AI training.",
		Head: []string{"agent", "other", "common", "hosts"},
	}
	var names []string
	for _, a := range agents {
		names = append(names, a.Agent)
		f.Heat.Columns = append(f.Heat.Columns, a.Agent)
		row := draw.HeatRow{Name: a.Agent, Sub: words.Hosts(named(a))}
		for _, b := range agents {
			n := both[[2]string{a.Agent, b.Agent}]
			cell := draw.HeatCell{Text: words.Percent(n, named(a)), Share: float64(n) / float64(named(a)),
				Tip: fmt.Sprintf("%s, and %s too: %s of %s", a.Agent, b.Agent, words.Number(n), words.Hosts(named(a)))}
			if a.Agent == b.Agent {
				cell = draw.HeatCell{Text: "–", Tip: a.Agent}
			}
			row.Cells = append(row.Cells, cell)
		}
		f.Heat.Rows = append(f.Heat.Rows, row)
	}
	if more := moreAgents(training, len(agents), named); more != "" {
		f.Note += " " + more
	}
	f.Heat.Shade()
	first := agents[0]
	n := int64(0)
	for _, a := range agents[1:] {
		n = max(n, both[[2]string{first.Agent, a.Agent}])
	}
	others := namesOf(agents[1:], func(a counters.Fate) bool { return both[[2]string{first.Agent, a.Agent}] == n })
	other := others[0]
	if len(others) > 1 {
		other = "each of " + words.Tied(others, "others")
	}
	f.Title = fmt.Sprintf("Of the %s that shut out %s by name, %s shut out %s too", words.Hosts(named(first)),
		first.Agent, words.Percent(n, named(first)), other)
	slices.Sort(names)
	of := make(map[string]int64)
	for _, a := range agents {
		of[a.Agent] = named(a)
	}
	for _, a := range names {
		for _, b := range names {
			if n := both[[2]string{a, b}]; n > 0 {
				f.AddRow([]string{a, b}, n, of[a])
			}
		}
	}
	f.SQL = fmt.Sprintf(`WITH pairs AS (SELECT agent, key, count %[1]s)
SELECT agent, other, sum(common)::BIGINT AS common, any_value(hosts) AS hosts
FROM (SELECT agent, key AS other, count AS common FROM pairs UNION ALL SELECT key, agent, count FROM pairs)
JOIN (SELECT agent, sum(count)::BIGINT AS hosts %[2]s AND key = 'disallow_all' GROUP BY agent) USING (agent)
WHERE agent IN (%[3]s) AND other IN (%[3]s)
GROUP BY agent, other ORDER BY agent, other`, d.from("policy_pair", true), d.from("policy_explicit policy_fallback",
		true), counters.QuoteAll(names))
	if len(f.Rows) == 0 {
		return nil
	}
	return f
}

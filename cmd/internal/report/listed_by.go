package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/visible"
)

// percentsOf reads the metric coverage: the percentages of hosts by agent.
func percentsOf(sums counters.Sums, profile string, in func(counters.Label) bool) map[string]summary.Percents {
	out := make(map[string]summary.Percents)
	for l, n := range sums["coverage"] {
		percent, err := strconv.ParseInt(l.Key, 10, 64)
		if err != nil || l.Profile != profile || n <= 0 || !in(l) {
			continue
		}
		if out[l.Agent] == nil {
			out[l.Agent] = make(summary.Percents)
		}
		out[l.Agent][percent] += n
	}
	return out
}

// coverageAgents returns the agents to which most hosts close more than half of what they
// list, at most so many, sorted.
func (d *data) coverageAgents(most int) (names []string) {
	all := d.coverages("")
	slices.SortFunc(all, func(a, b aCoverage) int {
		return cmp.Or(cmp.Compare(b.mostlyClosed(), a.mostlyClosed()), cmp.Compare(a.agent, b.agent))
	})
	for i := range all[:min(most, len(all))] {
		names = append(names, all[i].agent)
	}
	slices.Sort(names)
	return names
}

// ofWhat says what the intervals of a median allow for, and what they do not.
const ofWhat = "The interval of 95% is that of the hosts, if these were drawn at random, one by one: it holds the " +
	"median of all; fewer than six say nothing of it. Apart from it, the share of each host is that of a sample of its " +
	"pages, unless all are judged: of 200 out of many it is within 7 points of the share of all that it lists, in 95% " +
	"of samples. These errors move a median of 50 hosts by up to 5 points more, one of 500 by up to 4 (simulated)."

// medians draws the median share of what hosts list that agents may fetch, by group of hosts.
func (d *data) medians(f *draw.Figure, groups []string, names func(string) string,
	of func(group string) map[string]summary.Percents) {
	agents := d.coverageAgents(mostRanked)
	f.Heat = new(draw.Heat)
	f.Head = append(f.Head, "agent", "lower", "median", "upper", "hosts")
	f.Note = ofWhat + d.unreadListed()
	byGroup := make([]map[string]summary.Percents, len(groups))
	for i, group := range groups {
		byGroup[i] = of(group)
		f.Heat.Columns = append(f.Heat.Columns, names(group))
		for _, agent := range agents {
			if p := byGroup[i][agent]; p != nil {
				median, low, high := p.Median()
				f.AddRow([]string{group, agent}, low, median, high, p.Hosts())
			}
		}
	}
	for _, agent := range agents {
		row := draw.HeatRow{Name: agent}
		for i := range groups {
			p := byGroup[i][agent]
			if p == nil {
				row.Cells = append(row.Cells, draw.HeatCell{})
				continue
			}
			median, low, high := p.Median()
			row.Cells = append(row.Cells, draw.HeatCell{Text: fmt.Sprintf("%d%%", median), Share: float64(100-median) / 100,
				Tip: fmt.Sprintf("%s, %s: median %d%%, %d to %d%%, of %s", agent, names(groups[i]), median, low, high,
					words.Count(p.Hosts(), d.noun()))})
		}
		f.Heat.Rows = append(f.Heat.Rows, row)
	}
	f.Heat.Shade()
}

// medianSQL computes the numbers of medians for a column that tells the groups apart.
func medianSQL(column, from string, agents []string, order string) string {
	return fmt.Sprintf(`SELECT %[1]s, agent,
  CASE WHEN any_value(n) < %[6]d THEN 0 ELSE min(percent) FILTER (upto >= first) END AS lower,
  min(percent) FILTER (2 * upto >= n) AS median,
  CASE WHEN any_value(n) < %[6]d THEN 100 ELSE min(percent) FILTER (upto >= n + 1 - first) END AS upper,
  any_value(n)::BIGINT AS hosts
FROM (SELECT *, greatest(1, floor((n - %.15[2]f * sqrt(n)) / 2)) AS first
  FROM (SELECT %[1]s, agent, key::BIGINT AS percent,
      sum(sum(count)) OVER (PARTITION BY %[1]s, agent ORDER BY key::BIGINT) AS upto,
      sum(sum(count)) OVER (PARTITION BY %[1]s, agent) AS n
    %[3]s AND agent IN (%[4]s)
    GROUP BY %[1]s, agent, key))
GROUP BY %[1]s, agent ORDER BY %[5]s, agent`, column, summary.Normal95, from, counters.QuoteAll(agents), order,
		summary.LeastHosts)
}

// coverageRanks shows the median by band of rank.
func (d *data) coverageRanks() *draw.Figure {
	agents := d.coverageAgents(mostRanked)
	hosts := d.sums.By("coverage", d.profile, func(l counters.Label) string { return l.Stratum })
	bands := counters.Ascending(hosts)
	if len(bands) < 2 || len(agents) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "coverage-ranks", Of: "Medians of the share of what hosts list that they let the agent fetch, by band of rank: " +
			"the darker, the less.",
		Head: []string{"stratum"},
	}
	of := func(band string) map[string]summary.Percents {
		return percentsOf(d.sums, d.profile, func(l counters.Label) bool { return l.Stratum == band })
	}
	d.medians(f, bands, words.Rank, of)
	f.Title = spreadTitle("Of what hosts list", agents, bands, rankWords, of)
	f.SQL = medianSQL("stratum", d.from("coverage", true), agents, counters.StratumOrder)
	return f
}

// mostValued bounds the values of a label that a figure of medians has.
const mostValued = 12

// coverageLabels shows, for each label, the median by value: those with most hosts that list
// pages.
func (d *data) coverageLabels() (out []*draw.Figure) {
	agents := d.coverageAgents(mostRanked)
	for i, label := range d.labels.Names() {
		of := func(value string) map[string]summary.Percents {
			return percentsOf(d.labels[label][value], d.profile, func(counters.Label) bool { return true })
		}
		listing := make(map[string]int64)
		for value := range d.labels[label] {
			for _, p := range of(value) {
				listing[value] = max(listing[value], p.Hosts())
			}
		}
		values := counters.Ranked(listing)
		left := len(values) - mostValued
		values = values[:min(len(values), mostValued)]
		if len(values) < 2 || len(agents) == 0 {
			continue
		}
		slices.Sort(values)
		f := &draw.Figure{
			ID: "coverage-label-" + strconv.Itoa(i+1), Head: []string{"value"},
			Of: fmt.Sprintf("Medians of the share of what hosts list that they let the agent fetch, by %s: the darker, the "+
				"less.", visible.Text(label)),
		}
		d.medians(f, values, visible.Text, of)
		if left > 0 {
			f.Note += fmt.Sprintf(" And %s: those of fewest hosts that list pages.", words.Count(int64(left), "more value"))
		}
		f.Title = spreadTitle("By "+visible.Text(label)+", of what hosts list", agents, values,
			func(value string) string { return "those with " + visible.Text(value) }, of)
		f.SQL = medianSQL("value", fmt.Sprintf("%s AND value IN (%s)", d.fromLabel(label, "coverage", true),
			counters.QuoteAll(values)), agents, "value")
		out = append(out, f)
	}
	return out
}

// spreadTitle tells the agent whose median differs most from group to group.
func spreadTitle(begin string, agents, groups []string, names func(string) string,
	of func(group string) map[string]summary.Percents) string {
	type end struct {
		percent int64
		group   string
	}
	best, lowest, highest := "", end{}, end{}
	least, most := int64(100), int64(0) // of any agent
	for _, agent := range agents {
		var low, high end
		for i, group := range groups {
			m := of(group)[agent].Quartiles()[1]
			if i == 0 || m < low.percent {
				low = end{m, group}
			}
			if i == 0 || m > high.percent {
				high = end{m, group}
			}
		}
		least, most = min(least, low.percent), max(most, high.percent)
		if best == "" || high.percent-low.percent > highest.percent-lowest.percent {
			best, lowest, highest = agent, low, high
		}
	}
	if lowest.percent == highest.percent {
		all := fmt.Sprintf("%s, each agent may fetch the same median share in all groups: ", begin)
		if least == most {
			return fmt.Sprintf("%s%d%%", all, least)
		}
		return fmt.Sprintf("%s%d%% to %d%%, by agent", all, least, most)
	}
	return strings.TrimSpace(fmt.Sprintf("%s, %s may fetch a median of %d%% at %s, and %d%% at %s", begin, best,
		lowest.percent, names(lowest.group), highest.percent, names(highest.group)))
}

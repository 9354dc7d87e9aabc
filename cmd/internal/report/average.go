package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/views"
)

// allAgents is the row of [data.beforeAverage] that adds up its categories.
const allAgents = "all"

// knownOf returns the hosts whose policy for an agent is known, by its classes.
func knownOf(classes map[string]int64) (n int64) {
	for class, hosts := range classes {
		if class != "unknown" {
			n += hosts
		}
	}
	return n
}

// beforeAverage says what the average host did: how many agents of each category it shuts
// out, before and after, and how many hosts changed nothing for any agent.
func (d *data) beforeAverage() *draw.Figure {
	if d.before == nil {
		return nil
	}
	type shutOut struct {
		agents   int64
		n, known [2]int64 // hosts that shut an agent out, and hosts whose policy is known, added up over the agents
	}
	ofAgent := func(l counters.Label) string { return l.Agent }
	before, after, category := d.before.sums.Pivot("policy", d.profile, ofAgent),
		d.sums.Pivot("policy", d.profile, ofAgent), d.sums.Agents(d.profile)
	by := map[string]shutOut{allAgents: {}}
	for agent, n := range after {
		was, ok := before[agent]
		if !ok {
			continue
		}
		for _, c := range []string{allAgents, category[agent]} {
			s := by[c]
			s.agents++
			s.n[0] += was["disallow_all"]
			s.n[1] += n["disallow_all"]
			s.known[0] += knownOf(was)
			s.known[1] += knownOf(n)
			by[c] = s
		}
	}
	all := by[allAgents]
	if all.agents == 0 {
		return nil
	}
	// An outage says nothing of what a host shuts out: it is no 0.
	const base = "hosts whose policy is known"
	of := [2]int64{all.known[0] / all.agents, all.known[1] / all.agents}
	mean := func(n, of int64) string { return fmt.Sprintf("%.1f", float64(n)/float64(max(1, of))) }
	f := &draw.Figure{
		ID: "before-average", Of: fmt.Sprintf("Agents that a host shuts out on average, of %s of %s and %s of %s.",
			words.The(of[0], base), d.before.date, words.The(of[1], base), words.Day(d.manifest.Date)),
		Note: "A mean over hosts, of the agents that both runs have: a host that shuts out all of them counts as much " +
			"as many that shut out one each.",
		Legend: d.beforeLegend(), Head: []string{"category", "agents", "before", "after", "of_before", "of_after"},
		Names: func(category string) string {
			if category == allAgents {
				return "all agents"
			}
			return words.Category.Of(category)
		},
		Title: fmt.Sprintf("The average host shuts out %s → %s of %s", mean(all.n[0], of[0]), mean(all.n[1], of[1]),
			words.Count(all.agents, "agent")),
	}
	if hosts, same := d.changes.Compared(); hosts > 0 {
		every := "every agent"
		if len(d.changes.Notes) > 0 {
			every += " that was compared"
		}
		f.Title += fmt.Sprintf("; at %s whose policies were compared %s may fetch the same as before",
			words.OfHosts(same, hosts), every)
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(-isFirst(a == allAgents, b == allAgents), cmp.Compare(a, b))
	})
	for _, c := range names {
		s := by[c]
		of := [2]int64{s.known[0] / s.agents, s.known[1] / s.agents}
		f.AddRow([]string{c}, s.agents, s.n[0], s.n[1], of[0], of[1])
		var tracks []draw.Track
		for i, name := range []string{"before", "after"} {
			tracks = append(tracks, draw.Track{
				Label: name, Whole: of[i] * s.agents,
				Shares: []draw.Share{{Class: beforeClasses[i], Name: name + ", hosts × agents", N: s.n[i]}},
				Values: []string{mean(s.n[i], of[i]) + " of " + words.Number(s.agents)},
			})
		}
		f.AddBar(f.Cell(0, c), words.Count(s.agents, "agent"), tracks...)
	}
	f.Fit("the agents")
	f.SQL = fmt.Sprintf(`WITH agents AS (SELECT agent, any_value(category) FILTER (run = %[2]s) AS category,
    coalesce(sum(count) FILTER (run = %[1]s AND key = 'disallow_all'), 0) AS before,
    coalesce(sum(count) FILTER (run = %[2]s AND key = 'disallow_all'), 0) AS after,
    coalesce(sum(count) FILTER (run = %[1]s AND key <> 'unknown'), 0) AS known_before,
    coalesce(sum(count) FILTER (run = %[2]s AND key <> 'unknown'), 0) AS known_after
  FROM history.summary WHERE run IN (%[1]s, %[2]s) AND metric = 'policy' AND profile = %[3]s
  GROUP BY agent HAVING count(DISTINCT run) = 2)
SELECT coalesce(category, '%[4]s') AS category, count(*) AS agents,
  sum(before)::BIGINT AS before, sum(after)::BIGINT AS after,
  (sum(known_before)::BIGINT // count(*))::BIGINT AS of_before,
  (sum(known_after)::BIGINT // count(*))::BIGINT AS of_after
FROM agents GROUP BY GROUPING SETS ((), (category)) ORDER BY grouping(agents.category) DESC, category`,
		views.Quote(d.against), views.Quote(d.run), views.Quote(d.profile), allAgents)
	return f
}

package report

import (
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// intervals shows how sure the shares are of the agents that most hosts shut out.
func (d *data) intervals() *draw.Figure {
	fates := d.sums.Fates(d.profile)
	agents := leadingFates(fates, mostRanked, func(a counters.Fate) int64 { return a.Closed })
	if len(agents) == 0 || d.hosts == 0 {
		return nil
	}
	f := &draw.Figure{
		ID:   "intervals",
		Of:   "Shares of the hosts whose policy for the agent is known that shut it out, with the interval of 95%.",
		Head: []string{"agent", "shut_out", "known"},
		Note: "The interval holds the true share in 95% of samples, if the hosts were drawn at random, one by one: " +
			"Wilson's score interval. A list that is no sample, such as the first million of a ranking, has no such error. " +
			"Several hosts of one registered domain make it wider: robocensus series --clustered --agent NAME allows for " +
			"that. Each interval is by itself; with many, one in twenty misses.",
	}
	var all []draw.Spread
	var names []string
	for i, a := range agents {
		share, low, high := summary.ShareOf(a.Closed, a.Known)
		said := words.Share(low) + " to " + words.Share(high)
		if i == 0 {
			lead := a.Agent + " is shut out by "
			if most := namesOf(fates, func(b counters.Fate) bool { return b.Closed == a.Closed }); len(most) > 1 {
				lead = words.Tied(most, "agents") + " are shut out most often, each by "
			}
			f.Title = lead + words.OfCount(a.Closed, a.Known, d.noun()) +
				" whose policy is known; if these are a sample, by " + said + " of all"
		}
		all = append(all, draw.Spread{Name: a.Agent, Sub: words.Category.Of(a.Category), At: share, Low: low, High: high,
			Class: "closed", Value: words.Percent(a.Closed, a.Known) + ", " + said})
		names = append(names, a.Agent)
		f.AddRow([]string{a.Agent}, a.Closed, a.Known)
	}
	f.Forest(all, false)
	f.SQL = fmt.Sprintf(`SELECT agent,
  coalesce(sum(count) FILTER (metric = 'policy' AND key = 'disallow_all'), 0)::BIGINT AS shut_out,
  coalesce(sum(count) FILTER (metric = 'policy' AND key <> 'unknown'), 0)::BIGINT AS known
FROM (SELECT agent, key, count, metric %s)
WHERE agent IN (%s)
GROUP BY agent ORDER BY shut_out DESC, coalesce(sum(count) FILTER (metric = 'policy_explicit'), 0) DESC, agent`,
		d.from("policy policy_explicit", true), counters.QuoteAll(names))
	return f
}

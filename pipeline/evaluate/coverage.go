package evaluate

import (
	"strings"

	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// covered is how much of a sample those agents may fetch whose verdicts are the same.
type covered struct {
	verdicts [len(summary.ValueNames)]int32
	rule     int            // of the file: the one that closes most, -1 for none
	example  int            // the first URL that it closes, or that is closed; -1 for none
	causes   map[string]int // the first URL that each cause closes
}

// coverage writes the rows of a target's coverage, and counts them. All agents that follow
// the same groups are one question.
func (e *Evaluator) coverage(row *schema.Fetch, listed *target.Listed, stratum string, counts bool,
	out *sink.Segment) error {
	if len(listed.URLs) == 0 {
		return nil
	}
	total := differentPages(listed)
	targets := make([][]robots.Target, len(e.readings)) // of the sample, per reading
	known := make(map[following]*covered)
	e.covers = e.covers[:0]
	for k := range e.columns {
		for i := range e.config.Agents {
			at, r := e.columns[k].of[i], e.under(k, i)
			of := e.follows(at, i)
			c := known[of]
			if c == nil {
				if targets[at] == nil {
					targets[at] = make([]robots.Target, len(listed.URLs))
					for u := range listed.URLs {
						targets[at][u] = r.profile.Target(listed.URLs[u].URL)
					}
				}
				c = e.cover(at, i, targets[at])
				known[of] = c
			}
			e.covers = append(e.covers, e.coverageRow(row, k, i, total, c, listed))
			if counts {
				e.countCoverage(&e.covers[len(e.covers)-1], stratum, k, i, c, listed)
			}
		}
	}
	return out.Coverage.Write(e.covers...)
}

// differentPages returns the number of different pages that a host lists. A run of an earlier
// version does not have it; then each counts as often as it stands there.
func differentPages(listed *target.Listed) int64 {
	different, all := int64(0), int64(0)
	for i := range listed.Files {
		different, all = different+listed.Files[i].URLsNew, all+listed.Files[i].URLsRead
	}
	if different == 0 {
		different = all
	}
	return max(different, int64(len(listed.URLs)))
}

// cover judges a sample for an agent.
func (e *Evaluator) cover(reading, agent int, targets []robots.Target) *covered {
	c := &covered{rule: -1, example: -1, causes: make(map[string]int)}
	r := &e.readings[reading]
	closed := make(map[int]int32) // per rule
	firsts := make(map[int]int)
	for u := range targets {
		v := e.verdictOn(reading, agent, &targets[u])
		c.verdicts[v.Value]++
		if v.Value != robots.Disallowed {
			continue
		}
		rule, cause := int(v.Rule), summary.CauseNoRule
		if rule >= 0 {
			cause = causeOf(string(r.file.Rules[rule].Pattern))
		}
		if _, ok := c.causes[cause]; !ok {
			c.causes[cause] = u
		}
		if _, ok := firsts[rule]; !ok {
			firsts[rule] = u
		}
		closed[rule]++
	}
	for rule, n := range closed {
		if rule >= 0 && (c.rule < 0 || n > closed[c.rule] || n == closed[c.rule] &&
			r.file.Rules[rule].Line < r.file.Rules[c.rule].Line) {
			c.rule = rule
		}
	}
	if first, ok := firsts[c.rule]; ok {
		c.example = first
	}
	return c
}

// causeOf returns the kind of a rule.
func causeOf(pattern string) string {
	switch {
	case pattern == "/" || pattern == "*" || pattern == "/*":
		return summary.CauseAll
	case strings.Contains(pattern, "?"):
		return summary.CauseQuery
	case strings.ContainsAny(strings.TrimRight(pattern, "*"), "*$"):
		return summary.CauseWildcard
	case strings.HasSuffix(strings.TrimRight(pattern, "*"), "/"):
		return summary.CauseFolder
	}
	return summary.CausePath
}

func (e *Evaluator) coverageRow(row *schema.Fetch, k, agent int, total int64, c *covered,
	listed *target.Listed) schema.Coverage {
	r := e.under(k, agent)
	out := schema.Coverage{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, Agent: e.config.Agents[agent].Name,
		Category: e.config.Agents[agent].Category,
		Profile:  e.columns[k].name, JudgedBy: r.profile.Name, Class: summary.ClassNames[r.classIn(agent)],
		Listed: total, Sampled: int32(len(listed.URLs)), Allowed: c.verdicts[robots.Permitted],
		Disallowed: c.verdicts[robots.Disallowed], Undefined: c.verdicts[robots.Undefined],
	}
	if c.rule >= 0 {
		_, out.RulePattern, out.RuleLine = r.cells(int32(c.rule))
	}
	if c.example >= 0 {
		out.Example = &listed.URLs[c.example].URL
	}
	return out
}

// SearchEngines are the agents to which nobody closes on purpose what a sitemap lists.
var SearchEngines = []string{"Googlebot", "bingbot"}

// countCoverage counts a row of coverage.
func (e *Evaluator) countCoverage(row *schema.Coverage, stratum string, k, agent int, c *covered,
	listed *target.Listed) {
	e.counts.AddAgent("coverage", stratum, k, agent, summary.CoverageKey(row.Allowed, row.Sampled))
	e.counts.AddAgent("coverage_closed", stratum, k, agent, row.Class+" "+summary.ClosedBand(row.Disallowed, row.Sampled))
	if k > 0 || row.Disallowed == 0 || row.Agent != SearchEngines[0] && row.Agent != SearchEngines[1] {
		return
	}
	e.counts.AddAgent("listed_closed", stratum, k, agent, "any")
	for cause, u := range c.causes {
		e.counts.AddAgent("listed_closed", stratum, k, agent, cause)
		if key := row.Agent + " " + cause; e.examples.Wants("listed_closed", key) {
			r := e.under(k, agent)
			v := e.verdictOn(e.columns[k].of[agent], agent, new(r.profile.Target(listed.URLs[u].URL)))
			e.examples.Add("listed_closed", key, r.lineOf(v), listed.URLs[u].URL)
		}
	}
}

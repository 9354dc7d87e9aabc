package series

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Listed is how much of what they list in sitemaps hosts let an agent fetch, run by run.
type Listed struct {
	Agent   string        `json:"agent"`
	Stratum string        `json:"stratum"`
	Runs    []ListedStage `json:"runs"`
}

// ListedStage is a run of a [Listed]: the quartiles of the percentages of hosts, and the
// interval of 95 % of the median, as that of a simple sample of hosts. The percentage of a host
// is that of a sample of its pages, which the interval does not allow for. All are nil where no
// host lists pages.
type ListedStage struct {
	Run    string    `json:"run"`
	Date   time.Time `json:"date"`
	Hosts  int64     `json:"hosts"`  // that list pages
	Closed int64     `json:"closed"` // hosts whose sitemaps are closed to the census: nobody knows what they list
	Lower  *int64    `json:"lower_quartile"`
	Median *int64    `json:"median"`
	Upper  *int64    `json:"upper_quartile"`
	Low    *int64    `json:"low"`
	High   *int64    `json:"high"`
	WhyNot *string   `json:"why_not"` // it cannot be compared with the run before
}

// listedBy is a figure of what hosts list.
type listedBy struct{ stratum, agent, profile string }

// listedRun is a run of the figures about what hosts list.
type listedRun struct {
	run    string
	date   time.Time
	of     map[listedBy]summary.Percents
	closed map[string]int64                   // by stratum
	whyNot func(agent, stratum string) string // nil for the first run
}

// addListed adds a counter of the metric coverage.
func (r *countedRun) addListed(c summary.Count) {
	percent, err := strconv.ParseInt(c.Key, 10, 64)
	if err != nil {
		return // of a stranger
	}
	for _, stratum := range strataOf(c) {
		k := listedBy{stratum, c.Agent, c.Profile}
		if r.listed[k] == nil {
			r.listed[k] = make(summary.Percents)
		}
		r.listed[k][percent] += c.N
	}
}

// strataOf returns the strata of the series in which a counter counts.
func strataOf(c summary.Count) []string {
	if isLabel(c.Stratum) {
		return []string{c.Stratum}
	}
	return []string{c.Stratum, All}
}

// listed returns the runs of the figures about what hosts list, nil if none has any.
func (p *pointMaker) listed() (out []listedRun) {
	if !slices.ContainsFunc(p.runs, func(r *countedRun) bool { return len(r.listed) > 0 }) {
		return nil
	}
	last := -1
	for i, r := range p.runs {
		if !r.Counted["sitemap_host"] || len(p.Profiles) > 0 && !slices.Contains(r.Profiles, p.Profiles[0]) {
			continue // it says nothing of what hosts list
		}
		l := listedRun{run: r.ID(), date: r.Date, of: r.listed, closed: r.closed}
		if last >= 0 {
			n := p.pairs[i]
			if last < i-1 {
				n = newNeighbours(p.runs[last], r, p.Profiles)
			}
			l.whyNot = func(agent, stratum string) string {
				return cmp.Or(n.whyNot(id{metric: "coverage", agent: agent, profile: p.Profiles[0]}, stratum), n.Sitemaps())
			}
		}
		out, last = append(out, l), i
	}
	return out
}

// Listed returns how much of what they list hosts let agents fetch, under the first profile, in
// each stratum of the series that has such hosts. Hosts are all of a run, also where the series
// has a panel.
func (r *Result) Listed(agents []string) []Listed {
	out := []Listed{}
	if len(r.Profiles) == 0 {
		return out
	}
	for _, agent := range agents {
		for _, stratum := range r.strata {
			l := Listed{Agent: agent, Stratum: stratum}
			any := false
			for _, run := range r.listed {
				of := run.of[listedBy{stratum, agent, r.Profiles[0]}]
				s := ListedStage{Run: run.run, Date: run.date, Hosts: of.Hosts(), Closed: run.closed[stratum]}
				if s.Hosts > 0 {
					any = true
					q := of.Quartiles()
					_, low, high := of.Median()
					s.Lower, s.Median, s.Upper, s.Low, s.High = &q[0], &q[1], &q[2], &low, &high
				}
				if run.whyNot != nil {
					s.WhyNot = schema.NonZero(run.whyNot(agent, stratum))
				}
				l.Runs = append(l.Runs, s)
			}
			if any {
				out = append(out, l)
			}
		}
	}
	return out
}

package series

import (
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Met is how often hosts turn an identity away from a page, run by run, where robots.txt says one
// thing to its agent.
type Met struct {
	Agent    string     `json:"agent"`
	Identity string     `json:"identity"`
	Paper    string     `json:"paper"` // as the column of answers has it
	Stratum  string     `json:"stratum"`
	Runs     []MetStage `json:"runs"`
}

// MetStage is a run of a [Met]. Beyond is how much more often hosts turn the identity away than the
// control when it asks again, with the interval of 95 % for shares of the same hosts; nil without
// a host to compare.
type MetStage struct {
	Run         string    `json:"run"`
	Date        time.Time `json:"date"`
	Hosts       int64     `json:"hosts"` // that served the page to the control, and of which the identity asked for it
	TurnedAway  int64     `json:"turned_away"`
	ControlAway int64     `json:"control_turned_away"`
	Beyond      *float64  `json:"beyond"`
	Low         *float64  `json:"low"`
	High        *float64  `json:"high"`
	WhyNot      *string   `json:"why_not"` // it cannot be compared with the run before
}

// metOn is a figure of what identities meet on pages: of an identity and what robots.txt says, as
// the key of its point.
type metOn struct{ stratum, profile, key string }

// pagesRun is a run of these figures.
type pagesRun struct {
	run        string
	date       time.Time
	identities map[string]past.Identity
	of         map[metOn]*summary.Practice
	whyNot     func(k id, stratum string) string // nil for the first run
}

// pages returns the runs of the figures about pages, nil if none has any.
func (p *pointMaker) pages() (out []pagesRun) {
	if !slices.ContainsFunc(p.runs, func(r *countedRun) bool { return r.Counted["page_met"] }) {
		return nil
	}
	for i, r := range p.runs {
		at := pagesRun{run: r.ID(), date: r.Date, identities: r.Identities, of: r.practices}
		if i > 0 {
			at.whyNot = p.pairs[i].whyNot
		}
		out = append(out, at)
	}
	return out
}

// Pages returns how often hosts turn the identities of agents away from a page, under the first
// profile, in each stratum of the series that has such hosts.
func (r *Result) Pages(agents []string) []Met {
	out := []Met{}
	if len(r.Profiles) == 0 {
		return out
	}
	agentOf, keys := make(map[string]string), make([]string, 0)
	for _, run := range r.pages {
		for k := range run.of {
			identity, _, _ := strings.Cut(k.key, " ")
			if agent := run.identities[identity].Agent; slices.Contains(agents, agent) && k.profile == r.Profiles[0] {
				agentOf[k.key] = agent // of the last run that has it
				keys = append(keys, k.key)
			}
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		x, paperX, _ := strings.Cut(a, " ")
		y, paperY, _ := strings.Cut(b, " ")
		if x != y {
			return strings.Compare(x, y)
		}
		return slices.Index(summary.Papers, paperX) - slices.Index(summary.Papers, paperY)
	})
	for _, agent := range agents {
		for _, key := range slices.Compact(keys) {
			if agentOf[key] != agent {
				continue
			}
			identity, paper, _ := strings.Cut(key, " ")
			for _, stratum := range r.strata {
				m := Met{Agent: agent, Identity: identity, Paper: paper, Stratum: stratum}
				if r.met(&m, key) {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// met sets the runs of a figure; it reports whether one has hosts.
func (r *Result) met(m *Met, key string) (any bool) {
	for _, run := range r.pages {
		s := MetStage{Run: run.run, Date: run.date}
		if p := run.of[metOn{m.Stratum, r.Profiles[0], key}]; p != nil {
			any = true
			s.Hosts, s.TurnedAway, s.ControlAway = p.Compared(), p.TurnedAway(), p.Once+p.Both
			d, low, high := summary.PairedShares(p.Both, p.Away, p.Once, p.Neither, summary.Normal95)
			s.Beyond, s.Low, s.High = &d, &low, &high
		}
		if run.whyNot != nil {
			s.WhyNot = schema.NonZero(run.whyNot(id{metric: "page_met", profile: r.Profiles[0]}, m.Stratum))
		}
		m.Runs = append(m.Runs, s)
	}
	return any
}

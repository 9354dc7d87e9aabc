package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// earlier holds the counters of the run that the page compares with.
type earlier struct {
	sums         sums
	hosts, files int64
	date         string // or its ID, if the date is that of the later run
}

// readEarlier reads the counters of run against. It returns nil if the run is gone, or
// has no counters under the profile.
func readEarlier(ctx context.Context, in store.Store, against, profile, date string) (*earlier, error) {
	m, err := sink.ReadManifestHead(in, against)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !slices.Contains(m.Tables, "summary") || !slices.Contains(m.Profiles, profile) || !m.Complete() {
		return nil, nil
	}
	counts, err := summary.Read(ctx, in, m)
	if err != nil {
		return nil, err
	}
	e := &earlier{sums: make(sums), date: date}
	for _, c := range counts.List() {
		e.sums.add(c)
	}
	e.hosts = e.sums.total("targets")
	e.files = e.sums.by("outcome", profile, key)["conditional_allow"]
	if e.hosts == 0 || e.files == 0 {
		return nil, nil
	}
	return e, nil
}

// outage is the difference between the shares of hosts without a known policy from which
// on shares of all hosts cannot be compared (see pipeline/series).
const outage = 0.02

// unknown returns the share of hosts whose policy an outage hides.
func unknown(s sums, profile string, hosts int64) float64 {
	outcomes := s.by("outcome", profile, key)
	return float64(outcomes["full_disallow"]+outcomes["undefined"]) / float64(max(1, hosts))
}

// byRules reports whether the shares before and after are of the hosts with rules: an
// outage in one of the runs lowers shares of all hosts.
func (d *data) byRules() bool {
	return math.Abs(unknown(d.sums, d.profile, d.hosts)-unknown(d.before.sums, d.profile, d.before.hosts)) >= outage
}

// moved is a number of hosts in two runs.
type moved struct {
	name, sub string
	n         [2]int64 // before, after
}

// beforeAfter draws shares of two runs in pairs. metric and condition choose the counters
// of both, and head names the label. title says what the shares of the first are.
func (d *data) beforeAfter(f *figure, head, metric, condition, order string, all []moved, title func(shares string) string) *figure {
	of, base := [2]int64{d.before.hosts, d.hosts}, "hosts"
	whole := "metric = 'targets'"
	if d.byRules() {
		of, base = [2]int64{d.before.files, d.files}, "hosts with rules"
		whole = "metric = 'outcome' AND key = 'conditional_allow' AND profile = " + quote(d.profile)
	}
	f.Title = title(words.Arrow(all[0].n[0], of[0], all[0].n[1], of[1]) + " of " + base)
	f.Of = fmt.Sprintf("Shares of the %s %s of %s and the %s of %s.", count(of[0]), base, d.before.date, count(of[1]), day(d.manifest.Date))
	if base != "hosts" {
		f.Note = "Hosts with rules are those whose rules decide: an outage in one of the runs lowers shares of all hosts. Those that it hides may be of another kind; who lost and who moved, below, is counted host by host. " + f.Note
	}
	f.Legend = []legend{{"star", d.before.date}, {"closed", day(d.manifest.Date)}}
	f.Head = []string{head, "before", "after", "of_before", "of_after"}
	scale := int64(1)
	for _, m := range all {
		scale = max(scale, scaleFor(m.n[0], of[0]), scaleFor(m.n[1], of[1]))
	}
	f.Axis = fmt.Sprintf("%d%% of %s", scale, base)
	for i, m := range all {
		f.Rows = append(f.Rows, []string{m.name, number(m.n[0]), number(m.n[1]), number(of[0]), number(of[1])})
		if i < barsDrawn {
			f.Bars = append(f.Bars, bar{Name: f.Cell(0, m.name), Sub: m.sub, Tracks: []track{
				{"before", parts(scale, of[0], share{"star", "before", m.n[0]}), []string{percent(m.n[0], of[0])}},
				{"after", parts(scale, of[1], share{"closed", "after", m.n[1]}), []string{percent(m.n[1], of[1])}},
			}})
		}
	}
	runs := func(run string) string { return "run = " + quote(run) }
	sum := func(run string) string {
		return fmt.Sprintf("coalesce(sum(count) FILTER (%s AND %s), 0)::BIGINT", runs(run), condition)
	}
	total := func(run string) string {
		return fmt.Sprintf("(SELECT sum(count) FROM history.summary WHERE %s AND %s)::BIGINT", runs(run), whole)
	}
	f.SQL = fmt.Sprintf("FROM (SELECT %s,\n    %s AS before,\n    %s AS after,\n    %s AS of_before,\n    %s AS of_after\n  FROM history.summary WHERE run IN (%s, %s) AND metric = %s AND profile = %s\n  GROUP BY %[1]s HAVING count(DISTINCT run) = 2 AND before + after > 0)\nORDER BY %[10]s, %[1]s",
		head, sum(d.against), sum(d.run), total(d.against), total(d.run), quote(d.against), quote(d.run), quote(metric), quote(d.profile), order)
	return f
}

// beforeCategories shows how many hosts shut out an agent of each category, before and
// after. The category of the headline leads.
func (d *data) beforeCategories() *figure {
	if d.before == nil {
		return nil
	}
	closed := func(s sums) map[string]int64 {
		out := make(map[string]int64)
		for category, n := range s.pivot("category", d.profile, func(l label) string { return l.category }) {
			out[category] = n["all"] + n["some"]
		}
		return out
	}
	var all []moved
	before, after := closed(d.before.sums), closed(d.sums)
	for category, n := range after {
		if was, ok := before[category]; ok && n+was > 0 {
			all = append(all, moved{name: category, n: [2]int64{was, n}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b moved) int {
		return cmp.Or(-isFirst(a.name == headline, b.name == headline), cmp.Compare(b.n[1], a.n[1]), cmp.Compare(b.n[0], a.n[0]), cmp.Compare(a.name, b.name))
	})
	return d.beforeAfter(&figure{
		ID: "before-categories", Names: words.Category.Of,
		Note: "A host counts where its file lets at least one agent of the category fetch nothing, by name or by the group for all (*). Categories that both runs have.",
	}, "category", "category", "key IN ('all', 'some')", "category = "+quote(headline)+" DESC, after DESC, before DESC", all, func(shares string) string {
		if all[0].name == headline {
			return shares + " shut out an agent for AI training"
		}
		return shares + " shut out an agent of the category " + words.Category.Of(all[0].name)
	})
}

// isFirst orders what holds before what does not.
func isFirst(a, b bool) int {
	switch {
	case a && !b:
		return 1
	case b && !a:
		return -1
	}
	return 0
}

// beforeAgents shows how many hosts shut out each agent, before and after: those that
// moved most come first.
func (d *data) beforeAgents() *figure {
	if d.before == nil {
		return nil
	}
	ofAgent := func(l label) string { return l.agent }
	before, after, category := d.before.sums.pivot("policy", d.profile, ofAgent), d.sums.pivot("policy", d.profile, ofAgent), d.sums.agents(d.profile)
	var all []moved
	for agent, n := range after {
		if was, ok := before[agent]; ok && n["disallow_all"]+was["disallow_all"] > 0 {
			all = append(all, moved{agent, words.Category.Of(category[agent]), [2]int64{was["disallow_all"], n["disallow_all"]}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	of := [2]int64{d.before.hosts, d.hosts}
	if d.byRules() {
		of = [2]int64{d.before.files, d.files}
	}
	// By the difference of the shares, in whole numbers, so that equal ones are equal.
	by := func(m moved) int64 {
		d := m.n[1]*of[0] - m.n[0]*of[1]
		return max(d, -d)
	}
	slices.SortFunc(all, func(a, b moved) int { return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a.name, b.name)) })
	var most []string // that moved as far, and those of them with the same shares
	same := 0
	for _, m := range all {
		if by(m) == by(all[0]) {
			most = append(most, m.name)
			if m.n == all[0].n {
				same++
			}
		}
	}
	return d.beforeAfter(&figure{
		ID:   "before-agents",
		Note: "Agents that both runs have and that some host shuts out, the greatest difference first: by name, by the name of a crawler that they follow, or by the group for all (*).",
	}, "agent", "policy", "key = 'disallow_all'", "abs(after * of_before - before * of_after) DESC", all, func(shares string) string {
		switch {
		case by(all[0]) == 0:
			return "No agent is shut out by another share of hosts than before"
		case same == len(most) && same > 1:
			return fmt.Sprintf("%s moved most: %s shut each of them out", tied(most, "agents"), shares)
		case len(most) > 1:
			return fmt.Sprintf("%s moved most, such as %s: %s shut it out", counted(int64(len(most)), "agent"), all[0].name, shares)
		}
		return fmt.Sprintf("%s moved most: %s shut it out", all[0].name, shares)
	})
}

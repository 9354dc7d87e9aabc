package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// earlier holds the counters of the run that the page compares with.
type earlier struct {
	sums         counters.Sums
	hosts, files int64
	date         string // or its ID, if the date is that of the later run
}

// readEarlier reads the counters of run against. It returns nil if the run is gone, or
// has no counters under the profile.
func readEarlier(ctx context.Context, in store.Store, against, profile, date string) (*earlier, error) {
	m, err := journal.ReadManifestHead(in, against)
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
	e := &earlier{sums: counters.Of(counts), date: date}
	e.hosts = e.sums.Total("targets")
	e.files = e.sums.Decided(profile).Rules()
	if e.hosts == 0 || e.files == 0 {
		return nil, nil
	}
	return e, nil
}

// outage is the share of hosts without a known policy from which on shares of all hosts cannot
// be compared: as many may be hidden in the other run, and be others.
const outage = 0.02

// unknown returns the share of hosts whose policy an outage or a wall hides.
func unknown(s counters.Sums, profile string, hosts int64) float64 {
	return float64(s.Decided(profile).Unknown()) / float64(max(1, hosts))
}

// byRules reports whether the shares before and after are of the hosts with rules: an
// outage in one of the runs lowers shares of all hosts.
func (d *data) byRules() bool {
	return max(unknown(d.sums, d.profile, d.hosts), unknown(d.before.sums, d.profile, d.before.hosts)) >= outage
}

// moved is a number of hosts in two runs.
type moved struct {
	name, sub string
	n         [2]int64 // before, after
}

// beforeBase returns the numbers of hosts before and after of which shares are, what they
// are, and the sum of counters that gives them.
func (d *data) beforeBase() (of [2]int64, base, sum string) {
	if d.byRules() {
		return [2]int64{d.before.files, d.files}, "hosts with rules",
			counters.WithRules("profile = " + views.Quote(d.profile))
	}
	return [2]int64{d.before.hosts, d.hosts}, "hosts", "sum(count) FILTER (metric = 'targets')"
}

// beforeClasses are the colours of the runs before and after.
var beforeClasses = [2]string{"star", "closed"}

func (d *data) beforeLegend() []draw.Legend {
	return []draw.Legend{{Class: beforeClasses[0], Name: d.before.date},
		{Class: beforeClasses[1], Name: words.Day(d.manifest.Date)}}
}

// beforeAfter draws shares of two runs in pairs. metric and condition choose the counters
// of both, and head names the label. title says what the shares of the first are.
func (d *data) beforeAfter(f *draw.Figure, head, metric, condition, order string, all []moved,
	title func(shares string) string) *draw.Figure {
	of, base, whole := d.beforeBase()
	f.Title = title(words.ArrowOf(all[0].n[0], of[0], all[0].n[1], of[1], base))
	f.Of = fmt.Sprintf("Shares of %s of %s and %s of %s.", words.The(of[0], base), d.before.date, words.The(of[1], base),
		words.Day(d.manifest.Date))
	if base != "hosts" {
		f.Note = "Hosts with rules are those whose rules decide: an outage in one of the runs lowers shares of all " +
			"hosts. Those that it hides may be of another kind; who lost and who moved, below, is counted host by host. " +
			f.Note
	}
	f.Legend = d.beforeLegend()
	f.Head = []string{head, "before", "after", "of_before", "of_after"}
	for _, m := range all {
		f.AddRow([]string{m.name}, m.n[0], m.n[1], of[0], of[1])
		var tracks []draw.Track
		for i, name := range []string{"before", "after"} {
			tracks = append(tracks, draw.Track{Label: name, Whole: of[i],
				Shares: []draw.Share{{Class: beforeClasses[i], Name: name, N: m.n[i]}},
				Values: []string{words.Percent(m.n[i], of[i])}})
		}
		f.AddBar(f.Cell(0, m.name), m.sub, tracks...)
	}
	f.Fit(base)
	f.Shorten()
	runs := func(run string) string { return "run = " + views.Quote(run) }
	sum := func(run string) string {
		return fmt.Sprintf("coalesce(sum(count) FILTER (%s AND %s), 0)::BIGINT", runs(run), condition)
	}
	total := func(run string) string {
		return fmt.Sprintf("(SELECT %s FROM history.summary WHERE %s)::BIGINT", whole, runs(run))
	}
	f.SQL = fmt.Sprintf("FROM (SELECT %s,\n    %s AS before,\n    %s AS after,\n    %s AS of_before,\n"+
		"    %s AS of_after\n  FROM history.summary WHERE run IN (%s, %s) AND metric = %s AND profile = %s\n"+
		"  GROUP BY %[1]s HAVING count(DISTINCT run) = 2 AND before + after > 0)\nORDER BY %[10]s, %[1]s",
		head, sum(d.against), sum(d.run), total(d.against), total(d.run), views.Quote(d.against), views.Quote(d.run),
		views.Quote(metric), views.Quote(d.profile), order)
	return f
}

// beforeCategories shows how many hosts shut out an agent of each category, before and
// after. The category of the headline leads.
func (d *data) beforeCategories() *draw.Figure {
	if d.before == nil {
		return nil
	}
	closed := func(s counters.Sums) map[string]int64 {
		out := make(map[string]int64)
		for category, n := range s.Pivot("category", d.profile, func(l counters.Label) string { return l.Category }) {
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
		return cmp.Or(-isFirst(a.name == counters.Headline, b.name == counters.Headline), cmp.Compare(b.n[1], a.n[1]),
			cmp.Compare(b.n[0], a.n[0]), cmp.Compare(a.name, b.name))
	})
	return d.beforeAfter(&draw.Figure{
		ID: "before-categories", Names: words.Category.Of,
		Note: "A host counts where its file lets at least one agent of the category fetch nothing, by name or by the " +
			"group for all (*). Categories that both runs have.",
	}, "category", "category", "key IN ('all', 'some')", "category = "+views.Quote(counters.Headline)+
		" DESC, after DESC, before DESC", all, func(shares string) string {
		if all[0].name == counters.Headline {
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
func (d *data) beforeAgents() *draw.Figure {
	if d.before == nil {
		return nil
	}
	ofAgent := func(l counters.Label) string { return l.Agent }
	before, after, category := d.before.sums.Pivot("policy", d.profile, ofAgent),
		d.sums.Pivot("policy", d.profile, ofAgent), d.sums.Agents(d.profile)
	var all []moved
	for agent, n := range after {
		if was, ok := before[agent]; ok && n["disallow_all"]+was["disallow_all"] > 0 {
			all = append(all, moved{agent, words.Category.Of(category[agent]), [2]int64{was["disallow_all"], n["disallow_all"]}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	of, _, _ := d.beforeBase()
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
	return d.beforeAfter(&draw.Figure{
		ID: "before-agents",
		Note: "Agents that both runs have and that some host shuts out, the greatest difference first: by name, by the " +
			"name of a crawler that they follow, or by the group for all (*).",
	}, "agent", "policy", "key = 'disallow_all'", "abs(after * of_before - before * of_after) DESC", all,
		func(shares string) string {
			switch {
			case by(all[0]) == 0:
				return "No agent is shut out by another share of hosts than before"
			case same == len(most) && same > 1:
				return fmt.Sprintf("%s moved most: %s shut each of them out", words.Tied(most, "agents"), shares)
			case len(most) > 1:
				return fmt.Sprintf("%s moved most, such as %s: %s shut it out", words.Count(int64(len(most)), "agent"),
					all[0].name, shares)
			}
			return fmt.Sprintf("%s moved most: %s shut it out", all[0].name, shares)
		})
}

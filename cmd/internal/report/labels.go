package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
	"github.com/robocensus/robocensus/sink/visible"
)

// Labels are the counters of a run by label, and by value.
type Labels map[string]map[string]counters.Sums

// ReadLabels reads them, those of some labels or, with nil, of all. A run without labels has none.
func ReadLabels(ctx context.Context, in store.Store, m *journal.Manifest, labels []string) (Labels, error) {
	counts, err := summary.ReadByLabel(ctx, in, m, labels)
	if err != nil {
		return nil, err
	}
	out := make(Labels)
	for _, c := range counts.List() {
		v, _ := summary.ParseLabelValue(c.Stratum)
		if out[v.Label] == nil {
			out[v.Label] = make(map[string]counters.Sums)
		}
		if out[v.Label][v.Value] == nil {
			out[v.Label][v.Value] = make(counters.Sums)
		}
		out[v.Label][v.Value].Add(c)
	}
	return out, nil
}

// Names returns the labels, sorted.
func (l Labels) Names() []string { return slices.Sorted(maps.Keys(l)) }

// LabelGroup is the hosts with a value of a label.
type LabelGroup struct {
	Value string
	Sums  counters.Sums
	// HasTraining says that the run judged agents for AI training.
	HasTraining bool
	// Hosts are all. Known are those whose policy is known: of the rest an outage or a wall hides
	// it, and a group with more of these would seem to be more open. Closed are those that shut out
	// an agent for AI training.
	Hosts, Known, Closed int64
	Share, Low, High     float64 // of Closed among Known, with the interval of 95 %
	// Differs is 1 if the share is greater than that of the other hosts with the label by more
	// than chance, -1 if it is less, 0 if it may be chance.
	Differs int
}

// Groups returns the hosts of each value of a label, those with the greatest share first, and
// last those of few hosts.
func (l Labels) Groups(label, profile string) []LabelGroup {
	var all []LabelGroup
	var known, closed int64
	for value, sums := range l[label] {
		keys := sums.Pivot("category", profile, func(l counters.Label) string { return l.Category })[counters.Headline]
		g := LabelGroup{Value: value, Sums: sums, Hosts: sums.Total("targets"), Closed: keys["all"] + keys["some"],
			HasTraining: keys != nil}
		if g.Hosts == 0 {
			continue
		}
		if g.Known = g.Closed + keys["none"]; g.Known > 0 {
			g.Share, g.Low, g.High = summary.ShareOf(g.Closed, g.Known)
		}
		known, closed = known+g.Known, closed+g.Closed
		all = append(all, g)
	}
	for i := range all {
		if g := &all[i]; 0 < g.Known && g.Known < known {
			g.Differs, _, _ = summary.SharesApart(closed-g.Closed, known-g.Known, g.Closed, g.Known, 0.05/float64(len(all)))
		}
	}
	isFew := func(g LabelGroup) int {
		if g.Known < words.Few {
			return 1
		}
		return 0
	}
	slices.SortFunc(all, func(a, b LabelGroup) int {
		return cmp.Or(isFew(a)-isFew(b), cmp.Compare(b.Share, a.Share), cmp.Compare(b.Known, a.Known),
			cmp.Compare(b.Hosts, a.Hosts), cmp.Compare(a.Value, b.Value))
	})
	return all
}

// Difference says in words how a group differs from the rest, "" if that may be chance.
func (g *LabelGroup) Difference() string { return [...]string{"less", "", "more"}[g.Differs+1] }

// Interval returns the interval in words, "" if no policy of the group is known.
func (g *LabelGroup) Interval() string {
	if g.Known == 0 {
		return ""
	}
	return words.Share(g.Low) + " to " + words.Share(g.High)
}

// HowDiffer says how groups were compared.
func HowDiffer(groups int) string {
	return fmt.Sprintf("more, less: than the other hosts with the label whose policies are known, by more than chance "+
		"(95%% for all %d together, Bonferroni; as if the hosts were drawn at random, one by one)", groups)
}

// Folded says that some values are not counted apart, "" if all are.
func Folded(groups []LabelGroup) string {
	if len(groups) <= summary.MostValues ||
		!slices.ContainsFunc(groups, func(g LabelGroup) bool { return g.Value == summary.Other }) {
		return ""
	}
	return "Only the " + words.Number(summary.MostValues) +
		" most frequent values are counted apart; the others are " + summary.Other + "."
}

// labelFigures shows, for each label, what share of the hosts of each value shut out an
// agent for AI training.
func (d *data) labelFigures() (out []*draw.Figure) {
	for i, label := range d.labels.Names() {
		groups := d.labels.Groups(label, d.profile)
		if len(groups) < 2 {
			continue
		}
		name, hosts, known, differ := visible.Text(label), int64(0), int64(0), 0
		var bars []draw.Spread
		f := &draw.Figure{ID: "label-" + strconv.Itoa(i+1), Head: []string{"value", "shut_out", "known", "hosts"}}
		for _, g := range groups {
			hosts, known = hosts+g.Hosts, known+g.Known
			f.AddRow([]string{g.Value}, g.Closed, g.Known, g.Hosts)
			if g.Known == 0 {
				continue
			}
			value := words.Percent(g.Closed, g.Known) + ", " + g.Interval()
			if g.Differs != 0 {
				differ++
				value += ", " + g.Difference()
			}
			bars = append(bars, draw.Spread{Name: visible.Text(g.Value), Sub: words.Number(g.Known) + " of " +
				words.Hosts(g.Hosts), At: g.Share, Low: g.Low, High: g.High, Class: "closed", Value: value})
		}
		if len(bars) < 2 { // nothing to compare
			continue
		}
		first, last := groups[0], groups[len(bars)-1]
		if few := slices.IndexFunc(groups, func(g LabelGroup) bool { return g.Known < words.Few }); few > 1 {
			last = groups[few-1]
		}
		f.Title = fmt.Sprintf("By %s, AI crawlers are shut out by %s with %s, and by %s with %s", name,
			words.ShareOf(first.Closed, first.Known, "hosts"), visible.Text(first.Value),
			words.Percent(last.Closed, last.Known), visible.Text(last.Value))
		f.Of = fmt.Sprintf("Shares of the hosts with each value of %s whose policies are known that "+
			"shut out an agent for AI training, with the interval of 95%%. %s of %s have the label, "+
			"and the policies of %s of these are known.", name, words.Number(hosts), d.all(), words.Number(known))
		f.Note = fmt.Sprintf("%d of %d values differ from the rest. %s. %s", differ, len(groups), HowDiffer(len(groups)),
			Folded(groups))
		f.Forest(bars, false)
		f.SQL = fmt.Sprintf(`SELECT value,
  coalesce(sum(count) FILTER (metric = 'category' AND category = %[1]s AND key IN ('all', 'some')
    AND profile = %[2]s), 0)::BIGINT AS shut_out,
  coalesce(sum(count) FILTER (metric = 'category' AND category = %[1]s AND key <> 'unknown'
    AND profile = %[2]s), 0)::BIGINT AS known,
  sum(count) FILTER (metric = 'targets')::BIGINT AS hosts
%[3]s
GROUP BY value ORDER BY known < %[4]d, coalesce(shut_out / nullif(known, 0), 0) DESC, known DESC, hosts DESC, value`,
			views.Quote(counters.Headline), views.Quote(d.profile), d.fromLabel(label, "targets category", false), words.Few)
		f.Note = strings.TrimSpace(f.Note)
		out = append(out, f)
	}
	return out
}

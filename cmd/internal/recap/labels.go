package recap

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/report"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// Most values and agents that the terminal shows.
const (
	mostGroups  = 30
	mostColumns = 6
)

// WriteByLabel prints how hosts with each value of a label treat AI crawlers.
func WriteByLabel(ctx context.Context, in store.Store, run, label string, incomplete bool, stdout io.Writer) error {
	m, err := cli.RunOf(in, run, incomplete, journal.ReadManifest)
	if err != nil {
		return err
	}
	labels, err := report.ReadLabels(ctx, in, m, []string{label})
	if err != nil {
		return err
	}
	names := labels.Names()
	at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, label) })
	switch {
	case len(names) == 0:
		return cli.Usagef("--by: run %s has no labels: give them to robocensus run with --label or --labels", m.Run)
	case at < 0:
		return cli.Usagef("--by: run %s has no label %q%s: it has %s", m.Run, label, flags.Suggest(label, names),
			strings.Join(names, ", "))
	}
	showGroups(&cli.Text{Out: stdout}, m, names[at], labels.Groups(names[at], m.FirstProfile()))
	return nil
}

func showGroups(p *cli.Text, m *journal.Manifest, label string, groups []report.LabelGroup) {
	hosts, unknown := int64(0), int64(0)
	for _, g := range groups {
		hosts, unknown = hosts+g.Hosts, unknown+g.Hosts-g.Known
	}
	p.Line(fmt.Sprintf("run %s of %s: %s with %s", m.Run, cli.Date(m.Date), words.Count(hosts, "host"),
		p.Foreign(label)))
	if slices.ContainsFunc(groups, func(g report.LabelGroup) bool { return g.HasTraining }) {
		showTraining(p, label, groups, unknown)
	} else {
		p.Line("The registry has no agent for AI training.")
	}
	showAgentsOf(p, m.FirstProfile(), label, groups)
}

// showTraining prints which hosts shut out an agent for AI training, by their group.
func showTraining(p *cli.Text, label string, groups []report.LabelGroup, unknown int64) {
	var rows [][]string
	for _, g := range groups[:min(len(groups), mostGroups)] {
		rows = append(rows, []string{
			p.Foreign(g.Value), words.Number(g.Hosts), words.Number(g.Known), words.Number(g.Closed),
			words.PercentKnown(g.Closed, g.Known), g.Interval(), g.Difference(),
		})
	}
	p.Table("Hosts that shut out an agent for AI training, by "+p.Foreign(label),
		[]string{label, "hosts", "known", "shut out", "share", "interval", "than the rest"}, 1, rows)
	if more := len(groups) - len(rows); more > 0 {
		p.Line(fmt.Sprintf("and %s more with smaller shares: robocensus export label_counts --where label=%s has all",
			words.Number(int64(more)), cli.ShellWord(label)))
	}
	p.Line("known: hosts whose policies are known, of which the shares are")
	if unknown > 0 {
		p.Line(fmt.Sprintf("The policies of %s are unknown.", words.Count(unknown, "host")))
	}
	p.Line(report.HowDiffer(len(groups)))
	if text := report.Folded(groups); text != "" {
		p.Line(text)
	}
}

// showAgentsOf prints the shares of the agents that are shut out most, for the values that most
// hosts have.
func showAgentsOf(p *cli.Text, profile, label string, groups []report.LabelGroup) {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b report.LabelGroup) int { return cmp.Compare(b.Hosts, a.Hosts) })
	shown := groups[:min(len(groups), mostColumns)]
	closed, known := make(map[string]int64), false
	by := make([]map[string]counters.Fate, len(shown))
	for i := range groups {
		of := make(map[string]counters.Fate)
		for _, a := range groups[i].Sums.Fates(profile) {
			of[a.Agent], known = a, known || a.Known > 0
			if a.Closed > 0 {
				closed[a.Agent] += a.Closed
			}
		}
		if i < len(shown) {
			by[i] = of
		}
	}
	agents := counters.Ranked(closed)
	if len(agents) == 0 {
		if known {
			p.Line("\nNo agent is shut out where the policy is known.")
		}
		return
	}
	head := []string{"agent"}
	for _, g := range shown {
		head = append(head, p.Foreign(g.Value))
	}
	var rows [][]string
	for _, agent := range agents[:min(len(agents), topAgents)] {
		row := []string{p.Foreign(agent)}
		for i := range shown {
			row = append(row, words.PercentKnown(by[i][agent].Closed, by[i][agent].Known))
		}
		rows = append(rows, row)
	}
	p.Table("Shut out most often, by "+p.Foreign(label), head, 1, rows)
	counts := make([]int64, len(agents))
	for i, agent := range agents {
		counts[i] = closed[agent]
	}
	if text := words.More(counts, len(rows), "host"); text != "" {
		p.Line(text)
	}
	if more := len(groups) - len(shown); more > 0 {
		p.Line(fmt.Sprintf("of the %d values that most hosts have; there are %s more", len(shown), words.Number(int64(more))))
	}
}

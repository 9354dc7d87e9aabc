package diffs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// mostOfLabel is how many values and agents of a label are told.
const mostOfLabel = 3

// moved counts hosts that shut an agent out since, of some hosts: those of both runs that the later
// one could read.
type moved struct {
	N  int64 `json:"shut_out"`
	Of int64 `json:"hosts"`
}

// A groupMoved says that hosts with a value of a label shut an agent out more often than the
// others with the label did.
type groupMoved struct {
	Label  string  `json:"label"`
	Value  string  `json:"value"`
	Agent  string  `json:"agent"`
	Here   moved   `json:"here"`
	Others moved   `json:"others"`
	Least  float64 `json:"least_difference"` // the lower end of the interval of the difference
}

// text tells it in a sentence.
func (g *groupMoved) text(p cli.Page) string {
	return fmt.Sprintf("%s %s: %s of %s shut %s out since, of the others %s of %s", p.Foreign(g.Label), p.Foreign(g.Value),
		words.Number(g.Here.N), words.Count(g.Here.Of, "host"), p.Foreign(g.Agent), words.Number(g.Others.N),
		words.Number(g.Others.Of))
}

// groupsMoved compares, for each label of the later run, how many hosts with each value shut an
// agent out since, under the first profile; it returns those that did so more often than the
// others by more than chance, the surest first.
func groupsMoved(ctx context.Context, c diff.Config) ([]groupMoved, error) {
	m, err := journal.ReadManifest(c.In, c.After)
	if err != nil || len(m.PartsOf("labels")) == 0 {
		return nil, err
	}
	record, err := journal.ReadComparison(c.In, c.After, c.Before)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the comparison: %w", err)
	}
	uncompared, shut := make(map[string]bool), make(map[string]map[string]bool) // by origin; by agent and origin
	err = rowio.Of(ctx, c.In, []journal.Part{*record.Part},
		rowio.Selection{Columns: []string{"origin", "kind", "agent", "profile", "before", "after"}},
		func(batch []schema.Change) error {
			for i := range batch {
				row := &batch[i]
				out := robots.DisallowAll.String()
				switch {
				case row.Kind == "host_new":
					uncompared[strings.Clone(row.Origin)] = true
				case row.Kind != "policy_class" || row.Agent == nil || row.Profile != nil && *row.Profile != m.FirstProfile():
				case schema.OrZero(row.After) == out && schema.OrZero(row.Before) != out:
					agent := strings.Clone(*row.Agent)
					if shut[agent] == nil {
						shut[agent] = make(map[string]bool)
					}
					shut[agent][strings.Clone(row.Origin)] = true
				}
			}
			return nil
		})
	if err != nil || len(shut) == 0 {
		return nil, err
	}
	if err := addUnread(ctx, c, m, uncompared); err != nil {
		return nil, err
	}
	apart, err := countedApart(ctx, c, m)
	if err != nil {
		return nil, err
	}
	agents := slices.Sorted(maps.Keys(shut))
	hosts := make(map[summary.LabelValue]int64)
	closed := make(map[summary.LabelValue][]int64) // by agent
	err = rowio.Of(ctx, c.In, m.PartsOf("labels"), rowio.Selection{Columns: []string{"origin", "label", "value"}},
		func(batch []schema.Label) error {
			for i := range batch {
				row := &batch[i]
				if uncompared[row.Origin] {
					continue
				}
				v := summary.LabelValue{Label: row.Label, Value: row.Value}
				if len(apart) > 0 && !apart[v] {
					v.Value = summary.Other
				}
				if hosts[v] == 0 {
					v = summary.LabelValue{Label: strings.Clone(v.Label), Value: strings.Clone(v.Value)}
					closed[v] = make([]int64, len(agents))
				}
				hosts[v]++
				for k, agent := range agents {
					if shut[agent][row.Origin] {
						closed[v][k]++
					}
				}
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	return surest(agents, hosts, closed), nil
}

// addUnread adds the origins that a run could not read: they may have changed, and nobody knows.
func addUnread(ctx context.Context, c diff.Config, m *journal.Manifest, to map[string]bool) error {
	return rowio.Of(ctx, c.In, m.PartsOf("fetches"), rowio.Selection{Columns: []string{"origin", "outcome", "challenge"}},
		func(batch []schema.Fetch) error {
			for i := range batch {
				row := &batch[i]
				switch answer.Outcome(row.Outcome) {
				case answer.ConditionalAllow, answer.FullAllow:
					if row.Challenge == nil {
						continue
					}
				}
				to[strings.Clone(row.Origin)] = true
			}
			return nil
		})
}

// countedApart returns the values of labels that the run counts apart; there are none if it
// counts by no label.
func countedApart(ctx context.Context, c diff.Config, m *journal.Manifest) (map[summary.LabelValue]bool, error) {
	apart := make(map[summary.LabelValue]bool)
	err := rowio.Of(ctx, c.In, m.PartsOf("label_counts"), rowio.Selection{Columns: []string{"metric", "label", "value"}},
		func(batch []schema.LabelCount) error {
			for i := range batch {
				if row := &batch[i]; row.Metric == "targets" {
					apart[summary.LabelValue{Label: strings.Clone(row.Label), Value: strings.Clone(row.Value)}] = true
				}
			}
			return nil
		})
	return apart, err
}

// surest returns the values whose hosts moved more than the others by more than chance.
func surest(agents []string, hosts map[summary.LabelValue]int64, closed map[summary.LabelValue][]int64) (
	out []groupMoved) {
	ofLabel, closedOf := make(map[string]int64), make(map[string][]int64)
	for v, n := range hosts {
		ofLabel[v.Label] += n
		if closedOf[v.Label] == nil {
			closedOf[v.Label] = make([]int64, len(agents))
		}
		for k, n := range closed[v] {
			closedOf[v.Label][k] += n
		}
	}
	level := 0.05 / float64(max(1, len(hosts)*len(agents)))
	for v, n := range hosts {
		rest := ofLabel[v.Label] - n
		if rest == 0 {
			continue
		}
		for k, agent := range agents {
			g := groupMoved{v.Label, v.Value, agent, moved{closed[v][k], n}, moved{closedOf[v.Label][k] - closed[v][k], rest}, 0}
			sign := 0
			if sign, g.Least, _ = summary.SharesApart(g.Others.N, g.Others.Of, g.Here.N, g.Here.Of, level); sign > 0 {
				out = append(out, g)
			}
		}
	}
	slices.SortFunc(out, func(a, b groupMoved) int {
		switch {
		case a.Label != b.Label:
			return strings.Compare(a.Label, b.Label)
		case a.Least != b.Least && a.Least > b.Least:
			return -1
		case a.Least != b.Least:
			return 1
		}
		return strings.Compare(a.Agent+a.Value, b.Agent+b.Value)
	})
	return out
}

// showGroups prints the values of each label that moved most surely, one sentence each.
func showGroups(p cli.Page, all []groupMoved) {
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(g groupMoved) bool { return g.Label != all[0].Label })
		if n < 0 {
			n = len(all)
		}
		p.Line("\nBy " + p.Foreign(all[0].Label) + ", more than the others by more than chance:")
		for i := range all[:min(n, mostOfLabel)] {
			p.Line("  " + all[i].text(p))
		}
		if n > mostOfLabel {
			p.Line(fmt.Sprintf("  and %d more of a value and an agent", n-mostOfLabel))
		}
		all = all[n:]
	}
}

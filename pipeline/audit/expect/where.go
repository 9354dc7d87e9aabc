package expect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// readWhere finds the hosts that have the values of labels that expectations name, in any of
// the runs: a host that is gone has those that it had.
func (e *List) readWhere(ctx context.Context, in store.Store, runs ...*journal.Manifest) error {
	var asked []*expectation
	for _, x := range e.list {
		if len(x.Where) > 0 {
			asked = append(asked, x)
			x.labelled = make(map[string]bool)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for _, m := range runs {
		if err := readLabels(ctx, in, m, asked); err != nil {
			return err
		}
	}
	return nil
}

func readLabels(ctx context.Context, in store.Store, m *journal.Manifest, asked []*expectation) error {
	have := make([]map[string]int, len(asked)) // by host, how many of the labels fit
	for i := range have {
		have[i] = make(map[string]int)
	}
	err := rowio.Of(ctx, in, m.PartsOf("labels"), rowio.Selection{Columns: []string{"host", "label", "value"}},
		func(batch []schema.Label) error {
			for i := range batch {
				row := &batch[i]
				for k, x := range asked {
					if values, ok := x.Where[row.Label]; ok && slices.Contains(values, row.Value) {
						have[k][strings.Clone(row.Host)]++
					}
				}
			}
			return nil
		})
	for k, x := range asked {
		for host, n := range have[k] {
			if n >= len(x.Where) {
				x.labelled[host] = true
			}
		}
	}
	return err
}

// unlabelled says which label of an expectation a run does not have, "" if it has all.
func (x *expectation) unlabelled(m *journal.Manifest) string {
	if len(x.Where) > 0 && len(x.labelled) == 0 {
		var each []string
		for _, label := range slices.Sorted(maps.Keys(x.Where)) {
			each = append(each, label+" "+strings.Join(x.Where[label], " or "))
		}
		return fmt.Sprintf("no host of run %s has %s", m.Run, strings.Join(each, " and "))
	}
	return ""
}

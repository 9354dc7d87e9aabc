package expect

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// readWhere finds the hosts that have the values of labels that expectations name in the run
// that is checked. Of a run before it, which may be nil, it takes those that are gone since: a
// host that is still there belongs to the group that it is in now, as where a comparison is
// told by labels, and to no other.
func (e *List) readWhere(ctx context.Context, in store.Store, now, before *journal.Manifest) error {
	var asked []*expectation
	for _, x := range e.list {
		if len(x.Where) > 0 {
			asked = append(asked, x)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	have, err := readLabels(ctx, in, now, asked)
	if err != nil {
		return err
	}
	if before != nil {
		gone, err := readLabels(ctx, in, before, asked)
		if err != nil {
			return err
		}
		left := 0
		for k := range gone {
			maps.DeleteFunc(gone[k], func(host string, _ bool) bool { return have[k][host] })
			left += len(gone[k])
		}
		if left > 0 { // they are gone, or have other labels now
			if err := dropListed(ctx, in, now, gone); err != nil {
				return err
			}
		}
		for k := range have {
			maps.Copy(have[k], gone[k])
		}
	}
	for k, x := range asked {
		x.labelled = have[k]
	}
	return nil
}

// readLabels returns for each expectation the hosts of a run that have all its labels.
func readLabels(ctx context.Context, in store.Store, m *journal.Manifest, asked []*expectation) (
	[]map[string]bool, error,
) {
	labels := make([][]string, len(asked))
	fit := make([]map[string]uint64, len(asked)) // by host, which of the labels fit: of any of its origins
	for k, x := range asked {
		labels[k], fit[k] = slices.Sorted(maps.Keys(x.Where)), make(map[string]uint64)
	}
	err := rowio.Of(ctx, in, m.PartsOf("labels"), rowio.Selection{Columns: []string{"host", "label", "value"}},
		func(batch []schema.Label) error {
			for i := range batch {
				row := &batch[i]
				for k, x := range asked {
					at := slices.Index(labels[k], row.Label)
					if at >= 0 && slices.Contains(x.Where[row.Label], row.Value) {
						fit[k][strings.Clone(row.Host)] |= 1 << at
					}
				}
			}
			return nil
		})
	have := make([]map[string]bool, len(asked))
	for k := range asked {
		have[k] = make(map[string]bool)
		for host, all := range fit[k] {
			if bits.OnesCount64(all) == len(labels[k]) {
				have[k][host] = true
			}
		}
	}
	return have, err
}

// dropListed removes the hosts that a run has asked from sets of hosts.
func dropListed(ctx context.Context, in store.Store, m *journal.Manifest, sets []map[string]bool) error {
	type listed struct {
		Host string `parquet:"host"`
	}
	return rowio.Of(ctx, in, m.PartsOf("fetches"), rowio.Selection{}, func(batch []listed) error {
		for i := range batch {
			for _, set := range sets {
				delete(set, batch[i].Host)
			}
		}
		return nil
	})
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

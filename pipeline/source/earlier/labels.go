package earlier

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// mostLabels is more labels than a run has.
const mostLabels = 64

// LabelsOf returns the labels of the run DIR/_runs/ID that a run which judges it again can have,
// and those that it cannot, because nothing says which hosts have them. Of a run that cannot be
// judged again there are none.
func LabelsOf(ctx context.Context, folder string) (kept, lost []string, err error) {
	if m, err := Head(ctx, folder); err != nil || !m.Complete() ||
		!slices.Contains(m.Tables, "labels") && !slices.Contains(m.Tables, "label_counts") {
		return nil, nil, nil
	}
	dir, id := runAt(folder)
	in, err := store.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	m, err := journal.ReadManifest(in, id)
	if err != nil {
		return nil, nil, notARun(folder, err)
	}
	for _, table := range []string{"labels", "label_counts"} {
		names, err := labelNames(ctx, in, m, table)
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			switch {
			case slices.Contains(kept, name):
			case table == "labels" && m.HasLabels(), schema.IsOwnLabel(name): // those of the program are found anew
				kept = append(kept, name)
			case !slices.Contains(lost, name):
				lost = append(lost, name)
			}
		}
	}
	slices.Sort(lost)
	return kept, lost, nil
}

// LabelNames returns the names of the labels that the run gives to hosts.
func (r *Run) LabelNames(ctx context.Context) ([]string, error) {
	return labelNames(ctx, r.in, r.Manifest, "labels")
}

// labelNames returns the names of labels in a table, in the order in which they occur.
func labelNames(ctx context.Context, in store.Store, m *journal.Manifest, table string) (names []string, err error) {
	if slices.Contains(m.Without, table+".label") {
		return nil, nil
	}
	for _, p := range m.PartsOf(table) {
		if err := eachLabelOf(ctx, in, p, func(name []byte) {
			if !slices.Contains(names, string(name)) && len(names) <= mostLabels {
				names = append(names, string(name))
			}
		}); err != nil {
			return nil, inputError(p.Path, err)
		}
		if len(names) > mostLabels {
			return nil, &userfile.Error{Path: path.Join("_runs", m.Run), Err: fmt.Errorf("has more than %d labels", mostLabels)}
		}
	}
	return names, nil
}

// CountedApart returns the values of labels that label_counts counts apart, of the labels that have
// others.
func (r *Run) CountedApart(ctx context.Context) (apart map[string]map[string]bool, err error) {
	columns := []string{"metric", "label", "value"}
	if slices.ContainsFunc(columns, func(c string) bool {
		return slices.Contains(r.Manifest.Without, "label_counts."+c)
	}) {
		return nil, nil
	}
	apart = make(map[string]map[string]bool)
	of := rowio.Selection{Columns: columns}
	err = rowio.Of(ctx, r.in, r.Manifest.PartsOf("label_counts"), of, func(batch []schema.LabelCount) error {
		for i := range batch {
			c := &batch[i]
			values := apart[c.Label]
			switch {
			case c.Metric != "targets" || values[c.Value]:
			case values == nil && len(apart) < mostLabels:
				apart[strings.Clone(c.Label)] = map[string]bool{strings.Clone(c.Value): true}
			case values != nil && len(values) <= summary.MostValues: // with the others
				values[strings.Clone(c.Value)] = true
			}
		}
		return nil
	})
	maps.DeleteFunc(apart, func(_ string, values map[string]bool) bool { return !values[summary.Other] })
	return apart, err
}

func eachLabelOf(ctx context.Context, in store.Store, p journal.Part, each func([]byte)) error {
	f, err := rowio.OpenPart(ctx, in, p)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.EachText(ctx, "label", each); err != nil {
		return rowio.Unreadable(in, p, err)
	}
	return nil
}

// EachLabel calls yield with the labels of the run, in the order of its targets.
func (r *Run) EachLabel(ctx context.Context, yield func([]schema.Label) error) error {
	return rowio.Of(ctx, r.in, r.Manifest.PartsOf("labels"), rowio.Selection{Columns: []string{"host", "label", "value"}},
		yield)
}

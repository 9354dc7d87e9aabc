package earlier

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// mostLabels is more labels than a run has.
const mostLabels = 64

// LabelNames returns the names of the labels that the run gives to hosts.
func (r *Run) LabelNames(ctx context.Context) (names []string, err error) {
	err = r.labels(ctx, []string{"label"}, func(batch []schema.Label) error {
		for i := range batch {
			if name := batch[i].Label; !slices.Contains(names, name) {
				names = append(names, strings.Clone(name))
			}
		}
		if len(names) > mostLabels {
			return &userfile.Error{Path: path.Join("_runs", r.Manifest.Run),
				Err: fmt.Errorf("has more than %d labels", mostLabels)}
		}
		return nil
	})
	return names, err
}

// EachLabel calls yield with the labels of the run, in the order of its targets.
func (r *Run) EachLabel(ctx context.Context, yield func([]schema.Label) error) error {
	return r.labels(ctx, []string{"host", "label", "value"}, yield)
}

func (r *Run) labels(ctx context.Context, columns []string, yield func([]schema.Label) error) error {
	return rowio.Of(ctx, r.in, r.Manifest.PartsOf("labels"), rowio.Selection{Columns: columns}, yield)
}

package sink

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
)

// totals holds the files of totals against what the parts come to, where there
// was nothing wrong with these.
func (v *verifier) totals(ctx context.Context, m *Manifest) error {
	named := *m
	named.Run = v.run // that it is of another run is told already
	for i, p := range m.Totals {
		twice := slices.ContainsFunc(m.Totals[:i], func(q Part) bool { return q.Table == p.Table })
		if p.Path != totalPath(p.Table, v.run) || !slices.Contains(m.Tables, p.Table) || twice {
			v.add(path.Join("_runs", v.run, manifestName), badManifest, fmt.Sprintf("names %q as the totals of table %q", p.Path, p.Table))
			continue
		}
		before := len(v.Problems)
		if err := (&segmentCheck{verifier: v}).part(ctx, p); err != nil {
			return err
		}
		parts := m.partsOf(p.Table)
		if len(v.Problems) > before || slices.ContainsFunc(v.Problems, func(p Problem) bool {
			return slices.ContainsFunc(parts, func(q Part) bool { return q.Path == p.Path })
		}) {
			continue
		}
		var same bool
		var err error
		switch p.Table {
		case "summary":
			same, err = sameSum(ctx, v.dir, &named, p, newCounts, (*counts).list)
		case "examples":
			same, err = sameSum(ctx, v.dir, &named, p, newFew, (*few).list)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && !same {
			err = fmt.Errorf("is not what the parts of %s come to", p.Table)
		}
		if err != nil {
			v.add(p.Path, badTotals, err.Error())
		}
	}
	return nil
}

func sameSum[T sum[T], R any](ctx context.Context, dir string, m *Manifest, p Part, empty func() T, list func(T) []R) (bool, error) {
	total := empty()
	if err := readTotal(ctx, dir, p, total); err != nil {
		return false, err
	}
	all, err := sumParts(ctx, dir, m, p.Table, empty)
	return reflect.DeepEqual(list(total), list(all)), err
}

package sink

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// CompleteRuns reads the manifests of the complete runs below dir, without
// their parts, in the order of their start, then of their ID. A run whose
// manifest is damaged is left out.
func CompleteRuns(dir string) ([]*Manifest, error) {
	folders, err := os.ReadDir(filepath.Join(dir, "_runs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	var runs []*Manifest
	for _, f := range folders {
		if CheckRunID(f.Name()) != nil {
			continue // nothing of ours
		}
		// The parts of a run hang on the name of its folder.
		m := readHead(filepath.Join(dir, "_runs", f.Name(), manifestName))
		if m != nil && m.Complete() && m.Run == f.Name() {
			runs = append(runs, m)
		}
	}
	slices.SortFunc(runs, func(a, b *Manifest) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Run, b.Run))
	})
	return runs, nil
}

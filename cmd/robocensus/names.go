package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/store"
)

// Names that stand for a run: the last complete one and the one before it.
const (
	latest   = "latest"
	previous = "previous"
)

func standsForRun(name string) bool { return name == latest || name == previous }

// findRun returns the ID of the run in dir that name stands for. Other names are
// returned unchanged; opening the run shows whether it exists, see noRun.
func findRun(ctx context.Context, dir, name string) (string, error) {
	if err := sink.CheckRunID(name); err != nil {
		return "", usageError{err}
	}
	if !standsForRun(name) {
		return name, nil
	}
	s, err := store.Open(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usagef("%s: no run in %s", name, dir)
	}
	if err != nil {
		return "", err
	}
	defer s.Close()
	complete, err := sink.CompleteRuns(s)
	if err != nil {
		return "", err
	}
	switch n := len(complete); {
	case n == 0:
		return "", usagef("%s: no run in %s is complete%s", name, dir, runsIn(ctx, dir))
	case name == latest:
		return complete[n-1].Run, nil
	case n == 1:
		return "", usagef("%s: %s is the only complete run in %s", name, complete[0].Run, dir)
	default:
		return complete[n-2].Run, nil
	}
}

// findRuns replaces names of runs by IDs. Empty names stay empty.
func findRuns(ctx context.Context, dir string, names ...*string) error {
	for _, name := range names {
		if *name == "" {
			continue
		}
		id, err := findRun(ctx, dir, *name)
		if err != nil {
			return err
		}
		*name = id
	}
	return nil
}

// findRunFolder does the same for the folder of a run: DIR/_runs/latest. A bare ID, and
// a bare latest, is a run in out.
func findRunFolder(ctx context.Context, out, path string) (string, error) {
	clean := filepath.Clean(path)
	if store.IsURL(path) {
		clean = strings.TrimRight(path, "/")
	}
	folder, name := filepath.Split(clean)
	switch {
	case folder == "" && out != "" && sink.CheckRunID(name) == nil:
		folder = store.Join(out, "_runs")
	case !standsForRun(name):
		return path, nil
	case filepath.Base(folder) != "_runs":
		return path, nil
	}
	id, err := findRun(ctx, strings.TrimSuffix(strings.TrimRight(folder, "/"), "/_runs"), name)
	return store.Join(folder, id), err
}

// noRun returns the error for a run that does not exist. It names a similar one, or those
// that exist.
func noRun(ctx context.Context, dir, name string) error {
	remark := suggest.Remark(name, append(runNames(ctx, dir), latest, previous))
	if remark == "" {
		remark = runsIn(ctx, dir)
	}
	return usagef("no run %q in %s%s", name, dir, remark)
}

// runsIn names the runs in dir, or a few of many.
func runsIn(ctx context.Context, dir string) string {
	names := runNames(ctx, dir)
	if len(names) == 0 {
		return ""
	}
	if last := len(names) - 3; last > 0 {
		names = append([]string{"..."}, names[last:]...)
	}
	return " (there are " + strings.Join(names, ", ") + ")"
}

// runNames returns the IDs of all runs in dir, in any state, sorted.
func runNames(ctx context.Context, dir string) []string {
	names, _ := sink.RunIDs(ctx, dir) // an unreadable folder has no runs
	return names
}

// someRuns returns an error if dir is no output folder.
func someRuns(ctx context.Context, dir string) error {
	names, err := sink.RunIDs(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if names == nil {
		return usagef("--out %s: no runs in this folder", dir)
	}
	return nil
}

// writable returns an error if dir is a data set: what is written there would not have
// its checksums.
func writable(dir string) error {
	if !publish.IsDataSet(dir) {
		return nil
	}
	return &userfile.Error{Path: dir, Err: errors.New("is a data set of robocensus publish, and what this command writes would break its checksums: " +
		"give another --out, such as a copy of the folder without checksums.sha256")}
}

// incompleteFlag adds the flag --incomplete.
func incompleteFlag(c *cobra.Command) *bool {
	return c.Flags().Bool("incomplete", false, "read a run that is not complete: what is committed so far")
}

// checkComplete returns an error for a run that is not complete.
func checkComplete(m *sink.Manifest, incomplete bool) error {
	if m.Complete() || incomplete {
		return nil
	}
	return usagef("run %s is not complete: %s, or give --incomplete for what is committed", m.Run, m.HowToComplete())
}

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

// openOut opens an output folder to read runs, and replaces the names of runs by the IDs
// that they stand for. Empty names stay empty; reading the run shows whether others
// exist, see runOf.
func openOut(ctx context.Context, dir string, names ...*string) (store.Store, error) {
	for _, name := range names {
		if *name == "" {
			continue
		}
		if err := sink.CheckRunID(*name); err != nil {
			return nil, usageError{err}
		}
	}
	in, err := store.Open(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		for _, name := range names {
			switch {
			case standsForRun(*name):
				return nil, usagef("%s: no run in %s", *name, dir)
			case *name != "":
				return nil, usagef("no run %q in %s", *name, dir)
			}
		}
		return nil, usagef("no run in %s", dir)
	}
	if err != nil {
		return nil, err
	}
	if err := findRuns(in, names...); err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

func findRuns(in store.Store, names ...*string) error {
	for _, name := range names {
		if !standsForRun(*name) {
			continue
		}
		complete, err := sink.CompleteRuns(in)
		if err != nil {
			return err
		}
		switch n := len(complete); {
		case n == 0:
			return usagef("%s: no run in %s is complete%s", *name, in.Path("."), runsIn(in))
		case *name == latest:
			*name = complete[n-1].Run
		case n == 1:
			return usagef("%s: %s is the only complete run in %s", *name, complete[0].Run, in.Path("."))
		default:
			*name = complete[n-2].Run
		}
	}
	return nil
}

// runOf reads a run, by [sink.ReadManifest] or without its parts. It must be complete,
// unless incomplete ones will do.
func runOf(in store.Store, name string, incomplete bool, read func(store.Store, string) (*sink.Manifest, error)) (*sink.Manifest, error) {
	m, err := read(in, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noRun(in, name)
	case err != nil:
		return nil, err
	}
	return m, checkComplete(m, incomplete)
}

// openRun opens a folder and reads the run that a name stands for.
func openRun(ctx context.Context, dir, name string, incomplete bool) (store.Store, *sink.Manifest, error) {
	in, err := openOut(ctx, dir, &name)
	if err != nil {
		return nil, nil, err
	}
	m, err := runOf(in, name, incomplete, sink.ReadManifest)
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, m, nil
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
	if !standsForRun(name) {
		return store.Join(folder, name), nil
	}
	in, err := openOut(ctx, strings.TrimSuffix(strings.TrimRight(folder, "/"), "/_runs"), &name)
	if err != nil {
		return "", err
	}
	return store.Join(folder, name), in.Close()
}

// noRun returns the error for a run that does not exist. It names a similar one, or those
// that exist.
func noRun(in store.Store, name string) error {
	remark := suggest.Remark(name, append(runNames(in), latest, previous))
	if remark == "" {
		remark = runsIn(in)
	}
	return usagef("no run %q in %s%s", name, in.Path("."), remark)
}

// thereAre names the runs in dir for an error about a missing argument.
func thereAre(ctx context.Context, dir string) string {
	in, err := store.Open(ctx, dir)
	if err != nil {
		return ""
	}
	defer in.Close()
	return runsIn(in)
}

// runsIn names the runs in a folder, or a few of many.
func runsIn(in store.Store) string {
	names := runNames(in)
	if len(names) == 0 {
		return ""
	}
	if last := len(names) - 3; last > 0 {
		names = append([]string{"..."}, names[last:]...)
	}
	return " (there are " + strings.Join(names, ", ") + ")"
}

// runNames returns the IDs of all runs in a folder, in any state, sorted.
func runNames(in store.Store) []string {
	names, _ := sink.RunIDs(in) // an unreadable folder has no runs
	return names
}

// openRuns opens an output folder that has runs.
func openRuns(ctx context.Context, dir string) (store.Store, error) {
	in, err := store.Open(ctx, dir)
	if err == nil {
		if _, err = sink.RunIDs(in); err != nil {
			in.Close()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("--out %s: no runs in this folder", dir)
	}
	return in, err
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

package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/store"
)

// Names that stand for a run: the last complete one and the one before it.
const (
	Latest   = "latest"
	previous = "previous"
)

func StandsForRun(name string) bool { return name == Latest || name == previous }

// OpenOut opens an output folder to read runs, and replaces the names of runs by the IDs
// that they stand for. Empty names stay empty; reading the run shows whether others
// exist, see RunOf.
func OpenOut(ctx context.Context, dir string, names ...*string) (store.Store, error) {
	for _, name := range names {
		if *name == "" {
			continue
		}
		if err := journal.CheckRunID(*name); err != nil {
			return nil, UsageError{Err: err}
		}
	}
	in, err := store.Open(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		for _, name := range names {
			switch {
			case StandsForRun(*name):
				return nil, Usagef("%s: no run in %s", *name, dir)
			case *name != "":
				return nil, Usagef("no run %q in %s", *name, dir)
			}
		}
		return nil, Usagef("no run in %s", dir)
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
		if !StandsForRun(*name) {
			continue
		}
		complete, err := journal.CompleteRuns(in)
		if err != nil {
			return err
		}
		switch n := len(complete); {
		case n == 0:
			return Usagef("%s: no run in %s is complete%s", *name, in.Path("."), RunsIn(in))
		case *name == Latest:
			*name = complete[n-1].Run
		case n == 1:
			return Usagef("%s: %s is the only complete run in %s", *name, complete[0].Run, in.Path("."))
		default:
			*name = complete[n-2].Run
		}
	}
	return nil
}

// RunOf reads a run for a command with the flag --incomplete, by [journal.ReadManifest] or
// without its parts. It must be complete, unless the flag is given.
func RunOf(in store.Store, name string, incomplete bool, read func(store.Store, string) (*journal.Manifest, error)) (
	*journal.Manifest, error) {
	m, err := readRun(in, name, read)
	if err == nil && !m.Complete() && !incomplete {
		err = Usagef("run %s is not complete: %s, or give --incomplete for what is committed", m.Run, m.HowToComplete())
	}
	return m, err
}

func readRun(in store.Store, name string, read func(store.Store, string) (*journal.Manifest, error)) (
	*journal.Manifest, error) {
	m, err := read(in, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, NoRun(in, name)
	}
	return m, err
}

// OpenRun opens a folder and reads the run that a name stands for, which must be complete.
func OpenRun(ctx context.Context, dir, name string) (store.Store, *journal.Manifest, error) {
	in, err := OpenOut(ctx, dir, &name)
	if err != nil {
		return nil, nil, err
	}
	m, err := CompleteRun(in, name)
	if err != nil {
		in.Close()
		return nil, nil, err
	}
	return in, m, nil
}

// CompleteRun reads a run, which must be complete.
func CompleteRun(in store.Store, name string) (*journal.Manifest, error) {
	m, err := readRun(in, name, journal.ReadManifest)
	if err == nil && !m.Complete() {
		err = Usagef("run %s is not complete: %s", m.Run, m.HowToComplete())
	}
	return m, err
}

// FindRunFolder does the same for the folder of a run: DIR/_runs/latest. A bare ID, and
// a bare latest, is a run in out.
func FindRunFolder(ctx context.Context, out, path string) (string, error) {
	clean := filepath.Clean(path)
	if store.IsURL(path) {
		clean = strings.TrimRight(path, "/")
	}
	folder, name := filepath.Split(clean)
	switch {
	case folder == "" && out != "" && journal.CheckRunID(name) == nil:
		folder = store.Join(out, "_runs")
	case !StandsForRun(name):
		return path, nil
	case filepath.Base(folder) != "_runs":
		return path, nil
	}
	if !StandsForRun(name) {
		return store.Join(folder, name), nil
	}
	in, err := OpenOut(ctx, strings.TrimSuffix(strings.TrimRight(folder, "/"), "/_runs"), &name)
	if err != nil {
		return "", err
	}
	return store.Join(folder, name), in.Close()
}

// NoRun returns the error for a run that does not exist. It names a similar one, or those
// that exist.
func NoRun(in store.Store, name string) error {
	remark := flags.Suggest(name, append(RunNames(in), Latest, previous))
	if remark == "" {
		remark = RunsIn(in)
	}
	return Usagef("no run %q in %s%s", name, in.Path("."), remark)
}

// ThereAre names the runs in dir for an error about a missing argument.
func ThereAre(ctx context.Context, dir string) string {
	in, err := store.Open(ctx, dir)
	if err != nil {
		return ""
	}
	defer in.Close()
	return RunsIn(in)
}

// RunsIn names the runs in a folder, or a few of many.
func RunsIn(in store.Store) string {
	names := RunNames(in)
	if len(names) == 0 {
		return ""
	}
	if last := len(names) - 3; last > 0 {
		names = append([]string{"..."}, names[last:]...)
	}
	return " (there are " + strings.Join(names, ", ") + ")"
}

// RunNames returns the IDs of all runs in a folder, in any state, sorted.
func RunNames(in store.Store) []string {
	names, _ := journal.RunIDs(in) // an unreadable folder has no runs
	return names
}

// OpenRuns opens an output folder that has runs.
func OpenRuns(ctx context.Context, dir string) (store.Store, error) {
	in, err := store.Open(ctx, dir)
	if err == nil {
		if _, err = journal.RunIDs(in); err != nil {
			in.Close()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("--out %s: no runs in this folder", dir)
	}
	return in, err
}

// Writable returns an error if dir is a data set: what is written there would not have
// its checksums.
func Writable(dir string) error {
	if !publish.IsDataSet(dir) {
		return nil
	}
	return &userfile.Error{Path: dir,
		Err: errors.New("is a data set of robocensus publish, and what this command writes would break its checksums: " +
			"give another --out, such as a copy of the folder without checksums.sha256")}
}

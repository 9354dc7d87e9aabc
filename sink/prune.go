package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// Pruned is what [Prune] has done, or would do, about a run or a comparison.
type Pruned struct {
	Path    string // relative to the output folder, with slashes: _runs/ID or changes/run=B/against=A
	State   string // complete, unfinished, half removed, busy, damaged (or without a manifest), or orphaned: a comparison of which a run is gone
	Started time.Time
	Removed bool
	Bytes   int64 // of all its files, where it is removed
}

// Prune removes from dir all complete runs but the keep that began last, the
// unfinished ones that began before all of these, runs whose removal was
// interrupted, and comparisons of which a run is gone. A run that another
// process writes stays, and so does one whose manifest is damaged, of which
// nobody knows when it began. Where there are fewer complete runs than keep, no
// run is removed for its age.
//
// each hears of everything that is removed, after that, and of all runs that
// stay. With dryRun nothing is removed. A Prune that was interrupted may be
// started again.
func Prune(ctx context.Context, dir string, keep int, dryRun bool, each func(Pruned)) error {
	if keep < 1 {
		return fmt.Errorf("keep %d runs: keep one at least", keep)
	}
	runs, err := runsToPrune(dir, keep)
	if err != nil {
		return err
	}
	goes := make(map[string]bool)
	for _, p := range runs {
		goes[path.Base(p.Path)] = p.Removed
	}
	// Looked for before a run goes, whose removal may take them along.
	orphans := orphansOf(dir, goes)
	for _, p := range runs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		run := path.Base(p.Path)
		if p.Removed {
			p.Bytes = sizeOfRun(dir, run)
		}
		if p.Removed && !dryRun {
			switch err := Remove(dir, run); {
			case errors.Is(err, ErrRunBusy):
				p.State, p.Removed, p.Bytes = "busy", false, 0
				goes[run] = false
			case err != nil:
				return err
			}
		}
		each(p)
	}
	for _, o := range orphans {
		if !isGone(dir, o.run, goes) && !isGone(dir, o.against, goes) {
			continue // of a run that was busy
		}
		if !dryRun {
			if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(o.Path))); err != nil {
				return fmt.Errorf("remove a comparison: %w", err)
			}
			os.Remove(changesFolder(dir, o.run)) // unless something is in it
		}
		each(o.Pruned)
	}
	return nil
}

// runsToPrune are all runs below dir, the oldest first, with what is to become
// of them.
func runsToPrune(dir string, keep int) ([]Pruned, error) {
	folders, err := os.ReadDir(filepath.Join(dir, "_runs"))
	if err != nil {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	var runs []Pruned
	var began []time.Time // of those that are complete
	for _, f := range folders {
		if CheckRunID(f.Name()) != nil {
			continue // nothing of ours
		}
		p := Pruned{Path: path.Join("_runs", f.Name())}
		// The parts do not matter, and a journal may be damaged.
		m, err := readManifestFile(filepath.Join(dir, "_runs", f.Name()))
		switch {
		case errors.Is(err, errRemoving):
			p.State, p.Removed = "half removed", true
		case errors.Is(err, errDamaged), errors.Is(err, fs.ErrNotExist):
			p.State = "damaged"
		case err != nil:
			return nil, err
		case m.State == stateComplete:
			p.State, p.Started = "complete", m.Started
			began = append(began, m.Started)
		default:
			p.State, p.Started = "unfinished", m.Started
		}
		runs = append(runs, p)
	}
	slices.SortStableFunc(runs, func(a, b Pruned) int { return a.Started.Compare(b.Started) })
	if len(began) < keep {
		return runs, nil
	}
	slices.SortFunc(began, func(a, b time.Time) int { return b.Compare(a) })
	oldest := began[keep-1]
	for i, p := range runs {
		if p.State == "complete" || p.State == "unfinished" {
			runs[i].Removed = p.Started.Before(oldest)
		}
	}
	return runs, nil
}

func sizeOfRun(dir, run string) int64 {
	size := sizeOf(filepath.Join(dir, "_runs", run))
	for _, table := range TableNames {
		size += sizeOf(tableFolder(dir, table, run))
	}
	return size
}

// sizeOf is that of all files in a folder, as far as it can be found out.
func sizeOf(folder string) (size int64) {
	filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// orphan is a comparison of which a run is gone, or will be.
type orphan struct {
	Pruned
	run, against string
}

func orphansOf(dir string, goes map[string]bool) (out []orphan) {
	for _, run := range partitions(filepath.Join(dir, changesTable), "run") {
		for _, against := range partitions(changesFolder(dir, run), "against") {
			if isGone(dir, run, goes) || isGone(dir, against, goes) {
				name := path.Join(changesTable, "run="+run, "against="+against)
				out = append(out, orphan{Pruned{Path: name, State: "orphaned", Removed: true, Bytes: sizeOf(filepath.Join(dir, name))}, run, against})
			}
		}
	}
	return out
}

func isGone(dir, run string, goes map[string]bool) bool {
	_, err := os.Lstat(filepath.Join(dir, "_runs", run, manifestName))
	return goes[run] || errors.Is(err, fs.ErrNotExist)
}

package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Remove removes a run, whatever its state: its parts, its comparisons, and last its
// folder. If there is no such run it does nothing. After an interrupted
// removal, [Open] and [Create] refuse the run, and Remove may be repeated.
func Remove(s store.Store, run string) error {
	if err := journal.CheckRunID(run); err != nil {
		return err
	}
	if err := removeRun(s, run); err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	return nil
}

// removeEmpty removes the folders that a run has left which was refused: those of tables, once
// no run is there. A folder that holds anything stays.
func removeEmpty(s store.Store) {
	if runs, err := s.List(layout.Runs); err != nil || len(runs) > 0 {
		return
	}
	for _, table := range schema.TableNames {
		s.Remove(table)
	}
	s.Remove(layout.Runs)
}

func removeRun(s store.Store, run string) error {
	folder := layout.RunFile(run)
	if some, err := anyOf(s, run); err != nil || !some {
		return err
	}
	if err := s.MakeFolder(folder); err != nil {
		return err
	}
	lock, err := lockRun(s, run)
	if err != nil {
		return err
	}
	// Shards hold no lock.
	alive, err := isAlive(s, run)
	if err == nil && alive {
		err = fmt.Errorf("run %s %w", run, ErrRunBusy)
	}
	if err == nil {
		err = removeLocked(s, run)
	}
	lock.Release()
	if err == nil {
		err = s.Remove(folder)
	}
	if err == nil {
		err = s.Sync(layout.Runs) // otherwise it comes back with the power
	}
	return err
}

// isAlive reports whether a shard of a run has given a recent sign of life, by the clock
// of the store: the clock of this machine may be wrong.
func isAlive(s store.Store, run string) (bool, error) {
	beats, err := s.List(layout.Beats(run))
	if err != nil {
		return false, fmt.Errorf("look for signs of life: %w", err)
	}
	if len(beats) == 0 {
		return false, nil
	}
	now, err := store.Now(s, layout.Beats(run))
	if err != nil {
		return false, err
	}
	alive, err := journal.AliveShards(s, run, now)
	return len(alive) > 0, err
}

func anyOf(s store.Store, run string) (bool, error) {
	folders := []string{layout.RunFile(run)}
	for _, table := range schema.TableNames {
		folders = append(folders, layout.TableFolder(table, run))
	}
	for _, folder := range folders {
		_, err := s.Stat(folder)
		if err == nil {
			return true, nil
		}
		if store.FaultOf(err) != store.OfData {
			return false, err
		}
	}
	return false, nil
}

func removeLocked(s store.Store, run string) error {
	folder := layout.RunFile(run)
	// From here on it no longer counts as a run. A rename needs no free disk space;
	// the caller may be removing the run because the disk is full.
	marker := path.Join(folder, layout.RemovingName)
	for _, name := range []string{layout.ManifestName, layout.PlanName} {
		marked, err := store.Exists(s, marker)
		switch {
		case err != nil:
		case !marked:
			err = s.Rename(path.Join(folder, name), marker)
		case name == layout.ManifestName: // in an object store a rename may stop halfway
			err = s.Remove(path.Join(folder, name))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := s.Sync(folder); err != nil {
		return err
	}
	for _, table := range schema.TableNames {
		if err := s.RemoveAll(layout.TableFolder(table, run)); err != nil {
			return err
		}
		if err := s.Sync(table); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := removeComparisons(s, run); err != nil {
		return err
	}
	files, err := s.List(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if name := f.Name(); name != store.LockName && name != layout.RemovingName {
			if err := s.RemoveAll(path.Join(folder, name)); err != nil {
				return err
			}
		}
	}
	return s.Remove(marker)
}

// removeComparisons removes all comparisons of a run with earlier or later runs: first their
// records, so that none names a file that is gone.
func removeComparisons(s store.Store, run string) error {
	var records, folders []string
	runs, err := s.List(layout.Runs)
	for _, f := range runs {
		if f.IsDir() {
			records = append(records, layout.ComparisonRecord(f.Name(), run))
		}
	}
	later, e := s.List(layout.Changes)
	for _, f := range later {
		if f.IsDir() {
			folders = append(folders, path.Join(layout.Changes, f.Name(), layout.AgainstPrefix+run))
		}
	}
	if err := errors.Join(err, e); err != nil {
		return err
	}
	if err := s.RemoveAll(layout.ComparisonRecords(run)); err != nil {
		return err
	}
	if err := s.Sync(layout.RunFile(run)); err != nil {
		return err
	}
	for _, name := range records {
		if err := removeRecord(s, name); err != nil {
			return err
		}
	}
	for _, name := range append(folders, layout.TableFolder(layout.Changes, run)) {
		if err := s.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// removeRecord removes the record of a comparison for good, before its files are removed.
func removeRecord(s store.Store, name string) error {
	there, err := store.Exists(s, name)
	if err != nil || !there {
		return err
	}
	if err := s.Remove(name); err != nil {
		return err
	}
	return s.Sync(path.Dir(name))
}

package sink

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Remove removes a run below dir, whatever its state: its parts of all tables,
// what it was compared with, and its folder last. Where there is none it does nothing. A removal that was
// interrupted leaves a run that [Open] and [Create] refuse, and that may be
// removed again.
func Remove(dir, run string) error {
	if err := CheckRunID(run); err != nil {
		return err
	}
	folder := filepath.Join(dir, "_runs", run)
	if !anyOf(dir, run, folder) {
		return nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	lock, err := lockRun(dir, run)
	if err != nil {
		return err
	}
	err = removeLocked(dir, run, folder)
	unlockRun(lock)
	if err == nil {
		err = os.Remove(folder)
	}
	if err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	return nil
}

func anyOf(dir, run, folder string) bool {
	for _, table := range TableNames {
		if _, err := os.Lstat(tableFolder(dir, table, run)); err == nil {
			return true
		}
	}
	_, err := os.Lstat(folder)
	return err == nil
}

func removeLocked(dir, run, folder string) error {
	// From here on nobody takes it for a run. A rename needs no room: the
	// disk may be full, and this meant to make some.
	marker := filepath.Join(folder, removingName)
	if err := os.Rename(filepath.Join(folder, manifestName), marker); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := syncFolder(folder); err != nil {
		return err
	}
	for _, table := range TableNames {
		parts := tableFolder(dir, table, run)
		if err := os.RemoveAll(parts); err != nil {
			return err
		}
		if err := syncFolder(filepath.Dir(parts)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, parts := range comparisons(dir, run) {
		if err := os.RemoveAll(parts); err != nil {
			return err
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range files {
		if name := f.Name(); name != lockName && name != removingName {
			if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
				return err
			}
		}
	}
	if err := os.Remove(marker); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

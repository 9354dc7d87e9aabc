package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// ErrRunBusy tells that another process writes the run, or removes it.
var ErrRunBusy = errors.New("is being written by another process; wait for it or use another --run")

const lockName = "lock"

// lockRun makes the caller the one writer of a run, whose folder must exist.
func lockRun(dir, id string) (*flock.Flock, error) {
	l, err := lockFolder(filepath.Join(dir, "_runs", id))
	if err != nil {
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	if l == nil {
		return nil, fmt.Errorf("run %s %w", id, ErrRunBusy)
	}
	return l, nil
}

// lockFolder makes the caller the one writer of a folder; nil where another
// is. The lock ends with the process, however that ends.
func lockFolder(folder string) (*flock.Flock, error) {
	path := filepath.Join(folder, lockName)
	for range 100 {
		l := flock.New(path)
		got, err := l.TryLock()
		if err != nil {
			return nil, err
		}
		if !got {
			break
		}
		// The file may have been removed by the one who held it, after we
		// had opened it: then it locks nothing.
		held, err := l.Stat()
		if err == nil {
			if named, e := os.Stat(path); e == nil && os.SameFile(held, named) {
				return l, nil
			}
		}
		l.Close()
	}
	return nil, nil
}

// unlockRun removes the lock's file while it is held, so that none is left,
// and nobody's else is removed.
func unlockRun(l *flock.Flock) {
	os.Remove(l.Path())
	l.Close()
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/gofrs/flock"
)

// ErrLocked reports that another process holds the lock of a folder.
var ErrLocked = errors.New("is held by another process")

// LockName is the name of a folder's lock file. A killed process leaves its lock
// file behind, unlocked.
const LockName = "lock"

// Lock is an exclusive lock on a folder. The system releases it when the process
// ends, however it ends.
type Lock struct{ release func() }

// Lock locks a folder, which must exist. It returns [ErrLocked] if another process
// holds the lock.
func (s *Folder) Lock(folder string) (*Lock, error) {
	name := path.Join(folder, LockName)
	for range 100 {
		// Opening a pipe would block until its other end is open.
		if info, err := s.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s %w", s.Path(name), errNotRegular)
		}
		// os.Root creates the file, so no link can redirect it. flock opens it
		// again by path; SameFile below detects a link planted in between.
		f, err := s.root.OpenFile(name, os.O_RDONLY|os.O_CREATE, 0o666)
		if err != nil {
			return nil, s.full(err)
		}
		f.Close()
		l := flock.New(s.Path(name), flock.SetFlag(os.O_RDONLY))
		got, err := l.TryLock()
		if errors.Is(err, os.ErrNotExist) {
			continue // its holder has just removed it
		}
		if err != nil {
			return nil, err
		}
		if !got {
			break
		}
		// The previous holder may have removed the file after we opened it: then
		// our lock is on a file that nobody else can open.
		held, err := l.Stat()
		var named fs.FileInfo
		if err == nil {
			named, err = s.Stat(name)
		}
		if err == nil && os.SameFile(held, named) {
			return &Lock{func() {
				s.Remove(name)
				l.Close()
			}}, nil
		}
		l.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, ErrLocked
}

// Release removes the lock file and unlocks it. It removes the file first, because
// after unlocking the file could be another process's.
func (l *Lock) Release() { l.release() }

package store

import (
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/gofrs/flock"
)

// ErrLocked tells that another process holds a folder.
var ErrLocked = errors.New("is held by another process")

// LockName is the file by which a folder is held. One without a holder is left
// of a process that was killed.
const LockName = "lock"

// Lock holds a folder. It ends with the process, however that ends.
type Lock struct {
	store *Store
	name  string
	flock *flock.Flock
}

// Lock makes the caller the one holder of a folder, which must exist.
func (s *Store) Lock(folder string) (*Lock, error) {
	name := path.Join(folder, LockName)
	for range 100 {
		// To open a pipe would wait for its other end.
		if info, err := s.Stat(name); err == nil && !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s %w", s.Path(name), errNotRegular)
		}
		// Made here, where no link leads out, and opened by its path later:
		// what that opens is held against the file here.
		f, err := s.root.OpenFile(name, os.O_RDONLY|os.O_CREATE, 0o666)
		if err != nil {
			return nil, s.told(err)
		}
		f.Close()
		l := flock.New(s.Path(name), flock.SetFlag(os.O_RDONLY))
		got, err := l.TryLock()
		if errors.Is(err, os.ErrNotExist) {
			continue // its holder removed it meanwhile
		}
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
			if named, e := s.Stat(name); e == nil && os.SameFile(held, named) {
				return &Lock{s, name, l}, nil
			}
		}
		l.Close()
	}
	return nil, ErrLocked
}

// Release removes the lock's file while it is held, so that none is left, and
// nobody's else is removed.
func (l *Lock) Release() {
	l.store.Remove(l.name)
	l.flock.Close()
}

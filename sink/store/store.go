// Package store accesses the place where runs lie: an output folder, or a folder in
// an object store. It is the only code that touches the files of runs.
//
// A name is a slash-separated path relative to that place. On a file system no name
// points outside it, neither by ".." nor by a planted link ([os.Root]): a census may
// run as root, and its output folder may be writable by others. Temporary files have
// random names, are created with O_EXCL and end in ".tmp", so that no reader's
// pattern *.parquet matches them.
//
// Durability: Put, Replace and MakeFolder return once the contents and the name are
// on disk. The contents of a streamed [File] are on disk after Finish, its name after
// Publish and a Sync of the folder.
//
// In an object store there are no folders, locks and renames. What one of several
// writers must win is written by Put; all other names are those of one attempt. A
// file that is read is copied to a temporary one, and a file that is written is sent
// whole when it is published.
//
// What is too much for memory lies in scratch files, which no run names. A [Sorter]
// sorts records in one.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/store/remote"
)

// ReaderAtCloser reads a file by offset.
type ReaderAtCloser interface {
	io.ReaderAt
	io.Closer
}

// Store is a [Folder] or a [Bucket]. It is safe for concurrent use.
type Store interface {
	// Path returns the path or URL of a name.
	Path(name string) string
	// Close closes the store. Open files stay open.
	Close() error

	// Stat returns the info of a file or folder. It does not follow a link.
	Stat(name string) (fs.FileInfo, error)
	// Open opens a regular file for reading.
	Open(name string) (*os.File, error)
	// OpenAt opens a regular file to read little of it, by offset. An object store is
	// asked for each range.
	OpenAt(name string) (ReaderAtCloser, error)
	// Read reads a regular file. A file of more than most bytes is an error.
	Read(name string, most int64) ([]byte, error)
	// List lists a folder, sorted by name. A folder that does not exist has no
	// entries. The list of an object store may lack what was written just before.
	List(folder string) ([]fs.DirEntry, error)
	// Size returns the total size of the regular files in a folder. It skips what it
	// cannot read.
	Size(folder string) int64

	// Put writes a file if the name does not exist, and reports whether it did not.
	// One of several writers wins, even across processes; the others change nothing.
	// After [ErrInDoubt] the file may have its name, now or after a crash. Contents
	// must differ between writers, except where it does not matter which of them wins.
	Put(name string, content []byte) (won bool, err error)
	// Replace replaces a file atomically: a reader, or a crash, sees the old contents
	// or the new. A temporary file is in the folder beside, where the cleanup after a
	// crash finds it.
	Replace(name, beside string, content []byte) error
	// Create creates a file under a temporary name.
	Create(name string) (*File, error)
	// Scratch creates a temporary file for this process, in a folder if the store is
	// one.
	Scratch(folder string) (*Scratch, error)
	// MakeFolder creates a folder and its parents.
	MakeFolder(folder string) error
	// Sync syncs the names in a folder to disk.
	Sync(folder string) error
	// Remove removes a file or an empty folder. It is not an error if the name does
	// not exist.
	Remove(name string) error
	// RemoveAll removes a file, or a folder and its contents.
	RemoveAll(folder string) error
	// Rename renames a file. It needs no free disk space.
	Rename(from, to string) error
	// Lock locks a folder, which must exist. It returns [ErrLocked] if another
	// process holds the lock. An object store has no locks: there it locks nothing.
	Lock(folder string) (*Lock, error)
}

// IsURL reports whether dir is the URL of a folder in an object store.
func IsURL(dir string) bool { return remote.IsBucket(dir) }

// CheckName returns a [remote.ErrFolder] if dir is meant as a URL and cannot be an
// output folder: a folder "ftp:" on this machine would be a surprise, and DuckDB reads
// some URLs as patterns.
func CheckName(dir string) error {
	switch {
	case !strings.Contains(dir, "://"):
		return nil
	case !IsURL(dir):
		return fmt.Errorf("%s %w for runs: give a path, or s3://BUCKET/FOLDER", remote.Name(dir), remote.ErrFolder)
	case strings.ContainsAny(dir, "*?["):
		return fmt.Errorf("%s %w for runs: DuckDB reads *, ? and [ as a pattern", dir, remote.ErrFolder)
	}
	return nil
}

// Open opens a folder, or a folder in an object store by its URL. It returns
// [fs.ErrNotExist] if there is no such folder. A bucket that does not exist is
// another error, since every folder in a bucket that does exist can be opened, and so
// is a name that [CheckName] refuses. Transfers from and to a bucket end when ctx ends.
func Open(ctx context.Context, dir string) (Store, error) {
	if IsURL(dir) {
		return openBucket(ctx, dir)
	}
	f, err := OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Create opens a folder and creates it if it does not exist, or opens a folder in an
// object store, whose bucket must exist.
func Create(ctx context.Context, dir string) (Store, error) {
	if IsURL(dir) {
		return openBucket(ctx, dir)
	}
	f, err := CreateFolder(dir)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Join returns the path or URL of a name in dir.
func Join(dir string, names ...string) string {
	if IsURL(dir) {
		return strings.TrimRight(dir, "/") + "/" + path.Join(names...)
	}
	return filepath.Join(append([]string{dir}, names...)...)
}

// ErrInDoubt reports that a file may have been put, or not.
var ErrInDoubt = errors.New("may have been written")

// doubtful is an error that is [ErrInDoubt] too.
type doubtful struct{ error }

func (d doubtful) Unwrap() error        { return d.error }
func (d doubtful) Is(target error) bool { return target == ErrInDoubt }

// inDoubt returns an error that is [ErrInDoubt] too, nil for nil.
func inDoubt(err error) error {
	if err == nil {
		return nil
	}
	return doubtful{err}
}

// During returns a store whose transfers end when ctx ends.
func During(ctx context.Context, s Store) Store {
	if b, ok := s.(*Bucket); ok {
		return &Bucket{b.bucket, ctx, true}
	}
	return s
}

// Now returns the time by the clock that gives files their times: that of the file
// system or of the object store, and not of this machine, which may be another. It
// writes a file in a folder for that, and removes it.
func Now(s Store, folder string) (now time.Time, err error) {
	name := path.Join(folder, "clock."+rand.Text()[:8]+temporarySuffix)
	if _, err = s.Put(name, nil); err == nil {
		var info fs.FileInfo
		if info, err = s.Stat(name); err == nil {
			now = info.ModTime()
		}
	}
	if e := s.Remove(name); err == nil {
		err = e
	}
	if err != nil {
		return now, fmt.Errorf("read the clock of the store: %w", err)
	}
	return now, nil
}

// ErrUnconditional reports a store in which a Put replaces what is there.
var ErrUnconditional = errors.New("the store ignores conditional writes (If-None-Match)")

// CheckPut returns [ErrUnconditional] if the store ignores the condition of Put, as some
// that speak S3 do, or [remote.ErrNoCondition] if it refuses it. It writes a file in a
// folder for that, and removes it.
func CheckPut(s Store, folder string) (err error) {
	name := path.Join(folder, "put."+rand.Text()[:8]+temporarySuffix)
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Path("."), err)
		}
	}()
	defer func() {
		if e := s.Remove(name); err == nil && e != nil {
			err = e
		}
	}()
	if _, err := s.Put(name, []byte("first")); err != nil {
		return err
	}
	won, err := s.Put(name, []byte("second"))
	if won && err == nil {
		return ErrUnconditional
	}
	return err
}

// Exists reports whether there is a file of that name.
func Exists(s Store, name string) (bool, error) {
	stat := s.Stat
	if b, ok := s.(*Bucket); ok {
		stat = b.statObject // one request less
	}
	_, err := stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

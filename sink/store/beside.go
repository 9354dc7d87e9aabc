package store

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// Beside is a file or folder under a temporary name, beside the path that it gets once
// it is whole. It is locked while its process lives, so that the next one for the same
// path can remove what a killed one has left.
type Beside struct {
	Path   string // the temporary one
	to     string
	inside bool         // Path is in the folder to
	last   string       // of a folder, the name that says that it is whole
	lock   *flock.Flock // nil where there are no locks
}

// fileBeside creates an empty file for a path, which need not be in an output folder. It
// replaces what the path leads to through links.
func fileBeside(path string) (*Beside, error) {
	to, err := Follow(path)
	if err != nil {
		return nil, err
	}
	folder, name := filepath.Split(to)
	return beside(to, folder, name, func(tmp string) error {
		f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

// WriteFile calls write to fill the file at a path, which need not be in an output folder,
// and returns its digest. The file appears whole or not at all, and replaces another one.
func WriteFile(path string, write func(io.Writer) error) (Digest, error) {
	b, d, err := filledBeside(path, write)
	if err != nil {
		return Digest{}, err
	}
	defer b.Discard()
	return d, b.Publish()
}

// WriteNewFile is [WriteFile] for a path where no file may be replaced. won is false if
// there is one: of several writers one wins, and the others change nothing.
func WriteNewFile(path string, write func(io.Writer) error) (d Digest, won bool, err error) {
	b, d, err := filledBeside(path, write)
	if err != nil {
		return Digest{}, false, err
	}
	defer b.Discard()
	won, err = b.publishNew(b.to)
	return d, won, err
}

// CheckNewFile returns an error if [WriteNewFile] cannot make the file at a path: its
// folder is missing, or may not be written, or has no hard links. It makes a file of
// another name there, and removes it.
func CheckNewFile(path string) error {
	b, err := fileBeside(path)
	if err != nil {
		return err
	}
	defer b.Discard()
	folder, name := filepath.Split(b.to)
	trial := besideName(folder, name)
	if _, err = b.publishNew(trial); err == nil {
		err = os.Remove(trial)
	}
	return err
}

// SyncFile brings a file and its name to disk.
func SyncFile(path string) error {
	to, err := Follow(path)
	if err == nil {
		err = cmp.Or(syncFolder(to), syncFolder(filepath.Dir(to)))
	}
	return err
}

// filledBeside creates a file for a path and fills it. The caller publishes or discards it.
func filledBeside(path string, write func(io.Writer) error) (*Beside, Digest, error) {
	b, err := fileBeside(path)
	if err != nil {
		return nil, Digest{}, err
	}
	f, err := os.OpenFile(b.Path, os.O_WRONLY, 0)
	measure := newMeasure()
	if err == nil {
		err = cmp.Or(write(io.MultiWriter(f, measure)), f.Close())
	}
	if err != nil {
		b.Discard()
		return nil, Digest{}, err
	}
	return b, measure.Digest(), nil
}

// FolderBeside creates an empty folder for a path, like fileBeside. A folder at the path
// must be empty, and stays: it may be a mount point, or in a folder where we may not write.
// Then the temporary folder is in it, and last is the name that is moved last.
func FolderBeside(path, last string) (*Beside, error) {
	to, err := Follow(path)
	if err != nil {
		return nil, err
	}
	folder, name := filepath.Split(to)
	info, err := os.Stat(to)
	inside := err == nil
	if inside && !info.IsDir() {
		return nil, fmt.Errorf("%s %w", to, ErrNotEmpty)
	}
	if inside {
		folder, name = to+string(filepath.Separator), "new"
	}
	b, err := beside(to, folder, name, func(tmp string) error { return os.Mkdir(tmp, 0o777) })
	if err == nil && inside {
		b.inside, b.last = true, last
		err = b.checkEmpty()
	}
	if err != nil && b != nil {
		b.Discard()
		b = nil
	}
	return b, err
}

// ErrNotEmpty reports a folder that must be empty, and is not.
var ErrNotEmpty = errors.New("is not an empty folder; give a new one")

// checkEmpty returns [ErrNotEmpty] if the folder has more than the temporary one.
func (b *Beside) checkEmpty() error {
	entries, err := os.ReadDir(b.to)
	if err == nil && (len(entries) != 1 || entries[0].Name() != filepath.Base(b.Path)) {
		err = fmt.Errorf("%s %w", b.to, ErrNotEmpty)
	}
	return err
}

// temporaryLetters is the number of random letters in a temporary name.
const temporaryLetters = 8

// beside creates a temporary file or folder in a folder, after name.
func beside(to, folder, name string, create func(tmp string) error) (*Beside, error) {
	removeLeft(folder, name)
	for range 100 {
		b := &Beside{Path: besideName(folder, name), to: to}
		if err := create(b.Path); err != nil {
			return nil, writing(to, err)
		}
		var mine bool
		if b.lock, mine = hold(b.Path); mine {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%s: other processes remove its temporary files", to)
}

// besideName returns a temporary path that [removeLeft] knows.
func besideName(folder, name string) string {
	return filepath.Join(folder, "."+name+"."+rand.Text()[:temporaryLetters]+temporarySuffix)
}

// hold locks a file or folder. mine is false if another process has locked or removed
// it; where there are no locks, it is true and the lock is nil.
func hold(path string) (lock *flock.Flock, mine bool) {
	lock = flock.New(path, flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryLock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	if got {
		// Whoever locked it before may have removed it.
		held, err := lock.Stat()
		named, e := os.Lstat(path)
		if err == nil && e == nil && os.SameFile(held, named) {
			return lock, true
		}
		lock.Close()
	}
	return nil, false
}

// removeLeft removes the temporary files and folders that killed processes have left for
// a name. Where there are no locks, nobody knows who lives.
func removeLeft(folder, name string) {
	entries, _ := os.ReadDir(filepath.Clean(folder + "."))
	for _, e := range entries {
		letters, isOurs := strings.CutPrefix(e.Name(), "."+name+".")
		letters, isTemporary := strings.CutSuffix(letters, temporarySuffix)
		if !isOurs || !isTemporary || len(letters) != temporaryLetters ||
			strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if lock, mine := hold(path); mine && lock != nil {
			os.RemoveAll(path)
			lock.Close()
		}
	}
}

// Publish gives the file or folder its path, once it and all names in it are on disk. A
// file replaces another one, whose permissions it gets. Into a folder that was there, what
// the temporary one has is moved.
func (b *Beside) Publish() error {
	err := syncAll(b.Path)
	if err != nil {
		return writing(b.to, err)
	}
	if b.inside {
		return b.moveIn()
	}
	if info, e := os.Stat(b.to); e == nil {
		if err := os.Chmod(b.Path, info.Mode().Perm()); err != nil {
			return writing(b.to, err)
		}
	}
	if runtime.GOOS == "windows" { // an open file keeps its name
		b.release()
	}
	if err := os.Rename(b.Path, b.to); err != nil {
		if link, ok := errors.AsType[*os.LinkError](err); ok {
			err = &fs.PathError{Op: "rename", Path: b.to, Err: link.Err}
		}
		return err
	}
	b.release()
	b.Path = ""
	return syncFolder(filepath.Dir(b.to))
}

// publishNew gives the file a path in its folder, once it is on disk, unless there is a
// file, and reports whether there was none.
func (b *Beside) publishNew(to string) (won bool, err error) {
	if err := syncFolder(b.Path); err != nil {
		return false, writing(to, err)
	}
	folder, err := OpenFolder(filepath.Dir(to))
	if err != nil {
		return false, err
	}
	defer folder.Close()
	if runtime.GOOS == "windows" { // an open file keeps its name
		b.release()
	}
	return folder.putNamed(filepath.Base(b.Path), filepath.Base(to))
}

// moveIn moves what the temporary folder has into the folder that it is in.
func (b *Beside) moveIn() error {
	if err := b.checkEmpty(); err != nil {
		return err
	}
	entries, err := os.ReadDir(b.Path)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return e.Name() == b.last }); i >= 0 {
		last := entries[i]
		entries = append(slices.Delete(entries, i, i+1), last)
	}
	for _, e := range entries {
		if e.Name() == b.last { // not before the others
			err = syncFolder(b.to)
		}
		if err == nil {
			err = os.Rename(filepath.Join(b.Path, e.Name()), filepath.Join(b.to, e.Name()))
		}
		if err != nil {
			return err
		}
	}
	b.Discard()
	b.Path = ""
	return syncFolder(b.to)
}

// Discard removes the file or folder unless it is published.
func (b *Beside) Discard() {
	if b.Path != "" {
		os.RemoveAll(b.Path)
		b.release()
	}
}

func (b *Beside) release() {
	if b.lock != nil {
		b.lock.Close()
	}
}

// syncAll brings a file, or the names in a folder and in all folders below, to disk.
func syncAll(path string) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() && name != path {
			return err
		}
		return syncFolder(name)
	})
}

// syncFolder brings a file, or the names in a folder, to disk. A folder that may not be
// opened is not an error: permission to write is enough to rename.
var syncFolder = func(path string) error { // tests record the calls
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// Follow returns the file that a path leads to through links. Unlike
// [filepath.EvalSymlinks] it follows a link to a file that does not exist yet.
func Follow(path string) (string, error) {
	for range 40 { // as many as Linux follows
		to, err := os.Readlink(path)
		if err != nil {
			return filepath.Abs(path) // no link
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many links", path)
}

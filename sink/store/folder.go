package store

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is an output folder on a file system.
type Folder struct {
	dir  string
	root *os.Root
	made []string // that CreateFolder has created, the innermost first
}

// ErrLeadsOut reports that a name points outside the folder.
var ErrLeadsOut = errors.New("points outside the output folder, by a link or by \"..\"")

// errNotRegular reports a pipe, device or folder in place of a file.
var errNotRegular = errors.New("is not a regular file")

// OpenFolder opens the folder dir. It returns [fs.ErrNotExist] if dir does not exist.
func OpenFolder(dir string) (*Folder, error) {
	if err := CheckName(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Clean(dir) != dir { // as CreateFolder creates it
		root, err = os.OpenRoot(filepath.Clean(dir))
	}
	if err != nil {
		return nil, err
	}
	return &Folder{dir: dir, root: root}, nil
}

// CreateFolder opens the folder dir and creates it if it does not exist.
func CreateFolder(dir string) (*Folder, error) {
	if err := CheckName(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Clean(dir) // or a/../b would make a
	}
	// Each folder that is created has its name in the one above, which is synced; the last
	// also if it exists, because who created it may not have come so far.
	var above, made []string
	last := filepath.Clean(dir)
	for _, err := os.Stat(last); err != nil && filepath.Dir(last) != last; _, err = os.Stat(last) {
		made, last = append(made, last), filepath.Dir(last)
		above = append(above, last)
	}
	if len(made) == 0 {
		above = append(above, filepath.Dir(last))
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for _, folder := range above {
		syncFolder(folder) // not an error: we may lack permission for a parent folder
	}
	s, err := OpenFolder(dir)
	if err == nil {
		s.made = made
	}
	return s, err
}

// Unmake removes the folders that [CreateFolder] has created, as far as they are empty.
func (s *Folder) Unmake() {
	for _, folder := range s.made {
		if os.Remove(folder) != nil {
			return
		}
	}
}

// Close closes the folder. Open files stay open.
func (s *Folder) Close() error { return s.root.Close() }

// Path returns the path of a name for messages.
func (s *Folder) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// full returns an error of os.Root with the full path in place of the name, and
// with [ErrLeadsOut] as its cause if the name points outside the folder; nil for nil.
func (s *Folder) full(err error) error {
	cause := func(err error) error {
		if err.Error() == "path escapes from parent" { // os does not export it
			return ErrLeadsOut
		}
		return err
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: verb(at.Op), Path: s.Path(at.Path), Err: cause(at.Err)}
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return &os.LinkError{Op: verb(link.Op), Old: s.Path(link.Old), New: s.Path(link.New), Err: cause(link.Err)}
	}
	return err
}

// writing replaces the temporary name in an error by the final path; nil for nil.
func writing(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// verb returns the plain name of a system call, such as open for openat.
func verb(op string) string {
	if op == "unlinkat" {
		return "remove"
	}
	if op != "stat" && op != "lstat" {
		op = strings.TrimSuffix(op, "at")
	}
	return op
}

// Stat returns the info of a file or folder. It does not follow a link.
func (s *Folder) Stat(name string) (fs.FileInfo, error) {
	info, err := s.root.Lstat(filepath.FromSlash(name))
	return info, s.full(err)
}

// Open opens a regular file for reading.
func (s *Folder) Open(name string) (*os.File, error) {
	info, err := s.Stat(name) // before opening, because a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", s.Path(name), errNotRegular)
	}
	f, err := s.root.Open(filepath.FromSlash(name))
	return f, s.full(err)
}

// OpenAt opens a regular file to read it by offset.
func (s *Folder) OpenAt(name string) (ReaderAtCloser, error) { return s.Open(name) }

// Read reads a regular file. A file of more than most bytes is an error.
func (s *Folder) Read(name string, most int64) ([]byte, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var content []byte
	if info.Size() <= most { // before most of it is read
		if content, err = io.ReadAll(io.LimitReader(f, most+1)); err != nil {
			return nil, err
		}
	}
	if info.Size() > most || int64(len(content)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", s.Path(name), most)
	}
	return content, nil
}

// List lists a folder, sorted by name. A folder that does not exist has no entries.
func (s *Folder) List(folder string) ([]fs.DirEntry, error) {
	f, err := s.root.Open(filepath.FromSlash(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.full(err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Glob returns the names that match a pattern of [path.Match], sorted.
func (s *Folder) Glob(pattern string) ([]string, error) { return fs.Glob(s.root.FS(), pattern) }

// Size returns the total size of the regular files in a folder. It skips files that
// it cannot read.
func (s *Folder) Size(folder string) (size int64) {
	fs.WalkDir(s.root.FS(), folder, func(_ string, d fs.DirEntry, err error) error {
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

// MakeFolder creates a folder and its parents.
func (s *Folder) MakeFolder(folder string) error {
	if err := s.root.MkdirAll(filepath.FromSlash(folder), 0o777); err != nil {
		return s.full(err)
	}
	for folder != "." {
		folder = path.Dir(folder)
		if err := s.Sync(folder); err != nil {
			return err
		}
	}
	return nil
}

// Sync syncs the names in a folder to disk.
func (s *Folder) Sync(folder string) error {
	d, err := s.root.Open(filepath.FromSlash(folder))
	if err != nil {
		return s.full(err)
	}
	defer d.Close()
	return d.Sync()
}

// Remove removes a file or an empty folder. It is not an error if the name does not
// exist.
func (s *Folder) Remove(name string) error {
	if err := s.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.full(err)
	}
	return nil
}

// RemoveAll removes a folder and its contents.
func (s *Folder) RemoveAll(folder string) error {
	return s.full(s.root.RemoveAll(filepath.FromSlash(folder)))
}

// Rename renames a file. It needs no free disk space.
func (s *Folder) Rename(from, to string) error {
	return s.full(s.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)))
}

// Put writes a file if the name does not exist, and reports whether it did not. One
// of several writers wins, even across processes; the others change nothing. After
// [ErrInDoubt] the file has its name but may lose it in a crash.
//
// Put names the file with link(2), which never replaces a file. O_EXCL would show
// others a file that is half written.
func (s *Folder) Put(name string, content []byte) (won bool, err error) {
	tmp, err := s.temporary(name, content)
	if err != nil {
		return false, err
	}
	return s.putNamed(tmp, name)
}

// putNamed gives a temporary file its final name if the name does not exist, and removes
// the temporary one. What it returns is as [Folder.Put] says.
func (s *Folder) putNamed(tmp, name string) (won bool, err error) {
	err = s.root.Link(filepath.FromSlash(tmp), filepath.FromSlash(name))
	if err != nil && s.isOne(tmp, name) {
		err = nil // a network file system lost the answer, but the link exists
	}
	if e := s.Remove(tmp); err == nil && e != nil {
		return false, inDoubt(e)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission):
		return false, fmt.Errorf("%w; the file system of %s must support hard links", s.full(err), s.dir)
	case err != nil:
		return false, s.full(err)
	}
	if err := s.Sync(path.Dir(name)); err != nil {
		return false, inDoubt(err)
	}
	return true, nil
}

func (s *Folder) isOne(a, b string) bool {
	one, err := s.Stat(a)
	if err != nil {
		return false
	}
	other, err := s.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Replace replaces a file atomically: a reader, or a crash, sees the old contents or
// the new. The temporary file is in the folder beside, where the cleanup after a
// crash finds it.
func (s *Folder) Replace(name, beside string, content []byte) error {
	tmp, err := s.temporary(path.Join(beside, path.Base(name)), content)
	if err != nil {
		return err
	}
	if err := s.Rename(tmp, name); err != nil {
		s.Remove(tmp)
		return err
	}
	return s.Sync(path.Dir(name))
}

// temporary writes a temporary file and syncs it to disk.
func (s *Folder) temporary(name string, content []byte) (tmp string, err error) {
	f, tmp, err := s.exclusive(name, os.O_WRONLY)
	if err != nil {
		return "", err
	}
	if _, err = f.Write(content); err == nil {
		err = f.Sync()
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		s.Remove(tmp)
		return "", writing(s.Path(name), err)
	}
	return tmp, nil
}

// exclusive creates a temporary file for a name, such as
// part-1.ABCDEFGH.parquet.tmp for part-1.parquet.
func (s *Folder) exclusive(name string, flag int) (f *os.File, tmp string, err error) {
	ext := path.Ext(name)
	tmp = strings.TrimSuffix(name, ext) + "." + rand.Text()[:temporaryLetters] + ext + temporarySuffix
	f, err = s.root.OpenFile(filepath.FromSlash(tmp), flag|os.O_CREATE|os.O_EXCL, 0o666)
	return f, tmp, s.full(err)
}

const temporarySuffix = ".tmp"

// IsTemporary reports whether name is that of a temporary file, which is still
// being written or was left by a crash.
func IsTemporary(name string) bool { return strings.HasSuffix(name, temporarySuffix) }

// Package store is the folder in which runs lie, and the only code that
// touches their files.
//
// A name is a path below the folder, with slashes. None leads out of it, not by
// "..", not by a link that somebody has planted there ([os.Root]): a census may
// run as root, and its output folder may be writable for others. Temporary
// files have random names, are made with O_EXCL and end in ".tmp", which no
// reader's pattern for *.parquet matches.
//
// What is durable: [Store.Put], [Store.Replace], [Store.MakeFolder] return once
// the file and its name are on disk. A streamed [File] is on disk after Finish,
// its name after Publish and a [Store.Sync] of the folder.
package store

import (
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

// Store is a folder. It is safe for concurrent use.
type Store struct {
	dir  string
	root *os.Root
}

// ErrLeadsOut tells that a name leads out of the folder.
var ErrLeadsOut = errors.New("leads out of the output folder, by a link or by \"..\"")

// errNotRegular tells that a name is no file that can be read from its
// beginning to its end.
var errNotRegular = errors.New("is not a regular file")

// Open opens the folder dir. It returns [fs.ErrNotExist] where there is none.
func Open(dir string) (*Store, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Store{dir, root}, nil
}

// Create opens the folder dir, which it makes where there is none.
func Create(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	// The folder above may be closed to us, and is not ours.
	if above, err := os.Open(filepath.Dir(filepath.Clean(dir))); err == nil {
		above.Sync()
		above.Close()
	}
	return Open(dir)
}

// Close releases the folder. Files that are open stay so.
func (s *Store) Close() error { return s.root.Close() }

// Path is what a user calls a name.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// told is an error of os.Root in the words of a user, who knows no name without
// its folder.
func (s *Store) told(err error) error {
	cause := func(err error) error {
		if err.Error() == "path escapes from parent" { // os does not export it
			return ErrLeadsOut
		}
		return err
	}
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		return &fs.PathError{Op: verb(at.Op), Path: s.Path(at.Path), Err: cause(at.Err)}
	case errors.As(err, &link):
		return &os.LinkError{Op: verb(link.Op), Old: s.Path(link.Old), New: s.Path(link.New), Err: cause(link.Err)}
	}
	return err
}

// writing names a file, in an error of its temporary one, as it will be called.
func (s *Store) writing(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: s.Path(name), Err: at.Err}
	}
	return err
}

// verb is the operation without the system call's ending: open for openat.
func verb(op string) string {
	if op == "unlinkat" {
		return "remove"
	}
	if op != "stat" && op != "lstat" {
		op = strings.TrimSuffix(op, "at")
	}
	return op
}

// Stat describes a file or folder; of a link, the link.
func (s *Store) Stat(name string) (fs.FileInfo, error) {
	info, err := s.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, s.told(err)
	}
	return info, nil
}

// Exists reports whether a name is taken.
func (s *Store) Exists(name string) (bool, error) {
	_, err := s.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Open opens a regular file to read it.
func (s *Store) Open(name string) (*os.File, error) {
	info, err := s.Stat(name) // before it is opened: a pipe would wait for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", s.Path(name), errNotRegular)
	}
	f, err := s.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, s.told(err)
	}
	return f, nil
}

// Read reads a regular file of at most so many bytes.
func (s *Store) Read(name string, most int64) ([]byte, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", s.Path(name), most)
	}
	return content, nil
}

// List lists a folder by name: nothing where there is none.
func (s *Store) List(folder string) ([]fs.DirEntry, error) {
	f, err := s.root.Open(filepath.FromSlash(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, s.told(err)
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// FS shows the folder to what reads by pattern.
func (s *Store) FS() fs.FS { return s.root.FS() }

// Size is that of all regular files in a folder, as far as it can be found out.
func (s *Store) Size(folder string) (size int64) {
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

// MakeFolder makes a folder and those above it.
func (s *Store) MakeFolder(folder string) error {
	if err := s.root.MkdirAll(filepath.FromSlash(folder), 0o777); err != nil {
		return s.told(err)
	}
	for folder != "." {
		folder = path.Dir(folder)
		if err := s.Sync(folder); err != nil {
			return err
		}
	}
	return nil
}

// Sync brings the names in a folder to disk.
func (s *Store) Sync(folder string) error {
	d, err := s.root.Open(filepath.FromSlash(folder))
	if err != nil {
		return s.told(err)
	}
	defer d.Close()
	return d.Sync()
}

// Remove removes a file or an empty folder; that it is gone already is no
// error.
func (s *Store) Remove(name string) error {
	if err := s.root.Remove(filepath.FromSlash(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s.told(err)
	}
	return nil
}

// RemoveAll removes a folder with all that is in it.
func (s *Store) RemoveAll(folder string) error {
	if err := s.root.RemoveAll(filepath.FromSlash(folder)); err != nil {
		return s.told(err)
	}
	return nil
}

// Rename gives a file another name. It needs no room on the disk.
func (s *Store) Rename(from, to string) error {
	if err := s.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to)); err != nil {
		return s.told(err)
	}
	return nil
}

// Put writes a file if the name is not taken, and says whether it was free: of
// several writers one wins, in whatever process, and who loses has changed
// nothing. An error together with true says that the file has its name, and
// that this may not outlive a crash.
//
// The name is given by link(2), which alone does not replace what is there:
// O_EXCL would show a file that is half written.
func (s *Store) Put(name string, content []byte) (free bool, err error) {
	tmp, err := s.temporary(name, content)
	if err != nil {
		return false, err
	}
	err = s.root.Link(filepath.FromSlash(tmp), filepath.FromSlash(name))
	if err != nil && s.isOne(tmp, name) {
		err = nil // the answer to a request over the network was lost
	}
	if e := s.Remove(tmp); err == nil && e != nil {
		return true, e
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrPermission):
		return false, fmt.Errorf("%w; the file system of the output folder must support hard links", s.told(err))
	case err != nil:
		return false, s.told(err)
	}
	return true, s.Sync(path.Dir(name))
}

func (s *Store) isOne(a, b string) bool {
	one, err := s.Stat(a)
	if err != nil {
		return false
	}
	other, err := s.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Replace writes a file so that a reader, or a crash, meets the old content or
// the new one and nothing between. The temporary file lies in the folder
// beside, which whoever cleans up after a crash knows.
func (s *Store) Replace(name, beside string, content []byte) error {
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

// temporary writes a temporary file and brings it to disk.
func (s *Store) temporary(name string, content []byte) (tmp string, err error) {
	f, tmp, err := s.exclusive(name, os.O_WRONLY)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		s.Remove(tmp)
		return "", s.writing(name, err)
	}
	return tmp, nil
}

// exclusive makes a temporary file for a name: part-1.parquet is first called
// part-1.ABCDEFGH.parquet.tmp.
func (s *Store) exclusive(name string, flag int) (f *os.File, tmp string, err error) {
	stem, ext := name, path.Ext(name)
	stem = strings.TrimSuffix(stem, ext)
	tmp = stem + "." + rand.Text()[:8] + ext + temporarySuffix
	f, err = s.root.OpenFile(filepath.FromSlash(tmp), flag|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, "", s.told(err)
	}
	return f, tmp, nil
}

const temporarySuffix = ".tmp"

// IsTemporary reports whether a file is one that is being written, or that a
// crash has left.
func IsTemporary(name string) bool { return strings.HasSuffix(name, temporarySuffix) }

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is written sequentially.
type File struct {
	store *Store
	file  *os.File
	sum   hash.Hash
	bytes int64
	tmp   string // "" once published
	name  string
}

// Digest identifies a file's contents by length and SHA-256.
type Digest struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Create creates a file under a temporary name in the same folder.
func (s *Store) Create(name string) (*File, error) {
	file, tmp, err := s.exclusive(name, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return &File{store: s, file: file, sum: sha256.New(), tmp: tmp, name: name}, nil
}

// Path returns the file's final path for messages.
func (f *File) Path() string { return f.store.Path(f.name) }

func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.sum.Write(p[:n])
	f.bytes += int64(n)
	if err != nil {
		err = f.store.writing(f.name, err)
	}
	return n, err
}

// Finish syncs the file to disk, closes it and returns its digest.
func (f *File) Finish() (Digest, error) {
	err := f.file.Sync()
	if e := f.file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return Digest{}, f.store.writing(f.name, err)
	}
	return Digest{f.bytes, hex.EncodeToString(f.sum.Sum(nil))}, nil
}

// Publish renames the file to its final name and replaces a file of that name.
// Publish before Finish lets others read the file while it is written.
func (f *File) Publish() error {
	if err := f.store.Rename(f.tmp, f.name); err != nil {
		return err
	}
	f.tmp = ""
	return nil
}

// Discard closes and removes the file, even if it is published.
func (f *File) Discard() {
	f.file.Close()
	name := f.tmp
	if name == "" {
		name = f.name
	}
	f.store.Remove(name)
}

// Scratch is a temporary file for this process. If the system allows, it has no
// name, so that not even a crash leaves it behind.
type Scratch struct {
	*os.File
	store *Store
	tmp   string
}

// Scratch creates a scratch file in a folder.
func (s *Store) Scratch(folder string) (*Scratch, error) {
	f, tmp, err := s.exclusive(folder+"/scratch", os.O_RDWR)
	if err != nil {
		return nil, err
	}
	s.Remove(tmp) // if the system cannot remove an open file, Close removes it
	return &Scratch{f, s, tmp}, nil
}

// Close closes the file and frees its disk space.
func (c *Scratch) Close() error {
	err := c.File.Close()
	c.store.Remove(c.tmp)
	return err
}

// Extend opens a file to read and to append to, and creates it if it does not
// exist. It is the only kind of file that changes under its final name: it keeps
// what a process would lose if it were killed.
func (s *Store) Extend(name string) (*os.File, error) {
	flag := os.O_RDWR
	switch info, err := s.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		flag |= os.O_CREATE | os.O_EXCL
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s %w", s.Path(name), errNotRegular)
	}
	f, err := s.root.OpenFile(filepath.FromSlash(name), flag, 0o666)
	if err != nil {
		return nil, s.full(err)
	}
	return f, nil
}

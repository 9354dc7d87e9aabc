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

// File is a file that is being written from its beginning to its end.
type File struct {
	store *Store
	file  *os.File
	sum   hash.Hash
	bytes int64
	tmp   string // "" once published
	name  string
}

// Digest tells a file by its length and the SHA-256 of its bytes.
type Digest struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Create begins a file, under a temporary name in the same folder.
func (s *Store) Create(name string) (*File, error) {
	file, tmp, err := s.exclusive(name, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return &File{store: s, file: file, sum: sha256.New(), tmp: tmp, name: name}, nil
}

// Path is what a user calls the file.
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

// Finish brings the file to disk and closes it.
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

// Publish gives the file its name, in place of what had it. A file that may be
// read while it is written is published before it is finished.
func (f *File) Publish() error {
	if err := f.store.Rename(f.tmp, f.name); err != nil {
		return err
	}
	f.tmp = ""
	return nil
}

// Discard removes the file, also if it is published.
func (f *File) Discard() {
	f.file.Close()
	name := f.tmp
	if name == "" {
		name = f.name
	}
	f.store.Remove(name)
}

// Scratch is a file for this process alone, without a name where the system
// allows that, so that nothing is left of it.
type Scratch struct {
	*os.File
	store *Store
	tmp   string
}

// Scratch makes a file in a folder to write to and read back.
func (s *Store) Scratch(folder string) (*Scratch, error) {
	f, tmp, err := s.exclusive(folder+"/scratch", os.O_RDWR)
	if err != nil {
		return nil, err
	}
	s.Remove(tmp) // a system that cannot removes it in Close
	return &Scratch{f, s, tmp}, nil
}

// Close gives the room back.
func (c *Scratch) Close() error {
	err := c.File.Close()
	c.store.Remove(c.tmp)
	return err
}

// Extend opens a file to be read, and written where it ends, and makes one
// where there is none. It is the only file that changes once it has its name:
// for what a process keeps against its own end.
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
		return nil, s.told(err)
	}
	return f, nil
}

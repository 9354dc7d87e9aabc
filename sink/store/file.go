package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is written sequentially.
type File struct {
	file    *os.File
	measure *measure
	path    string // for messages
	target
}

// target is where a file goes.
type target interface {
	finish() error          // after the last byte
	publish() error         // gives the file its name
	discard(published bool) // removes the file, and also one that is or may be published
}

func newFile(f *os.File, path string, t target) *File {
	return &File{file: f, measure: newMeasure(), path: path, target: t}
}

// Digest identifies a file's contents by length and SHA-256.
type Digest struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Path returns the file's final path or URL for messages.
func (f *File) Path() string { return f.path }

func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	f.measure.Write(p[:n])
	return n, writing(f.path, err)
}

// Finish brings the contents to disk and returns their digest.
func (f *File) Finish() (Digest, error) {
	if err := f.finish(); err != nil {
		return Digest{}, writing(f.path, err)
	}
	return f.measure.Digest(), nil
}

// Publish gives the file its final name and replaces a file of that name. In a folder
// it may come before Finish: then others can read the file while it is written.
func (f *File) Publish() error { return f.publish() }

// Fill writes the contents that write gives, and gives the file its final name.
func (f *File) Fill(write func(io.Writer) error) (d Digest, err error) {
	if err = write(f); err == nil {
		d, err = f.Finish()
	}
	if err == nil {
		err = f.Publish()
	}
	return d, err
}

// Write creates and fills a file. After an error there is no such file.
func Write(s Store, name string, write func(io.Writer) error) (Digest, error) {
	f, err := s.Create(name)
	if err != nil {
		return Digest{}, err
	}
	d, err := f.Fill(write)
	if err != nil {
		f.Discard()
	}
	return d, err
}

// Discard removes the file, even if it is published.
func (f *File) Discard() { f.discard(true) }

// Abandon removes the file unless it is published, or may be. It is for a name that
// other processes write, too.
func (f *File) Abandon() { f.discard(false) }

// Create creates a file under a temporary name in the same folder.
func (s *Folder) Create(name string) (*File, error) {
	file, tmp, err := s.exclusive(name, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	return newFile(file, s.Path(name), &written{s, file, tmp, name}), nil
}

// written is a file that is written in its folder.
type written struct {
	folder *Folder
	file   *os.File
	tmp    string // "" once published
	name   string
}

func (w *written) finish() error {
	return cmp.Or(w.file.Sync(), w.file.Close())
}

func (w *written) publish() error {
	if err := w.folder.Rename(w.tmp, w.name); err != nil {
		return err
	}
	w.tmp = ""
	return nil
}

func (w *written) discard(published bool) {
	w.file.Close()
	name := w.tmp
	if name == "" {
		if !published {
			return
		}
		name = w.name
	}
	w.folder.Remove(name)
}

// Scratch is a temporary file for this process. If the system allows, it has no
// name, so that not even a crash leaves it behind.
type Scratch struct {
	*os.File
	remove func() error
}

// Scratch creates a scratch file in a folder.
func (s *Folder) Scratch(folder string) (*Scratch, error) {
	f, tmp, err := s.exclusive(folder+"/scratch", os.O_RDWR)
	if err != nil {
		return nil, err
	}
	s.Remove(tmp) // if the system cannot remove an open file, Close removes it
	return &Scratch{f, func() error { return s.Remove(tmp) }}, nil
}

// Close closes the file and frees its disk space.
func (c *Scratch) Close() error {
	err := c.File.Close()
	c.remove()
	return err
}

// Extend opens a file to read and to append to, and creates it if it does not
// exist. It is the only kind of file that changes under its final name: it keeps
// what a process would lose if it were killed.
func (s *Folder) Extend(name string) (*os.File, error) {
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
	return f, s.full(err)
}

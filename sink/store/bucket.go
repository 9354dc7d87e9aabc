package store

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/store/remote"
)

// Bucket is an output folder in an object store.
type Bucket struct {
	bucket   *remote.Bucket
	ctx      context.Context // ends transfers
	borrowed bool            // another Bucket closes it (see During)
}

func openBucket(ctx context.Context, url string) (*Bucket, error) {
	if err := CheckName(url); err != nil {
		return nil, err
	}
	b, err := remote.OpenBucket(ctx, url)
	if err != nil {
		return nil, err
	}
	// Whether the bucket exists, and may be listed, shows now and not after an hour.
	if err := b.Check(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return &Bucket{b, ctx, false}, nil
}

// Close closes the connections.
func (b *Bucket) Close() error {
	if b.borrowed {
		return nil
	}
	return b.bucket.Close()
}

// Path returns the URL of a name.
func (b *Bucket) Path(name string) string { return b.bucket.URL(name) }

// Stat returns the info of an object or folder.
func (b *Bucket) Stat(name string) (fs.FileInfo, error) {
	e, err := b.bucket.Find(b.ctx, name)
	if err != nil {
		return nil, err
	}
	return info{e}, nil
}

func (b *Bucket) statObject(name string) (fs.FileInfo, error) {
	o, err := b.bucket.Object(b.ctx, name)
	if err != nil {
		return nil, err
	}
	return info{remote.Entry{Name: name, Size: o.Size, Modified: o.Modified}}, nil
}

// Open copies an object to a temporary file.
func (b *Bucket) Open(name string) (*os.File, error) {
	return b.bucket.Download(b.ctx, name)
}

// OpenAt returns a reader that asks for each range. It asks for nothing yet.
func (b *Bucket) OpenAt(name string) (ReaderAtCloser, error) { return &ranges{b, name}, nil }

// ranges reads an object by range.
type ranges struct {
	*Bucket
	name string
}

func (r *ranges) ReadAt(p []byte, at int64) (int, error) {
	return r.bucket.ReadAt(r.ctx, r.name, p, at)
}

func (r *ranges) Close() error { return nil }

// Read reads an object.
func (b *Bucket) Read(name string, most int64) ([]byte, error) {
	return b.bucket.Read(b.ctx, name, most)
}

// List lists a folder.
func (b *Bucket) List(folder string) (list []fs.DirEntry, err error) {
	err = b.bucket.List(b.ctx, folder, false, func(e remote.Entry) error {
		list = append(list, fs.FileInfoToDirEntry(info{e}))
		return nil
	})
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// Size returns the total size of the objects in a folder.
func (b *Bucket) Size(folder string) (size int64) {
	b.bucket.List(b.ctx, folder, true, func(e remote.Entry) error {
		size += e.Size
		return nil
	})
	return size
}

// Put writes an object unless the name exists.
func (b *Bucket) Put(name string, content []byte) (won bool, err error) {
	won, unsure, err := b.bucket.Create(b.ctx, name, content)
	if unsure {
		err = inDoubt(err)
	}
	return won, err
}

// Replace writes an object.
func (b *Bucket) Replace(name, _ string, content []byte) error {
	return b.bucket.Write(b.ctx, name, content)
}

// Create creates a file that Publish sends to the store.
func (b *Bucket) Create(name string) (*File, error) {
	f, err := remote.Scratch()
	if err != nil {
		return nil, err
	}
	return newFile(f, b.Path(name), &sent{b, name, f, false}), nil
}

// sent is a file on its way to the store.
type sent struct {
	bucket    *Bucket
	name      string
	file      *os.File
	published bool
}

func (s *sent) finish() error { return nil }

func (s *sent) publish() error {
	s.published = true
	err := s.bucket.bucket.Upload(s.bucket.ctx, s.name, s.file)
	s.file.Close()
	return err
}

func (s *sent) discard(published bool) {
	s.file.Close()
	if s.published && published {
		s.bucket.Remove(s.name)
	}
}

// Scratch creates a temporary file on this machine.
func (b *Bucket) Scratch(string) (*Scratch, error) { return ScratchHere() }

// ScratchHere creates a scratch file on this machine, in no store.
func ScratchHere() (*Scratch, error) {
	f, err := remote.Scratch()
	if err != nil {
		return nil, err
	}
	return &Scratch{f, func() error { return nil }}, nil
}

// MakeFolder does nothing: an object store has no folders.
func (b *Bucket) MakeFolder(string) error { return nil }

// Sync does nothing: an object that is written is durable.
func (b *Bucket) Sync(string) error { return nil }

// cleanupTime bounds the removal of an object by a process that is about to end.
const cleanupTime = 10 * time.Second

// Remove removes an object, even after the end of the context, because an attempt that
// gives up removes what it has written.
func (b *Bucket) Remove(name string) error {
	ctx := b.ctx
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
		defer cancel()
	}
	return b.bucket.Remove(ctx, name)
}

// removers is the number of objects that are removed at the same time.
const removers = 16

// RemoveAll removes the objects in a folder, or the object of that name.
func (b *Bucket) RemoveAll(folder string) error {
	if err := b.Remove(folder); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(removers)
	err := b.bucket.List(ctx, folder, true, func(e remote.Entry) error {
		g.Go(func() error { return b.bucket.Remove(ctx, e.Name) })
		return ctx.Err()
	})
	if e := g.Wait(); e != nil {
		return e
	}
	return err
}

// Rename copies an object and removes it under its old name.
func (b *Bucket) Rename(from, to string) error {
	if err := b.bucket.Copy(b.ctx, from, to); err != nil {
		return err
	}
	return b.Remove(from)
}

// Lock locks nothing.
func (b *Bucket) Lock(string) (*Lock, error) { return &Lock{release: func() {}}, nil }

// info describes an object or folder.
type info struct{ e remote.Entry }

func (i info) Name() string       { return path.Base(i.e.Name) }
func (i info) Size() int64        { return i.e.Size }
func (i info) ModTime() time.Time { return i.e.Modified }
func (i info) IsDir() bool        { return i.e.IsFolder }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.e.IsFolder {
		return fs.ModeDir | 0o777
	}
	return 0o666
}

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Bucket is a folder in an object store: a prefix of the names in a bucket.
type Bucket struct {
	url    string // without a slash at the end
	prefix string // "" or with a slash at the end
	bucket *blob.Bucket
	whole  func(as func(any) bool) error // has a write be one request; nil where [blob.WriterOptions] does
}

// Entry is an object of a bucket, or a folder.
type Entry struct {
	Name     string // relative to the bucket's URL; without a slash at the end
	IsFolder bool
	Size     int64
	Modified time.Time
}

// ErrFolder reports a URL that does not name a folder in an object store.
var ErrFolder = errors.New("is not the URL of a folder")

// OpenBucket opens a folder by its URL, such as s3://bucket/folder. It does not ask
// the store. It returns [ErrFolder] for a URL of another form.
func OpenBucket(ctx context.Context, folder string) (*Bucket, error) {
	if err := check(folder); err != nil {
		return nil, err
	}
	// The folder is taken as it is, as the clouds' own tools take it: a name may have a
	// percent sign.
	scheme, rest, _ := strings.Cut(folder, "://")
	name, prefix, _ := strings.Cut(rest, "/")
	if name == "" || strings.ContainsAny(name, "@:%\\ ") || strings.ContainsAny(rest, "?#") {
		return nil, fmt.Errorf("%s %w: give it as %s://BUCKET/FOLDER", folder, ErrFolder, scheme)
	}
	b := &Bucket{url: scheme + "://" + name, prefix: strings.Trim(prefix, "/")}
	if b.prefix != "" {
		b.url += "/" + b.prefix
		b.prefix += "/"
	}
	var err error
	if scheme == "s3" {
		b.bucket, b.whole, err = openS3(ctx, name)
	} else {
		b.bucket, err = blob.OpenBucket(ctx, scheme+"://"+name)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", folder, refused{err})
	}
	return b, nil
}

// Close closes the bucket.
func (b *Bucket) Close() error { return b.bucket.Close() }

// URL returns the URL of a name in the bucket.
func (b *Bucket) URL(name string) string {
	if name == "" || name == "." {
		return b.url
	}
	return b.url + "/" + name
}

// Object finds an object. It returns [fs.ErrNotExist] if there is none.
func (b *Bucket) Object(ctx context.Context, name string) (*Object, error) {
	var at *blob.Attributes
	err := b.call(ctx, "open", name, func(ctx context.Context) (err error) {
		at, err = b.bucket.Attributes(ctx, b.prefix+name)
		return err
	})
	if err != nil {
		return nil, err
	}
	o := b.unseen(name)
	o.Size, o.Modified, o.version = at.Size, at.ModTime, version{at.Size, at.ModTime.UTC().Truncate(time.Second).String()}
	return o, nil
}

// unseen returns an object whose size is not known until it is read.
func (b *Bucket) unseen(name string) *Object {
	o := &Object{URL: b.URL(name), Size: -1}
	o.open = func(ctx context.Context, from, to int64) (io.ReadCloser, version, error) {
		length := int64(-1)
		if to > 0 {
			length = to - from
		}
		r, err := b.bucket.NewRangeReader(ctx, b.prefix+name, from, length, nil)
		if err != nil && to > 0 && codeOf(err) == "InvalidRange" {
			return io.NopCloser(strings.NewReader("")), version{size: from}, nil // the object ends before
		}
		if err != nil {
			return nil, version{}, b.explain("read", name, err)
		}
		return r, version{r.Size(), r.ModTime().UTC().Truncate(time.Second).String()}, nil
	}
	return o
}

// Download copies an object to a temporary file, in one request unless the transfer
// breaks. It returns [fs.ErrNotExist] if there is none.
func (b *Bucket) Download(ctx context.Context, name string) (*os.File, error) {
	return download(&reader{ctx: ctx, object: b.unseen(name), fresh: true})
}

// ReadAt reads bytes of an object from an offset on, in one request, as [io.ReaderAt]
// does.
func (b *Bucket) ReadAt(ctx context.Context, name string, p []byte, at int64) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	err = b.call(ctx, "read", name, func(ctx context.Context) error {
		r, err := b.bucket.NewRangeReader(ctx, b.prefix+name, at, int64(len(p)), nil)
		if err != nil {
			return err
		}
		defer r.Close()
		left := r.Size() - at // of the object
		n, err = io.ReadFull(r, p[:max(0, min(left, int64(len(p))))])
		return err
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Read reads an object of at most so many bytes.
func (b *Bucket) Read(ctx context.Context, name string, most int64) (content []byte, err error) {
	err = b.call(ctx, "read", name, func(ctx context.Context) error {
		r, err := b.bucket.NewReader(ctx, b.prefix+name, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		if r.Size() > most {
			return permanent{fmt.Errorf("has more than %d bytes", most)}
		}
		content, err = io.ReadAll(io.LimitReader(r, most+1))
		if err == nil && int64(len(content)) != r.Size() {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
	return content, err
}

// Find returns what has a name: an object or, if there is none, a folder. It returns
// [fs.ErrNotExist] if there is neither.
func (b *Bucket) Find(ctx context.Context, name string) (e Entry, err error) {
	if name != "" && name != "." {
		o, err := b.Object(ctx, name)
		if err == nil {
			return Entry{Name: name, Size: o.Size, Modified: o.Modified}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Entry{}, err
		}
	}
	some := false
	err = b.call(ctx, "find", name, func(ctx context.Context) error {
		page, _, err := b.bucket.ListPage(ctx, blob.FirstPageToken, 1, &blob.ListOptions{Prefix: b.folder(name)})
		some = len(page) > 0
		return err
	})
	if err == nil && !some {
		err = &fs.PathError{Op: "find", Path: b.URL(name), Err: fs.ErrNotExist}
	}
	return Entry{Name: name, IsFolder: true}, err
}

var errNoBucket = errors.New("there is no such bucket")

// Check returns an error if there is no such bucket, or if it may not be listed.
func (b *Bucket) Check(ctx context.Context) error {
	err := b.call(ctx, "list", "", func(ctx context.Context) error {
		_, _, err := b.bucket.ListPage(ctx, blob.FirstPageToken, 1, &blob.ListOptions{Prefix: b.prefix})
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || slices.Contains(noBucket, codeOf(err)) {
		return refused{fmt.Errorf("%s: %w", b.url, errNoBucket)}
	}
	return err
}

// folder returns the prefix of the names in a folder.
func (b *Bucket) folder(name string) string {
	if name == "" || name == "." {
		return b.prefix
	}
	return b.prefix + name + "/"
}

// List calls each with what is in a folder: objects and folders, or, if deep, the
// objects in it and in the folders below. A folder that does not exist has no
// entries.
func (b *Bucket) List(ctx context.Context, folder string, deep bool, each func(Entry) error) error {
	options := &blob.ListOptions{Prefix: b.folder(folder)}
	if !deep {
		options.Delimiter = "/"
	}
	for token := blob.FirstPageToken; len(token) > 0; {
		var page []*blob.ListObject
		var next []byte
		err := b.call(ctx, "list", folder, func(ctx context.Context) (err error) {
			page, next, err = b.bucket.ListPage(ctx, token, 1000, options)
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range page {
			name := strings.TrimSuffix(strings.TrimPrefix(o.Key, b.prefix), "/")
			if o.Key == options.Prefix { // some tools create an object for the folder
				continue
			}
			if err := each(Entry{name, o.IsDir, o.Size, o.ModTime}); err != nil {
				return err
			}
		}
		token = next
	}
	return nil
}

// Write writes an object, and replaces one of that name.
func (b *Bucket) Write(ctx context.Context, name string, content []byte) error {
	return b.call(ctx, "write", name, func(ctx context.Context) error {
		return b.put(ctx, name, content, false)
	})
}

// put writes an object once, in one request, whatever its size: a store may keep the
// condition where an object is put, and ignore it where an upload in parts is completed,
// as Ceph's does. Stores take 5 GB in a request, and what decides about a run has 2 GiB at
// most, in memory. So each name that several writers may want is written here, and only
// names that no other writer has by [Bucket.Upload].
//
// It avoids WriteAll, and digests of the content: with either, gocloud.dev 0.47 panics
// when Azure refuses the object, as it does when another writer was first.
func (b *Bucket) put(ctx context.Context, name string, content []byte, ifAbsent bool) error {
	return b.bucket.Upload(ctx, b.prefix+name, bytes.NewReader(content), &blob.WriterOptions{
		ContentType: contentType(name), IfNotExist: ifAbsent, BufferSize: len(content) + 1, BeforeWrite: b.whole,
	})
}

// Upload writes an object from a file, and replaces one of that name. A part of it
// that fails is sent again, and after that the whole.
func (b *Bucket) Upload(ctx context.Context, name string, from io.ReadSeeker) error {
	return repeat(ctx, func(ctx context.Context) error {
		if _, err := from.Seek(0, io.SeekStart); err != nil {
			return permanent{err}
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		watched := &watched{from, time.AfterFunc(unsent, cancel)}
		defer watched.watch.Stop()
		err := b.bucket.Upload(ctx, b.prefix+name, watched, &blob.WriterOptions{ContentType: contentType(name),
			BufferSize: partSize, MaxConcurrency: partsInFlight})
		return b.explain("write", name, err)
	})
}

// Bounds of an upload: a part is held in memory while it is sent. S3 allows 10,000
// parts.
const (
	partSize      = 8 << 20
	partsInFlight = 2
)

// unsent bounds the time between two reads of what is sent, and until the answer.
const unsent = 10 * time.Minute

// watched postpones the end of an upload with every read.
type watched struct {
	io.Reader
	watch *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	w.watch.Reset(unsent)
	return w.Reader.Read(p)
}

func contentType(name string) string {
	switch {
	case strings.HasSuffix(name, ".json"):
		return "application/json"
	case strings.HasSuffix(name, ".csv"):
		return "text/csv; charset=utf-8"
	case strings.HasSuffix(name, ".sql"):
		return "application/sql"
	case strings.HasSuffix(name, ".parquet"):
		return "application/vnd.apache.parquet"
	}
	return "application/octet-stream"
}

// ErrNoCondition reports a store that refuses to write an object only if there is none.
var ErrNoCondition = errors.New("the store has no conditional writes (If-None-Match)")

// Create writes an object unless there is one of that name, and reports whether
// there was none. Of several writers one wins.
//
// The answer to a write may be lost, and the repetition, ours or the client library's,
// then finds the object that it has written: an object with the same bytes is taken for
// this writer's, so content must have something that no other writer's has. An error
// with inDoubt means that the object may have been written.
func (b *Bucket) Create(ctx context.Context, name string, content []byte) (won, inDoubt bool, err error) {
	err = b.call(ctx, "write", name, func(ctx context.Context) error {
		err := b.put(ctx, name, content, true)
		code := gcerrors.Code(err)
		switch {
		case err == nil:
			won = true
			return nil
		case codeOf(err) == "NotImplemented":
			return permanent{fmt.Errorf("%w: %w", ErrNoCondition, err)}
		case code == gcerrors.PermissionDenied:
			return err
		}
		inDoubt = true // until the object is read: the client repeats a write, too
		if code != gcerrors.FailedPrecondition && statusOf(err) != 0 {
			return err
		}
		// A store may refuse a long object while it is sent, and cut the connection before
		// its answer is read: then it is the object that tells.
		there, e := b.bucket.NewRangeReader(ctx, b.prefix+name, 0, int64(len(content))+1, nil)
		var found []byte
		if e == nil {
			found, e = io.ReadAll(there)
			there.Close()
		}
		switch {
		case e == nil:
			won = string(found) == string(content)
			return nil
		case code != gcerrors.FailedPrecondition:
			return err
		case gcerrors.Code(e) == gcerrors.NotFound:
			// Removed in between, or the store answers a write that loses before the
			// one that wins.
			return errors.New("the object exists and cannot be read")
		}
		return e
	})
	return won && err == nil, inDoubt && err != nil, err
}

// Remove removes an object. It is not an error if there is none.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	err := b.call(ctx, "remove", name, func(ctx context.Context) error { return b.bucket.Delete(ctx, b.prefix+name) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Copy copies an object within the bucket.
func (b *Bucket) Copy(ctx context.Context, from, to string) error {
	return b.call(ctx, "copy", from,
		func(ctx context.Context) error { return b.bucket.Copy(ctx, b.prefix+to, b.prefix+from, nil) })
}

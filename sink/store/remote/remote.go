// Package remote reads and writes objects by URL: s3://, gs:// and azblob:// through
// gocloud.dev, and https:// for reading.
//
// Credentials, region and endpoint are found as each cloud's own tools find them: for
// s3:// in AWS_ACCESS_KEY_ID, AWS_PROFILE, the instance's role and so on, with
// AWS_ENDPOINT_URL for MinIO, Ceph, R2 and other stores that speak S3. The default
// build has s3:// and https://; the build tags gcs and azure add the other two.
//
// Every call is repeated after errors that may pass, with growing pauses. A read
// that breaks resumes at the byte where it broke.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Object is an object to read. It may be read by several goroutines.
type Object struct {
	URL      string    // its [Name]
	Size     int64     // -1 if the server does not say
	Modified time.Time // zero if the server does not say
	address  string    // of an https object: its URL with the query
	version  version
	server   *server // whose pace it keeps, nil for none

	// open returns the bytes from an offset up to another, 0 for the end of the object,
	// and the version that they belong to.
	open  func(ctx context.Context, from, to int64) (io.ReadCloser, version, error)
	close func() error
}

// version tells the contents of an object from later ones.
type version struct {
	size int64
	tag  string // entity tag, or the time of the last modification
}

// ErrScratch reports that an object cannot be copied to a temporary file.
var ErrScratch = errors.New("cannot write a temporary file (TMPDIR)")

// ErrChanged reports an object that was replaced while it was read.
var ErrChanged = errors.New("was replaced while it was read")

// ErrTransfer reports a transfer that failed after several attempts. It may succeed
// later.
var ErrTransfer = errors.New("the transfer failed several times")

// schemes are the schemes of this build.
var schemes = []string{"https"}

// optional are the schemes that a build tag adds.
var optional = map[string]string{"gs": "gcs", "azblob": "azure"}

// IsURL reports whether name is a URL of a kind that this package reads, in this
// build or another, and not the path of a file.
func IsURL(name string) bool { return IsBucket(name) || schemeOf(name) == "https" }

// IsBucket reports whether name is the URL of a folder in an object store.
func IsBucket(name string) bool {
	scheme := schemeOf(name)
	return scheme == "s3" || optional[scheme] != ""
}

func schemeOf(name string) string {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		return ""
	}
	if strings.EqualFold(scheme, "https") { // as browsers take it; those of stores stand in SQL, too
		return "https"
	}
	return scheme
}

// ErrScheme reports a URL that this build cannot read.
var ErrScheme = errors.New("this build of robocensus cannot read it")

// check returns an error if this build cannot read a URL.
func check(url string) error {
	scheme := schemeOf(url)
	if slices.Contains(schemes, scheme) {
		return nil
	}
	if tag := optional[scheme]; tag != "" {
		return fmt.Errorf("%s: %w: build it with go build -tags %s", Name(url), ErrScheme, tag)
	}
	return fmt.Errorf("%s: %w: the scheme must be one of %s", Name(url), ErrScheme, strings.Join(schemes, ", "))
}

// split divides the URL of an object into that of its bucket and its name, which is taken
// byte for byte: a//b is another object than a/b.
func split(url string) (root, name string) {
	scheme, rest, _ := strings.Cut(url, "://")
	bucket, name, _ := strings.Cut(rest, "/")
	return scheme + "://" + bucket, name
}

// Open finds an object. It returns [fs.ErrNotExist] if there is none.
func Open(ctx context.Context, url string) (*Object, error) {
	if err := check(url); err != nil {
		return nil, err
	}
	if schemeOf(url) == "https" {
		return openHTTPS(ctx, url)
	}
	root, name := split(url)
	if name == "" || strings.HasSuffix(name, "/") {
		return nil, &fs.PathError{Op: "open", Path: url, Err: errors.New("is a folder; give the URL of an object")}
	}
	b, err := OpenBucket(ctx, root)
	if err != nil {
		return nil, err
	}
	o, err := b.Object(ctx, name)
	if errors.Is(err, fs.ErrNotExist) { // the answer is the same if there is no bucket
		if e := b.Check(ctx); errors.Is(e, errNoBucket) {
			err = e
		}
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	o.close = b.Close
	return o, nil
}

// Tag returns the entity tag of the object or, without one, the time of its last
// modification; "" if the server says neither.
func (o *Object) Tag() string { return o.version.tag }

// Close releases the connections of the object.
func (o *Object) Close() error {
	if o.close == nil {
		return nil
	}
	return o.close()
}

// Copy copies an object to a temporary file, which has no name where the system
// allows it. The caller closes it.
func (o *Object) Copy(ctx context.Context) (*os.File, error) { return download(o.Reader(ctx, 0)) }

func download(in io.ReadCloser) (*os.File, error) {
	defer in.Close()
	f, err := Scratch()
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(scratchWriter{f}, in)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// scratchWriter tells errors of the temporary file from those of the transfer.
type scratchWriter struct{ io.Writer }

func (w scratchWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrScratch, err)
	}
	return n, err
}

// Scratch creates a temporary file in the system's folder for them. Its name is
// removed at once, so that nothing is left of it, however the process ends.
func Scratch() (*os.File, error) {
	f, err := os.CreateTemp("", "robocensus-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrScratch, err)
	}
	os.Remove(f.Name())
	return f, nil
}

// ReadAll reads an object of at most so many bytes.
func ReadAll(ctx context.Context, url string, most int64) ([]byte, error) {
	o, err := Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return o.ReadAll(ctx, most)
}

// ReadAll reads the object, which must have at most so many bytes.
func (o *Object) ReadAll(ctx context.Context, most int64) ([]byte, error) {
	in := o.Reader(ctx, 0)
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(content)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", o.URL, most)
	}
	return content, nil
}

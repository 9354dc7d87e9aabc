package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Every input but a folder of bodies may be a URL of package remote. A list or an
// archive is read as it comes; what needs random access, such as Parquet, is copied to
// a temporary file first.

// Unread makes the error of an input at a URL: a [userfile.Error] if the input is
// wrong, and not if its server, this machine or a key is.
func Unread(url string, err error) error {
	url = remote.Name(url)
	if store.FaultOf(err) != store.OfData {
		if strings.Contains(err.Error(), url) {
			return err
		}
		return fmt.Errorf("read %s: %w", url, err)
	}
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err // the URL is named already
	}
	return &userfile.Error{Path: url, Err: err}
}

// openURL opens an object to read it once, from its beginning.
func openURL(ctx context.Context, url string) (in io.ReadSeekCloser, o *remote.Object, err error) {
	if o, err = remote.Open(ctx, url); err != nil {
		return nil, nil, Unread(url, err)
	}
	return &unread{o.Reader(ctx, 0), o}, o, nil
}

// OpenArchive opens an archive at a URL to read it once, at the pace of its server.
func OpenArchive(ctx context.Context, servers *remote.Servers, url string) (io.ReadSeekCloser, *remote.Object, error) {
	in, o, err := servers.Open(ctx, url)
	if err != nil {
		return nil, nil, Unread(url, err)
	}
	return &unread{in, o}, o, nil
}

// unread makes the errors of an object that is read.
type unread struct {
	io.ReadSeekCloser
	object *remote.Object
}

func (u *unread) Read(p []byte) (int, error) {
	n, err := u.ReadSeekCloser.Read(p)
	if err != nil && err != io.EOF {
		err = Unread(u.object.URL, err)
	}
	return n, err
}

func (u *unread) Close() error {
	u.ReadSeekCloser.Close()
	return u.object.Close()
}

// copyURL copies an object to a temporary file.
func copyURL(ctx context.Context, url string) (*os.File, error) {
	o, err := remote.Open(ctx, url)
	if err != nil {
		return nil, Unread(url, err)
	}
	defer o.Close()
	f, err := o.Copy(ctx)
	if err != nil {
		return nil, Unread(url, err)
	}
	return f, nil
}

// Glob returns the URLs that a pattern names: the objects of one folder of an object
// store, or the URL itself.
func Glob(ctx context.Context, pattern string) (urls []string, err error) {
	if !remote.IsBucket(pattern) || !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}, nil
	}
	at := strings.LastIndexByte(pattern, '/')
	folder, name := pattern[:at], pattern[at+1:]
	if strings.ContainsAny(folder, "*?[") {
		return nil, &userfile.Error{Path: remote.Name(pattern),
			Err: errors.New("only the last part of the URL may be a pattern")}
	}
	b, err := remote.OpenBucket(ctx, folder)
	if err != nil {
		return nil, Unread(pattern, err)
	}
	defer b.Close()
	err = b.List(ctx, "", false, func(e remote.Entry) error {
		ok, err := path.Match(name, e.Name)
		if ok && !e.IsFolder {
			urls = append(urls, b.URL(e.Name))
		}
		return err
	})
	if err != nil {
		return nil, Unread(pattern, err)
	}
	return urls, nil
}

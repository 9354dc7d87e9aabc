package input

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// BodyIndex finds the bodies of the rows of an earlier run, which has none of its own. Rows
// may be looked up concurrently.
type BodyIndex struct {
	name     string
	limit    int // at which bodies are cut
	byDigest map[string]contentOf
	byOrigin map[fetch.Origin]contentOf
	byPort   map[fetch.Origin]contentOf // of files whose names have a port
	kept     *store.Scratch             // bodies of a tar, nil for none
	end      int64
}

// contentOf reads a file as [File.Read] does.
type contentOf func(limit int) ([]byte, error)

// NewBodyIndex reads a folder or tar. Bodies are cut at a limit.
func NewBodyIndex(ctx context.Context, name string, limit int, scratch func() (*store.Scratch, error)) (x *BodyIndex,
	err error) {
	x = &BodyIndex{name: remote.Name(name), limit: limit, byDigest: make(map[string]contentOf),
		byOrigin: make(map[fetch.Origin]contentOf), byPort: make(map[fetch.Origin]contentOf)}
	ignore := func(string, string) error { return nil }
	err = EachBody(ctx, name, func(f *BodyFile) error { return errors.Join(ctx.Err(), x.add(f, scratch)) }, ignore)
	if err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

func (x *BodyIndex) add(f *BodyFile, scratch func() (*store.Scratch, error)) error {
	limit, content := x.limit, contentOf(f.Read)
	if !f.again {
		limit = robots.MaxSizeLimit // an earlier run may have cut bodies there
	}
	body, err := f.Read(limit)
	if err == nil && !f.again {
		content, err = x.keep(body, scratch)
	}
	if err != nil {
		return err
	}
	x.byDigest[schema.ContentDigest(body[:min(len(body), x.limit)])] = content
	first, err := f.Origin("https")
	if err != nil {
		return nil // found by its digest alone
	}
	origins := x.byOrigin
	if o, err := f.Origin("http"); err == nil && o == first {
		origins = x.byPort
	}
	for _, scheme := range []string{"https", "http", "ftp"} {
		if o, err := f.Origin(scheme); err == nil && origins[o] == nil {
			origins[o] = content
		}
	}
	return nil
}

// keep keeps a body on disk.
func (x *BodyIndex) keep(body []byte, scratch func() (*store.Scratch, error)) (_ contentOf, err error) {
	if x.kept == nil {
		if x.kept, err = scratch(); err != nil {
			return nil, fmt.Errorf("create a file for bodies: %w", err)
		}
	}
	at, size := x.end, len(body)
	if _, err := x.kept.WriteAt(body, at); err != nil {
		return nil, fmt.Errorf("keep a body on disk: %w", err)
	}
	x.end += int64(size)
	return func(limit int) ([]byte, error) {
		return io.ReadAll(io.NewSectionReader(x.kept, at, int64(min(size, limit+1))))
	}, nil
}

// Of returns the body that a row names: that with its digest, or else that of the file
// named by its host, with its port before one without. If this one is another body, the row
// then says whether it was cut.
func (x *BodyIndex) Of(row *schema.Fetch) ([]byte, error) {
	named := row.KeptDigest()
	if named == nil {
		return nil, nil
	}
	content := x.byDigest[*named]
	for _, origins := range []map[fetch.Origin]contentOf{x.byPort, x.byOrigin} {
		if content == nil {
			content = origins[fetch.Origin{Scheme: row.Scheme, Host: row.Host, Port: uint16(row.Port)}]
		}
	}
	if content == nil {
		return nil, &userfile.Error{Path: x.name, Err: fmt.Errorf("has no body with the digest %s, and none named %s",
			*named, row.Host)}
	}
	body, cut, err := content.cutAt(x.limit)
	if err != nil || schema.ContentDigest(body) == *named {
		return body, err
	}
	// A run that re-evaluates another has the bodies as that one cut them.
	longer, _, err := content.cutAt(int(max(0, min(schema.OrZero(row.BodyBytes), robots.MaxSizeLimit))))
	if err != nil || schema.ContentDigest(longer) == *named {
		return longer, err
	}
	row.KeptTruncated = &cut
	return body, nil
}

// cutAt returns a body, and whether it was cut.
func (c contentOf) cutAt(limit int) ([]byte, bool, error) {
	body, err := c(limit)
	if len(body) > limit {
		return body[:limit], true, err
	}
	return body, false, err
}

// Close frees the disk that the index takes. x may be nil.
func (x *BodyIndex) Close() error {
	if x == nil || x.kept == nil {
		return nil
	}
	return x.kept.Close()
}

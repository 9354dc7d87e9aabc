package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// stalled bounds how long a read may wait for bytes.
var stalled = time.Minute // tests do not wait as long

// Reader reads an object from an offset on. A read that breaks resumes where it broke,
// and fails after several attempts in a row that bring no bytes. An object that was
// replaced meanwhile is [ErrChanged].
func (o *Object) Reader(ctx context.Context, from int64) io.ReadSeekCloser {
	return &reader{ctx: ctx, object: o, at: from}
}

type reader struct {
	ctx    context.Context
	object *Object
	at     int64 // offset of the next byte
	failed int   // attempts in a row that brought nothing
	last   error
	broke  bool // the last read broke
	fresh  bool // the first answer says which version the object has

	body   io.ReadCloser // nil between attempts
	bodyAt int64         // offset of the body's next byte; a Seek moves at alone
	cancel context.CancelFunc
	watch  *time.Timer // cancels a read that stalls
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		if size := r.object.Size; size >= 0 && r.at >= size {
			return 0, io.EOF
		}
		if r.bodyAt != r.at {
			r.drop()
		}
		if r.body == nil {
			if err := r.open(); err != nil {
				return 0, err
			}
		}
		r.watch.Reset(stalled)
		n, err := r.body.Read(p)
		r.watch.Stop()
		r.at += int64(n)
		r.bodyAt = r.at
		if n > 0 {
			r.failed = 0
		}
		switch {
		case err == nil && n == 0: // it skips what was read before
			continue
		case err == nil:
			return n, nil
		case err == io.EOF && r.object.Size < 0:
			return n, io.EOF
		}
		// The end of the object is found by its size, so this one came early.
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		r.last, r.broke = err, true
		r.drop()
		if n > 0 {
			return n, nil
		}
		r.failed++
	}
}

// Seek moves to an offset. It needs the size of the object.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	size := r.object.Size
	switch {
	case size < 0:
		return 0, errors.New("the size of the object is not known")
	case whence == io.SeekCurrent:
		offset += r.at
	case whence == io.SeekEnd:
		offset += size
	}
	if offset < 0 {
		return 0, errors.New("negative position")
	}
	r.at = offset // a reader that finds the size with Seek and comes back needs no request
	return offset, nil
}

// open opens the object at the offset, after a pause if the last attempt failed.
func (r *reader) open() error {
	for ; ; r.failed++ {
		if r.failed >= r.object.server.patience(r.last) {
			return fmt.Errorf("read %s at byte %d: %w: %w", r.object.URL, r.at, ErrTransfer, r.last)
		}
		if r.failed > 0 || r.broke {
			if err := r.object.server.pause(r.ctx, max(r.failed-1, 0), r.last); err != nil {
				return err
			}
			r.broke = false
		}
		if err := r.object.server.enter(r.ctx); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(r.ctx)
		r.watch = time.AfterFunc(stalled, cancel)
		body, v, err := r.object.open(ctx, r.at)
		r.watch.Stop()
		r.object.server.answered(err)
		if err == nil && r.fresh {
			r.object.Size, r.object.version, r.fresh = v.size, v, false
		}
		if err == nil && v != r.object.version {
			body.Close()
			err = fmt.Errorf("%s %w", r.object.URL, ErrChanged)
		}
		if err == nil {
			r.body, r.cancel, r.bodyAt = body, cancel, r.at
			return nil
		}
		cancel()
		r.object.server.leave()
		r.last = err
		if !passing(r.ctx, err) {
			return err
		}
	}
}

func (r *reader) drop() {
	if r.body != nil {
		r.body.Close()
		r.cancel()
		r.body = nil
		r.object.server.leave()
	}
}

func (r *reader) Close() error {
	r.drop()
	return nil
}

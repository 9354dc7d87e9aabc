package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// stalled bounds how long a read may wait for bytes.
var stalled = time.Minute // tests do not wait as long

// leastBytes is what an object must bring while its reader waits for as long as stalled.
// A server that drips bytes, or breaks each transfer after a few, would hold a run for
// ever.
const leastBytes = 64 << 10

// errSlow reports a server that brings less.
var errSlow = fmt.Errorf("the server sends less than %d KiB in %s", leastBytes>>10, stalled)

// Reader reads an object from an offset on. A read that breaks resumes where it broke,
// and fails after several attempts in a row that bring no bytes. An object that was
// replaced meanwhile is [ErrChanged].
func (o *Object) Reader(ctx context.Context, from int64) io.ReadSeekCloser {
	return &reader{ctx: ctx, object: o, at: from}
}

// end returns the end of what is read, or -1 if it is not known.
func (r *reader) end() int64 {
	if size := r.object.Size; size >= 0 && (r.to == 0 || size < r.to) {
		return size
	}
	return cmp.Or(r.to, -1)
}

type reader struct {
	ctx    context.Context
	object *Object
	at     int64 // offset of the next byte
	to     int64 // offset after the last byte to read, 0 for the end of the object
	failed int   // attempts in a row that brought nothing
	last   error
	broke  bool // the last read broke
	flow
	fresh bool // the first answer says which version the object has

	body   io.ReadCloser // nil between attempts
	bodyAt int64         // offset of the body's next byte; a Seek moves at alone
	cancel context.CancelFunc
	watch  *time.Timer // cancels a read that stalls
}

// flow measures what a reader gets for its waiting.
type flow struct {
	waited time.Duration
	got    int64
	slow   int           // measurements in a row that found too little
	read   int64         // in all
	busy   time.Duration // waits for a server that says it is busy, in all: they do not count as slow
}

// add adds what a wait brought. It reports whether it was too little for too long.
func (f *flow) add(waited time.Duration, got int64) (isSlow bool) {
	f.waited, f.got, f.read = f.waited+waited, f.got+got, f.read+got
	if f.waited < stalled {
		return false
	}
	isSlow = f.got < leastBytes
	f.slow++
	if !isSlow {
		f.slow = 0
	}
	f.waited, f.got = 0, 0
	return isSlow
}

// skipped returns the number of bytes that a body has still to skip.
func skipped(body io.Reader) int64 {
	if s, ok := body.(*skipping); ok {
		return s.left
	}
	return 0
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if r.slow >= attempts {
			return 0, fmt.Errorf("read %s at byte %d: %w: %w", r.object.URL, r.at, ErrTransfer, errSlow)
		}
		if err := r.ctx.Err(); err != nil {
			return 0, err
		}
		if end := r.end(); end >= 0 && r.at >= end {
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
		began, left := time.Now(), skipped(r.body)
		if end := r.end(); end >= 0 { // a server without ranges sends more
			p = p[:min(int64(len(p)), end-r.at)]
		}
		n, err := r.body.Read(p)
		r.watch.Stop()
		r.at += int64(n)
		r.bodyAt = r.at
		if n > 0 {
			r.failed = 0
		}
		if r.flow.add(time.Since(began), int64(n)+left-skipped(r.body)) && err == nil {
			err = errSlow // another connection may be faster
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
		began := time.Now()
		if r.failed > 0 || r.broke {
			if err := r.object.server.pause(r.ctx, max(r.failed-1, 0), r.last); err != nil {
				return err
			}
			r.broke = false
		}
		r.flow.add(time.Since(began), 0)
		began = time.Now()
		if err := r.object.server.enter(r.ctx); err != nil {
			return err
		}
		if errors.As(r.last, new(*busyError)) {
			r.busy += time.Since(began)
		}
		if r.busy > busyAttempts*longestAsked+time.Duration(r.read/leastBytes)*stalled {
			r.object.server.leave()
			return fmt.Errorf("read %s at byte %d: %w: %w for %s in all", r.object.URL, r.at, ErrTransfer, r.last,
				r.busy.Round(time.Minute))
		}
		began = time.Now()
		ctx, cancel := context.WithCancel(r.ctx)
		r.watch = time.AfterFunc(stalled, cancel)
		body, v, err := r.object.open(ctx, r.at, r.to)
		r.watch.Stop()
		r.flow.add(time.Since(began), 0)
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

package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"
)

// Bounds of the repetition of a call: attempts, the pause after the first, which
// doubles after each, and the longest pause. Clients of clouds repeat a request two
// times themselves.
const (
	attempts   = 6
	firstPause = 200 * time.Millisecond
	mostPause  = 10 * time.Second
)

// callTimeout bounds one attempt at a call that moves little.
const callTimeout = time.Minute

// permanent is an error that no repetition changes.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// ErrRefused reports that a store refuses a request for good: the key, the bucket or the
// region is wrong, or the key may not do what is asked.
var ErrRefused = errors.New("the store refuses the request")

// refused is an error that is [ErrRefused].
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{ErrRefused, permanent(r)} }

// repeat calls f until it succeeds or fails for good.
func repeat(ctx context.Context, f func(ctx context.Context) error) (err error) {
	for i := range attempts {
		if i > 0 {
			if e := pause(ctx, i-1, err); e != nil {
				return e
			}
		}
		if err = f(ctx); err == nil || !passing(ctx, err) {
			if e := ctx.Err(); e != nil && err != nil && !errors.Is(err, e) {
				err = fmt.Errorf("%w: %w", e, err) // clients of clouds may hide it
			}
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrTransfer, err)
}

// passing reports whether an error may pass.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.As(err, new(permanent)) && !errors.Is(err, fs.ErrNotExist) &&
		!errors.Is(err, fs.ErrPermission) && !errors.Is(err, ErrChanged)
}

// pause waits before attempt n+2: half of a doubling time and up to as much again,
// or what the server asks for.
func pause(ctx context.Context, n int, after error) error {
	d := min(firstPause<<n, mostPause)
	d = d/2 + rand.N(d/2+1)
	if busy, ok := errors.AsType[*busyError](after); ok {
		d = max(d, min(busy.wait, longestWait))
	}
	return sleep(ctx, d)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func busyFor(wait time.Duration) error {
	return &fs.PathError{Op: "read", Path: "x", Err: &busyError{status: "503", wait: wait}}
}

// began calls enter and leave in several goroutines and returns when each entered, in
// time since the beginning.
func began(t *testing.T, s *server, readers int, under time.Duration) (at []time.Duration) {
	t.Helper()
	start := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	for range readers {
		group.Go(func() {
			if err := s.enter(t.Context()); err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			at = append(at, time.Since(start))
			mu.Unlock()
			time.Sleep(under)
			s.leave()
		})
	}
	group.Wait()
	return at
}

func serverAt(t *testing.T, p Limits) *server {
	t.Helper()
	s, err := NewServers(p).of("https://archive.example/a.warc")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Requests to a server begin at its rate, and no more are under way than it may have.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i, at := range began(t, serverAt(t, Limits{Rate: 4, AtOnce: 100}), 5, 0) {
			if want := time.Duration(i) * 250 * time.Millisecond; at != want {
				t.Errorf("request %d at a rate begins at %s, want %s", i, at, want)
			}
		}
		for i, at := range began(t, serverAt(t, Limits{AtOnce: 2}), 6, time.Second) {
			if want := time.Duration(i/2) * time.Second; at != want {
				t.Errorf("request %d of two at once begins at %s, want %s", i, at, want)
			}
		}
	})
}

// If the server asks one reader to wait, all wait, and an answer to a request that
// began before does not double it.
func TestAllReadersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serverAt(t, Limits{AtOnce: 3})
		wait := func(what string, want time.Duration) {
			t.Helper()
			for _, at := range began(t, s, 3, 0) {
				if at != want {
					t.Errorf("%s: a request begins after %s, want %s", what, at, want)
				}
			}
		}
		s.answered(busyFor(7 * time.Second))
		wait("Retry-After: 7", 7*time.Second)
		s.answered(nil)
		wait("served", 0)
		for i := range 3 {
			s.answered(busyFor(0))
			s.answered(busyFor(0))
			wait("no Retry-After", firstWait<<i)
		}
		s.answered(busyFor(0))
		s.answered(busyFor(time.Minute))
		wait("the longer of two waits", time.Minute)
		for range 40 {
			s.answered(busyFor(0))
			began(t, s, 1, 0)
		}
		s.answered(busyFor(0))
		wait("the longest", longestWait)
		s.answered(nil)
		s.answered(busyFor(0))
		wait("the first again", firstWait)
		s.answered(errors.New("connection reset"))
		wait("another error", 0)
	})
}

// A wait ends with its context, and gives its slot back.
func TestAWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serverAt(t, Limits{AtOnce: 1})
		s.answered(busyFor(time.Hour))
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := s.enter(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			cancel()
		}
	})
}

// A server that asks to wait longer than a run should last is a failure that says so.
func TestAWaitTooLong(t *testing.T) {
	s := serverAt(t, Limits{AtOnce: 1})
	if err := s.pause(t.Context(), 0, busyFor(longestAsked)); err != nil {
		t.Errorf("an hour: %v", err)
	}
	if err := s.pause(t.Context(), 0, busyFor(longestAsked+time.Minute)); !errors.Is(err, ErrTransfer) ||
		err.Error() != "the server asks to wait 1h1m0s: try again then" {
		t.Errorf("more than an hour: %v", err)
	}
}

// A server that is busy is asked often, and one that may refuse for good is not.
func TestPatience(t *testing.T) {
	s := serverAt(t, Limits{AtOnce: 1})
	for _, row := range []struct {
		name string
		of   *server
		err  error
		want int
	}{
		{"busy", s, &busyError{status: "503"}, busyAttempts}, {"a refusal", s, &busyError{status: "403", refusal: true},
			attempts},
		{"a broken connection", s, errors.New("reset"), attempts}, {"busy, without a pace", nil, &busyError{status: "503"},
			attempts},
	} {
		if got := row.of.patience(row.err); got != row.want {
			t.Errorf("%s: %d attempts, want %d", row.name, got, row.want)
		}
	}
}

// Without a pace too, a server is left alone for as long as it asks, within a bound.
func TestAPauseIsAsLongAsTheServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for asked, want := range map[time.Duration]time.Duration{30 * time.Second: 30 * time.Second, time.Hour: longestWait} {
			began := time.Now()
			if err := pause(t.Context(), 0, busyFor(asked)); err != nil || time.Since(began) != want {
				t.Errorf("asked to wait %s: waits %s, %v", asked, time.Since(began), err)
			}
		}
		began := time.Now()
		if err := pause(t.Context(), 0, errors.New("reset")); err != nil || time.Since(began) > firstPause {
			t.Errorf("a broken connection: waits %s, %v", time.Since(began), err)
		}
	})
}

// A server that asks to wait before each byte is not waited for for ever, and one that
// brings much between its waits is.
func TestWaitsInAllAreBounded(t *testing.T) {
	for _, row := range []struct {
		bytes int // that each transfer brings
		size  int64
		whole bool
	}{{1, 1 << 20, false}, {64 << 20, 1 << 30, true}} {
		synctest.Test(t, func(t *testing.T) {
			began, asked := time.Now(), 0
			o := &Object{URL: "https://a.example/x", Size: row.size, server: serverAt(t, Limits{AtOnce: 1})}
			o.open = func(ctx context.Context, from, to int64) (io.ReadCloser, version, error) {
				if asked++; asked%2 == 1 {
					return nil, version{}, busyFor(time.Hour)
				}
				return io.NopCloser(io.LimitReader(zeros{}, int64(row.bytes))), version{}, nil
			}
			in := o.Reader(t.Context(), 0)
			defer in.Close()
			n, err := io.Copy(io.Discard, in)
			if took := time.Since(began); row.whole != (err == nil && n == row.size) || !row.whole &&
				(!errors.Is(err, ErrTransfer) || took > 15*time.Hour) {
				t.Errorf("%d bytes at a time: %d bytes in %s, %v", row.bytes, n, took, err)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

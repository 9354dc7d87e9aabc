package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLimiterIsFirstComeFirstServed(t *testing.T) {
	l := newLimiter(1, 0)
	ctx := context.Background()
	if err := l.acquire(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	first := l.join("a")
	gone := l.join("a")
	third := l.join("a")
	if first == nil || gone == nil || third == nil {
		t.Fatal("took a second place under a key with one")
	}
	if err := l.acquire(ctx, "b"); err != nil {
		t.Errorf("another key: %v", err)
	}
	l.release("b")
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := l.await(canceled, "a", gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled wait: %v", err)
	}
	l.release("a")
	<-first.come
	select {
	case <-third.come:
		t.Error("two hold the only place")
	default:
	}
	l.release("a")
	<-third.come // skips the waiter that left
	l.release("a")
	if len(l.keys) != 0 {
		t.Errorf("%d unused keys are kept", len(l.keys))
	}
}

func TestLimiterLosesNoPlace(t *testing.T) {
	l := newLimiter(3, 0)
	var now, peak, got atomic.Int64
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			if i%3 == 0 {
				go cancel() // sometimes just when the turn comes
			}
			defer cancel()
			if l.acquire(ctx, "a") != nil {
				return
			}
			n := now.Add(1)
			for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
			}
			got.Add(1)
			now.Add(-1)
			l.release("a")
		})
	}
	all.Wait()
	if peak.Load() > 3 || got.Load() < 133 || len(l.keys) != 0 {
		t.Errorf("%d at once, served %d, want 133 or more, %d keys left", peak.Load(), got.Load(), len(l.keys))
	}
}

func TestAPaceIsKeptPerKeyAndForgotten(t *testing.T) {
	l := newLimiter(10, 0.001) // one, then one in 1,000 seconds
	for _, key := range []string{"a", "b"} {
		if l.join(key) != nil {
			t.Fatalf("no place under %s", key)
		}
		if pause := l.pause(key); pause > 0 {
			t.Errorf("the first under %s waits %v", key, pause)
		}
		l.join(key)
		if pause := l.pause(key); pause < 990*time.Second || pause > 1000*time.Second {
			t.Errorf("the second under %s waits %v, want 1,000 s", key, pause)
		}
		l.release(key)
		l.release(key)
	}
	if len(l.keys) != 2 {
		t.Errorf("%d keys: a key ahead of its pace must be kept", len(l.keys))
	}
	fast := newLimiter(10, 1e9)
	for i := range 10_000 {
		key := fmt.Sprint(i)
		fast.join(key)
		fast.pause(key)
		fast.release(key)
	}
	if len(fast.keys) > 2048 {
		t.Errorf("%d of 10,000 unused keys are kept", len(fast.keys))
	}
}

// If a turn comes just as its waiter leaves, its place becomes free again.
func TestATurnThatComesTooLateIsPassedOn(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	l := newLimiter(1, 0)
	for range 100 {
		if l.join("a") != nil {
			t.Fatal("the place is lost")
		}
		turn := l.join("a")
		l.release("a") // gives the place to the waiter
		if err := l.await(gone, "a", turn); err == nil {
			l.release("a")
		}
	}
	if len(l.keys) != 0 {
		t.Errorf("%d keys are in use", len(l.keys))
	}
}

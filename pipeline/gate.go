package pipeline

import (
	"context"
	"runtime"
	"sync"
)

// gate decides when the source may open another segment. Many may be open, so
// that the slowest host of each holds up nothing but its own; but when
// captures come faster than they are analysed, the source waits for the
// analysts, so that bodies do not pile up.
type gate struct {
	mu     sync.Mutex
	change *sync.Cond
	open   int   // segments begun and not committed
	full   int   // of these, the ones that have all their captures
	held   int64 // bytes of bodies in memory
	most   int   // segments open at once
}

const (
	// minOpen and maxOpen bound the open segments. Between, there are as many
	// as hold twenty targets for each request in flight: so one host in twenty
	// may hang until its deadline, at any rate of work, before the segments
	// that wait for them hold up the others. A target waits in about 2 KB, a
	// hostile one in 28 at most.
	minOpen = 8
	maxOpen = 128
	// heldBytes is from when on the source waits, if waiting helps, and
	// mostBytes what bodies may take at all: beyond, they go to disk.
	heldBytes = 32 << 20
	mostBytes = 64 << 20
)

func newGate(c *Config) *gate {
	g := &gate{most: min(max(20*c.Fetch.Concurrency/segmentTargets, minOpen), maxOpen)}
	if c.IsStored() {
		// Each core reads one segment and analyses another.
		g.most = max(2*runtime.GOMAXPROCS(0), minOpen)
	}
	g.change = sync.NewCond(&g.mu)
	return g
}

// enter waits for leave to open a segment. It never waits for bytes while
// there is no full segment, whose analysis alone can free them.
func (g *gate) enter(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.change.Broadcast()
	})()
	g.mu.Lock()
	defer g.mu.Unlock()
	for ctx.Err() == nil && (g.open >= g.most || g.full > 0 && g.held > heldBytes) {
		g.change.Wait()
	}
	g.open++
	return ctx.Err()
}

// weigh counts what a capture takes besides its bodies, which cannot go to
// disk.
func (g *gate) weigh(bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held += int64(bytes)
}

// hold counts the body of a capture, and reports whether memory has room for
// it; otherwise it is not counted.
func (g *gate) hold(bytes int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held+int64(bytes) > mostBytes {
		return false
	}
	g.held += int64(bytes)
	return true
}

// filled says that a segment has its last capture.
func (g *gate) filled() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.full++
}

// leave says that a segment is committed, and its bodies are let go.
func (g *gate) leave(bytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	g.full--
	g.held -= bytes
	g.change.Broadcast()
}

package pipeline

import (
	"context"
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
	held   int64 // bytes of their bodies
}

const (
	openSegments = 8
	heldBytes    = 32 << 20
)

func newGate() *gate {
	g := &gate{}
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
	for ctx.Err() == nil && (g.open >= openSegments || g.full > 0 && g.held > heldBytes) {
		g.change.Wait()
	}
	g.open++
	return ctx.Err()
}

// hold counts the body of a capture.
func (g *gate) hold(bytes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held += int64(bytes)
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

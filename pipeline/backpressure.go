package pipeline

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// budgets say how a run shares the memory that the process may have. They bound
// what grows with what hosts send and with what lists hold; a run takes some
// 60 MB besides, and 8 to 24 bytes for each origin of its list. A soft limit of the
// runtime, below the memory by an eighth for the kernel's buffers, keeps garbage
// from taking more (see the flag --memory).
type budgets struct {
	held       int64 // of captured bodies, from when on the source waits, if waiting helps
	most       int64 // of captured bodies in memory: beyond, they go to disk
	texts      int64 // of hosts and URLs as the input has them, from when on the source waits
	underWay   int64 // of answers under way in memory: beyond, they go to disk
	waiting    int   // origins that wait for a place under a limit of politeness, of 14 KB each
	evaluators int   // each parses and writes a segment, in 48 MB where files are hostile
}

func budgetsOf(memory int64) budgets {
	if memory <= 0 {
		memory = math.MaxInt64 // not known
	}
	return budgets{
		held: min(memory/16, 32<<20), most: min(memory/8, 64<<20), texts: min(memory/16, 64<<20),
		underWay: min(memory/16, 256<<20), waiting: int(min(memory/16/(14<<10), 16<<10)),
		evaluators: int(min(max(memory/5/(48<<20), 1), int64(runtime.GOMAXPROCS(0)))),
	}
}

// requestBytes is what a request in flight takes besides the body, with TLS.
const requestBytes = 56 << 10

// MostConcurrency is how many requests may be in flight in a process that may take
// so much memory: they get half of it.
func MostConcurrency(memory int64) int64 { return memory / 2 / requestBytes }

// backpressure decides when the source may open another segment. Many may be open, so
// that the slowest host of each holds up nothing but its own; but when
// captures come faster than they are evaluated, the source waits for the
// evaluators, so that bodies do not pile up.
type backpressure struct {
	budgets
	mu       sync.Mutex
	change   *sync.Cond
	open     int   // segments begun and not committed
	full     int   // of these, the ones that have all their captures
	bodies   int64 // bytes of bodies in memory
	input    int64 // bytes of the targets' texts
	segments int   // open at once
}

const (
	// minOpen and maxOpen bound the open segments. Between, there are as many
	// as hold twenty targets for each request in flight: so one host in twenty
	// may hang until its deadline, at any rate of work, before the segments
	// that wait for them hold up the others. A target waits in about 2 KB, a
	// hostile one in 28 at most.
	minOpen = 8
	maxOpen = 128
)

func newBackpressure(c *Config) *backpressure {
	g := &backpressure{budgets: budgetsOf(c.Memory), segments: min(max(20*c.Fetch.Concurrency/segmentTargets, minOpen), maxOpen)}
	if c.Source.IsStored() {
		// Each core reads one segment and evaluates another.
		g.segments = max(2*runtime.GOMAXPROCS(0), minOpen)
	}
	g.change = sync.NewCond(&g.mu)
	return g
}

// enter waits for leave to open a segment. It never waits for bytes of bodies
// while there is no full segment, whose evaluation alone can free them: there is
// the disk. For texts there is not, and every segment that is open fills without
// another one.
func (p *backpressure) enter(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.change.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil && (p.open >= p.segments || p.full > 0 && p.bodies > p.held || p.open > 0 && p.input > p.texts) {
		p.change.Wait()
	}
	p.open++
	return ctx.Err()
}

// read counts the text of a target.
func (p *backpressure) read(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.input += int64(bytes)
}

// weigh counts what a capture takes besides its bodies, which cannot go to
// disk.
func (p *backpressure) weigh(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies += int64(bytes)
}

// hold counts the body of a capture, and reports whether memory has room for
// it; otherwise it is not counted.
func (p *backpressure) hold(bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bodies+int64(bytes) > p.most {
		return false
	}
	p.bodies += int64(bytes)
	return true
}

// filled says that a segment has its last capture.
func (p *backpressure) filled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.full++
}

// leave says that a segment is committed, and its bodies are let go.
func (p *backpressure) leave(bodies, input int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.full--
	p.bodies -= bodies
	p.input -= input
	p.change.Broadcast()
}

package pipeline

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// budgets divide the memory of the process. They bound what grows with the bodies
// of hosts and the lines of lists. In addition, a run takes about 60 MB and 8 to 24
// bytes per origin of its list. The runtime's soft limit keeps garbage within the
// memory; it leaves an eighth for the kernel's buffers (see the flag --memory).
type budgets struct {
	held       int64 // bytes of captured bodies beyond which the source waits, if waiting helps
	most       int64 // bytes of captured bodies beyond which bodies go to disk
	texts      int64 // bytes of hosts and URLs of the input beyond which the source waits
	underWay   int64 // bytes of answers in flight beyond which they go to disk
	waiting    int   // origins that wait for politeness, 14 KB each
	evaluators int   // goroutines that write segments, 48 MB each where files are hostile
}

func budgetsOf(memory int64) budgets {
	if memory <= 0 {
		memory = math.MaxInt64 // not known
	}
	cores := int64(runtime.GOMAXPROCS(0))
	return budgets{
		held: min(memory/16, cores*8<<20, 32<<20), most: min(memory/8, 64<<20), texts: min(memory/16, 64<<20),
		underWay: min(memory/16, 256<<20), waiting: int(min(memory/16/(14<<10), 16<<10)),
		evaluators: int(min(max(memory/5/(48<<20), 1), cores)),
	}
}

// requestBytes is the memory of a request in flight without its body, with TLS.
const requestBytes = 56 << 10

// MostConcurrency returns the number of requests in flight that fit into half of the
// given bytes of memory.
func MostConcurrency(memory int64) int64 { return memory / 2 / requestBytes }

// backpressure decides when the source may open another piece. Many pieces are
// open at once, so that a slow host delays its own piece only. When captures
// come faster than they are evaluated, the source waits for the evaluators, so
// that bodies do not pile up.
type backpressure struct {
	budgets
	mu       sync.Mutex
	change   *sync.Cond
	open     int   // pieces begun and not written
	complete int   // open pieces that have all their captures
	bodies   int64 // bytes of bodies in memory
	input    int64 // bytes of the targets' texts
	pieces   int   // most pieces open at once
}

const (
	// minOpen and maxOpen bound the open pieces. Between them, the open
	// pieces hold twenty targets per request in flight: one host in twenty may
	// hang until its deadline before the pieces that wait for such hosts delay
	// the others. A waiting target takes about 2 KB, a hostile one up to 28 KB.
	minOpen = 8
	maxOpen = 128
)

func newBackpressure(c *Config) *backpressure {
	g := &backpressure{budgets: budgetsOf(c.Memory), pieces: min(max(20*c.Fetch.Concurrency/pieceTargets, minOpen),
		maxOpen)}
	if c.Source.IsStored() {
		// Each core reads one piece and evaluates another.
		g.pieces = 2 * runtime.GOMAXPROCS(0)
	}
	g.change = sync.NewCond(&g.mu)
	if !c.Source.IsStored() {
		g.evaluators = min(g.evaluators, (runtime.GOMAXPROCS(0)+1)/2) // fetching takes the other half
	}
	return g
}

// enter waits until another piece may be opened. It waits for bytes of bodies
// only while some piece is complete: only evaluation frees them, and until then
// bodies go to disk. Texts cannot go to disk; for them it waits as long as any
// piece is open, since open pieces fill without a new one.
func (p *backpressure) enter(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.change.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil && (p.open >= p.pieces || p.complete > 0 && p.bodies > p.held || p.open > 0 &&
		p.input > p.texts) {
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

// weigh counts the memory of a capture without its bodies, which stays in memory.
func (p *backpressure) weigh(bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bodies += int64(bytes)
}

// hold reports whether memory has room for a body, and counts it if so.
func (p *backpressure) hold(bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bodies+int64(bytes) > p.most {
		return false
	}
	p.bodies += int64(bytes)
	return true
}

// filled records that a piece has its last capture.
func (p *backpressure) filled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete++
}

// leave records that a piece is written and its bodies are freed.
func (p *backpressure) leave(bodies, input int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	p.complete--
	p.bodies -= bodies
	p.input -= input
	p.change.Broadcast()
}

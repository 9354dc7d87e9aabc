package pipeline

import (
	"sync/atomic"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// Phase is a phase of a run.
type Phase int32

const (
	Fetching   Phase = iota // or reading stored captures
	Writing                 // every target has its capture, not all are in the tables
	SummingUp               // the summaries and examples of all segments
	Completing              // the manifest
	Finished
)

// Progress counts what a run has done so far. It may be read while the run is
// under way.
type Progress struct {
	phase     atomic.Int32
	targets   atomic.Int64 // targets of the source plus one; 0 before it ends
	total     atomic.Int64
	limited   atomic.Bool
	inputRead atomic.Int64
	done      atomic.Int64
	earlier   atomic.Int64
	stored    atomic.Int64
	rejects   atomic.Int64
	ok        atomic.Int64
	absent    atomic.Int64
	failing   atomic.Int64
	unreached atomic.Int64
	outages   atomic.Int64
	cutOff    atomic.Pointer[time.Time] // nil while this machine is connected
}

// Snapshot is Progress at one moment. It counts answers by status, before any
// profile judges them.
type Snapshot struct {
	Phase       Phase
	Total       int64 // the most that Done can reach; 0 if unknown
	Done        int64 // lines of the input; targets if there is a limit
	Fetched     int64
	Earlier     int64 // those of Fetched that earlier processes of the run have fetched
	Committed   int64 // targets whose segment is in the tables
	Rejected    int64
	Answered    int64 // 2xx
	ClientError int64 // 4xx
	OtherError  int64 // 5xx and every other status
	Unreachable int64 // no answer

	Outages int64     // outages of this machine
	CutOff  time.Time // since when this machine seems to be cut off; zero if it is connected
}

// Snapshot reads the counters.
func (p *Progress) Snapshot() Snapshot {
	earlier := p.earlier.Load() // before Fetched, which it must not exceed
	done := p.inputRead.Load() + p.rejects.Load()
	if p.limited.Load() {
		done = p.done.Load()
	}
	phase := Phase(p.phase.Load())
	if targets := p.targets.Load(); phase == Fetching && targets > 0 && p.done.Load() >= targets-1 {
		phase = Writing
	}
	var cutOff time.Time
	if since := p.cutOff.Load(); since != nil {
		cutOff = *since
	}
	return Snapshot{
		Outages: p.outages.Load(), CutOff: cutOff,
		Phase: phase,
		Total: p.total.Load(), Done: done, Fetched: p.done.Load(), Earlier: earlier, Committed: p.stored.Load(), Rejected: p.rejects.Load(),
		Answered: p.ok.Load(), ClientError: p.absent.Load(), OtherError: p.failing.Load(), Unreachable: p.unreached.Load(),
	}
}

func (p *Progress) expect(rows, limit int64) {
	if limit > 0 && limit < rows {
		rows = limit
		p.limited.Store(true)
	}
	p.total.Store(rows)
}

func (p *Progress) outage(since time.Time) {
	p.cutOff.Store(&since)
	if !since.IsZero() {
		p.outages.Add(1)
	}
}

func (p *Progress) enter(phase Phase) { p.phase.Store(int32(phase)) }

// sourceEnds records how many targets the source had.
func (p *Progress) sourceEnds(targets int64) { p.targets.Store(targets + 1) }

func (p *Progress) rejected(n int64) { p.rejects.Add(n) }
func (p *Progress) committed(n int)  { p.stored.Add(int64(n)) }

// read counts bytes of archives. Their progress is measured in bytes, that of lists in
// lines.
func (p *Progress) read(bytes int64) { p.inputRead.Add(bytes) }

// passedOver counts a segment that an earlier process committed.
func (p *Progress) passedOver(targets int, lines int64) {
	p.done.Add(int64(targets))
	p.earlier.Add(int64(targets))
	p.stored.Add(int64(targets))
	p.inputRead.Add(lines)
}

// found counts a capture that an earlier process has saved.
func (p *Progress) found(c *fetch.Capture, lines int64) {
	p.fetched(c, lines)
	p.earlier.Add(1)
}

func (p *Progress) fetched(c *fetch.Capture, lines int64) {
	p.done.Add(1)
	p.inputRead.Add(lines)
	switch status := c.Status(); {
	case status == 0:
		p.unreached.Add(1)
	case status < 300 && status >= 200 && c.Error == "":
		p.ok.Add(1)
	case status >= 400 && status < 500:
		p.absent.Add(1)
	default:
		p.failing.Add(1)
	}
}

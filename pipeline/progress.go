package pipeline

import (
	"sync"
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
	mu      sync.Mutex
	now     Snapshot // its Done counts the input that is read; see Snapshot
	limited bool     // Total counts targets, and not lines
	ended   bool     // the source has no more than targets
	targets int64
}

// Snapshot is Progress at one moment. It counts answers by status, before any
// profile judges them.
type Snapshot struct {
	Phase       Phase
	Total       int64 // the most that Done can reach; 0 if unknown
	Done        int64 // lines of the input; targets if there is a limit
	Fetched     int64
	Earlier     int64 // those of Fetched that earlier processes of the run have fetched
	Written     int64 // targets whose rows are written; they count once their segment is committed
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
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.now
	if s.Done += s.Rejected; p.limited {
		s.Done = s.Fetched
	}
	if s.Phase == Fetching && p.ended && s.Fetched >= p.targets {
		s.Phase = Writing
	}
	return s
}

// count changes the counters.
func (p *Progress) count(change func(now *Snapshot)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.now)
}

func (p *Progress) expect(rows, limit int64) {
	p.count(func(now *Snapshot) {
		now.Total, p.limited = rows, limit > 0 && limit < rows
		if p.limited {
			now.Total = limit
		}
	})
}

func (p *Progress) outage(since time.Time) {
	p.count(func(now *Snapshot) {
		if now.CutOff = since; !since.IsZero() {
			now.Outages++
		}
	})
}

func (p *Progress) enter(phase Phase) { p.count(func(now *Snapshot) { now.Phase = phase }) }

// sourceEnds records how many targets the source had.
func (p *Progress) sourceEnds(targets int64) {
	p.count(func(*Snapshot) { p.ended, p.targets = true, targets })
}

func (p *Progress) rejected(n int64) { p.count(func(now *Snapshot) { now.Rejected += n }) }
func (p *Progress) written(n int)    { p.count(func(now *Snapshot) { now.Written += int64(n) }) }

// read counts bytes of archives. Their progress is measured in bytes, that of lists in
// lines.
func (p *Progress) read(bytes int64) { p.count(func(now *Snapshot) { now.Done += bytes }) }

// passedOver counts a segment that an earlier process committed.
func (p *Progress) passedOver(targets int, lines int64) {
	p.count(func(now *Snapshot) {
		n := int64(targets)
		now.Fetched, now.Earlier, now.Written, now.Done = now.Fetched+n, now.Earlier+n, now.Written+n, now.Done+lines
	})
}

// found counts a capture that an earlier process has saved.
func (p *Progress) found(c *fetch.Capture, lines int64) {
	p.fetched(c, lines)
	p.count(func(now *Snapshot) { now.Earlier++ })
}

func (p *Progress) fetched(c *fetch.Capture, lines int64) {
	p.count(func(now *Snapshot) {
		now.Fetched, now.Done = now.Fetched+1, now.Done+lines
		switch status := c.Status(); {
		case status == 0:
			now.Unreachable++
		case status < 300 && status >= 200 && c.Error == "":
			now.Answered++
		case status >= 400 && status < 500:
			now.ClientError++
		default:
			now.OtherError++
		}
	})
}

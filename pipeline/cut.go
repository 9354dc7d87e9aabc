package pipeline

import (
	"context"
	"fmt"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
)

// A segment ends early when its targets reach one of these limits: verdicts on
// their own URLs, bytes of hosts and URLs as the input has them, bytes of stored
// bodies. Bodies of the network do not count: their size is not known when the
// segment is cut.
const (
	segmentVerdicts = 16 << 20
	segmentText     = 4 << 20
	segmentStored   = 16 << 20
)

// cutter cuts the targets of a volume into segments. Where it cuts depends on the
// input alone, so that a resumed run has the same segments.
type cutter struct {
	census *census
	volume *source.Volume
	next   int      // number of the next segment
	now    *segment // the open segment, nil if none is open

	// Totals of the open segment:
	targets, urls, text, stored int
	lines                       int64
}

// open waits for room and begins a segment.
func (c *cutter) open(ctx context.Context) (err error) {
	n := c.census
	if c.next == c.volume.First+c.volume.Most {
		return &userfile.Error{Path: c.volume.Path(), Err: fmt.Errorf("holds more than %d segments can take; split it",
			c.volume.Most)}
	}
	c.now = &segment{index: c.next, committed: n.run.Committed(c.next) != nil}
	c.next, c.targets, c.urls, c.text, c.stored, c.lines = c.next+1, 0, 0, 0, 0, 0
	if c.now.committed {
		return n.checkArchive(c.now.index, c.volume)
	}
	if n.rereadable && !n.config.Source.IsStored() {
		if c.now.captures, err = n.run.Captures(c.now.index); err != nil {
			return err
		}
	}
	c.now.pending.Store(1)
	return n.pressure.enter(ctx)
}

// add counts a target of the open segment.
func (c *cutter) add(t *target.Target) {
	text := t.TextBytes()
	c.targets, c.urls, c.text, c.lines = c.targets+1, c.urls+len(t.Paths), c.text+text, c.lines+t.Lines
	if t.Capture != nil {
		c.stored += len(t.Capture.Body)
	}
	if !c.now.committed {
		c.now.text += int64(text)
		c.census.pressure.read(text)
	}
}

// atLimit reports whether the open segment ends here.
func (c *cutter) atLimit() bool {
	each := len(c.census.config.Evaluate.Agents) * len(c.census.config.Evaluate.Profiles)
	return c.volume.Most > 1 &&
		(c.targets == segmentTargets || c.urls*each >= segmentVerdicts || c.text >= segmentText || c.stored >= segmentStored)
}

// seal ends the open segment, if there is one. The segment is evaluated when its
// last capture arrives.
func (c *cutter) seal(ctx context.Context) error {
	s := c.now
	if s == nil {
		return nil
	}
	c.now = nil
	s.archive = c.volume.Archive()
	if s.committed {
		return c.census.passOver(s.index, c.targets, c.lines)
	}
	return c.census.done(ctx, s)
}

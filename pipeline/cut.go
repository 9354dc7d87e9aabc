package pipeline

import (
	"context"
	"fmt"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
)

// segmentTargets is the size of a segment: large enough for full row groups
// of verdicts, small enough that a lost one costs little.
const segmentTargets = 2048

// A segment ends early whose targets bring much of their own: so many verdicts,
// bytes of hosts and URLs as the input has them, which are held with it, or bytes
// of stored bodies. Nobody waits for a stored capture, so nothing has to be kept
// for long; how large a body of the network is shows only when it is there.
const (
	segmentVerdicts = 16 << 20
	segmentText     = 4 << 20
	segmentStored   = 16 << 20
)

// cutter cuts the targets of a volume into segments. Where it cuts depends on the
// input alone, so that a run that is resumed has the same segments.
type cutter struct {
	census *census
	volume *source.Volume
	next   int      // number of the next segment
	now    *segment // the one under way, nil for none

	// Of the segment under way:
	targets, urls, text, stored int
	lines                       int64
}

// open begins a segment when there is room for it.
func (c *cutter) open(ctx context.Context) (err error) {
	n := c.census
	if c.next == c.volume.First+c.volume.Most {
		return &userfile.Error{Path: c.volume.Path(), Err: fmt.Errorf("holds more than %d segments can take; split it", c.volume.Most)}
	}
	c.now = &segment{index: c.next, committed: n.run.Committed(c.next) != nil}
	c.next, c.targets, c.urls, c.text, c.stored, c.lines = c.next+1, 0, 0, 0, 0, 0
	if c.now.committed {
		return nil
	}
	if n.again && !n.Source.IsStored() {
		if c.now.answers, err = n.run.Answers(c.now.index); err != nil {
			return err
		}
	}
	c.now.pending.Store(1)
	return n.pressure.enter(ctx)
}

// add counts a target of the segment under way.
func (c *cutter) add(t *source.Target) {
	text := t.Text()
	c.targets, c.urls, c.text, c.lines = c.targets+1, c.urls+len(t.Paths), c.text+text, c.lines+t.Lines
	if t.Capture != nil {
		c.stored += len(t.Capture.Body)
	}
	if !c.now.committed {
		c.now.text += int64(text)
		c.census.pressure.read(text)
	}
}

// full says whether the segment under way ends with its last target.
func (c *cutter) full() bool {
	each := len(c.census.Evaluate.Agents) * len(c.census.Evaluate.Profiles)
	return c.volume.Most > 1 &&
		(c.targets == segmentTargets || c.urls*each >= segmentVerdicts || c.text >= segmentText || c.stored >= segmentStored)
}

// seal ends the segment under way, if there is one: it waits for its captures
// alone.
func (c *cutter) seal(ctx context.Context) error {
	s := c.now
	if s == nil {
		return nil
	}
	c.now = nil
	if s.committed {
		return c.census.passOver(s.index, c.targets, c.lines)
	}
	return c.census.done(ctx, s)
}

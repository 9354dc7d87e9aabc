package pipeline

import (
	"context"
	"fmt"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
)

// A piece ends early when its targets reach one of these limits: verdicts on their own
// URLs, bytes of hosts and URLs as the input has them, and bytes of stored bodies where
// segments do not grow. Bodies of the network do not count: their size is not known when
// the piece is cut.
const (
	pieceVerdicts = 16 << 20
	pieceText     = 4 << 20
	pieceStored   = 16 << 20
)

// mostDoublings bounds the growth of segments, whose evaluation is lost with the process:
// the largest have 16 pieces.
const mostDoublings = 4

// cutter cuts the targets of a volume into segments, and these into pieces. Where it cuts
// depends on the input alone, so that a resumed run has the same segments, and one that
// re-evaluates the run the same pieces.
type cutter struct {
	census *census
	volume *source.Volume
	next   int      // number of the next segment
	now    *segment // the open segment, nil if none is open

	// Totals of the open segment:
	targets, pieces int
	lines           int64

	// The open piece, nil if none is open or the segment is committed, and its totals:
	piece                   *piece
	held, urls, text, bytes int
}

// open waits for room and begins a segment.
func (c *cutter) open(ctx context.Context) (err error) {
	n := c.census
	if c.next == c.volume.First+c.volume.Most {
		return &userfile.Error{Path: c.volume.Path(), Err: fmt.Errorf("holds more than %d segments can take; split it",
			c.volume.Most)}
	}
	c.now = &segment{index: c.next, committed: n.run.Committed(c.next) != nil}
	c.next, c.targets, c.pieces, c.lines = c.next+1, 0, 0, 0
	if c.now.committed {
		if err := n.checkArchive(c.now.index, c.volume); err != nil {
			return err
		}
	} else if n.rereadable && !n.config.Source.IsStored() {
		if c.now.captures, err = n.run.Captures(c.now.index); err != nil {
			return err
		}
	}
	c.now.pending.Store(1)
	return c.openPiece(ctx)
}

// openPiece waits for room and begins a piece of the open segment.
func (c *cutter) openPiece(ctx context.Context) error {
	c.pieces, c.held, c.urls, c.text, c.bytes = c.pieces+1, 0, 0, 0, 0
	if c.now.committed {
		return nil
	}
	c.piece = &piece{segment: c.now, number: len(c.now.pieces)}
	c.piece.pending.Store(1)
	c.now.pieces = append(c.now.pieces, c.piece)
	c.now.pending.Add(1)
	return c.census.pressure.enter(ctx)
}

// begin opens what the next target needs. A full piece ends here, and not with its last
// target: only now it is known not to be the last one of its segment.
func (c *cutter) begin(ctx, late context.Context) error {
	switch {
	case c.now == nil:
		return c.open(ctx)
	case !c.isFull():
		return nil
	case c.piece != nil:
		if err := c.census.done(late, c.piece); err != nil {
			return err
		}
	}
	return c.openPiece(ctx)
}

// add counts a target of the open piece.
func (c *cutter) add(t *target.Target) {
	text := t.TextBytes()
	c.targets, c.held, c.urls, c.text = c.targets+1, c.held+1, c.urls+len(t.Paths), c.text+text
	c.lines += t.Lines
	if t.Capture != nil {
		c.bytes += len(t.Capture.Body)
	}
	if c.piece != nil {
		c.piece.text += int64(text)
		c.census.pressure.read(text)
	}
}

// isFull reports whether the open piece ends here.
func (c *cutter) isFull() bool {
	each := len(c.census.config.Evaluate.Agents) * len(c.census.config.Evaluate.Profiles)
	return c.held == pieceTargets || c.urls*each >= pieceVerdicts || c.text >= pieceText ||
		c.volume.Most > 1 && !c.census.run.Plan().Growing && c.bytes >= pieceStored
}

// atLimit reports whether the open segment ends here.
func (c *cutter) atLimit() bool {
	most := 1
	if c.census.run.Plan().Growing {
		most <<= min((c.now.index-c.volume.First)/segmentsOfASize, mostDoublings)
	}
	return c.volume.Most > 1 && c.pieces == most && c.isFull()
}

// seal ends the open segment, if there is one. It is committed when its last piece is
// evaluated.
func (c *cutter) seal(ctx context.Context) error {
	s, last := c.now, c.piece
	if s == nil {
		return nil
	}
	c.now, c.piece = nil, nil
	s.archive = c.volume.Archive()
	if s.committed {
		return c.census.passOver(s.index, c.targets, c.lines)
	}
	s.pending.Add(-1)
	last.alone = len(s.pieces) == 1
	return c.census.done(ctx, last)
}

package journal

import (
	"fmt"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// WARCFile is the file of --warc-out of a complete run.
type WARCFile struct {
	Path string `json:"path"` // as the user gave it
	store.Digest
}

// KeepsWARC reports whether the run keeps its requests and answers.
func (p *Plan) KeepsWARC() bool { return p.Configuration.Text("warc-out") != "" }

// checkWARC returns an error if the record of a segment or shard does not name the WARC
// file that the plan wants, or another file.
func (r *Record) checkWARC(plan *Plan) error {
	elsewhere := r.Shard != nil && r.Shard.WARCFile != nil
	switch p := r.WARC; {
	case (p != nil || elsewhere) != plan.KeepsWARC():
		return fmt.Errorf("%w: its WARC file is missing, or too much", ErrDamaged)
	case p != nil:
		return checkWARCPart(*p, plan.Run, r.Segment)
	}
	return nil
}

func checkWARCPart(p Part, run string, segment int) error {
	if p.Table != layout.WARCTable || p.Segment != segment || p.Path != layout.WARC(run, segment, layout.Attempt(p.Path)) {
		return fmt.Errorf("%w: it names %q as the WARC file of segment %d", ErrDamaged, p.Path, segment)
	}
	return nil
}

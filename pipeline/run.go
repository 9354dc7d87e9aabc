package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/names"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/summary"
)

// Config configures a run.
type Config struct {
	Dir         string
	Run         string
	Source      source.Config   // its limits are those of Fetch
	Evaluate    evaluate.Config // agents, URL samples and profiles
	Tables      []string
	Fetch       client.Config
	Grace       time.Duration // how long hosts in flight may take when ctx ends
	State       string        // folder of the memory of answers, "" for none
	Spool       string        // folder for what is not committed, of a shard or for an object store; otherwise ""
	MaxAge      time.Duration // how old an answer of that memory may be
	Lengthen    bool          // the answer's Cache-Control may allow it to be older
	Memory      int64         // bytes that the process may take, 0 if unknown; see [budgets]
	ToolVersion string
	WARCOut     string          // file for the requests and answers; see [journal.WARCFile]; "" to keep none
	DropSecrets bool            // leave secret values of headers out of it
	AsOf        *time.Time      // date of the run; nil to take it from the captures, or the start
	Resume      bool            // resume the run if it was interrupted
	ForceNew    bool            // remove the run first, whatever its state
	Settings    journal.Values  // for the plan
	Inputs      []journal.Input // inputs in addition to those of the source
	Planned     *journal.Plan   // the plan of a planned run; nil for none

	// HostLine is called with each target as soon as it has its capture, one call at a
	// time; nil for nobody. A process that resumes a run calls it for the targets of
	// segments that are not committed.
	HostLine func(*evaluate.HostLine) error

	// Unconditional is called before a new run of one process asks anything if its store
	// ignores conditional writes, so that no other process may make the run; nil for nobody.
	Unconditional func()
}

// Result is the outcome of a run, or of the shard that this process was to make.
type Result struct {
	Folder      string // folder of manifest.json and rejected.csv
	Made        bool   // this process has made it, and not an earlier one; otherwise a shard has no figures
	Won         bool   // this process has committed it, and not another attempt
	Uncommitted int    // shards that are not committed; the run is complete without any
	Targets     int64
	Earlier     int64 // targets that earlier processes of the run have asked or, if stored, judged
	Rejected    int64
	RejectedFor map[string]input.SkippedKind // see [input.Account.Kinds]; nil for a run of shards
	UnreadRanks int64                        // of lines that are not rejected
	LeftLabels  int64                        // labels of such lines that are not taken
	Skipped     input.Skipped
	Unmatched   *int64           // see [source.Source.Unmatched]
	Elapsed     time.Duration    // of this process
	Rows        map[string]int64 // rows per table
	Counts      *summary.Counts
	Resolvers   []names.Use // of this process; nil unless several DNS servers were asked
}

// job is a target that waits for its capture, or has it.
type job struct {
	target.Target
	spilled  []*place // where the bodies lie on disk, nil if in memory
	same     []int    // answers to identities whose body is the host's own
	evidence []byte   // WARC records of its fetch, soon on disk; nil unless the run keeps them
	piece    *piece
	ordinal  int // index within the segment
}

// bodies returns the capture's body, that of its earlier copy, those of the answers to
// identities, which are nil where they are the capture's own, those of further answers, and
// the evidence.
func (j *job) bodies() []*[]byte {
	out := []*[]byte{&j.Capture.Body}
	if j.Capture.Copy != nil {
		out = append(out, &j.Capture.Copy.Body)
	}
	for i := range j.Capture.Also {
		out = append(out, &j.Capture.Also[i].Capture.Body)
	}
	for _, f := range j.Capture.Further {
		out = append(out, &f.Body, &f.Reading)
	}
	return append(out, &j.evidence)
}

// part keeps one of equal bodies: that of the capture. join undoes it.
func (j *job) part() {
	for i := range j.Capture.Also {
		if body := &j.Capture.Also[i].Capture.Body; *body != nil && j.Capture.Body != nil &&
			bytes.Equal(*body, j.Capture.Body) {
			*body, j.same = nil, append(j.same, i)
		}
	}
}

func (j *job) join() {
	for _, i := range j.same {
		j.Capture.Also[i].Capture.Body = j.Capture.Body
	}
}

// segment is what is committed together: consecutive pieces.
type segment struct {
	index     int
	committed bool // an earlier process committed it; it has no pieces
	pieces    []*piece
	pending   atomic.Int64      // pieces that are not evaluated, plus one until it is sealed
	captures  *journal.Captures // kept for a later process, nil if none can resume
	archive   *journal.ArchiveRecord
}

// piece is a bounded number of jobs of a segment, in the order of the input, which an
// evaluator takes together.
type piece struct {
	segment *segment
	number  int
	alone   bool // it is all of its segment
	jobs    []*job
	pending atomic.Int64 // jobs without a capture, plus one until it ends
	spill   spill
	bytes   atomic.Int64    // memory of the captures: bodies, hops, headers
	text    int64           // bytes of the targets' texts
	note    json.RawMessage // of its evaluation
}

// Run makes the census, or the shard c.Source.Shard of it. It returns when every target is
// in the tables, when ctx ends (with a [Stopped], unless nothing was done), or when the input
// or the disk fails. Committed segments stay, and so do the answers of hosts that were asked.
// Several processes may try the same shard: the first to commit wins, and the others end
// without an error. progress may be read meanwhile.
func Run(ctx context.Context, c Config, progress *Progress) (_ *Result, err error) {
	n := newCensus(c, progress)
	defer func() { err = n.close(ctx, err) }()
	r, err := n.make(ctx)
	if err != nil && !n.isLost(ctx) {
		return nil, err
	}
	return n.send(ctx, r)
}

// make makes the tables. It returns nil if an earlier process or another attempt has.
func (n *census) make(ctx context.Context) (*Result, error) {
	if err := n.open(ctx); err != nil || n.run.Made() {
		return nil, err
	}
	if err := n.work(ctx); err != nil {
		return nil, err
	}
	return n.complete(ctx)
}

// work writes the source's targets to the tables.
func (n *census) work(ctx context.Context) error {
	late, cancel := n.grace(ctx)
	defer cancel()
	g, late := errgroup.WithContext(late)
	g.Go(func() error {
		defer close(n.ready)
		fetching, late := errgroup.WithContext(late)
		begin, stop := context.WithCancel(late)
		defer context.AfterFunc(ctx, stop)()
		fetching.Go(func() error {
			err := n.read(begin, late, fetching)
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // hosts in flight get their grace
			}
			return err
		})
		return fetching.Wait()
	})
	for range n.pressure.evaluators {
		g.Go(func() error { return n.evaluate(late) })
	}
	err := g.Wait()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// evaluate evaluates pieces as they become ready.
func (n *census) evaluate(ctx context.Context) error {
	e := n.shared.Evaluator()
	for {
		select {
		case p, ok := <-n.ready:
			if !ok {
				return nil
			}
			if err := n.commit(ctx, e, p); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// commit writes a piece's rows, and commits the segment with its last piece. It stops
// between targets when ctx ends: hostile files may take minutes.
func (n *census) commit(ctx context.Context, e *evaluate.Evaluator, p *piece) error {
	defer p.spill.close()
	s := p.segment
	begin := func() (*sink.Segment, error) { return n.run.Piece(s.index, p.number) }
	if p.alone {
		begin = func() (*sink.Segment, error) { return n.run.Segment(s.index) }
	}
	out, err := begin()
	if err != nil {
		return err
	}
	defer out.Abort()
	if out.Targets = int64(len(p.jobs)); p.alone {
		out.Archive = s.archive
	}
	var counts *summary.Counts
	if n.evidence != nil && p.number == 0 {
		var info []byte
		if info, err = n.evidence.begin(); err == nil {
			err = out.WriteWARC(info)
		}
	}
	if err == nil {
		counts, err = e.Segment(out, p.targets(ctx, out))
	}
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return err
	}
	if err := n.totals.Merge(counts); err != nil {
		return err
	}
	n.progress.written(len(p.jobs))
	n.pressure.leave(p.bytes.Load(), p.text)
	if p.note = out.Note; p.alone || s.pending.Add(-1) > 0 {
		return nil
	}
	notes := make([]json.RawMessage, len(s.pieces))
	for i, p := range s.pieces {
		notes[i] = p.note
	}
	note, err := evaluate.JoinNotes(notes)
	if err == nil {
		err = n.run.Join(ctx, &journal.Record{Segment: s.index, Note: note, Archive: s.archive})
	}
	return err
}

// targets yields the targets of a piece with their bodies, and writes their evidence to
// out. It frees each target after its turn, so it can be called once.
func (p *piece) targets(ctx context.Context, out *sink.Segment) iter.Seq2[*target.Target, error] {
	return func(yield func(*target.Target, error) bool) {
		for i, j := range p.jobs {
			err := ctx.Err()
			for k, body := range j.bodies() {
				if err == nil && j.spilled[k] != nil {
					*body, err = p.spill.take(j.spilled[k])
				}
			}
			j.join()
			if err == nil && j.evidence != nil {
				err = out.WriteWARC(j.evidence)
			}
			if !yield(&j.Target, err) || err != nil {
				return
			}
			p.jobs[i] = nil
		}
	}
}

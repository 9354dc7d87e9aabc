package pipeline

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/memory"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// Config configures a run.
type Config struct {
	Dir         string
	Run         string
	Source      source.Config   // MaxBody and MaxRedirects are taken from Fetch
	Evaluate    evaluate.Config // agents, URL samples and profiles
	Tables      []string
	Fetch       fetch.Config
	Grace       time.Duration // how long hosts in flight may take when ctx ends
	State       string        // folder of the memory of answers, "" for none
	Spool       string        // folder for shards that are not committed; unused for a run in a folder without shards
	Terms       memory.Terms  // when that memory may answer; its Run, MaxRedirects, MaxBody and Now are set by Run
	Memory      int64         // bytes that the process may take, 0 if unknown; see [budgets]
	ToolVersion string
	AsOf        *time.Time     // date of the run; nil to take it from the captures, or the start
	Resume      bool           // resume the run if it was interrupted
	ForceNew    bool           // remove the run first, whatever its state
	Settings    map[string]any // the configuration, for the manifest
	Pace        map[string]any // the settings that the tables do not depend on
	Inputs      []sink.Input   // inputs in addition to those of the source
	Planned     *sink.Plan     // the plan of a planned run; nil for none
}

// Result is the outcome of a run.
type Result struct {
	Folder      string // folder of manifest.json and rejected.csv
	Targets     int64
	Earlier     int64 // targets that earlier processes of the run have asked or, if stored, judged
	Rejected    int64
	RejectedFor map[string]source.Rejection // see [source.Rejects.Kinds]; nil for a run of shards
	UnreadRanks int64                       // lines of rejected.csv that are not rejected
	Skipped     source.Skipped
	Unmatched   *int64           // see [source.Source.Unmatched]
	Elapsed     time.Duration    // of this process
	Rows        map[string]int64 // rows per table
	Counts      *summary.Counts
}

// job is a target that waits for its capture, or has it.
type job struct {
	source.Target
	spilled [2]*place // where the bodies lie on disk, nil if in memory
	segment *segment
	ordinal int // index within the segment
}

// bodies returns the capture's body and that of its earlier copy, if it has one.
func (j *job) bodies() []*[]byte {
	out := []*[]byte{&j.Capture.Body}
	if j.Capture.Copy != nil {
		out = append(out, &j.Capture.Copy.Body)
	}
	return out
}

// segment is a bounded number of jobs, in the order of the input.
type segment struct {
	index     int
	committed bool // an earlier process committed it; it has no jobs
	jobs      []*job
	pending   atomic.Int64   // jobs without a capture, plus one until it is sealed
	captures  *sink.Captures // kept for a later process, nil if none can resume
	spill     spill
	bytes     atomic.Int64 // memory of the captures: bodies, hops, headers
	text      int64        // bytes of the targets' texts
	archive   *sink.ArchiveRecord
}

// census is a run under way.
type census struct {
	config     Config
	run        *sink.Run
	source     *source.Source
	client     *fetch.Client
	memory     *memory.Memory // nil for none
	rejects    *source.Rejects
	shared     *evaluate.Shared
	totals     *summary.Counts
	pressure   *backpressure
	ready      chan *segment // segments that have all their captures
	progress   *Progress
	rereadable bool // the inputs can be read again, so the run can be resumed
}

// Run makes the census. It returns when every target is in the tables, when ctx
// ends (with a [Stopped], unless nothing was done), or when the input or the disk
// fails. Committed segments stay, and so do the answers of hosts that were asked.
// progress may be read meanwhile.
func Run(ctx context.Context, c Config, progress *Progress) (_ *Result, err error) {
	if store.IsURL(c.Dir) {
		return runInBucket(ctx, c, progress)
	}
	began, before := time.Now(), progress.Snapshot()
	c.Source.MaxBody, c.Source.MaxRedirects = c.Fetch.MaxBody, c.Fetch.MaxRedirects
	n := &census{
		config: c, progress: progress, shared: evaluate.Prepare(c.Evaluate), pressure: newBackpressure(&c), ready: make(chan *segment, 1),
	}
	n.totals = n.shared.NewCounts()
	if n.source, err = source.Open(ctx, c.Source); err != nil {
		return nil, err
	}
	defer n.source.Close()
	progress.expect(n.source.Total, c.Source.Limit)
	if c.State != "" {
		if n.memory, err = memory.Open(c.State); err != nil {
			return nil, err
		}
		defer func() {
			if e := n.memory.Close(); err == nil {
				err = e // otherwise err is the cause
			}
		}()
		if err := n.memory.Bind(c.Source.Shard.Name()); err != nil {
			return nil, err
		}
	}
	var created bool
	plan := sink.Plan{
		Run: c.Run, ToolVersion: c.ToolVersion, Started: began.UTC(), Configuration: c.Settings, Pace: c.Pace,
		Inputs: append(n.source.Inputs(), c.Inputs...), Tables: c.Tables, Profiles: c.Evaluate.ProfileNames(), FromShards: n.source.FromShards(),
	}
	c.describe(&plan, n.source)
	n.rereadable = plan.CanBeReadAgain()
	n.run, created, err = begin(ctx, c, plan)
	if errors.Is(err, sink.ErrRunComplete) {
		// The process that completed the run may have died before it wrote the views.
		if e := views.Write(ctx, c.Dir); e != nil {
			return nil, e
		}
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		defer n.run.Close()
		if err != nil && created && progress.Snapshot().Fetched == 0 {
			// There is nothing to resume and nothing to query.
			n.run.Close()
			if e := sink.Remove(ctx, c.Dir, c.Run); e != nil {
				err = errors.Join(err, e)
			}
			return
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = n.stopped(err)
		}
		// Committed segments can be queried, however the run ended.
		if e := views.WriteIn(n.run.Store(), n.run.ReplaceFile); err == nil {
			err = e // otherwise err is the cause
		}
	}()
	if c.ForceNew {
		// The views must not name a run that is gone.
		if err := views.WriteIn(n.run.Store(), n.run.ReplaceFile); err != nil {
			return nil, err
		}
	}
	n.config.Terms.MaxRedirects, n.config.Terms.MaxBody, n.config.Terms.Now = n.config.Fetch.MaxRedirects, n.config.Fetch.MaxBody, n.config.Fetch.Now
	// Another output folder may hold a run of the same name.
	n.config.Terms.Run = c.Run + " " + n.run.Started().Format(time.RFC3339Nano)
	n.config.Fetch.Others, n.config.Fetch.Outage = n.source.Others, progress.outage
	spool, release := n.spool()
	defer release()
	n.config.Fetch.Spool, n.config.Fetch.Room, n.config.Fetch.Waiting = spool, n.pressure.underWay, n.pressure.waiting
	if n.client, err = fetch.New(n.config.Fetch); err != nil {
		return nil, err
	}
	rejectedFile, err := n.run.Rejected()
	if err != nil {
		return nil, fmt.Errorf("create rejected.csv: %w", err)
	}
	n.rejects = source.NewRejects(rejectedFile, n.run.Scratch, progress.rejected)
	defer n.rejects.Close()
	if err := n.source.Start(ctx, n.rejects, progress.read); err != nil {
		return nil, err
	}
	// The counts of earlier processes of the run.
	if err := n.totals.Restore(ctx, n.run); err != nil {
		return nil, err
	}

	if err := n.work(ctx); err != nil {
		return nil, err
	}
	if n.source.Targets() == 0 {
		if err := n.source.Empty(); err != nil {
			return nil, err
		}
	}
	if c.Source.Shard.Count <= 1 { // otherwise another shard may use them
		for _, s := range n.shared.Unused() {
			if err := n.rejects.Sample(s.Line, s.URL, unusedSample); err != nil {
				return nil, err
			}
		}
	}
	rejected, err := n.rejects.Finish()
	if err != nil {
		return nil, err
	}
	targets, lines, skipped := n.source.Targets(), n.rejects.Lines(), n.rejects.Skipped()
	progress.enter(SummingUp)
	sums, err := summary.SumUp(ctx, n.run)
	if err != nil {
		return nil, err
	}
	progress.enter(Completing)
	if err := n.run.Complete(sink.Completion{
		Finished: time.Now().UTC(), Tally: sink.Tally{Targets: targets, Rejected: lines, Skipped: skipped.Kinds()}, Totals: sums,
		Inputs: append(n.source.Inputs(), c.Inputs...), Rejected: rejected,
	}); err != nil {
		return nil, err
	}
	progress.enter(Finished)
	return &Result{
		Folder: n.run.Folder(), Targets: targets, Earlier: progress.Snapshot().Earlier - before.Earlier, Rejected: lines, RejectedFor: n.rejects.Kinds(), UnreadRanks: n.rejects.Remarks(), Skipped: skipped, Unmatched: n.source.Unmatched(), Elapsed: time.Since(began),
		Rows: n.run.Rows(), Counts: n.totals,
	}, nil
}

// describe sets what a plan says of the profiles, of the date of the run and of the run
// whose captures are judged again. s is nil for a run whose lists are planned.
func (c *Config) describe(p *sink.Plan, s *source.Source) {
	p.ProfileFields = c.Evaluate.ProfileFields()
	p.AsOf = c.AsOf
	if s == nil {
		return
	}
	p.Earlier, p.Repeated = s.Earlier(), s.Repeated()
	if p.AsOf == nil {
		p.AsOf = s.AsOf()
	}
}

// unusedSample is the reason to reject a URL sample.
const unusedSample = "origin_not_in_run"

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

// evaluate commits segments as they become ready.
func (n *census) evaluate(ctx context.Context) error {
	e := n.shared.Evaluator()
	for {
		select {
		case s, ok := <-n.ready:
			if !ok {
				return nil
			}
			if err := n.commit(ctx, e, s); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// commit writes a segment's rows and commits its parts. It stops between targets
// when ctx ends: hostile files may take minutes.
func (n *census) commit(ctx context.Context, e *evaluate.Evaluator, s *segment) error {
	defer s.spill.close()
	out, err := n.run.Segment(s.index)
	if err != nil {
		return err
	}
	defer out.Abort()
	out.Targets, out.Archive = int64(len(s.jobs)), s.archive
	counts, err := e.Segment(out, s.targets(ctx))
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return err
	}
	if err := n.totals.Merge(counts); err != nil {
		return err
	}
	n.progress.committed(len(s.jobs))
	n.pressure.leave(s.bytes.Load(), s.text)
	return nil
}

// targets yields the targets of a segment with their bodies. It frees each target
// after its turn, so it can be called once.
func (s *segment) targets(ctx context.Context) iter.Seq2[*source.Target, error] {
	return func(yield func(*source.Target, error) bool) {
		for i, j := range s.jobs {
			err := ctx.Err()
			for k, body := range j.bodies() {
				if err == nil && j.spilled[k] != nil {
					*body, err = s.spill.take(j.spilled[k])
				}
			}
			if !yield(&j.Target, err) || err != nil {
				return
			}
			s.jobs[i] = nil
		}
	}
}

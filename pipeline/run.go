package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// segmentTargets is the size of a segment: large enough for full row groups
// of verdicts, small enough that a lost one costs little.
const segmentTargets = 2048

// A segment ends early whose targets bring much of their own: so many verdicts,
// or bytes of hosts and URLs as the input has them, which are held with it.
const (
	segmentVerdicts = 16 << 20
	segmentText     = 4 << 20
)

// Config is what a run is asked to do.
type Config struct {
	Dir string
	Run string
	Source
	evaluate.Config
	Schemes     []string
	Limit       int64 // targets at most, 0 for all
	Tables      []string
	Fetch       fetch.Config  // without its memory
	Grace       time.Duration // for the hosts in flight when ctx ends
	State       string        // folder of the memory of answers, "" for none
	Memory      int64         // bytes that the process may take, 0 where that is not known; see [budgets]
	ToolVersion string
	Resume      bool           // go on with the run if it was interrupted
	ForceNew    bool           // remove the run first, whatever its state
	Settings    map[string]any // the configuration as the manifest shows it
	Pace        map[string]any // and the part of it that the tables do not depend on
	Inputs      []sink.Input   // besides the hosts
}

// Result is what a run did.
type Result struct {
	Folder   string // of manifest.json and rejected.csv
	Targets  int64
	Rejected int64
	Skipped  Skipped
	Elapsed  time.Duration
	Rows     map[string]int64 // by table
	Counts   *summary.Counts
}

// job is one target on its way to its capture.
type job struct {
	target  Target
	capture *fetch.Capture
	stored  *stored   // nil for a capture of the network
	spilled [2]*place // of the capture's bodies, where memory had no room for them
	segment *segment
	ordinal int // within it
}

// bodies are the capture's own and the earlier copy's, where it has them.
func (j *job) bodies() []*[]byte {
	out := []*[]byte{&j.capture.Body}
	if j.capture.Copy != nil {
		out = append(out, &j.capture.Copy.Body)
	}
	return out
}

// segment is a run of jobs in the order of the input.
type segment struct {
	index     int
	committed bool // by an earlier process; then it has no jobs
	jobs      []*job
	pending   atomic.Int64  // jobs without a capture, and the source while it fills
	answers   *sink.Answers // that outlive the process, nil where they need not
	spill     spill
	bytes     atomic.Int64 // of the captured bodies
	text      int64        // bytes of the targets' texts
}

// census is a run under way.
type census struct {
	Config
	run      *sink.Run
	client   *fetch.Client
	rejects  *rejects
	samples  *evaluate.Samples
	contents *contents
	totals   *summary.Counts
	pressure *backpressure
	ready    chan *segment // those that have all their captures
	progress *Progress

	volumes []volume // of a stored source
	ranks   ranks
	filter  *filter // nil: every host
	skipped tallySkipped
	again   bool // the inputs can be read again, as resuming does
}

// Run makes the census. It returns when every target is in the tables, when
// ctx ends (a [Stopped], unless nothing is left of the run), or when the input
// or the disk gives out. Segments that are committed stay, and so do the
// answers of hosts that were asked. progress may be read all the while.
func Run(ctx context.Context, c Config, progress *Progress) (_ *Result, err error) {
	began := time.Now()
	n := &census{
		Config: c, progress: progress, samples: evaluate.NewSamples(c.Samples, c.Profiles), contents: newContents(), totals: c.newCounts(),
		pressure: newBackpressure(&c), ready: make(chan *segment, 1),
	}
	inputs, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	inputs = append(inputs, c.Inputs...)
	if c.State != "" {
		if n.Fetch.Memory, err = fetch.OpenMemory(c.State); err != nil {
			return nil, err
		}
		defer func() {
			if e := n.Fetch.Memory.Close(); err == nil {
				err = e // else it follows from the first
			}
		}()
	}
	var created bool
	plan := sink.Plan{
		Run: c.Run, ToolVersion: c.ToolVersion, Started: began.UTC(), Configuration: c.Settings, Pace: c.Pace,
		Inputs: inputs, Tables: c.Tables, Profiles: c.ProfileNames(),
	}
	n.again = plan.CanBeReadAgain()
	n.run, created, err = begin(ctx, c, plan)
	if errors.Is(err, sink.ErrRunComplete) {
		// The process that completed it may have died before it wrote them.
		if e := views.Write(c.Dir); e != nil {
			return nil, e
		}
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		defer n.run.Close()
		if err != nil && created && progress.Snapshot().Fetched == 0 {
			// Nothing is there to be resumed, or to be looked at.
			n.run.Close()
			if e := sink.Remove(c.Dir, c.Run); e != nil {
				err = errors.Join(err, e)
			}
			return
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = n.stopped(err)
		}
		// What is committed can be queried, however the run ended.
		if e := views.WriteIn(n.run.Store(), n.run.ReplaceFile); err == nil {
			err = e // else it follows from the first
		}
	}()
	if c.ForceNew {
		// The views name no run that is gone.
		if err := views.WriteIn(n.run.Store(), n.run.ReplaceFile); err != nil {
			return nil, err
		}
	}
	// Another output folder may hold a run of the same name.
	n.Fetch.Run = c.Run + " " + n.run.Started().Format(time.RFC3339Nano)
	n.Fetch.Others, n.Fetch.Outage = n.others, progress.outage
	spool, release := n.spool()
	defer release()
	n.Fetch.Spool, n.Fetch.Room, n.Fetch.Waiting = spool, n.pressure.underWay, n.pressure.waiting
	if n.client, err = fetch.New(n.Fetch); err != nil {
		return nil, err
	}
	rejectedFile, err := n.run.Rejected()
	if err != nil {
		return nil, fmt.Errorf("create rejected.csv: %w", err)
	}
	n.rejects = newRejects(rejectedFile, n.run.Scratch, progress)
	defer n.rejects.close()
	sum := sha256.New()
	if n.IsStored() && n.Hosts != "" {
		if n.filter, err = readFilter(ctx, n.Hosts, sum, n.rejects.host); err != nil {
			return nil, err
		}
	}
	if err := n.restore(ctx); err != nil {
		return nil, err
	}

	targets, err := n.work(ctx, sum)
	if err == nil && targets == 0 {
		err = n.nothing()
	}
	if err != nil {
		return nil, err
	}
	for _, s := range n.samples.Unused() {
		if err := n.rejects.sample(s.Line, s.URL, "origin_not_in_run"); err != nil {
			return nil, err
		}
	}
	rejected, err := n.rejects.finish()
	if err != nil {
		return nil, err
	}
	progress.enter(SummingUp)
	if err := n.run.SumUp(ctx); err != nil {
		return nil, err
	}
	progress.enter(Completing)
	if err := n.run.Complete(ctx, sink.Completion{
		Finished: time.Now().UTC(), Tally: sink.Tally{Targets: targets, Rejected: n.rejects.n, Skipped: n.skipped.sum.kinds()},
		Inputs: digested(inputs, sum), Rejected: rejected,
	}); err != nil {
		return nil, err
	}
	progress.enter(Finished)
	return &Result{
		Folder: n.run.Folder(), Targets: targets, Rejected: n.rejects.n, Skipped: n.skipped.sum, Elapsed: time.Since(began),
		Rows: n.run.Rows(), Counts: n.totals,
	}, nil
}

// work brings the source's targets into the tables, and returns their number.
// sum is written the bytes of a source that is read from standard input.
func (n *census) work(ctx context.Context, sum io.Writer) (targets int64, err error) {
	late, cancel := n.grace(ctx)
	defer cancel()
	g, late := errgroup.WithContext(late)
	g.Go(func() error {
		defer close(n.ready)
		if n.IsStored() {
			targets, err = n.rerun(late)
			return err
		}
		fetching, late := errgroup.WithContext(late)
		begin, stop := context.WithCancel(late)
		defer context.AfterFunc(ctx, stop)()
		fetching.Go(func() (err error) {
			targets, err = n.produce(begin, late, sum, fetching)
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil // those in flight go on
			}
			return err
		})
		return fetching.Wait()
	})
	for range n.pressure.evaluators {
		g.Go(func() error { return n.evaluate(late) })
	}
	if err = g.Wait(); err == nil {
		err = ctx.Err()
	}
	return targets, err
}

// produce reads the source and has its targets fetched, each by a goroutine of
// its own that begins when the client has a slot for it, opening segments as
// there is room, until begin ends. It returns the number of targets.
func (n *census) produce(begin, late context.Context, sum io.Writer, fetching *errgroup.Group) (int64, error) {
	var now *segment
	next, targets, paths, text := 0, 0, 0, 0
	perPath := len(n.Agents) * len(n.Profiles)
	lines := int64(0)
	seal := func() error {
		if now == nil {
			return nil
		}
		s := now
		now, paths, text = nil, 0, 0
		if s.committed {
			return n.passOver(s.index, targets, lines)
		}
		return n.done(late, s)
	}
	open := func() (err error) {
		now = &segment{index: next, committed: n.run.Committed(next) != nil}
		next, targets, lines = next+1, 0, 0
		if now.committed {
			return nil
		}
		if n.again {
			if now.answers, err = n.run.Answers(now.index); err != nil {
				return err
			}
		}
		now.pending.Store(1)
		return n.pressure.enter(begin)
	}
	s := &source{schemes: n.Schemes, limit: n.Limit, reject: n.rejects.host, remark: n.rejects.remark}
	s.emit = func(t Target) error {
		if err := begin.Err(); err != nil {
			return err
		}
		if now == nil {
			if err := open(); err != nil {
				return err
			}
		}
		bytes := t.bytes()
		targets, paths, text, lines = targets+1, paths+len(t.Paths), text+bytes, lines+t.Lines
		if !now.committed {
			j := &job{target: t, segment: now, ordinal: len(now.jobs)}
			if err := n.recall(j); err != nil {
				return err
			}
			now.text += int64(bytes)
			n.pressure.read(bytes)
			if j.capture != nil {
				now.jobs = append(now.jobs, j)
				n.progress.fetched(j.capture, t.Lines)
				if err := n.keep(j); err != nil {
					return err
				}
			} else {
				lease, err := n.client.Enter(begin, late)
				if err != nil {
					return err
				}
				now.jobs = append(now.jobs, j)
				now.pending.Add(1)
				fetching.Go(func() error { return n.fetch(late, lease, j) })
			}
		}
		if targets == segmentTargets || paths*perPath >= segmentVerdicts || text >= segmentText {
			return seal()
		}
		return nil
	}
	err := n.readTargets(begin, sum, s.take)
	if err == nil {
		err = s.flush()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return s.passed, err
	}
	if next == 0 {
		// A list without a single target makes tables too, empty ones.
		if err := open(); err != nil {
			return 0, err
		}
	}
	n.progress.sourceEnds(s.passed)
	return s.passed, seal()
}

// fetch gets a target's capture. The lease is held until memory or disk has
// the body: a slow disk holds up the requests, or bodies would pile up before
// it.
func (n *census) fetch(ctx context.Context, lease *fetch.Lease, j *job) error {
	defer lease.Leave()
	j.capture = lease.Fetch(j.target.Candidates...)
	if ctx.Err() != nil {
		return ctx.Err() // the facts may be about our own end
	}
	switch err := j.capture.Local; {
	case errors.Is(err, fetch.ErrCutOff), errors.Is(err, fetch.ErrNeverReached):
		return err
	case err != nil:
		return &LocalError{err}
	}
	if j.capture.Error == robots.Canceled {
		return nil // it was not begun, and its segment stays open
	}
	if err := n.record(j); err != nil {
		return err
	}
	n.progress.fetched(j.capture, j.target.Lines)
	if err := n.keep(j); err != nil {
		return err
	}
	return n.done(ctx, j.segment)
}

// keep accounts for the memory of a job's bodies, which go to disk where there
// is none left.
func (n *census) keep(j *job) error {
	weight := j.capture.Weight()
	n.pressure.weigh(weight)
	j.segment.bytes.Add(int64(weight))
	for i, body := range j.bodies() {
		if len(*body) == 0 {
			continue // none must stay none: it would come back from disk as an empty file
		}
		if n.pressure.hold(len(*body)) {
			j.segment.bytes.Add(int64(len(*body)))
			continue
		}
		var err error
		if j.spilled[i], err = j.segment.spill.put(n.run.Scratch, *body); err != nil {
			return err
		}
		*body = nil
	}
	return nil
}

// LocalError says that this machine, and no host, has failed.
type LocalError struct{ Err error }

func (e *LocalError) Error() string {
	return "this machine cannot go on fetching: " + e.Err.Error()
}
func (e *LocalError) Unwrap() error { return e.Err }

// done takes one off what a segment waits for.
func (n *census) done(ctx context.Context, s *segment) error {
	if s.pending.Add(-1) > 0 {
		return nil
	}
	n.pressure.filled()
	select {
	case n.ready <- s:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// evaluate commits segments as they come.
func (n *census) evaluate(ctx context.Context) error {
	a := newEvaluator(n.Config, n.samples, n.contents)
	for {
		select {
		case s, ok := <-n.ready:
			if !ok {
				return nil
			}
			if err := a.commit(ctx, n.run, s, n.totals); err != nil {
				return err
			}
			n.progress.committed(len(s.jobs))
			n.pressure.leave(s.bytes.Load(), s.text)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/memory"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// census is a run under way. What open has not opened is nil.
type census struct {
	config     Config
	began      time.Time
	earlier    int64 // targets that earlier processes had asked before this one began
	source     *source.Source
	memory     *memory.Memory // nil for none
	terms      memory.Terms   // when it may answer
	old        store.Store    // where the run is that a new one replaces, nil for none
	run        *sink.Run
	plan       journal.Plan   // of the run
	rereadable bool           // the inputs can be read again, so the run can be resumed
	spool      *store.Scratch // answers in flight that do not fit into memory, nil for none
	client     *client.Client
	rejects    *input.Account
	shared     *evaluate.Shared
	totals     *summary.Counts
	pressure   *backpressure
	ready      chan *piece // pieces that have all their captures
	lines      *hostLines  // nil for none
	evidence   *evidence   // nil for none
	progress   *Progress
}

func newCensus(c Config, progress *Progress) *census {
	n := &census{
		config: c, began: time.Now(), earlier: progress.Snapshot().Earlier, progress: progress,
		shared: evaluate.Prepare(c.Evaluate), pressure: newBackpressure(&c), ready: make(chan *piece, 1),
	}
	n.totals = n.shared.NewCounts()
	n.evidence = newEvidence(&n.config)
	if c.HostLine != nil {
		n.lines = newHostLines(n.shared, c.HostLine)
	}
	return n
}

// open opens what a run needs, each thing after those that it needs itself. A run that is
// made already needs no more than itself. One that replaces another reads up to its first target
// before it begins.
func (n *census) open(ctx context.Context) error {
	steps := []func(context.Context) error{n.openSource, n.openMemory, n.planRun, n.openRun, n.openList, n.openClient,
		n.openRejects, n.startSource}
	if err := n.openOld(ctx); err != nil {
		return err
	}
	if n.old != nil {
		steps = []func(context.Context) error{n.openSource, n.openMemory, n.planRun, n.startSource, n.checkInput,
			n.openRun, n.openList, n.openClient, n.openRejects}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil || n.run != nil && n.run.Made() {
			return err
		}
	}
	return n.totals.Restore(ctx, n.run) // the counts of earlier processes of the run
}

// startSource reads what the source needs before its targets.
func (n *census) startSource(ctx context.Context) error {
	archive := client.NewArchive(n.config.Fetch, client.Backing{Room: n.pressure.underWay, Spool: n.spoolFile})
	n.source.Complete = archive.Complete
	if err := n.source.Start(ctx, n.rejects, n.progress.read); err != nil {
		return err
	}
	return n.config.checkLabels(n.source.LabelValues())
}

// checkLabels returns an error for more values of labels than a run can count.
func (c *Config) checkLabels(values int) error {
	if !slices.Contains(c.Tables, "label_counts") {
		return nil
	}
	if err := summary.CheckLabels(values, len(c.Evaluate.Agents), len(c.Evaluate.Profiles)); err != nil {
		return &userfile.Error{Path: "--label", Err: err}
	}
	return nil
}

// openSource opens the source, unless that is a list which is copied once the run is open.
func (n *census) openSource(ctx context.Context) (err error) {
	if !n.config.hasLists() {
		n.source, err = source.Open(ctx, n.config.source())
	}
	return err
}

// openList opens the list of a planned shard, and names the inputs as the plan does.
func (n *census) openList(ctx context.Context) (err error) {
	c := &n.config
	if c.Source.Planned, err = n.run.TakeList(ctx); err != nil {
		return err
	}
	if c.Source.Planned != "" {
		if n.source, err = source.Open(ctx, c.source()); err != nil {
			return err
		}
	}
	n.progress.expect(n.source.Total, c.Source.Limit)
	plan := n.run.Plan()
	n.source.Name(&plan)
	return nil
}

// source returns the configuration of the source, with the limits of the fetches.
func (c *Config) source() source.Config {
	s := c.Source
	s.Limits, s.Bare = c.Fetch.Limits, c.Fetch.AllowPrivate
	s.Further = s.HasArchives() && (len(c.Fetch.Further) > 0 || c.Fetch.FrontPage)
	return s
}

func (n *census) openMemory(context.Context) (err error) {
	if n.config.State == "" {
		return nil
	}
	shard := n.config.Source.Shard.Name()
	switch n.memory, err = memory.Open(n.config.State); {
	case errors.Is(err, memory.ErrInUse) && shard != "":
		return fmt.Errorf("%w; give another --state: each process that makes a shard needs its own", err)
	case errors.Is(err, memory.ErrInUse):
		return fmt.Errorf("%w; wait for it or give another --state", err)
	case err != nil:
		return err
	}
	return n.memory.Bind(shard)
}

// planRun makes the plan, before what is read of the inputs adds to what is known of them.
func (n *census) planRun(context.Context) (err error) {
	n.plan, err = n.config.planOf(n.began, n.source)
	n.rereadable = n.plan.CanBeReadAgain()
	return err
}

// openRun begins the run, or opens the one that an earlier process has begun.
func (n *census) openRun(ctx context.Context) (err error) {
	c := &n.config
	n.run, err = sink.Begin(ctx, n.plan, sink.Place{
		Dir: c.Dir, Spool: c.Spool, Shard: c.Source.Shard.Index, Resume: c.Resume, Replace: c.ForceNew,
		WARCOut: c.warcFile(), Unconditional: c.Unconditional,
		Targets: func() int64 { return n.progress.Snapshot().Fetched },
	})
	if errors.Is(err, sink.ErrRunComplete) {
		// The process that completed the run may have died before it wrote the views.
		if e := writeViews(ctx, c.Dir); e != nil {
			return e
		}
	}
	if err != nil {
		return err
	}
	if c.ForceNew && c.Spool == "" { // the views must not name a run that is gone
		return views.WriteIn(n.run.Store(), n.run.ReplaceFile)
	}
	return nil
}

// openOld opens the output folder, if there is one, of a run that replaces another. That one goes
// once the input is known to have a target; until then scratch files are in the folder.
func (n *census) openOld(ctx context.Context) (err error) {
	if !n.config.ForceNew || n.config.hasLists() {
		return nil
	}
	n.old, err = store.Open(ctx, n.config.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		n.rejects = input.NewAccount(nil, n.scratch, n.progress.rejected)
		err = n.rejects.Defer()
	}
	return err
}

// checkInput returns the error of an input without a target, before the run goes that the new
// one replaces.
func (n *census) checkInput(ctx context.Context) error {
	some, err := n.source.Peek(ctx)
	if err == nil && !some {
		err = n.source.Empty()
	}
	return err
}

// scratch creates a scratch file.
func (n *census) scratch() (*store.Scratch, error) {
	if n.run == nil {
		return n.old.Scratch(".")
	}
	return n.run.Scratch()
}

func (n *census) openClient(context.Context) (err error) {
	c := &n.config
	n.terms = memory.Terms{
		// another output folder may hold a run of the same name
		Run:    c.Run + " " + n.run.Started().Format(time.RFC3339Nano),
		MaxAge: c.MaxAge, Lengthen: c.Lengthen, Limits: c.Fetch.Limits, Now: c.Fetch.Now,
	}
	c.Fetch.Record = n.evidence != nil
	if len(c.Fetch.Identities) > 0 || len(c.Fetch.Further) > 0 || c.Fetch.FrontPage {
		// Answers to identities are compared with the host's own, and further pages are asked
		// for by its leave, so both must be of the same hour: no answer serves from memory, not
		// even one that this run stored before it was interrupted.
		n.terms.Run, n.terms.MaxAge = n.terms.Run+" "+n.began.Format(time.RFC3339Nano), 0
	}
	b := client.Backing{
		Room: n.pressure.underWay, Spool: n.spoolFile, Waiting: n.pressure.waiting, Others: n.source.Others,
		Outage: n.progress.outage,
	}
	if n.memory != nil {
		b.Spare, b.Spared = n.memory.Spare, n.memory.Spared
	}
	n.client, err = client.New(c.Fetch, b)
	return err
}

// spoolFile makes the file for answers in flight that do not fit into memory.
func (n *census) spoolFile() (_ *os.File, err error) {
	if n.spool, err = n.scratch(); err != nil {
		return nil, fmt.Errorf("create a file for answers in flight: %w", err)
	}
	return n.spool.File, nil
}

func (n *census) openRejects(context.Context) error {
	file, err := n.run.Rejected()
	if err != nil {
		return fmt.Errorf("create rejected.csv: %w", err)
	}
	if n.rejects != nil {
		return n.rejects.Into(file)
	}
	n.rejects = input.NewAccount(file, n.scratch, n.progress.rejected)
	return nil
}

// close closes what open has opened, however the run has ended, and returns the error
// of the run. One that is refused leaves nothing: there is nothing to resume and nothing to query.
// One that is interrupted once the run is gone that it replaces stays, so that there is one of the two.
func (n *census) close(ctx context.Context, err error) error {
	leave, closeMemory := n.leave, (*memory.Memory).Close
	replaces := n.old != nil && n.run != nil && ctx.Err() != nil
	if err != nil && (n.run == nil || n.run.IsNew()) && n.progress.Snapshot().Fetched == 0 && !replaces {
		leave, closeMemory = n.discard, (*memory.Memory).Discard
	}
	if n.rejects != nil {
		n.rejects.Close()
	}
	if n.spool != nil {
		n.spool.Close()
	}
	if n.run != nil {
		err = leave(ctx, err)
	}
	if n.memory != nil {
		if e := closeMemory(n.memory); err == nil {
			err = e // otherwise err is the cause
		}
	}
	n.source.Close()
	if n.old != nil {
		n.old.Close()
	}
	return err
}

// discard removes the run.
func (n *census) discard(_ context.Context, err error) error {
	if e := n.run.Discard(); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

// leave closes the run.
func (n *census) leave(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) && !n.run.Made() {
		err = n.stopped(err)
	}
	if n.config.Spool == "" {
		// Committed segments can be queried, however the run ended.
		err = cmp.Or(err, views.WriteIn(n.run.Store(), n.run.ReplaceFile))
	}
	return cmp.Or(err, n.run.Close())
}

// writeViews writes the views of an output folder that this process does not hold open.
func writeViews(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	return views.Write(s)
}

package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// ErrRunComplete reports that a run is complete and need not be resumed.
var ErrRunComplete = errors.New("the run is already complete")

// resumeAdvice is the advice for a run that cannot be resumed.
const resumeAdvice = "(use another --run, or --force-new to begin this one anew)"

// Open resumes an interrupted run in dir. p must equal the plan passed to [Create],
// except for the tool version and the start. Open verifies the digests of the
// committed parts, and removes temporary files and the parts of uncommitted
// segments.
//
// It returns [fs.ErrNotExist] if there is no such run, [ErrRunComplete] if the run is
// complete, [ErrRunBusy] if another process is writing the run, and
// [journal.ErrNotResumable], with every reason, if the plans differ or a part is damaged.
func Open(ctx context.Context, dir string, p journal.Plan) (*Run, error) {
	r, err := prepared(p)
	if err != nil {
		return nil, err
	}
	if r.folder, err = store.OpenFolder(dir); err != nil {
		return nil, err
	}
	r.store = r.folder
	if _, err = r.store.Stat(layout.RunFile(p.Run)); err == nil {
		if r.lock, err = lockRun(r.store, p.Run); err == nil {
			err = r.open(ctx)
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Run) open(ctx context.Context) error {
	folder := r.Folder()
	refuse := func(err error) error {
		if store.FaultOf(err) != store.OfData {
			return err // what is stored may be whole
		}
		// Not wrapped: fs.ErrNotExist for a part would mean that the run is gone.
		return fmt.Errorf("%s %w: %v %s", folder, journal.ErrNotResumable, err, resumeAdvice)
	}
	m, err := journal.ReadComplete(r.store, r.plan.Run)
	if errors.Is(err, fs.ErrNotExist) {
		m, err = r.restore()
	}
	if errors.Is(err, journal.ErrDamaged) {
		return refuse(err)
	}
	if err != nil {
		return err
	}
	if reasons := m.Differences(&r.plan); len(reasons) > 0 {
		return refuse(errors.New(strings.Join(reasons, "; ")))
	}
	r.plan, r.planDigest = m.Plan, m.PlanDigest
	r.metadata[layout.KeyConfiguration] = m.ConfigurationDigest
	check := func() error { return checkSizes(r.store, m.Files()) }
	if !m.Complete() {
		check = func() error { return checkDigests(ctx, r.store, m.Files()) }
	}
	if err := check(); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		return refuse(err)
	}
	if m.Complete() {
		if err := r.sweepComplete(m.Files()); err != nil {
			return err
		}
		r.store.Remove(layout.WARCFolder(r.plan.Run)) // fails if it is not empty
		return fmt.Errorf("%s: %w", folder, ErrRunComplete)
	}
	if err := r.sweep(m.Files()); err != nil {
		return err
	}
	return r.makeFolders()
}

// restore reads the plan and the records of an incomplete run.
func (r *Run) restore() (*journal.Manifest, error) {
	m, records, err := journal.ReadCommitted(r.store, r.plan.Run)
	for _, record := range records {
		r.records[record.Segment], r.taken[record.Segment] = record, true
	}
	return m, err
}

// checkDigests returns an error if the contents of a committed part do not match its
// digest. Resuming with a damaged part would complete a damaged run.
func checkDigests(ctx context.Context, s store.Store, parts []journal.Part) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range parts {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			f, err := store.OpenWritten(ctx, s, p.Path, p.Digest)
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("a committed part is missing: %w", err)
			}
			if err != nil {
				return fmt.Errorf("committed part %s: %w", p.Path, err)
			}
			return f.Close()
		})
	}
	return g.Wait()
}

// Committed returns the record of a segment, or nil if it is not committed.
func (r *Run) Committed(index int) *journal.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.records[index]
}

// sweep removes what an interrupted run left: temporary files, parts and counters
// that no record names, and captures of committed segments.
func (r *Run) sweep(files []journal.Part) error {
	if err := r.sweepCaptures(); err != nil {
		return err
	}
	return r.output.sweep(files)
}

// sweep removes temporary files, and parts, counters and rejected lines of shards but for
// the given files.
func (o *output) sweep(files []journal.Part) error {
	named := make(map[string]bool)
	for _, p := range files {
		named[p.Path] = true
	}
	remove := func(folder string, left func(name string) bool) error {
		files, err := o.store.List(folder)
		for _, f := range files {
			if name := path.Join(folder, f.Name()); err == nil && left(f.Name()) && !named[name] {
				err = o.store.Remove(name)
			}
		}
		if err != nil {
			return fmt.Errorf("clean up the run: %w", err)
		}
		return nil
	}
	for _, l := range layout.Leftovers(o.plan.Run, o.plan.Tables) {
		if err := remove(l.Folder, l.MayBe); err != nil {
			return err
		}
	}
	return nil
}

// sweepComplete removes also what a run has only until it is complete.
func (o *output) sweepComplete(files []journal.Part) error {
	if err := o.sweep(files); err != nil {
		return err
	}
	_, inBucket := o.store.(*store.Bucket)
	for _, folder := range layout.LeftFolders(o.plan.Run) {
		if inBucket && folder == layout.CapturesFolder(o.plan.Run) {
			continue // captures stay on the machine that asks, and each look is a request
		}
		if err := o.store.RemoveAll(folder); err != nil {
			return fmt.Errorf("clean up the run: %w", err)
		}
	}
	return nil
}

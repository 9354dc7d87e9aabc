package sink

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Run is a run that this process writes, as its only writer, from [Begin], [Create] or
// [Open] to [Run.Complete], for a run with a spool [Run.Send], or [Run.Close].
type Run struct {
	output
	folder  *store.Folder // the same as output.store
	created bool          // by this process
	spool   *spool        // nil for a run without

	mu       sync.Mutex
	lock     *store.Lock // nil once closed
	records  map[int]*journal.Record
	taken    map[int]bool                    // segments started or committed
	pieces   map[int]map[int]*journal.Record // written, of segments that are not joined
	captures map[int]*journal.Captures       // captures of started segments
	merged   []journal.Part                  // parts of the tables with one part for the whole run
}

// ErrRunBusy reports that another process is writing or removing the run.
var ErrRunBusy = errors.New("is being written by another process; wait for it or use another --run")

// Create starts the run p.Run in dir and writes its plan. It returns [journal.ErrRunExists]
// if there is a run with this ID, and [ErrRunBusy] if another process is writing it.
func Create(dir string, p journal.Plan) (*Run, error) {
	r, err := prepared(p)
	if err != nil {
		return nil, err
	}
	if r.folder, err = store.CreateFolder(dir); err != nil {
		return nil, fmt.Errorf("create the output folder: %w", err)
	}
	r.store = r.folder
	folder := layout.RunFile(p.Run)
	for range 100 {
		if err = r.store.MakeFolder(folder); err != nil {
			err = fmt.Errorf("create the folder of the run: %w", err)
			break
		}
		// [Open] in another process removes a folder without a plan.
		if r.lock, err = lockRun(r.store, p.Run); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err == nil {
		err = r.create()
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.created = true
	return r, nil
}

func (r *Run) create() error {
	folder := layout.RunFile(r.plan.Run)
	// An interrupted Create leaves a folder without a plan, which we may use.
	for _, name := range []string{layout.PlanName, layout.ManifestName, layout.RemovingName} {
		taken, err := store.Exists(r.store, path.Join(folder, name))
		if err != nil {
			return fmt.Errorf("create the run: %w", err)
		}
		if taken {
			return existing(r.store, r.plan.Run)
		}
	}
	for _, table := range schema.TableNames {
		parts := layout.TableFolder(table, r.plan.Run)
		if files, err := r.store.List(parts); err == nil && len(files) > 0 {
			return fmt.Errorf("%w: %s holds files, but %s has no plan (give another --run ID)", journal.ErrRunExists,
				r.store.Path(parts), r.store.Path(folder))
		}
	}
	if err := r.sweep(nil); err != nil {
		return err
	}
	if err := r.makeFolders(); err != nil {
		return err
	}
	won, digest, err := journal.PutPlan(r.store, &r.plan)
	if err == nil && !won {
		err = existing(r.store, r.plan.Run)
	}
	r.planDigest = digest
	return err
}

// existing returns [journal.ErrRunExists] with what can be done about the run: [Open] refuses one
// that is damaged, so the advice is not to continue it.
func existing(in store.Store, run string) error {
	m, err := journal.ReadManifest(in, run)
	advice := "(give another --run ID, or continue it with --resume)"
	switch {
	case errors.Is(err, journal.ErrRemoving):
		return fmt.Errorf("%w: %v", journal.ErrRunExists, err)
	case err == nil && m.Shards > 1 && !m.Complete():
		advice = "(give another --run ID, or " + m.HowToComplete() + ")"
	case err == nil:
		if _, isFolder := in.(*store.Folder); isFolder { // an object store would be asked for each part
			err = checkSizes(in, m.Files())
		}
	}
	folder := in.Path(layout.RunFile(run))
	if err != nil && store.FaultOf(err) == store.OfData {
		return fmt.Errorf("%w: %s: %v %s", journal.ErrRunExists, folder, err, resumeAdvice)
	}
	return fmt.Errorf("%w: %s %s", journal.ErrRunExists, folder, advice)
}

// CheckNew returns [journal.ErrRunExists] if there is a run with this ID.
func CheckNew(s store.Store, run string) error {
	_, err := journal.ReadManifestHead(s, run)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && store.FaultOf(err) != store.OfData {
		return err
	}
	return existing(s, run)
}

// output is the folder of a run, its plan, and what its parts say of both.
type output struct {
	store       store.Store
	plan        journal.Plan
	planDigest  string
	toolVersion string // version of this process
	metadata    map[string]string
	spare       sync.Map // a *sync.Pool per table (see spareOf)
}

// prepare checks and completes p.
func (o *output) prepare(p journal.Plan) error {
	if err := p.Prepare(); err != nil {
		return err
	}
	o.plan, o.toolVersion = p, p.ToolVersion
	o.metadata = map[string]string{
		layout.KeySchema:        strconv.Itoa(schema.SchemaVersion),
		layout.KeyRun:           p.Run,
		layout.KeyToolVersion:   p.ToolVersion,
		layout.KeyProfile:       strings.Join(p.Profiles, ","),
		layout.KeyConfiguration: p.ConfigurationDigest,
	}
	return nil
}

func prepared(p journal.Plan) (*Run, error) {
	r := &Run{records: make(map[int]*journal.Record), taken: make(map[int]bool),
		pieces: make(map[int]map[int]*journal.Record)}
	return r, r.prepare(p)
}

// lockRun locks a run, whose folder must exist, for writing.
func lockRun(s store.Store, run string) (*store.Lock, error) {
	l, err := s.Lock(layout.RunFile(run))
	if errors.Is(err, store.ErrLocked) {
		return nil, fmt.Errorf("run %s %w", run, ErrRunBusy)
	}
	if err != nil {
		return nil, fmt.Errorf("lock the run: %w", err)
	}
	return l, nil
}

// makeFolders creates and syncs the folders of all tables, before any part is
// committed. No folder is created later: if one is missing, committed parts are lost
// with it.
func (o *output) makeFolders() error {
	folders := []string{layout.Records(o.plan.Run)}
	if o.plan.KeepsWARC() {
		folders = append(folders, layout.WARCFolder(o.plan.Run))
	}
	for _, table := range o.plan.Tables {
		folders = append(folders, layout.TableFolder(table, o.plan.Run))
	}
	for _, folder := range folders {
		if err := o.store.MakeFolder(folder); err != nil {
			return fmt.Errorf("create the folder of a table: %w", err)
		}
	}
	return nil
}

// Folder returns the path of the folder with the run's plan, records and
// rejected.csv, for messages.
func (o *output) Folder() string { return o.store.Path(layout.RunFile(o.plan.Run)) }

// Store returns the output folder, or nil after the run is closed.
func (o *output) Store() store.Store { return o.store }

// Rejected creates rejected.csv, which others may read while it is written.
func (r *Run) Rejected() (*store.File, error) {
	f, err := r.store.Create(layout.RunFile(r.plan.Run, layout.RejectedName))
	if err != nil {
		return nil, err
	}
	if err := f.Publish(); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// Scratch creates a scratch file in the run's folder.
func (r *Run) Scratch() (*store.Scratch, error) { return r.store.Scratch(layout.RunFile(r.plan.Run)) }

// ReplaceFile replaces a file of the output folder. The temporary file is in the
// run's folder, where [Open] removes it after a crash.
func (o *output) ReplaceFile(name string, content []byte) error {
	return o.store.Replace(name, layout.RunFile(o.plan.Run), content)
}

// begin reserves a segment, because none may be written twice.
func (r *Run) begin(index int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if index < 0 || index >= journal.MaxVolumes*journal.SegmentsPerVolume {
		return fmt.Errorf("segment %d: segments are numbered from 0 to %d", index,
			journal.MaxVolumes*journal.SegmentsPerVolume-1)
	}
	if r.taken[index] {
		return fmt.Errorf("segment %d of run %s is already written", index, r.plan.Run)
	}
	r.taken[index] = true
	return nil
}

// giveUp releases a segment that was not committed, so that it can be written again.
func (r *Run) giveUp(index int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, index)
}

// enter writes the record of a segment whose parts are on disk. From that moment
// they count. After [store.ErrInDoubt] it may exist.
func (r *Run) enter(record *journal.Record) error {
	r.mu.Lock()
	closed := r.lock == nil
	r.mu.Unlock()
	if closed {
		return fmt.Errorf("run %s is closed", r.plan.Run)
	}
	record.Run, record.Plan = r.plan.Run, r.planDigest
	won, err := journal.PutRecord(r.store, record)
	if err != nil {
		return err
	}
	if !won {
		return fmt.Errorf("segment %d of run %s is committed by another process", record.Segment, r.plan.Run)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records[record.Segment] = record
	return nil
}

// Close stops writing and releases the lock of the run. It may be called twice, but
// not while segments are being written.
func (r *Run) Close() error {
	err := r.close()
	if r.spool != nil {
		err = cmp.Or(err, r.spool.close())
	}
	return err
}

func (r *Run) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store == nil {
		return nil
	}
	for _, a := range r.captures {
		a.Close()
	}
	for _, pieces := range r.pieces {
		for _, p := range pieces {
			r.drop(p)
		}
	}
	if r.lock != nil {
		folder := layout.RunFile(r.plan.Run)
		planned, err := store.Exists(r.store, path.Join(folder, layout.PlanName))
		unborn := err == nil && !planned
		if unborn {
			r.store.Remove(layout.Records(r.plan.Run))
		}
		r.lock.Release()
		r.lock = nil
		if unborn {
			r.store.Remove(folder) // fails if the folder is not empty
		}
	}
	err := r.store.Close()
	r.store = nil
	return err
}

// Started returns the time of [Create], in this process or an earlier one.
func (r *Run) Started() time.Time { return r.plan.Started }

// Parts returns the parts of a table in the committed segments.
func (r *Run) Parts(table string) (parts []journal.Part) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.records {
		parts = append(parts, journal.PartsOf(table, record.Parts)...)
	}
	return parts
}

// Rows returns the number of committed rows by table.
func (r *Run) Rows() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := make(map[string]int64)
	for _, record := range r.records {
		for _, p := range record.Parts {
			rows[p.Table] += p.Rows
		}
	}
	for _, p := range r.merged {
		rows[p.Table] = p.Rows
	}
	return rows
}

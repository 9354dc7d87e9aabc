package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// Place is where a run is made.
type Place struct {
	Dir     string // the output folder, which may be in an object store
	Spool   string // folder of this machine for what is not committed; "" if segments are committed in Dir
	Shard   int    // the shard of the plan that is made here
	Resume  bool   // continue the run if it has begun, as a shard of several always does
	Replace bool   // remove the run first, whatever its state
	WARCOut string // file for the WARC records of the run; "" for none

	// Of a run with a spool:
	Targets       func() int64 // targets captured so far, for signs of life
	Unconditional func()       // called for a new run if Dir is [store.ErrUnconditional]; nil for nobody
}

// Begin begins the run p.Run, or opens the one that an earlier process has begun. Without a
// spool, a segment counts in the output folder once it is committed. With one, the run is
// made in a folder of the spool, and [Run.Send] commits it to the output folder, as a shard
// of the plan. Begin returns the errors of [Create] and [Open], and [ErrOtherPlan] for a
// shard whose settings are not those of the others.
func Begin(ctx context.Context, p journal.Plan, at Place) (*Run, error) {
	if at.Spool != "" {
		return at.beginSpooled(ctx, p)
	}
	if !at.Replace {
		return at.begin(ctx, p)
	}
	old, err := store.Open(ctx, at.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return at.begin(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	defer old.Close()
	if err := at.clear(old, p.Run); err != nil {
		return nil, err
	}
	return at.begin(ctx, p)
}

// clear removes the run that the new one replaces.
func (at *Place) clear(old store.Store, run string) error {
	if err := freeWARCOut(old, run, at.WARCOut); err != nil {
		return err
	}
	return Remove(old, run)
}

// begin begins the run in a folder, or opens the one that is there.
func (at *Place) begin(ctx context.Context, p journal.Plan) (*Run, error) {
	if at.Resume {
		r, err := Open(ctx, at.Dir, p)
		if err == nil {
			if err = checkWARCOut(at.WARCOut); err != nil {
				r.Close()
			}
			return r, err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := freeWARCOut(nil, p.Run, at.WARCOut); err != nil {
		return nil, err
	}
	return Create(at.Dir, p)
}

// spool is what a run has that is made in one.
type spool struct {
	whole  *ShardedRun // that the run is sent to
	folder string      // of all attempts at shards of it on this machine
	own    string      // folder of this attempt, "" if it has none
	made   bool        // nothing is left to write: here, or by another attempt
	over   bool        // the shard is committed
	vain   bool        // what own holds is of no use
	still  func()      // ends the signs of life
}

func (at *Place) beginSpooled(ctx context.Context, p journal.Plan) (*Run, error) {
	// A link in place of the spool would lead out of the output folder.
	if err := isFolder(at.Spool); err != nil {
		return nil, err
	}
	in, err := store.Create(ctx, at.Dir)
	if err != nil {
		return nil, err
	}
	r := new(Run)
	s, err := at.join(in, p)
	if err == nil {
		s.still = s.beat(at.Targets)
		if !s.made {
			r, err = at.beginOwn(ctx, p, s)
		}
		if err != nil && ctx.Err() == nil && s.whole.isLost() {
			r, s.made, err = new(Run), true, nil // completion removes the files of losers
		}
	}
	if err != nil {
		if s != nil {
			s.still()
		}
		in.Close()
		return nil, err
	}
	r.spool = s
	return r, nil
}

// join opens the run that one made in a spool is sent to.
func (at *Place) join(in store.Store, p journal.Plan) (s *spool, err error) {
	switch {
	case at.Replace:
		err = at.clear(in, p.Run)
	case !at.Resume && p.Shards <= 1:
		err = CheckNew(in, p.Run)
	}
	if err != nil {
		return nil, err
	}
	s = &spool{folder: at.Spool}
	if s.whole, err = OpenSharded(in, p, at.Shard); err != nil {
		return nil, err
	}
	if s.whole.unconditional && at.Unconditional != nil {
		at.Unconditional()
	}
	s.made, err = s.whole.isMade()
	if err != nil {
		return nil, err
	}
	return s, nil
}

// beginOwn begins the run of this attempt in the spool. Each attempt on this machine has a
// folder, and resumes the first that no other process works in.
func (at Place) beginOwn(ctx context.Context, p journal.Plan, s *spool) (r *Run, err error) {
	at.Resume = true
	p.Inputs, p.Shards = s.whole.plan.Inputs, 1
	for attempt := 0; ; attempt++ {
		s.own = s.attempts() + strconv.Itoa(attempt)
		if err := isFolder(s.own); err != nil {
			return nil, err
		}
		at.Dir = s.own
		if r, err = at.begin(ctx, p); !errors.Is(err, ErrRunBusy) {
			break
		}
	}
	if errors.Is(err, journal.ErrNotResumable) {
		// Of another version or of other settings; it holds nothing but a cache.
		if err = os.RemoveAll(s.own); err == nil {
			r, err = at.begin(ctx, p)
		}
	}
	if !errors.Is(err, ErrRunComplete) {
		return r, err
	}
	return s.open(p)
}

// isFolder returns an error if a name is that of anything but a folder.
func isFolder(name string) error {
	if info, err := os.Lstat(name); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder; remove it", name)
	}
	return nil
}

// open opens the run that an earlier process has completed in the spool, and not sent.
func (s *spool) open(p journal.Plan) (r *Run, err error) {
	s.made = true
	if r, err = prepared(p); err != nil {
		return nil, err
	}
	if r.folder, err = store.OpenFolder(s.own); err == nil {
		r.store = r.folder
		_, err = r.restore()
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("read the spool of the shard: %w", err)
	}
	return r, nil
}

// beatEvery is the time between two signs of life.
const beatEvery = 30 * time.Second

// beat writes signs of life until the returned function is called. They are for information
// only, so errors do not matter.
func (s *spool) beat(targets func() int64) (stop func()) {
	if s.made || targets == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			s.whole.Beat(ctx, targets())
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-gone }
}

// close closes the output folder, and removes what the spool needs no longer: it stays for a
// retry unless it is committed.
func (s *spool) close() (err error) {
	s.still()
	var done []string
	switch {
	case s.over || s.own != "" && !s.vain && s.whole.isLost():
		done = s.ended()
	case s.vain && s.own != "":
		done = []string{s.own}
	}
	for _, dir := range done {
		if e := os.RemoveAll(dir); e != nil {
			err = fmt.Errorf("remove the spool: %w", e)
		}
		os.Remove(s.folder) // fails while other shards use it
	}
	s.own, s.over = "", false
	s.whole.store.Close()
	return err
}

// ended returns the folder of this attempt, and those of killed ones at the same shard.
func (s *spool) ended() (dirs []string) {
	entries, _ := os.ReadDir(s.folder)
	for _, e := range entries {
		dir := filepath.Join(s.folder, e.Name())
		if strings.HasPrefix(dir, s.attempts()) && e.IsDir() && (dir == s.own || isLeft(dir, s.whole.plan.Run)) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// isLeft reports whether no process works in the folder of an attempt.
func isLeft(dir, run string) bool {
	in, err := store.OpenFolder(dir)
	if err != nil {
		return false
	}
	defer in.Close()
	lock, err := lockRun(in, run)
	if err == nil {
		lock.Release()
	}
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// attempts is how the paths of the folders of attempts at the shard begin.
func (s *spool) attempts() string {
	return filepath.Join(s.folder, fmt.Sprintf("%d-of-%d.%.12s.", s.whole.shard, s.whole.plan.Shards, s.whole.planDigest))
}

// Made reports whether nothing is left to write: another attempt has committed the shard, or
// an earlier process has made it in the spool. It may still have to be sent.
func (r *Run) Made() bool { return r.spool != nil && r.spool.made }

// Lost reports whether another attempt has committed the shard that this process makes: its
// errors do not matter then, because completion removes the files of losers.
func (r *Run) Lost(ctx context.Context) bool {
	return r.spool != nil && ctx.Err() == nil && r.spool.whole.isLost()
}

// Output returns where the run lies once it is complete.
func (r *Run) Output() store.Store {
	if r.spool != nil {
		return r.spool.whole.store
	}
	return r.store
}

// Plan returns the plan of the run, with all of its shards.
func (r *Run) Plan() journal.Plan {
	if r.spool != nil {
		return r.spool.whole.plan
	}
	return r.plan
}

// Folder returns the path of the folder with the run's plan, records and rejected.csv once
// it is complete, for messages.
func (r *Run) Folder() string {
	if r.spool != nil {
		return r.spool.whole.Folder()
	}
	return r.output.Folder()
}

// TakeList copies the list of a planned shard to the spool, so that it stays when another
// process completes the run, and returns its path; "" if the run has no lists.
func (r *Run) TakeList(ctx context.Context) (path string, err error) {
	if r.spool == nil || len(r.spool.whole.plan.Lists) == 0 {
		return "", nil
	}
	path = filepath.Join(r.spool.own, "hosts.csv.zst")
	return path, copyList(ctx, r.spool.whole.store, r.spool.whole.plan.Lists[r.spool.whole.shard], path)
}

// Notes returns the notes of the committed segments.
func (r *Run) Notes() []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return notesOf(slices.Collect(maps.Values(r.records)))
}

func notesOf(records []*journal.Record) (notes []json.RawMessage) {
	for _, r := range records {
		notes = append(notes, r.Note)
	}
	return notes
}

// Send commits a run that is complete in the spool to the output folder, as a shard with a
// note of the caller. If all others are committed, it calls complete, which calls
// [ShardedRun.Complete]; of several processes that complete the run one wins. Send reports
// whether this attempt at the shard won, and how many shards are not committed.
func (r *Run) Send(ctx context.Context, note json.RawMessage, complete func(*ShardedRun) error) (won bool, left int,
	err error) {
	s := r.spool
	var made store.Store // what is to be committed
	if r.store != nil {
		made = r.store
	}
	won, left, err = s.whole.send(ctx, made, note, func(whole *ShardedRun) error {
		s.still() // completion removes the signs of life
		return complete(whole)
	})
	s.over = won || err == nil
	return won, left, err
}

// IsNew reports whether this process has begun the run.
func (r *Run) IsNew() bool { return r.created }

// Discard closes the run and removes it.
func (r *Run) Discard() error {
	if r.spool != nil {
		r.spool.vain = true
		return r.Close()
	}
	dir := r.store.Path(".")
	r.Close()
	in, err := store.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := Remove(in, r.plan.Run); err != nil {
		return err
	}
	removeEmpty(in)
	r.folder.Unmake()
	return nil
}

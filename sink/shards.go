package sink

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// ShardedRun is a run that is made elsewhere, of one shard or of several, by a process
// each. A process makes its shard as an ordinary run in a folder of its own, the spool,
// and then commits it here, as one segment. There is no lock: the plan, the record of a
// shard and the manifest are each written if absent, so that of several attempts at a
// shard one wins.
//
//	spool/<table>/run=R/part-*.parquet  ─► <table>/run=R/part-<shard>-<attempt>.parquet
//	spool/_runs/R/manifest.json         ─► _runs/R/segments/<shard>.json
//
// The process that commits the last record completes the run.
type ShardedRun struct {
	output
	shard         int               // that this process makes
	attempt       string            // of this process
	records       []*journal.Record // of all shards, once all are committed
	complete      bool              // when this process opened it
	unconditional bool              // it is new, of one shard, and in a store that is [store.ErrUnconditional]
}

// ErrOtherPlan reports settings that differ from the plan of a run made of shards.
var ErrOtherPlan = errors.New("has another plan")

// OpenSharded opens the run p.Run, which has p.Shards shards, for one of them. If there is
// no such run, it writes p as the plan, unless the store is [store.ErrUnconditional] and
// there are other shards. A run with another plan is [ErrOtherPlan], with every difference.
func OpenSharded(in store.Store, p journal.Plan, shard int) (*ShardedRun, error) {
	s := &ShardedRun{shard: shard, attempt: strings.ToLower(rand.Text()[:8])}
	if err := s.prepare(p); err != nil {
		return nil, err
	}
	s.store = in
	if err := s.join(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *ShardedRun) join() error {
	plan, digest, err := journal.ReadPlan(s.store, s.plan.Run)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return err
	}
	if err := s.makeFolders(); err != nil {
		return err
	}
	if isNew {
		won, err := s.putPlan()
		if won || err != nil {
			return err
		}
		if plan, digest, err = journal.ReadPlan(s.store, s.plan.Run); err != nil {
			return err
		}
	}
	if err := s.same(&plan); err != nil {
		return err
	}
	s.plan, s.planDigest = plan, digest
	s.metadata[layout.KeyConfiguration] = plan.ConfigurationDigest
	return nil
}

// putPlan writes the plan, unless another process has written one.
func (s *ShardedRun) putPlan() (won bool, err error) {
	err = s.checkStore()
	if s.plan.Shards == 1 && errors.Is(err, store.ErrUnconditional) {
		s.unconditional, err = true, nil
	}
	if err == nil {
		won, s.planDigest, err = journal.PutPlan(s.store, &s.plan)
	}
	return won, err
}

// record returns the record of a shard, nil if it is not committed. A record of
// another plan is an error: the run was removed and begun anew.
func (s *ShardedRun) record(shard int) (*journal.Record, error) {
	r, err := journal.ReadRecord(s.store, &s.plan, s.planDigest, shard)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
}

// committed reports whether a shard is committed.
func (s *ShardedRun) committed(shard int) (bool, error) {
	r, err := s.record(shard)
	return r != nil, err
}

// isLost reports whether another attempt has committed the shard of this process.
func (s *ShardedRun) isLost() bool {
	r, err := s.record(s.shard)
	return err == nil && r != nil && r.Shard.Attempt != s.attempt
}

// isMade reports whether the shard of this process is committed. It cleans up a run that is
// complete: a loser that was killed after the completion has left its files.
func (s *ShardedRun) isMade() (bool, error) {
	var err error
	if s.complete, err = s.completed(); err != nil || s.complete {
		if err == nil {
			err = s.cleanUp()
		}
		return s.complete, err
	}
	made, err := s.committed(s.shard)
	if errors.Is(err, journal.ErrDamaged) {
		err = cmp.Or(s.checkShard(s.shard), err)
	}
	return made, err
}

// LostError reports a committed shard that the run cannot be completed with: its record
// is damaged, or a part that it names is missing or has another size.
type LostError struct {
	Shard  int
	Record string // its record, whose removal lets the shard be made again
	Err    error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("shard %d is lost: %v; remove %s, and start shard %[1]d again", e.Shard, e.Err, e.Record)
}

func (e *LostError) Unwrap() error { return e.Err }

// checkShard returns a [LostError] if a committed shard is lost, nil if it is not
// committed.
func (s *ShardedRun) checkShard(shard int) error {
	r, err := s.record(shard)
	if r != nil && err == nil {
		err = checkSizes(s.store, r.Files())
	}
	if err != nil && store.FaultOf(err) == store.OfData {
		return &LostError{shard, s.store.Path(layout.Record(s.plan.Run, shard)), err}
	}
	return err
}

// findLost returns a [LostError] for the first shard that is lost, nil if none is known
// to be.
func (s *ShardedRun) findLost() error {
	for shard := range s.plan.Shards {
		err := s.checkShard(shard)
		if _, isLost := errors.AsType[*LostError](err); isLost {
			return err
		}
	}
	return nil
}

// checkPlan returns [ErrOtherPlan] if the run was removed, or begun anew, since it was
// opened.
func (s *ShardedRun) checkPlan() error {
	_, digest, err := journal.ReadPlan(s.store, s.plan.Run)
	if errors.Is(err, fs.ErrNotExist) || err == nil && digest != s.planDigest {
		return fmt.Errorf("%s %w: the run was removed while this process worked on it", s.Folder(), ErrOtherPlan)
	}
	return err
}

// completed reports whether the run is complete.
func (s *ShardedRun) completed() (bool, error) {
	return store.Exists(s.store, layout.RunFile(s.plan.Run, layout.ManifestName))
}

// uncommitted returns the number of shards that are not committed. It is 0 for the
// process that commits the last one, at least. The list of an object store may lag, so
// a shard that it lacks counts as missing only if its record cannot be found either;
// from the first such shard on the list is taken as it is.
func (s *ShardedRun) uncommitted() (int, error) {
	files, err := s.store.List(layout.Records(s.plan.Run))
	if err != nil {
		return 0, fmt.Errorf("look for committed shards: %w", err)
	}
	there := make([]bool, s.plan.Shards)
	missing := s.plan.Shards
	for _, f := range files {
		if shard, ok := layout.RecordNumber(f.Name()); ok && shard < s.plan.Shards {
			there[shard] = true
			missing--
		}
	}
	for shard, listed := range there {
		if listed {
			continue
		}
		if committed, err := s.committed(shard); err != nil || !committed {
			return missing, err
		}
		missing--
	}
	return missing, nil
}

// Records returns the records of the shards, all of which are committed, in order.
func (s *ShardedRun) Records() ([]*journal.Record, error) {
	if s.records == nil {
		shards := make([]int, s.plan.Shards)
		for i := range shards {
			shards[i] = i
		}
		records, err := journal.ReadRecords(s.store, &s.plan, s.planDigest, shards)
		if err != nil {
			return nil, err
		}
		s.records = records
	}
	return s.records, nil
}

// Parts returns the parts of a table, of all shards. It returns none if their records
// cannot be read; [ShardedRun.Complete] then fails too.
func (s *ShardedRun) Parts(table string) (parts []journal.Part) {
	records, _ := s.Records()
	for _, r := range records {
		parts = append(parts, journal.PartsOf(table, r.Parts)...)
	}
	return parts
}

// Beat is a sign of life of a process that makes a shard. It is for information
// only.
type Beat struct {
	Shard   int       `json:"shard"`
	Attempt string    `json:"attempt"`
	Time    time.Time `json:"time"`
	Targets int64     `json:"targets"` // captured so far
}

// Beat writes a sign of life, with the number of targets captured so far, unless the
// shard is committed or the run removed: nobody would remove it from an object store.
func (s *ShardedRun) Beat(ctx context.Context, targets int64) error {
	in := store.During(ctx, s.store)
	committed, err := store.Exists(in, layout.Record(s.plan.Run, s.shard))
	if err != nil || committed {
		return err
	}
	if there, err := store.Exists(in, layout.RunFile(s.plan.Run, layout.PlanName)); err != nil || !there {
		return err
	}
	content, err := json.Marshal(Beat{s.shard, s.attempt, time.Now().UTC(), targets})
	if err == nil {
		// A folder is gone once the run is complete or removed.
		err = in.Replace(layout.Beat(s.plan.Run, s.shard), layout.Beats(s.plan.Run), content)
	}
	return err
}

package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// RunIDs returns the IDs of the runs in a folder, in any state, sorted. It returns
// [fs.ErrNotExist] if the folder is not an output folder.
func RunIDs(s store.Store) ([]string, error) {
	if _, err := s.Stat(layout.Runs); err != nil {
		return nil, err
	}
	return runIDs(s)
}

// runIDs returns the names in _runs that are valid run IDs. A folder that is empty, or
// holds only a lock and temporary files, is no run: an interrupted start or removal
// leaves one. In an object store there is no empty folder, and each look is a request.
func runIDs(s store.Store) (ids []string, err error) {
	folders, err := s.List(layout.Runs)
	if err != nil {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	_, inBucket := s.(*store.Bucket)
	for _, f := range folders {
		if CheckRunID(f.Name()) != nil {
			continue // not a run
		}
		if !inBucket {
			// A folder that cannot be listed may hold a run: who reads it learns more.
			files, err := s.List(layout.RunFile(f.Name()))
			if err == nil && f.IsDir() && !slices.ContainsFunc(files, isOfRun) {
				continue
			}
		}
		ids = append(ids, f.Name())
	}
	return ids, nil
}

// isOfRun reports whether a file in the folder of a run is neither a lock nor temporary.
func isOfRun(f fs.DirEntry) bool { return f.Name() != store.LockName && !store.IsTemporary(f.Name()) }

// CompleteRuns returns the manifests of the complete runs in a folder, without their
// parts, sorted by date, then by ID. It skips runs with a damaged manifest.
func CompleteRuns(s store.Store) ([]*Manifest, error) {
	ids, err := runIDs(s)
	if err != nil {
		return nil, err
	}
	var runs []*Manifest
	for _, id := range ids {
		m, err := readHead(s, id)
		switch {
		case err == nil:
			runs = append(runs, m)
		case store.FaultOf(err) != store.OfData:
			return nil, fmt.Errorf("look for complete runs: %w", err)
		}
	}
	slices.SortFunc(runs, byDate)
	return runs, nil
}

// LastIncomplete returns the ID of the incomplete run without shards that was started
// last, or "".
// It skips runs with a damaged plan and returns their IDs, because one of them could
// be the last.
func LastIncomplete(s store.Store) (run string, damaged []string, err error) {
	ids, err := runIDs(s)
	if err != nil {
		return "", nil, err
	}
	var began time.Time
	for _, id := range ids {
		complete, err := store.Exists(s, layout.RunFile(id, layout.ManifestName))
		if err != nil && store.FaultOf(err) != store.OfData {
			return "", nil, fmt.Errorf("look for incomplete runs: %w", err)
		}
		if complete || err != nil {
			continue
		}
		plan, _, err := ReadPlan(s, id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && store.FaultOf(err) != store.OfData:
			return "", nil, fmt.Errorf("look for incomplete runs: %w", err)
		case err != nil:
			damaged = append(damaged, id)
		case plan.Shards > 1: // its processes resume it
		case run == "" || plan.Started.After(began):
			run, began = id, plan.Started
		}
	}
	return run, damaged, nil
}

// HowToComplete says how to complete a run of a folder where none is complete: one that
// --resume continues, else one made of shards.
func HowToComplete(s store.Store) (string, error) {
	ids, err := runIDs(s)
	if err != nil {
		return "", err
	}
	var last Manifest
	for _, id := range ids {
		plan, _, err := ReadPlan(s, id)
		switch {
		case err == nil:
			last.Plan = plan
		case store.FaultOf(err) != store.OfData:
			return "", fmt.Errorf("look for incomplete runs: %w", err)
		}
		if err == nil && plan.Shards <= 1 {
			break
		}
	}
	return last.HowToComplete(), nil
}

// RunInfo describes the state of a run.
type RunInfo struct {
	Run      string     `json:"run"`
	State    string     `json:"state"` // Complete, Incomplete or Damaged
	Date     *time.Time `json:"date"`  // see [Manifest.Date]
	Started  *time.Time `json:"started"`
	Finished *time.Time `json:"finished"`
	Hosts    *int64     `json:"hosts"` // targets in the tables
	// Kept are further targets of an unfinished run whose answers are kept, so that --resume does
	// not ask them again.
	Kept     int64    `json:"kept,omitempty"`
	Rejected *int64   `json:"rejected"`
	Profiles []string `json:"profiles"`
	Tables   []string `json:"tables"`
	Damage   string   `json:"damage,omitempty"`

	Shards *ShardsInfo `json:"shards,omitempty"` // nil for a run without shards
}

// ShardsInfo describes the state of a run made of shards.
type ShardsInfo struct {
	Of        int   `json:"of"`
	Committed int   `json:"committed"`
	UnderWay  []int `json:"under_way"` // with a recent sign of life; for information only
	Missing   []int `json:"missing"`   // neither
}

// beatLasts is how long a sign of life lasts: several times the interval of
// sink.ShardedRun.Beat.
const beatLasts = 2 * time.Minute

// AliveShards returns the shards of a run with a recent sign of life at a time, which is
// for information only if it is of the clock of this machine.
func AliveShards(s store.Store, run string, now time.Time) (map[int]bool, error) {
	beats, err := s.List(layout.Beats(run))
	if err != nil {
		return nil, fmt.Errorf("look for signs of life: %w", err)
	}
	alive := make(map[int]bool)
	for _, f := range beats {
		shard, ok := layout.RecordNumber(f.Name())
		if at, err := f.Info(); ok && err == nil && now.Sub(at.ModTime()) < beatLasts {
			alive[shard] = true
		}
	}
	return alive, nil
}

// shardsOf returns the state of the shards of a run, nil for a run without.
func shardsOf(s store.Store, m *Manifest, now time.Time) (*ShardsInfo, error) {
	if m.Shards <= 1 {
		return nil, nil
	}
	info := &ShardsInfo{Of: m.Shards, UnderWay: []int{}, Missing: []int{}}
	if m.Complete() {
		info.Committed = m.Shards
		return info, nil
	}
	committed := make(map[int]bool)
	for _, r := range m.Records {
		committed[r.Segment] = true
	}
	info.Committed = len(committed)
	alive, err := AliveShards(s, m.Run, now)
	if err != nil {
		return nil, err
	}
	for i := range m.Shards {
		switch {
		case committed[i]:
		case alive[i]:
			info.UnderWay = append(info.UnderWay, i)
		default:
			info.Missing = append(info.Missing, i)
		}
	}
	return info, nil
}

// keptIn returns the number of targets of an unfinished run in a folder whose answers are kept
// and not in its tables.
func keptIn(s store.Store, m *Manifest) (kept int64, err error) {
	_, isFolder := s.(*store.Folder)
	if m.Finished != nil || !isFolder {
		return 0, nil
	}
	_, digest, err := ReadPlan(s, m.Run)
	if err != nil {
		return 0, nil // it has just been removed
	}
	files, err := s.List(layout.CapturesFolder(m.Run))
	for _, f := range files {
		segment, ok := layout.SegmentNumber(f.Name())
		if !ok || slices.ContainsFunc(m.Records, func(r RecordName) bool { return r.Segment == segment }) {
			continue
		}
		file, err := s.Open(layout.Captures(m.Run, segment))
		if errors.Is(err, fs.ErrNotExist) {
			continue // committed in the meantime
		}
		if err != nil {
			return 0, fmt.Errorf("look for answers that are kept: %w", err)
		}
		n, err := countCaptures(file, digest)
		file.Close()
		if err != nil {
			return 0, fmt.Errorf("look for answers that are kept: %w", err)
		}
		kept += n
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("look for answers that are kept: %w", err)
	}
	return kept, nil
}

// States of a run in [RunInfo].
const (
	Complete   = "complete"
	Incomplete = "unfinished" // in progress, or interrupted
	Damaged    = "damaged"    // damaged plan, manifest or record, or an interrupted removal
)

// Runs returns the runs in a folder, sorted by date, then by ID; runs whose date is
// unknown come first. It reads no part.
func Runs(s store.Store) ([]RunInfo, error) {
	ids, err := runIDs(s)
	if err != nil {
		return nil, err
	}
	var runs []RunInfo
	for _, id := range ids {
		m, err := ReadManifestHead(s, id)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && store.FaultOf(err) != store.OfData:
			return nil, fmt.Errorf("look for runs: %w", err)
		case err != nil:
			runs = append(runs, RunInfo{Run: id, State: Damaged, Damage: err.Error()})
		default:
			state := Complete
			if m.Finished == nil {
				state = Incomplete
			}
			shards, err := shardsOf(s, m, time.Now())
			if err != nil {
				return nil, err
			}
			kept, err := keptIn(s, m)
			if err != nil {
				return nil, err
			}
			runs = append(runs, RunInfo{
				Shards: shards, Kept: kept, Run: id, State: state, Date: &m.Date, Started: &m.Started, Finished: m.Finished,
				Hosts: &m.Targets, Rejected: &m.Rejected,
				Profiles: m.Profiles, Tables: m.Tables,
			})
		}
	}
	slices.SortStableFunc(runs, func(a, b RunInfo) int {
		return cmp.Or(schema.OrZero(a.Date).Compare(schema.OrZero(b.Date)), cmp.Compare(a.Run, b.Run))
	})
	return runs, nil
}

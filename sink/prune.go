package sink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Pruned is the fate of a run or a comparison under [Prune].
type Pruned struct {
	Path string // relative to the output folder, with slashes: _runs/ID or changes/run=B/against=A
	// complete, unfinished, half removed, busy, damaged (or without a manifest), or orphaned: a
	// comparison one of whose runs is gone
	State   string
	Started time.Time
	Date    time.Time // see [journal.Manifest.Date]
	Removed bool
	Bytes   int64 // size of all its files, if it is removed
}

// Prune removes from a folder all complete runs except the last keep by date, then by ID, as
// [journal.CompleteRuns] sorts them. It also removes unfinished runs that started before all of
// these, runs whose removal was interrupted, and comparisons one of whose runs is gone.
// It keeps a run that another process is writing, by signs of life on the clock of the
// store, and one with a damaged manifest, because its start is unknown. It also keeps a run
// that started in the future, by a clock that was wrong; such a run does not count towards
// keep. If there are fewer complete runs than keep, age removes no run.
//
// Prune calls each after every removal, and for every run that stays. With dryRun it
// removes nothing. An interrupted Prune may be repeated.
func Prune(ctx context.Context, s store.Store, keep int, dryRun bool, each func(Pruned)) error {
	if keep < 1 {
		return fmt.Errorf("keep %d runs: keep at least one", keep)
	}
	runs, err := runsToPrune(s, keep, time.Now(), dryRun)
	if err != nil {
		return err
	}
	goes := make(map[string]bool)
	for _, p := range runs {
		goes[path.Base(p.Path)] = p.Removed
	}
	// Before the removal of runs, which may remove their comparisons too.
	orphans, err := orphansOf(s, goes)
	if err != nil {
		return err
	}
	for _, p := range runs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		run := path.Base(p.Path)
		if p.Removed {
			p.Bytes = sizeOfRun(s, run)
		}
		if p.Removed && !dryRun {
			switch err := removeRun(s, run); {
			case errors.Is(err, ErrRunBusy):
				p.State, p.Removed, p.Bytes = "busy", false, 0
				goes[run] = false
			case err != nil:
				return fmt.Errorf("remove run %s: %w", run, err)
			}
		}
		each(p)
	}
	for _, o := range orphans {
		still, err := isOrphan(s, o.run, o.against, goes)
		if err != nil {
			return err
		}
		if !still { // its run was busy
			continue
		}
		if !dryRun {
			err := removeRecord(s, layout.ComparisonRecord(o.run, o.against))
			if err == nil {
				err = s.RemoveAll(o.Path)
			}
			if err != nil {
				return fmt.Errorf("remove a comparison: %w", err)
			}
			s.Remove(path.Dir(o.Path)) // fails if the folder is not empty
		}
		each(o.Pruned)
	}
	return nil
}

// runsToPrune returns all runs by date, then by ID, with Removed set for those to remove.
func runsToPrune(s store.Store, keep int, now time.Time, dryRun bool) ([]Pruned, error) {
	ids, err := journal.RunIDs(s)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var runs []Pruned
	var complete []Pruned
	for _, id := range ids {
		p := Pruned{Path: layout.RunFile(id)}
		m, err := journal.ReadOutline(s, id)
		switch {
		case errors.Is(err, journal.ErrRemoving):
			p.State, p.Removed = "half removed", true
		case err != nil && store.FaultOf(err) != store.OfData:
			return nil, fmt.Errorf("look for runs: %w", err)
		case err != nil: // one bad run must not prevent the removal of others
			p.State = journal.Damaged
		case !m.Complete():
			p.State, p.Started, p.Date = journal.Incomplete, m.Started, m.Date
		default:
			p.State, p.Started, p.Date = journal.Complete, m.Started, m.Date
			if !m.Started.After(now) {
				complete = append(complete, p)
			}
		}
		runs = append(runs, p)
	}
	byDate := func(a, b Pruned) int { return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Path, b.Path)) }
	slices.SortFunc(runs, byDate)
	if len(complete) < keep {
		return runs, nil
	}
	slices.SortFunc(complete, byDate)
	stay := complete[len(complete)-keep:]
	oldest := slices.MinFunc(stay, func(a, b Pruned) int { return a.Started.Compare(b.Started) }).Started
	for i, p := range runs {
		switch p.State {
		case journal.Complete:
			runs[i].Removed = !p.Started.After(now) && !slices.Contains(stay, p)
		case journal.Incomplete:
			runs[i].Removed = p.Started.Before(oldest)
			// Shards hold no lock.
			alive, err := mayBeAlive(s, path.Base(p.Path), now, runs[i].Removed, dryRun)
			if err != nil {
				return nil, err
			}
			if alive {
				runs[i].Removed, runs[i].State = false, "busy"
			}
		}
	}
	return runs, nil
}

// mayBeAlive reports whether a run that is not complete has living shards. A run that
// stays is judged by the clock of this machine.
func mayBeAlive(s store.Store, run string, now time.Time, goes, dryRun bool) (bool, error) {
	if !goes {
		alive, err := journal.AliveShards(s, run, now)
		return len(alive) > 0, err
	}
	alive, err := isAlive(s, run)
	if dryRun && (errors.Is(err, fs.ErrPermission) || store.FaultOf(err) == store.OfSettings) {
		return true, nil // it may not even write
	}
	return alive, err
}

func sizeOfRun(s store.Store, run string) int64 {
	size := s.Size(layout.RunFile(run))
	for _, table := range schema.TableNames {
		size += s.Size(layout.TableFolder(table, run))
	}
	return size
}

// orphan is a comparison one of whose runs is gone, or will be.
type orphan struct {
	Pruned
	run, against string
}

func orphansOf(s store.Store, goes map[string]bool) (out []orphan, err error) {
	runs, err := partitions(s, layout.Changes, "run")
	for _, run := range runs {
		others, e := partitions(s, layout.TableFolder(layout.Changes, run), "against")
		err = errors.Join(err, e)
		for _, against := range others {
			gone, e := isOrphan(s, run, against, goes)
			err = errors.Join(err, e)
			if gone {
				name := layout.ComparisonFolder(run, against)
				out = append(out, orphan{Pruned{Path: name, State: "orphaned", Removed: true, Bytes: s.Size(name)}, run, against})
			}
		}
	}
	return out, err
}

// partitions returns the values of a key in a hive-partitioned folder.
func partitions(s store.Store, folder, key string) (values []string, err error) {
	entries, err := s.List(folder)
	for _, f := range entries {
		if value, ok := strings.CutPrefix(f.Name(), key+"="); ok && f.IsDir() {
			values = append(values, value)
		}
	}
	return values, err
}

// isOrphan reports whether one of two runs that are compared is gone, or goes.
func isOrphan(s store.Store, run, against string, goes map[string]bool) (orphan bool, err error) {
	there := func(run, name string) bool {
		_, e := s.Stat(layout.RunFile(run, name))
		if store.FaultOf(e) != store.OfData {
			err = fmt.Errorf("look for the runs of a comparison: %w", e)
		}
		return !errors.Is(e, fs.ErrNotExist)
	}
	for _, run := range []string{run, against} {
		orphan = orphan || goes[run] || there(run, layout.RemovingName) || !there(run, layout.ManifestName) &&
			!there(run, layout.PlanName)
	}
	return orphan && err == nil, err
}

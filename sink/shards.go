package sink

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink/internal/concat"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/internal/shred"
	"github.com/robocensus/robocensus/sink/store"
)

// ShardedRun is a run that several processes write, a shard each. A process makes its
// shard as an ordinary run in a folder of its own, the spool, and then commits it
// here, as one segment. There is no lock: the plan, the record of a shard and the
// manifest are each written if absent, so that of several attempts at a shard one
// wins.
//
//	spool/<table>/run=R/part-*.parquet  ─► <table>/run=R/part-<shard>-<attempt>.parquet
//	spool/_runs/R/manifest.json         ─► _runs/R/segments/<shard>.json
//
// The process that commits the last record completes the run.
type ShardedRun struct {
	output
	attempt string // of this process
}

// ShardRecord holds what the record of a shard says besides that of a segment.
type ShardRecord struct {
	Attempt      string           `json:"attempt"`
	Started      time.Time        `json:"started"` // of the first process that worked on the attempt
	Finished     time.Time        `json:"finished"`
	Rejected     int64            `json:"rejected"` // lines of rejected.csv
	Skipped      map[string]int64 `json:"skipped,omitempty"`
	RejectedFile *store.Digest    `json:"rejected_file,omitempty"` // segments/<shard>-<attempt>.rejected.csv
}

// ErrOtherPlan reports settings that differ from the plan of a run made of shards.
var ErrOtherPlan = errors.New("has another plan")

// OpenSharded opens the run p.Run in dir, which has p.Shards shards. If there is no such
// run, it writes p as the plan. A run with another plan is [ErrOtherPlan], with
// every difference. The caller closes it.
func OpenSharded(dir string, p Plan) (s *ShardedRun, err error) {
	s = &ShardedRun{attempt: strings.ToLower(rand.Text()[:8])}
	if err := s.prepare(p); err != nil {
		return nil, err
	}
	if s.store, err = store.Create(dir); err != nil {
		return nil, fmt.Errorf("create the output folder: %w", err)
	}
	if err := s.join(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *ShardedRun) join() error {
	if _, _, err := ReadPlan(s.store, s.plan.Run); errors.Is(err, ErrRemoving) {
		return err
	}
	if err := s.makeFolders(); err != nil {
		return err
	}
	content, digest, err := seal(&s.plan)
	if err != nil {
		return fmt.Errorf("plan of the run: %w", err)
	}
	free, err := s.store.Put(layout.RunFile(s.plan.Run, layout.PlanName), content)
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if free {
		s.planDigest = digest
		return s.store.MakeFolder(layout.Beats(s.plan.Run))
	}
	plan, digest, err := ReadPlan(s.store, s.plan.Run)
	if err != nil {
		return err
	}
	if err := s.same(&plan); err != nil {
		return err
	}
	s.plan, s.planDigest = plan, digest
	s.metadata[layout.KeyConfiguration] = plan.ConfigurationDigest
	return nil
}

// Close closes the output folder.
func (s *ShardedRun) Close() error { return s.store.Close() }

// Plan returns the plan of the run.
func (s *ShardedRun) Plan() Plan { return s.plan }

// record returns the record of a shard, nil if it is not committed. A record of
// another plan is an error: the run was removed and begun anew.
func (s *ShardedRun) record(shard int) (*Record, error) {
	r, err := ReadRecord(s.store, &s.plan, s.planDigest, shard)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && r.Shard == nil {
		err = fmt.Errorf("%s is %w: it is not the record of a shard", s.store.Path(layout.Record(s.plan.Run, shard)), ErrDamaged)
	}
	return r, err
}

// Committed reports whether a shard is committed.
func (s *ShardedRun) Committed(shard int) (bool, error) {
	r, err := s.record(shard)
	return r != nil, err
}

// Lost reports whether another attempt has committed a shard.
func (s *ShardedRun) Lost(shard int) bool {
	r, err := s.record(shard)
	return err == nil && r != nil && r.Shard.Attempt != s.attempt
}

// checkPlan returns [ErrOtherPlan] if the run was removed, or begun anew, since it was
// opened.
func (s *ShardedRun) checkPlan() error {
	_, digest, err := ReadPlan(s.store, s.plan.Run)
	if errors.Is(err, fs.ErrNotExist) || err == nil && digest != s.planDigest {
		return fmt.Errorf("%s %w: the run was removed while this process worked on it", s.Folder(), ErrOtherPlan)
	}
	return err
}

// PlanDigest returns the digest of the plan.
func (s *ShardedRun) PlanDigest() string { return s.planDigest }

// Completed reports whether the run is complete.
func (s *ShardedRun) Completed() (bool, error) {
	return s.store.Exists(layout.RunFile(s.plan.Run, layout.ManifestName))
}

// Uncommitted returns the number of shards that are not committed.
func (s *ShardedRun) Uncommitted() (int, error) {
	files, err := s.store.List(layout.Records(s.plan.Run))
	n := s.plan.Shards
	for _, f := range files {
		if shard, ok := layout.RecordNumber(f.Name()); ok && shard < s.plan.Shards {
			n--
		}
	}
	return n, err
}

// Records returns the records of the committed shards, in order.
func (s *ShardedRun) Records() ([]*Record, error) { return readRecords(s.store, &s.plan, s.planDigest) }

// Parts returns the parts of a table in the committed shards. It reads the records
// anew and returns none if that fails; [ShardedRun.Complete] then fails too.
func (s *ShardedRun) Parts(table string) (parts []Part) {
	records, _ := s.Records()
	for _, r := range records {
		for _, p := range r.Parts {
			if p.Table == table {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// Commit copies the complete run of the same ID in the folder spool to this run and
// writes the record of the shard. It reports whether this attempt won: if another
// has committed the shard, Commit removes what it copied. note is the caller's.
func (s *ShardedRun) Commit(ctx context.Context, shard int, spool string, note json.RawMessage) (won bool, err error) {
	if done, err := s.Committed(shard); err != nil || done {
		return false, err // before queries over the folder see the parts of a loser
	}
	from, err := store.Open(spool)
	if err != nil {
		return false, fmt.Errorf("commit %d: %w", shard, err)
	}
	defer from.Close()
	m, err := readManifest(from, s.plan.Run)
	if err != nil {
		return false, fmt.Errorf("commit shard %d: %w", shard, err)
	}
	r := &Record{Run: s.plan.Run, Plan: s.planDigest, Segment: shard, Targets: m.Targets, Note: note, Parts: []Part{}, Shard: &ShardRecord{
		Attempt: s.attempt, Started: m.Started, Finished: *m.Finished, Rejected: m.Rejected, Skipped: m.Skipped, RejectedFile: m.RejectedFile,
	}}
	inDoubt := false
	defer func() {
		if !won && !inDoubt {
			s.discard(r)
		}
	}()
	if err := s.copyParts(ctx, from, m, r); err != nil {
		// Completion may have removed the parts of a losing attempt.
		if ctx.Err() == nil && s.Lost(shard) {
			return false, nil
		}
		if e := s.checkPlan(); e != nil {
			err = e
		}
		return false, err
	}
	content, digest, err := seal(r)
	if err != nil {
		return false, fmt.Errorf("record of shard %d: %w", shard, err)
	}
	if len(content) > maxSealed {
		return false, fmt.Errorf("record of shard %d has %d bytes, more than %d: make more shards", shard, len(content), maxSealed)
	}
	r.digest = digest
	if err := s.checkPlan(); err != nil {
		return false, err
	}
	free, err := s.store.Put(layout.Record(s.plan.Run, shard), content)
	if err != nil {
		inDoubt = free
		return false, fmt.Errorf("write the record of shard %d: %w", shard, err)
	}
	return free, nil
}

// copyParts copies the parts and the rejected lines of a shard's run.
func (s *ShardedRun) copyParts(ctx context.Context, from *store.Store, m *Manifest, r *Record) error {
	for _, table := range s.plan.Tables {
		if !layout.HasPart(table, r.Segment) {
			continue
		}
		for i, group := range groupParts(m.PartsOf(table)) {
			attempt := s.attempt
			if i > 0 {
				attempt = fmt.Sprintf("%s-%d", attempt, i)
			}
			p := Part{Table: table, Segment: r.Segment, Path: layout.SegmentPart(table, s.plan.Run, r.Segment, attempt)}
			for _, part := range group {
				p.Rows += part.Rows
			}
			err := s.copyTo(p.Path, &p.Digest, func(w io.Writer) error { return joinParts(ctx, w, from, group) })
			if err != nil {
				return fmt.Errorf("copy table %s of shard %d: %w", table, r.Segment, err)
			}
			r.Parts = append(r.Parts, p)
		}
		if err := s.store.Sync(path.Dir(layout.SegmentPart(table, s.plan.Run, r.Segment, ""))); err != nil {
			return err
		}
	}
	if r.Shard.RejectedFile == nil {
		return nil
	}
	return s.copyTo(layout.ShardRejected(s.plan.Run, r.Segment, s.attempt), r.Shard.RejectedFile, func(w io.Writer) error {
		f, err := from.OpenWritten(ctx, layout.RunFile(s.plan.Run, layout.RejectedName), *m.RejectedFile)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	})
}

// Bounds of a part of a shard: bytes, unless a single part has more, the parts that it
// is made of, and row groups, of which a Parquet file has at most 32,767.
const (
	maxPartBytes   = 1 << 30
	maxPartsJoined = 400
	maxRowGroups   = 30_000
)

// groupParts divides parts into consecutive groups, each of which becomes one part.
func groupParts(parts []Part) (groups [][]Part) {
	var bytes, rowGroups int64
	for i, p := range parts {
		n := p.Rows/shred.RowGroup + 1
		if i == 0 || bytes+p.Bytes > maxPartBytes || rowGroups+n > maxRowGroups || len(groups[len(groups)-1]) == maxPartsJoined {
			groups, bytes, rowGroups = append(groups, nil), 0, 0
		}
		last := &groups[len(groups)-1]
		*last, bytes, rowGroups = append(*last, p), bytes+p.Bytes, rowGroups+n
	}
	return groups
}

// joinParts writes one part with the row groups of several.
func joinParts(ctx context.Context, w io.Writer, from *store.Store, parts []Part) error {
	_, err := concat.Write(w, func(yield func(concat.File, error) bool) {
		for _, p := range parts {
			f, err := from.OpenWritten(ctx, p.Path, p.Digest)
			if err != nil {
				yield(concat.File{}, err)
				return
			}
			more := yield(concat.File{Name: f.Name(), ReaderAt: f, Size: p.Bytes}, nil)
			f.Close()
			if !more {
				return
			}
		}
	})
	return err
}

// copyTo writes a file and sets its digest.
func (o *output) copyTo(name string, digest *store.Digest, write func(io.Writer) error) error {
	f, err := o.store.Create(name)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		*digest, err = f.Finish()
	}
	if err == nil {
		err = f.Publish()
	}
	if err != nil {
		f.Discard()
	}
	return err
}

// discard removes the files of this attempt at a shard.
func (s *ShardedRun) discard(r *Record) {
	for _, p := range r.Parts {
		s.store.Remove(p.Path)
	}
	s.store.Remove(layout.ShardRejected(s.plan.Run, r.Segment, s.attempt))
}

// Rejected opens the rejected lines of a shard, or returns nil if there are none.
func (s *ShardedRun) Rejected(ctx context.Context, r *Record) (io.ReadCloser, error) {
	if r.Shard == nil || r.Shard.RejectedFile == nil {
		return nil, nil
	}
	return s.store.OpenWritten(ctx, layout.ShardRejected(s.plan.Run, r.Segment, r.Shard.Attempt), *r.Shard.RejectedFile)
}

// WriteRejected writes rejected.csv of the run. All processes that complete a run
// write the same contents.
func (s *ShardedRun) WriteRejected(write func(io.Writer) error) (*store.Digest, error) {
	var digest store.Digest
	err := s.copyTo(layout.RunFile(s.plan.Run, layout.RejectedName), &digest, write)
	if err != nil {
		return nil, fmt.Errorf("write rejected.csv: %w", err)
	}
	return &digest, s.store.Sync(layout.RunFile(s.plan.Run))
}

// Complete completes the run, all of whose shards are committed:
//
//	totals of the shards      ─► one part of summary, one of examples
//	plan, records, parts      ─► manifest.json, if absent
//	counters, losing attempts ─► removed
//
// Several processes may complete a run at the same time; one of them writes the
// manifest, the others remove what they wrote.
func (s *ShardedRun) Complete(c Completion) error {
	records, err := s.Records()
	if err != nil {
		return err
	}
	if len(records) != s.plan.Shards {
		return fmt.Errorf("the run cannot be completed: %d of %d shards are committed", len(records), s.plan.Shards)
	}
	m, _, err := s.conclude(records, c, s.attempt)
	if err != nil {
		return err
	}
	content, _, err := seal(m)
	if err != nil {
		return fmt.Errorf("manifest of the run: %w", err)
	}
	if err := s.checkPlan(); err != nil {
		return err
	}
	free, err := s.store.Put(layout.RunFile(s.plan.Run, layout.ManifestName), content)
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	if !free {
		for _, p := range m.RunParts {
			s.store.Remove(p.Path)
		}
		return nil
	}
	return s.Sweep()
}

// Sweep removes what a complete run does not need: the counters and lists of shards,
// signs of life, and the files of losing attempts. A loser that still writes removes
// its own, unless it is killed; then Sweep may be repeated.
func (s *ShardedRun) Sweep() error {
	m, err := readManifest(s.store, s.plan.Run)
	if err != nil {
		return fmt.Errorf("clean up the run: %w", err)
	}
	named := make(map[string]bool)
	for _, p := range slices.Concat(m.RunParts, m.Parts) {
		named[p.Path] = true
	}
	for _, r := range m.Records {
		named[layout.Record(s.plan.Run, r.Segment)] = true
	}
	remove := func(folder string, left func(name string) bool) error {
		files, err := s.store.List(folder)
		for _, f := range files {
			if name := path.Join(folder, f.Name()); err == nil && left(f.Name()) && !named[name] {
				err = s.store.Remove(name)
			}
		}
		if err != nil {
			return fmt.Errorf("clean up the run: %w", err)
		}
		return nil
	}
	for _, table := range s.plan.Tables {
		if err := remove(layout.TableFolder(table, s.plan.Run), layout.IsLeftover); err != nil {
			return err
		}
	}
	if err := remove(layout.Records(s.plan.Run), func(name string) bool {
		return store.IsTemporary(name) || strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".rejected.csv")
	}); err != nil {
		return err
	}
	if err := remove(layout.RunFile(s.plan.Run), store.IsTemporary); err != nil {
		return err
	}
	for _, folder := range []string{layout.Beats(s.plan.Run), layout.Lists(s.plan.Run), layout.Spool(s.plan.Run)} {
		if err := s.store.RemoveAll(folder); err != nil {
			return fmt.Errorf("clean up the run: %w", err)
		}
	}
	return nil
}

// Beat is a sign of life of a process that makes a shard. It is for information
// only.
type Beat struct {
	Shard   int       `json:"shard"`
	Attempt string    `json:"attempt"`
	Time    time.Time `json:"time"`
	Targets int64     `json:"targets"` // captured so far
}

// Beat writes a sign of life, with the number of targets captured so far.
func (s *ShardedRun) Beat(shard int, targets int64) error {
	content, err := json.Marshal(Beat{shard, s.attempt, time.Now().UTC(), targets})
	if err == nil {
		// The folder is gone once the run is complete or removed.
		err = s.store.Replace(layout.Beat(s.plan.Run, shard), layout.Beats(s.plan.Run), content)
	}
	return err
}

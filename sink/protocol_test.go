package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

var interleavings = flag.Int("interleavings", 0,
	"interleavings of attempts at the shards of a run (default 10000, with -short 60)")

// simulation lets attempts at the shards of a run take turns at a store: between any
// two operations another attempt may go on, crash, or begin. The store is a folder
// that behaves as an object store does: it has no folders, its lists lag, and an
// answer to a write may be lost.
type simulation struct {
	*rand.Rand
	dir    string
	folder store.Store
	lists  map[string][]fs.DirEntry // of before, by folder

	alive []*attempt
}

// attempt is a process that makes a shard.
type attempt struct {
	store.Store
	sim   *simulation
	shard int
	calm  bool // nothing goes wrong

	mu     sync.Mutex // one operation at a time
	turn   chan bool  // true to go on, false to crash
	at     chan bool  // true before an operation, false at the end
	dead   bool
	won    bool
	err    error
	id     string // in the names of its files
	writes int    // answers that were lost
}

var errDead = errors.New("the process is dead")

// step waits for a turn, does an operation, and may crash before or after it.
func (a *attempt) step(do func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead {
		return errDead
	}
	a.at <- true
	if !<-a.turn {
		a.dead = true
		if a.sim.IntN(2) == 0 {
			do()
		}
		return errDead
	}
	return do()
}

func (a *attempt) Close() error { return nil }

func (a *attempt) Stat(name string) (info fs.FileInfo, err error) {
	e := a.step(func() error { info, err = a.Store.Stat(name); return err })
	return info, e
}

func (a *attempt) Open(name string) (f *os.File, err error) {
	e := a.step(func() error { f, err = a.Store.Open(name); return err })
	return f, e
}

func (a *attempt) Read(name string, most int64) (b []byte, err error) {
	e := a.step(func() error { b, err = a.Store.Read(name, most); return err })
	return b, e
}

func (a *attempt) List(folder string) (list []fs.DirEntry, err error) {
	e := a.step(func() error {
		list, err = a.Store.List(folder)
		before := a.sim.lists[folder]
		a.sim.lists[folder] = list
		if !a.calm && a.sim.IntN(3) == 0 {
			list = before
		}
		return err
	})
	return list, e
}

func (a *attempt) Put(name string, content []byte) (won bool, err error) {
	e := a.step(func() error {
		a.sim.parents(name)
		won, err = a.Store.Put(name, content)
		if won && !a.calm && a.sim.IntN(10) == 0 {
			a.writes++
			won, err = false, fmt.Errorf("the answer is lost: %w", store.ErrInDoubt)
		}
		return err
	})
	return won, e
}

func (a *attempt) Replace(name, beside string, content []byte) error {
	return a.step(func() error { a.sim.parents(name); return a.Store.Replace(name, beside, content) })
}

func (a *attempt) Create(name string) (f *store.File, err error) {
	e := a.step(func() error { a.sim.parents(name); f, err = a.Store.Create(name); return err })
	return f, e
}

func (a *attempt) MakeFolder(string) error { return nil }
func (a *attempt) Sync(string) error       { return a.step(func() error { return nil }) }

func (a *attempt) Remove(name string) error {
	return a.step(func() error { return a.Store.Remove(name) })
}

func (a *attempt) RemoveAll(folder string) error {
	return a.step(func() error { return a.Store.RemoveAll(folder) })
}

// parents makes the folders of a name, which an object store does not need.
func (s *simulation) parents(name string) { os.MkdirAll(filepath.Join(s.dir, path.Dir(name)), 0o777) }

// begin begins an attempt at a shard.
func (s *simulation) begin(shard int, calm bool, spools []string, p journal.Plan) {
	a := &attempt{Store: s.folder, sim: s, shard: shard, calm: calm, turn: make(chan bool), at: make(chan bool)}
	s.alive = append(s.alive, a)
	go func() {
		a.err = a.make(spools[shard], p)
		a.at <- false
	}()
	<-a.at
}

// make makes the shard of a spool that is complete.
func (a *attempt) make(spool string, p journal.Plan) error {
	run, err := OpenSharded(a, p, a.shard)
	if err != nil {
		return err
	}
	a.id = run.attempt
	made, err := run.isMade()
	if err != nil {
		return err
	}
	var from store.Store // nil if there is nothing to commit
	if !made {
		run.Beat(context.Background(), 0)
		if from, err = store.Open(context.Background(), spool); err != nil {
			return err
		}
		defer from.Close()
	}
	end := Completion{Finished: time.Now(), Tally: journal.Tally{Targets: int64(p.Shards) * targetsOfSegment},
		Inputs: p.Inputs}
	end.Counts = []schema.Count{{Metric: "targets", Count: end.Targets}}
	a.won, _, err = run.send(context.Background(), from, nil, func(whole *ShardedRun) error { return whole.Complete(end) })
	return err
}

// run gives turns until no attempt is left, and begins others meanwhile. A scheduler
// begins a shard anew until an attempt ends without an error.
func (s *simulation) run(spools []string, p journal.Plan) (crashed int, ended []*attempt, err error) {
	left := make([]int, p.Shards) // attempts that may go wrong
	for i := range left {
		left[i] = 1 + s.IntN(3)
	}
	for shard := range left {
		s.begin(shard, false, spools, p)
	}
	for len(s.alive) > 0 {
		i := s.IntN(len(s.alive))
		a := s.alive[i]
		wasDead := a.dead
		a.turn <- a.calm || s.IntN(40) > 0
		if <-a.at {
			if !wasDead && s.IntN(30) == 0 && left[a.shard] > 0 { // two attempts at once
				left[a.shard]--
				s.begin(a.shard, false, spools, p)
			}
			continue
		}
		s.alive = slices.Delete(s.alive, i, i+1)
		ended = append(ended, a)
		if a.dead {
			crashed++
		}
		if a.dead || a.err != nil {
			if a.calm {
				return crashed, ended, fmt.Errorf("shard %d fails, though nothing goes wrong: %w", a.shard, a.err)
			}
			left[a.shard]--
			s.begin(a.shard, left[a.shard] < 0, spools, p)
		}
	}
	return crashed, ended, nil
}

// Attempts at the shards of a run, interleaved at random, some crashing between two
// operations: the run completes, each shard counts once, and nothing is left of the
// attempts that lost.
func TestShardsInterleaved_NoRace(t *testing.T) {
	n := *interleavings
	if n == 0 {
		n = 10_000
		if testing.Short() {
			n = 60
		}
	}
	p := described()
	p.Tables, p.Shards = []string{"fetches", "agents", "summary"}, 3
	spools := make([]string, p.Shards)
	for i := range spools {
		spools[i] = t.TempDir()
		local := described()
		local.Tables = p.Tables
		run, err := Create(spools[i], local)
		must(t, err)
		s, err := run.Segment(0)
		must(t, err)
		must(t, fill(s, i))
		must(t, s.Commit())
		finishAt(t, run, p.Started.Add(time.Hour))
		must(t, run.Close())
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	attempts, crashes, next := 0, 0, 0
	for range 4 {
		all.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				mu.Unlock()
				if seed >= n || t.Failed() {
					return
				}
				made, crashed, err := interleave(t.TempDir(), uint64(seed), spools, p)
				if err != nil {
					t.Errorf("interleaving %d: %v", seed, err)
				}
				mu.Lock()
				attempts, crashes = attempts+made, crashes+crashed
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d interleavings: %d attempts, of which %d crashed", n, attempts, crashes)
	if crashes == 0 {
		t.Error("no attempt crashed")
	}
}

func interleave(dir string, seed uint64, spools []string, p journal.Plan) (attempts, crashed int, err error) {
	defer os.RemoveAll(dir)
	folder, err := store.CreateFolder(dir)
	if err != nil {
		return 0, 0, err
	}
	defer folder.Close()
	s := &simulation{Rand: rand.New(rand.NewPCG(seed, 0)), dir: dir, folder: folder, lists: make(map[string][]fs.DirEntry)}
	crashed, ended, err := s.run(spools, p)
	if err != nil {
		return 0, 0, err
	}
	// Each shard had an attempt that ended well, so one of them completed the run.
	if _, err := journal.ReadComplete(folder, p.Run); err != nil {
		return 0, 0, err
	}
	failed := make(map[string]bool)
	for _, a := range ended {
		if a.dead || a.err != nil {
			failed[a.id] = true
		}
	}
	if err := s.check(ended, p, failed); err != nil {
		return 0, 0, err
	}
	// A loser that crashed after the completion has left its files for the next
	// attempt, of whichever shard.
	s.begin(0, true, spools, p)
	for len(s.alive) > 0 {
		s.alive[0].turn <- true
		if !<-s.alive[0].at {
			err, s.alive = s.alive[0].err, nil
		}
	}
	if err != nil {
		return 0, 0, fmt.Errorf("the attempt after the completion: %w", err)
	}
	return len(ended), crashed, s.check(ended, p, nil)
}

// check returns an error if the run is not whole, or if there is more than the run and
// what attempts that failed have left.
func (s *simulation) check(ended []*attempt, p journal.Plan, failed map[string]bool) error {
	won := make([]int, p.Shards)
	for _, a := range ended {
		if a.won {
			won[a.shard]++
		}
	}
	for shard, n := range won {
		if n > 1 {
			return fmt.Errorf("%d attempts won shard %d", n, shard)
		}
	}
	m, err := journal.ReadComplete(s.folder, p.Run)
	if err != nil {
		return err
	}
	parts := slices.Concat(m.RunParts, m.Parts)
	if err := checkDigests(context.Background(), s.folder, parts); err != nil {
		return err
	}
	if want := int64(p.Shards) * targetsOfSegment; m.Targets != want || len(m.Records) != p.Shards {
		return fmt.Errorf("the manifest has %d targets in %d records", m.Targets, len(m.Records))
	}
	named := map[string]bool{layout.RunFile(p.Run, layout.PlanName): true,
		layout.RunFile(p.Run, layout.ManifestName): true}
	rows := 0
	for _, part := range parts {
		named[part.Path] = true
		if part.Table == "fetches" {
			rows += int(part.Rows)
		}
	}
	if rows != int(m.Targets) {
		return fmt.Errorf("%d rows of fetches for %d targets", rows, m.Targets)
	}
	for _, r := range m.Records {
		named[layout.Record(p.Run, r.Segment)] = true
		record, err := journal.ReadRecord(s.folder, &m.Plan, m.PlanDigest, r.Segment)
		if err != nil {
			return err
		}
		a, _ := json.Marshal(record.Parts)
		b, _ := json.Marshal(slices.DeleteFunc(slices.Clone(m.Parts), func(q journal.Part) bool {
			return q.Segment != r.Segment
		}))
		kept := slices.DeleteFunc(record.Parts, func(q journal.Part) bool { return layout.OfRun[q.Table] })
		if c, _ := json.Marshal(kept); !bytes.Equal(c, b) {
			return fmt.Errorf("the record of shard %d names %s and the manifest %s", r.Segment, a, b)
		}
	}
	var left []string
	err = filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(s.dir, name)
		rel = filepath.ToSlash(rel)
		switch {
		case err != nil || d.IsDir() || named[rel]:
		// The sign of life of a process that began before the completion may come
		// after it; the folder says nothing then.
		case strings.HasPrefix(rel, layout.Beats(p.Run)):
		// If the process that completed the run crashed, or its list lagged, the
		// counters of shards stay until the next attempt.
		case failed != nil && (failed[layout.Attempt(rel)] || strings.HasPrefix(rel, layout.Records(p.Run))):
		default:
			left = append(left, rel)
		}
		delete(named, rel)
		return err
	})
	if err != nil || len(left) > 0 || len(named) > 0 {
		return fmt.Errorf("left behind: %v; missing: %v; %v", left, named, err)
	}
	return nil
}

// Ten thousand shards: some are tried twice, some attempts fail before the record, and
// the last commits complete the run.
func TestTenThousandShards_NoRace(t *testing.T) {
	shards := 10_000
	if testing.Short() {
		shards = 100
	}
	p := described()
	p.Tables, p.Shards = []string{"fetches", "agents", "summary"}, shards
	spool, dir := t.TempDir(), t.TempDir()
	local := described()
	local.Tables = p.Tables
	run, err := Create(spool, local)
	must(t, err)
	commitSegment(t, run, 0)
	finishAt(t, run, p.Started.Add(time.Hour))
	must(t, run.Close())

	end := Completion{Finished: time.Now(), Tally: journal.Tally{Targets: int64(shards) * targetsOfSegment},
		Inputs: p.Inputs}
	end.Counts = []schema.Count{{Metric: "targets", Count: end.Targets}}
	draw := rand.New(rand.NewPCG(1, 1))
	in, made := sinktest.Open(t, dir), sinktest.Open(t, spool)
	began, failed, second := time.Now(), 0, 0
	queue := draw.Perm(shards)
	for len(queue) > 0 {
		shard := queue[0]
		queue = queue[1:]
		s, err := OpenSharded(in, p, shard)
		must(t, err)
		switch draw.IntN(20) {
		case 0: // killed before the record: its parts stay
			m, err := journal.ReadManifest(made, p.Run)
			must(t, err)
			must(t, s.copyParts(t.Context(), made, m, &journal.Record{Segment: shard, Shard: &journal.ShardRecord{}}))
			queue, failed = append(queue, shard), failed+1
		case 1: // begun again after its commit
			queue, second = append(queue, shard), second+1
			fallthrough
		default:
			_, err := s.commit(t.Context(), made, nil)
			must(t, err)
		}
	}
	committed := time.Since(began)
	s, err := OpenSharded(in, p, 0)
	must(t, err)
	if n, err := s.uncommitted(); n != 0 || err != nil {
		t.Fatalf("%d shards are not committed, %v", n, err)
	}
	began = time.Now()
	must(t, s.Complete(end))
	t.Logf("%d shards, %d attempts killed, %d repeated: commits %v, completion %v", shards, failed, second, committed,
		time.Since(began))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), p.Run)
	must(t, err)
	if m.Targets != end.Targets || len(m.Records) != shards {
		t.Errorf("%d targets in %d records", m.Targets, len(m.Records))
	}
	must(t, checkSizes(s.Store(), m.Parts))
	files, err := os.ReadDir(filepath.Join(dir, layout.TableFolder("fetches", p.Run)))
	if must(t, err); len(files) != shards {
		t.Errorf("%d parts of fetches, with those of attempts that failed", len(files))
	}
}

// unsure is a store that puts a record and loses the answer.
type unsure struct{ store.Store }

func (u unsure) Put(name string, content []byte) (bool, error) {
	_, err := u.Store.Put(name, content)
	return false, errors.Join(err, store.ErrInDoubt)
}

// A segment whose record may be there keeps its parts: another process may count them.
func TestASegmentInDoubtKeepsItsParts(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	run.store = unsure{run.store}
	s, err := run.Segment(0)
	must(t, err)
	must(t, fill(s, 0))
	if err := s.Commit(); !errors.Is(err, store.ErrInDoubt) {
		t.Fatalf("the answer is lost: %v", err)
	}
	must(t, run.Close())
	if v := verify(t, dir); len(v.Problems) > 0 || v.Segments != 1 || v.Parts != partsIn(0) {
		t.Errorf("%+v", v)
	}
}

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	kills = flag.Int("kills", 25, "how often each torture test kills the run")
	seed  = flag.Uint64("seed", 0, "of the moments at which runs are killed (0: another each time)")
)

// A run is killed and resumed until it is complete, then another one, until there
// were enough kills. Each ends with the tables of an undisturbed run.
func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("make torture kills it, and cmd/robocensus a run with a memory")
	}
	t.Parallel()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d", *seed)
	again := []string{"again0.test", "again1.test", "again2.test", "again3.test", "again4.test"}
	t.Run("without a memory", func(t *testing.T) {
		torture(t, newWeb(t, 2*segmentTargets+segmentTargets/5, "uniform:1ms-15ms", again...), false)
	})
	if *kills > 100 { // hosts that hang cost each run its timeout
		again = append(again, "hang0.test", "hang1.test")
	}
	t.Run("with a memory", func(t *testing.T) {
		torture(t, newWeb(t, 2*segmentTargets+segmentTargets/5, "uniform:1ms-15ms", again...), true)
	})
}

func torture(t *testing.T, w *web, memory bool) {
	dir, chance := t.TempDir(), rand.New(rand.NewPCG(*seed, uint64(len(t.Name()))))
	// Each run has a folder of its own for its evidence, whose name is the same: it is a
	// setting, and those are in every part.
	args := func(name string) []string {
		args := w.census(filepath.Join(dir, name), "--timeout", "3s")
		if memory {
			must(t, os.MkdirAll(filepath.Join(dir, name+"-evidence"), 0o777))
			args = append(args, "--state", filepath.Join(dir, name+"-state"), "--warc-out", "r.warc.gz")
		}
		return args
	}
	began := time.Now()
	undisturbed := exec.Command(filepath.Join(bin, "robocensus"), args("undisturbed")...)
	undisturbed.Dir = filepath.Join(dir, "undisturbed-evidence")
	must(t, os.MkdirAll(undisturbed.Dir, 0o777))
	finish(t, 0, undisturbed)
	v := &victim{chance: chance, whole: time.Since(began)}
	requests := w.asked(t)
	for _, p := range readManifest(t, filepath.Join(dir, "undisturbed")).Parts {
		v.segments = max(v.segments, p.Segment+1)
	}
	if v.segments < 2 { // where they grow, the second has several pieces
		t.Fatalf("%d segments are too few to show anything", v.segments)
	}
	found := make(map[string]int)
	n, rounds := 0, 0
	for ; n < *kills; rounds++ {
		name := fmt.Sprintf("killed-%d", rounds)
		v.dir, v.work = filepath.Join(dir, name), filepath.Join(dir, name+"-evidence")
		must(t, os.MkdirAll(v.work, 0o777))
		w.reset(t)
		inRound := 0
		for {
			complete := v.run(t, append(args(name), "--resume"), n < *kills)
			if complete {
				break
			}
			n, inRound = n+1, inRound+1
			found[v.look().String()]++
			if n%5 == 0 {
				v.verify(t)
			}
		}
		wantSameBytes(t, filepath.Join(dir, "undisturbed"), v.dir)
		if memory {
			wantNothingAskedTwice(t, requests, w.asked(t), inRound*64)
			v.wantEvidence(t)
		}
		if t.Failed() {
			t.Fatalf("in round %d, after %d kills", rounds, inRound)
		}
		must(t, os.RemoveAll(v.dir))
		must(t, os.RemoveAll(v.work))
	}
	t.Logf("%d runs of %d segments were killed %d times:", rounds, v.segments, n)
	for _, at := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%4d %s", found[at], at[2:])
	}
	if *kills >= 25 && len(found) < 4 {
		t.Errorf("the kills hit %d kinds of moments only: %v", len(found), found)
	}
}

// wantNothingAskedTwice compares the requests of a killed run with those of an
// undisturbed one. A host may be asked again only if it was in flight at a kill. A host that
// redirects to its www. counts once: both were asked for one host in flight.
func wantNothingAskedTwice(t *testing.T, undisturbed, got map[string]int64, inFlight int) {
	t.Helper()
	again := int64(0)
	for host, n := range got {
		if want := undisturbed[host]; want == 0 {
			t.Errorf("%s was asked, and should not be", host)
		} else if n > want {
			if from, ok := strings.CutPrefix(host, "www."); ok && got[from] > undisturbed[from] {
				continue
			}
			again += (n - 1) / want
		}
	}
	for host := range undisturbed {
		if got[host] == 0 {
			t.Errorf("%s was not asked", host)
		}
	}
	if again > int64(inFlight) {
		t.Errorf("hosts were asked again %d times, and no more than %d can have been in flight at the kills", again, inFlight)
	}
	t.Logf("hosts were asked again %d times, of %d at most in flight at the kills", again, inFlight)
}

// victim is the run that is killed.
type victim struct {
	dir      string
	work     string // its working folder
	segments int
	whole    time.Duration // duration of an undisturbed run
	chance   *rand.Rand
}

// run resumes the run, kills it at some moment if kill is set, and reports whether
// it was already complete.
func (v *victim) run(t *testing.T, args []string, kill bool) (complete bool) {
	t.Helper()
	c := exec.Command(filepath.Join(bin, "robocensus"), args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr, c.Dir = &said, &said, v.work
	reached, delay := v.moment()
	must(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	ticks := time.NewTicker(300 * time.Microsecond)
	defer ticks.Stop()
	var due <-chan time.Time
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v\n%s", err, &said)
			}
			return true
		case <-ticks.C:
			if kill && due == nil && reached() {
				due = time.After(delay)
			}
		case <-due:
			c.Process.Kill()
			err := <-ended
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
				t.Fatalf("%v\n%s", err, &said)
			}
			return err == nil
		}
	}
}

// wantEvidence checks that the evidence is whole, and that the tables can be made of it
// again: no record is lost or doubled. The URLs of single hosts are not in it.
func (v *victim) wantEvidence(t *testing.T) {
	t.Helper()
	evidence, again := filepath.Join(v.work, "r.warc.gz"), filepath.Join(v.work, "again")
	robocensus(t, 0, "verify", "--out", v.dir, "r", "--warc", evidence)
	wantWholeArchive(t, evidence, v.dir, false)
	robocensus(t, 0, "run", "--warc", evidence, "--out", again, "--run", "r", "--profile", "google,rfc9309",
		"--keep-bodies", "--tables", "fetches,rules,bodies", "--progress", "none")
	wantTablesAgain(t, v.dir, again, "fetches", "rules", "bodies")
	left, err := filepath.Glob(filepath.Join(v.work, ".*"))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left beside the evidence: %q", left)
	}
}

// moment draws a moment: a sight on disk, and a delay after it. A run spends most
// of its time fetching, where little can go wrong. The end is drawn seldom while
// there is more to do: whole runs take most of the test's time.
func (v *victim) moment() (reached func() bool, delay time.Duration) {
	before := v.look()
	upTo := func(d time.Duration) time.Duration { return time.Duration(v.chance.Float64() * float64(d)) }
	at := v.chance.IntN(12)
	if before.committed == v.segments {
		at = 9 + at%6
	}
	switch at {
	case 0, 1: // a segment is begun
		return func() bool { return v.look().temporary > 0 }, upTo(v.whole / 10)
	case 2, 3: // its parts are closed
		return func() bool { return v.look().closing }, upTo(20 * time.Millisecond)
	case 4, 5: // and renamed
		return func() bool { return v.look().renamed > 0 }, upTo(20 * time.Millisecond)
	case 6, 7: // and entered
		return func() bool { return v.look().committed > before.committed }, upTo(5 * time.Millisecond)
	case 8: // all are
		return func() bool { return v.look().committed == v.segments }, upTo(20 * time.Millisecond)
	case 9: // the end
		return func() bool { s := v.look(); return s.summedUp || s.ending }, upTo(20 * time.Millisecond)
	default: // any time
		left := float64(v.segments-before.committed) / float64(v.segments)
		return func() bool { return true }, upTo(100*time.Millisecond + v.whole/8 + time.Duration(left*float64(v.whole)))
	}
}

// sight describes the state of a run on disk.
type sight struct {
	state     string // running if there is a plan, complete if there is a manifest, else ""
	planning  bool   // the plan is being written
	summedUp  bool   // the counters of the segments are merged
	ending    bool   // the manifest is being written
	tidying   bool   // the manifest exists, and counters of segments are left
	committed int    // segments committed
	segments  int    // segments of the whole run
	recording bool   // a record is being written
	temporary int    // parts under their temporary names
	closing   bool   // some of these are not empty
	renamed   int    // parts under their names that are not committed
}

func (v *victim) look() (s sight) {
	s.segments = v.segments
	folder := filepath.Join(v.dir, "_runs", "r")
	there := func(pattern ...string) bool {
		found, _ := filepath.Glob(filepath.Join(append([]string{v.dir}, pattern...)...))
		return len(found) > 0
	}
	s.planning, s.ending = there("_runs/r/plan.*.tmp"), there("_runs/r/manifest.*.tmp")
	s.recording, s.summedUp = there("_runs/r/segments/*.json.tmp"), there("summary/run=r/part-*.parquet")
	switch {
	case there("_runs/r/manifest.json"):
		s.state = "complete"
		s.tidying = there("_runs/r/segments/*.parquet")
	case there("_runs/r/plan.json"):
		s.state = "running"
	}
	committed := make(map[string]bool)
	records, _ := filepath.Glob(filepath.Join(folder, "segments", "*.json"))
	s.committed = len(records)
	for _, path := range records {
		committed[strings.TrimSuffix(filepath.Base(path), ".json")] = true
	}
	parts, _ := filepath.Glob(filepath.Join(v.dir, "*", "run=r", "part-*"))
	for _, path := range parts {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), "part-"), ".")
		switch {
		case strings.HasSuffix(path, ".tmp"):
			s.temporary++
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				s.closing = true
			}
		case !committed[number]:
			s.renamed++
		}
	}
	return s
}

// String describes when a run was killed; the texts sort in the order of such
// moments.
func (s sight) String() string {
	switch {
	case s.state == "" && !s.planning:
		return "0 before there was a plan"
	case s.state == "":
		return "1 while the plan was written"
	case s.tidying:
		return "A after the manifest, before all counters of segments were removed"
	case s.state == "complete":
		return "B after the manifest was in place"
	case s.ending:
		return "9 while the manifest was written"
	case s.summedUp:
		return "8 when the counters were merged and the manifest not begun"
	case s.recording:
		return "6 while a record was written"
	case s.renamed > 0:
		return "5 when parts had their names and were not committed"
	case s.closing:
		return "4 while parts were closed"
	case s.temporary > 0:
		return "3 while rows of a segment were made"
	case s.committed == s.segments:
		return "7 when all was committed and nothing merged"
	}
	return fmt.Sprintf("2 while fetching, %d segments committed", s.committed)
}

// verify checks that what is committed is whole.
func (v *victim) verify(t *testing.T) {
	t.Helper()
	code, want := 1, "unfinished, it can be resumed; of what is committed, "
	switch s := v.look(); s.state {
	case "":
		return
	case "complete":
		if _, err := os.Stat(filepath.Join(v.dir, "views.sql")); err != nil {
			return // killed before the plan was written
		}
		code, want = 0, ""
	}
	if text, _ := robocensus(t, code, "verify", "--out", v.dir, "r"); !strings.Contains(text, want) ||
		!strings.HasSuffix(text, ": whole\n") {
		t.Errorf("after a kill %s, verify says %s", v.look(), text)
	}
}

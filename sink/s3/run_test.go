package s3

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/verify"
)

// A run that was made and could not be sent is sent by the next process, with the
// result that the first one had.
func TestSendWhatAnEarlierProcessMade(t *testing.T) {
	t.Parallel()
	c := census(t, storedBodies(t))
	c.Dir, c.Spool = bucket(t, "send"), filepath.Join(t.TempDir(), "spool")
	faulty.forbid("send", "/fetches/run=r/")
	if _, err := pipeline.Run(t.Context(), c, new(pipeline.Progress)); !errors.Is(err, fs.ErrPermission) && err == nil {
		t.Fatalf("error %v", err)
	}
	faulty.leave("send")
	c.Resume = true
	var progress pipeline.Progress
	r, err := pipeline.Run(t.Context(), c, &progress)
	must(t, err)
	if made := progress.Snapshot().Fetched; made != 0 {
		t.Errorf("%d captures are read again", made)
	}
	// The rejected are the file that is no host and the sample of a host that is not there.
	if r.Targets != 12 || r.Rejected != 2 || r.Rows["fetches"] != 12 || r.Folder != c.Dir+"/_runs/r" ||
		len(r.Counts.Rows()) == 0 {
		t.Errorf("result %+v", r)
	}
	if _, err := pipeline.Run(t.Context(), c, new(pipeline.Progress)); !errors.Is(err, sink.ErrRunComplete) {
		t.Errorf("once more: %v", err)
	}
}

// A run that may not be read is an error, and not a run that is not there: it could be
// the last one.
func TestARunThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	c := census(t, storedBodies(t))
	c.Dir = bucket(t, "forbidden")
	for _, c.Run = range []string{"a", "b"} {
		c.Spool = filepath.Join(t.TempDir(), "spool")
		_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		must(t, err)
	}
	s, err := store.Open(t.Context(), c.Dir)
	must(t, err)
	defer s.Close()
	faulty.forbid("forbidden", "/_runs/b/")
	defer faulty.leave("forbidden")
	if runs, err := journal.CompleteRuns(s); err == nil {
		t.Errorf("complete: %d runs", len(runs))
	}
	if runs, err := journal.Runs(sinktest.Open(t, c.Dir)); err == nil {
		t.Errorf("runs: %+v", runs)
	}
	if run, damaged, err := journal.LastIncomplete(s); err == nil {
		t.Errorf("incomplete: %q, %q", run, damaged)
	}
}

// A store that throttles one object says nothing about the run: it is not damaged, and
// prune neither removes it nor passes over it.
func TestAnObjectThatIsThrottled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes as long as the patience of the client")
	}
	for name, object := range map[string]string{"throttled-part": "/fetches/run=r/part-",
		"throttled-record": "/segments/0000000000.json", "throttled-manifest": "/manifest.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := census(t, storedBodies(t))
			c.Dir, c.Spool = bucket(t, name), filepath.Join(t.TempDir(), "spool")
			_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
			must(t, err)
			faulty.answer(name, object, "503")
			defer faulty.leave(name)
			if object == "/manifest.json" {
				err = sink.Prune(t.Context(), sinktest.Open(t, c.Dir), 1, true, func(p sink.Pruned) { t.Errorf("prune: %+v", p) })
			} else {
				var v *verify.Result
				if v, err = verify.Run(t.Context(), sinktest.Open(t, c.Dir), "r", func(int, int) {}); v != nil {
					t.Errorf("verify: %+v", v)
				}
			}
			if !errors.Is(err, remote.ErrTransfer) || store.FaultOf(err) != store.OfStore {
				t.Errorf("%v", err)
			}
		})
	}
}

// A process that still works on a shard leaves no sign of life in a bucket once the
// shard is committed, the run complete, or removed.
func TestNoSignOfLifeAfterTheEnd(t *testing.T) {
	t.Parallel()
	c := census(t, storedBodies(t))
	c.Dir, c.Spool, c.Source.Shard = bucket(t, "beats"), filepath.Join(t.TempDir(), "spool"), target.Shard{Count: 1}
	_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
	must(t, err)
	s, err := store.Open(t.Context(), c.Dir)
	must(t, err)
	defer s.Close()
	plan, _, err := journal.ReadPlan(s, "r")
	must(t, err)
	late, err := sink.OpenSharded(sinktest.Open(t, c.Dir), plan, 0)
	must(t, err)
	before := s.Size("_runs/r")
	must(t, late.Beat(t.Context(), 5))
	if after := s.Size("_runs/r"); after != before {
		t.Errorf("a sign of life of %d bytes is left", after-before)
	}
	must(t, sink.Prune(t.Context(), sinktest.Open(t, c.Dir), 1, false, func(sink.Pruned) {}))
	must(t, sink.Remove(sinktest.Open(t, c.Dir), "r"))
	must(t, late.Beat(t.Context(), 5))
	if after := s.Size("_runs"); after != 0 {
		t.Errorf("%d bytes are left of a run that was removed", after)
	}
}

// A folder is named as it is given, although it looks like a URL that is escaped.
func TestFoldersWithPercentSigns(t *testing.T) {
	t.Parallel()
	url := bucket(t, "percent") + "/100%/a%20b/%2525"
	s, err := store.Create(t.Context(), url)
	must(t, err)
	defer s.Close()
	_, err = s.Put("n%41me", []byte("x"))
	must(t, err)
	if got := s.Path("n%41me"); got != url+"/n%41me" {
		t.Errorf("path %s", got)
	}
	again, err := store.Open(t.Context(), s.Path("."))
	must(t, err)
	defer again.Close()
	if text, err := again.Read("n%41me", 1); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}

// The clock of a store is its own, and leaves nothing.
func TestTheClockOfAStore(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), bucket(t, "clock"))
	must(t, err)
	defer s.Close()
	before := time.Now()
	now, err := store.Now(s, "_runs/r/heartbeats")
	if off := now.Sub(before); err != nil || off < -2*time.Second || off > time.Minute {
		t.Errorf("%v, %v", now, err)
	}
	if entries, err := s.List("_runs/r/heartbeats"); len(entries) > 0 || err != nil {
		t.Errorf("left: %v, %v", entries, err)
	}
	faulty.forbid("clock", "heartbeats")
	if _, err := store.Now(s, "_runs/r/heartbeats"); store.FaultOf(err) != store.OfSettings {
		t.Errorf("a store that may not be written: %v", err)
	}
}

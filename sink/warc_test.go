package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// withWARC is the plan of a run that keeps its requests and answers in the working folder.
func withWARC() journal.Plan {
	p := described()
	p.Configuration["warc-out"] = "e.warc.gz"
	return p
}

func warcOutOf(r *Run) string {
	name, _ := r.plan.Configuration["warc-out"].(string)
	return name
}

const bothSegments = "records of segment 0\nrecords of segment 1\n"

// The file has the records of the segments in their order. One that a killed process left
// is taken, and any other is an error that loses nothing.
func TestWARCFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	run, err := Create(dir, withWARC())
	must(t, err)
	commitSegment(t, run, 1)
	commitSegment(t, run, 0)
	must(t, os.WriteFile("e.warc.gz", []byte("precious"), 0o666))
	end := Completion{Finished: time.Now(), Tally: journal.Tally{Targets: 2 * targetsOfSegment},
		Inputs: described().Inputs, WARCOut: "e.warc.gz"}
	if err := completeRun(run, end); err == nil || !strings.Contains(err.Error(),
		"e.warc.gz: it exists with other contents") {
		t.Fatalf("%v", err)
	}
	must(t, os.WriteFile("e.warc.gz", []byte(bothSegments), 0o666))
	must(t, completeRun(run, end))
	must(t, run.Close())
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	if m.WARCFile == nil || m.WARCFile.Bytes != int64(len(bothSegments)) || len(m.WARC) > 0 {
		t.Errorf("the manifest names %+v and %v", m.WARCFile, m.WARC)
	}
	if _, err := os.Stat(filepath.Join(dir, layout.WARCFolder("r"))); err == nil {
		t.Error("the files of the segments are left")
	}
}

// Of two runs that complete with one file, one has its records in it, and the other says
// that it has not, and keeps its own.
func TestTwoRunsWithOneWARCFile(t *testing.T) {
	t.Chdir(t.TempDir())
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for round := range rounds {
		file := fmt.Sprintf("%d.warc.gz", round)
		var runs []*Run
		for n := range 2 { // one segment, or two
			run, err := Create(fmt.Sprintf("out%d-%d", round, n), withWARC())
			must(t, err)
			for index := range n + 1 {
				commitSegment(t, run, index)
			}
			runs = append(runs, run)
		}
		errs := make([]error, 2)
		var both sync.WaitGroup
		for n, run := range runs {
			both.Go(func() {
				errs[n] = completeRun(run, Completion{Finished: time.Now(), Tally: journal.Tally{
					Targets: int64(n+1) * targetsOfSegment}, Inputs: described().Inputs, WARCOut: file})
			})
		}
		both.Wait()
		there, err := store.DigestOfFile(t.Context(), file)
		must(t, err)
		for n, run := range runs {
			must(t, run.Close())
			m, err := journal.ReadManifest(sinktest.Open(t, fmt.Sprintf("out%d-%d", round, n)), "r")
			must(t, err)
			if kept := len(m.WARC) == n+1; (errs[n] == nil) != (m.WARCFile != nil && m.WARCFile.Digest == there) ||
				(errs[n] != nil) != kept {
				t.Errorf("round %d: run %d ends with %v; it names %+v and keeps %d files, and the file is %+v", round, n, errs[n],
					m.WARCFile, len(m.WARC), there)
			}
		}
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("round %d: %v, %v", round, errs[0], errs[1])
		}
	}
}

// Records are those of a committed segment or none: of an aborted one there is no file, and
// a damaged or missing one is told before the run continues.
func TestWARCOfASegment(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	run, err := Create(dir, withWARC())
	must(t, err)
	s, err := run.Segment(1)
	must(t, err)
	must(t, s.WriteWARC([]byte("lost")))
	s.Abort()
	commitSegment(t, run, 0)
	must(t, run.Close())
	files, err := os.ReadDir(layout.WARCFolder("r"))
	must(t, err)
	if len(files) != 1 || files[0].Name() != "0000000000.warc.gz" {
		t.Errorf("%v", files)
	}
	part := layout.WARC("r", 0, "")
	for what, damage := range map[string]func() error{
		"another byte": func() error { return os.WriteFile(part, []byte("records of segment 9\n"), 0o666) },
		"missing":      func() error { return os.Remove(part) },
	} {
		must(t, damage())
		if _, err := Open(t.Context(), dir, withWARC()); !errors.Is(err, journal.ErrNotResumable) {
			t.Errorf("%s: %v", what, err)
		}
		if v := verify(t, dir); len(v.Problems) != 1 || v.Problems[0].Path != part {
			t.Errorf("%s: %v", what, v.Problems)
		}
		must(t, os.WriteFile(part, []byte("records of segment 0\n"), 0o666))
	}
	run, err = Open(t.Context(), dir, withWARC())
	must(t, err)
	must(t, run.Close())

	// A record cannot name another file, or none.
	in := sinktest.Open(t, dir)
	plan, digest, err := journal.ReadPlan(in, "r")
	must(t, err)
	record, err := journal.ReadRecord(in, &plan, digest, 0)
	must(t, err)
	for _, change := range []func(r *journal.Record){
		func(r *journal.Record) { r.WARC = nil },
		func(r *journal.Record) { r.WARC.Path = "_runs/r/warc/../plan.json" },
		func(r *journal.Record) { r.WARC.Path = layout.WARC("r", 1, "") },
		func(r *journal.Record) { r.WARC.Segment = 1 },
		func(r *journal.Record) { r.WARC.Table = "fetches" },
	} {
		r, file := *record, *record.WARC
		r.WARC = &file
		change(&r)
		must(t, in.Remove(layout.Record("r", 0)))
		_, err = journal.PutRecord(in, &r)
		must(t, err)
		if _, err := journal.ReadRecord(in, &plan, digest, 0); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%+v: %v", r.WARC, err)
		}
	}
	other, err := Create(t.TempDir(), described())
	must(t, err)
	defer other.Close()
	s, err = other.Segment(0)
	must(t, err)
	defer s.Abort()
	if s.WriteWARC([]byte("x")) == nil {
		t.Error("a run that keeps no records takes some")
	}
}

// A shard has one file. That of an attempt that loses is removed.
func TestWARCOfShards(t *testing.T) {
	dir, spool := t.TempDir(), t.TempDir()
	p := withWARC()
	p.Shards = 2
	local, err := Create(spool, withWARC())
	must(t, err)
	commitSegment(t, local, 0)
	commitSegment(t, local, 1)
	must(t, completeRun(local, Completion{Finished: p.Started.Add(time.Hour), Tally: journal.Tally{
		Targets: 2 * targetsOfSegment}, Inputs: described().Inputs}))
	must(t, local.Close())
	var attempts []*ShardedRun
	for range 2 {
		s, err := OpenSharded(sinktest.Open(t, dir), p, 0)
		must(t, err)
		attempts = append(attempts, s)
	}
	m, err := journal.ReadManifest(sinktest.Open(t, spool), "r")
	must(t, err)
	// The second attempt has copied its files when the first one commits.
	late := &journal.Record{Segment: 0, Shard: &journal.ShardRecord{}}
	must(t, attempts[1].copyParts(t.Context(), sinktest.Open(t, spool), m, late))
	if won, err := attempts[0].commit(t.Context(), sinktest.Open(t, spool), nil); !won || err != nil {
		t.Fatalf("won %v, %v", won, err)
	}
	attempts[1].discard(late)
	files, err := os.ReadDir(filepath.Join(dir, layout.WARCFolder("r")))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	path := filepath.Join(dir, layout.WARCFolder("r"), files[0].Name())
	if text, err := os.ReadFile(path); string(text) != bothSegments {
		t.Errorf("the shard has %q: %v", text, err)
	}
	must(t, os.Truncate(path, 1))
	var lost *LostError
	if err := attempts[0].checkShard(0); !errors.As(err, &lost) {
		t.Errorf("a shard with a damaged file: %v", err)
	}
}

// A file of records that cannot be made is told at once, of a run that resumes, too.
func TestAWARCFileThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	for file, ok := range map[string]bool{"": true, dir + "/x.warc.gz": true, dir + "/none/x.warc.gz": false} {
		if err := checkWARCOut(file); (err == nil) != ok {
			t.Errorf("%q: %v", file, err)
		}
	}
}

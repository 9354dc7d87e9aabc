package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// stopAfterOne runs c until segment 0 is committed and the record of segment 1
// cannot be written, and then removes the obstacle.
func stopAfterOne(t *testing.T, c Config, progress *Progress) {
	t.Helper()
	records := filepath.Join(c.Dir, "_runs", c.Run, "segments")
	blocked := filepath.Join(records, "0000000001.json")
	must(t, os.MkdirAll(blocked, 0o777))
	if _, err := Run(t.Context(), c, progress); err == nil || !strings.Contains(err.Error(), "segment 1") {
		t.Fatalf("the run that was to fail at segment 1: %v", err)
	}
	must(t, os.Remove(blocked))
	if _, err := os.Stat(filepath.Join(records, "0000000000.json")); err != nil {
		t.Fatal(err)
	}
}

// Resuming asks all hosts except those of committed segments.
func TestResumeAsksEachHostOnce(t *testing.T) {
	const n = pieceTargets + 3
	var progress Progress
	var mu sync.Mutex
	asked := make(map[string]int)
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Host]++
		mu.Unlock()
		var i int
		fmt.Sscanf(r.Host, "h%d.", &i)
		for i >= pieceTargets && progress.Snapshot().Written < pieceTargets && r.Context().Err() == nil {
			time.Sleep(time.Millisecond) // lets segment 0 be committed first
		}
		fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
	}, list(n))
	c.Tables, c.Memory = []string{"fetches", "verdicts"}, 128<<20 // one evaluator
	stopAfterOne(t, c, &progress)
	c.Resume = true
	result, err := Run(t.Context(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if host := fmt.Sprintf("h%d.example", i); asked[host] != 1 {
			t.Fatalf("%s is asked %d times", host, asked[host])
		}
	}
	hosts, seqs := texts(t, c, "fetches", "host"), int64s(t, c, "fetches", "seq")
	if len(hosts) != n || result.Targets != n {
		t.Fatalf("%d rows of %d targets, want %d", len(hosts), result.Targets, n)
	}
	for i := range n {
		if hosts[i] != fmt.Sprintf("h%d.example", i) || seqs[i] != int64(i+1) {
			t.Fatalf("row %d is %s with seq %d", i, hosts[i], seqs[i])
		}
	}
	if result.Earlier != n {
		t.Errorf("%d hosts were asked earlier, want all %d", result.Earlier, n)
	}
	// The first process judged the URL of h1.example.
	if got := rejectedReasons(t, c); !slices.Equal(got, []string{"origin_not_in_run"}) {
		t.Errorf("rejected: %v", got)
	}
}

// Stored captures give the same bytes in every table, whether or not the run was
// interrupted, and no committed part is written again.
func TestResumeOfStoredCaptures_NoRace(t *testing.T) {
	var archive strings.Builder
	const n = pieceTargets + 3
	for i := range n {
		archive.WriteString(warcResponse(fmt.Sprintf("h%d.example", i),
			fmt.Sprintf("HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /%d\n", i)))
	}
	c := newConfig(t, nil, "")
	// one evaluator
	c.Source, c.Memory = source.Config{Schemes: []string{"http"},
		WARC: []string{writeFile(t, "a.warc", []byte(archive.String()))}}, 128<<20
	c.Tables = slices.DeleteFunc(slices.Clone(schema.TableNames), func(table string) bool { return table == "bodies" })
	whole := c
	whole.Dir = filepath.Join(t.TempDir(), "whole")
	if _, err := Run(t.Context(), whole, new(Progress)); err != nil {
		t.Fatal(err)
	}
	stopAfterOne(t, c, new(Progress))
	first := filepath.Join(c.Dir, "fetches", "run="+c.Run, "part-0000000000.parquet")
	before, err := os.Stat(first)
	must(t, err)
	c.Resume = true
	result, err := Run(context.Background(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	if result.Targets != n {
		t.Errorf("%d targets, want %d", result.Targets, n)
	}
	if result.Earlier != pieceTargets {
		t.Errorf("%d captures were judged earlier, want %d", result.Earlier, pieceTargets)
	}
	if after, err := os.Stat(first); err != nil || !os.SameFile(before, after) {
		t.Errorf("the part of segment 0 is written again: %v", err)
	}
	m, err := journal.ReadManifest(sinktest.Open(t, whole.Dir), whole.Run)
	must(t, err)
	for _, p := range slices.Concat(m.Parts, m.RunParts) {
		want, err := os.ReadFile(filepath.Join(whole.Dir, p.Path))
		must(t, err)
		if got, err := os.ReadFile(filepath.Join(c.Dir, p.Path)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs after resuming: %v", p.Path, err)
		}
	}
}

// The hosts in flight when a run is stopped have time to answer, and resuming
// asks none of them again.
func TestGraceKeepsWhatIsInFlight(t *testing.T) {
	const inFlight = 3
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked sync.WaitGroup
	asked.Add(inFlight)
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Done() // panics if a host is asked twice
		<-ctx.Done()
		select {
		case <-r.Context().Done(): // a client without grace
		case <-time.After(100 * time.Millisecond):
		}
		fmt.Fprint(w, "User-agent: *\n")
	}, list(inFlight))
	c.Grace = time.Minute
	go func() { asked.Wait(); cancel() }()
	_, err := Run(ctx, c, new(Progress))
	var stopped *Stopped
	if !errors.As(err, &stopped) || stopped.Committed+stopped.Kept != inFlight {
		t.Fatalf("%v: %+v", err, stopped)
	}
	c.Resume = true
	result, err := Run(t.Context(), c, new(Progress))
	if err != nil || result.Targets != inFlight {
		t.Fatalf("%+v, %v", result, err)
	}
}

// A stored answer of another host is not used: the target is asked instead.
func TestAKeptAnswerIsOfItsHost(t *testing.T) {
	c := newConfig(t, nil, "")
	plan := journal.Plan{Run: c.Run, Tables: []string{"fetches"}, Profiles: []string{"google"}}
	run, err := sink.Create(c.Dir, plan)
	must(t, err)
	captures, err := run.Captures(0)
	must(t, err)
	kept := fetch.Capture{Origin: originOf(t, "http://a.example"), Start: firstDay, Hops: []answer.Hop{
		{URL: "http://a.example/robots.txt", Status: 200}}}
	must(t, (&census{config: c, run: run}).saveCapture(&job{Target: target.Target{Capture: &kept},
		piece: &piece{segment: &segment{captures: captures}}}))
	must(t, run.Close())
	run, err = sink.Open(t.Context(), c.Dir, plan)
	must(t, err)
	defer run.Close()
	captures, err = run.Captures(0)
	must(t, err)
	n := &census{config: c, run: run}
	for host, want := range map[string]bool{"http://a.example": true, "http://b.example": false,
		"https://a.example": false} {
		j := &job{Target: target.Target{Candidates: []fetch.Origin{originOf(t, host)}},
			piece: &piece{segment: &segment{captures: captures}}}
		must(t, n.savedCapture(j))
		if (j.Capture != nil) != want {
			t.Errorf("%s gets the answer of http://a.example: %v", host, j.Capture != nil)
		}
	}
}

// Resuming a complete run writes the views that an interrupted process did not
// write; no view names a run that --force-new removes.
func TestViewsFollowARunThatIsStartedAgain(t *testing.T) {
	c := newConfig(t, nil, "")
	c.Source.Hosts, c.Source.Bodies = "", t.TempDir()
	must(t, os.WriteFile(filepath.Join(c.Source.Bodies, "a.example"), []byte("User-agent: *\nDisallow: /\n"), 0o666))
	path := filepath.Join(c.Dir, "views.sql")
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		must(t, err)
		return string(text)
	}
	_, err := Run(context.Background(), c, new(Progress))
	must(t, err)
	want := read()
	if !strings.Contains(want, "'fetches/run=r/part-*.parquet'") {
		t.Errorf("the run is not in its views:\n%s", want)
	}
	must(t, os.Remove(path))
	c.Resume = true
	if _, err := Run(context.Background(), c, new(Progress)); err == nil || !strings.Contains(err.Error(), "complete") {
		t.Fatalf("resume a complete run: %v", err)
	}
	if read() != want {
		t.Error("a complete run that is resumed writes other views")
	}
	c.Resume, c.ForceNew = false, true
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, c, new(Progress)); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	if read() != want {
		t.Error("a run that has not begun writes other views")
	}
	c.HostLine = func(*evaluate.HostLine) error { return errors.New("nobody reads") }
	if _, err := Run(context.Background(), c, new(Progress)); err == nil {
		t.Fatal("a run that fails ended well")
	}
	if text := read(); strings.Contains(text, "read_parquet") {
		t.Errorf("views of a run that is removed:\n%s", text)
	}
}

func originOf(t *testing.T, url string) fetch.Origin {
	t.Helper()
	o, _, err := fetch.Parse(url, "http")
	must(t, err)
	return o
}

// A committed segment that now has other targets, fewer or more, is none to pass over.
func TestASegmentOfOtherTargetsEndsTheRun(t *testing.T) {
	run, err := sink.Create(t.TempDir(), journal.Plan{Run: "r", Tables: []string{"fetches"}, Profiles: []string{"google"}})
	must(t, err)
	defer run.Close()
	s, err := run.Segment(0)
	must(t, err)
	s.Targets = 2
	must(t, s.Commit())
	n := &census{run: run, progress: new(Progress)}
	for targets, want := range map[int]error{1: journal.ErrNotResumable, 2: nil, 3: journal.ErrNotResumable} {
		if err := n.passOver(0, targets, 1); !errors.Is(err, want) {
			t.Errorf("%d targets: %v", targets, err)
		}
	}
}

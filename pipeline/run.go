package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// segmentTargets is the size of a segment: large enough for full row groups
// of verdicts, small enough that a lost one costs little.
const segmentTargets = 2048

// segmentPaths ends a segment early whose targets bring many samples of their
// own, which are held with it.
const segmentPaths = 100_000

// Config is what a run is asked to do.
type Config struct {
	Dir          string
	Run          string
	Hosts        string // path of the hosts list, - for standard input
	Schemes      []string
	Limit        int64 // targets at most, 0 for all
	Concurrency  int
	Agents       []Agent
	Samples      []Sample
	Profiles     []*robots.Profile
	Tables       []string
	KeepComments bool
	Fetch        fetch.Config
	ToolVersion  string
	Settings     map[string]any // the configuration as the manifest shows it
	Inputs       []sink.Input   // besides the hosts
}

// Result is what a run did.
type Result struct {
	Folder   string // of manifest.json and rejected.csv
	Targets  int64
	Rejected int64
	Elapsed  time.Duration
	Rows     map[string]int64 // by table
	Counts   *Counts
}

// job is one target on its way through the workers.
type job struct {
	target  Target
	capture *fetch.Capture
	spilled *place // of the capture's body, where memory had no room for it
	segment *segment
}

// segment is a run of jobs in the order of the input.
type segment struct {
	index   int
	jobs    []*job
	pending atomic.Int64 // jobs without a capture, and the source while it fills
	bytes   atomic.Int64 // of the captured bodies
}

// Run makes the census. It returns when every target is in the tables, when
// ctx ends, or when the input or the disk gives out; segments committed until
// then stay. progress may be read all the while.
func Run(ctx context.Context, c Config, progress *Progress) (*Result, error) {
	began := time.Now()
	hosts := sink.Input{Role: "hosts", Path: c.Hosts}
	if c.Hosts != "-" {
		var err error
		if hosts, err = inspect(ctx, c.Hosts); err != nil {
			return nil, err
		}
		progress.expect(hosts.Rows, c.Limit)
	}
	client, err := fetch.New(c.Fetch)
	if err != nil {
		return nil, err
	}
	var profiles []string
	for _, p := range c.Profiles {
		profiles = append(profiles, p.Name)
	}
	run, err := sink.Create(c.Dir, sink.Manifest{
		Run: c.Run, ToolVersion: c.ToolVersion, Started: began.UTC(), Configuration: c.Settings,
		Inputs: append([]sink.Input{hosts}, c.Inputs...), Tables: c.Tables, Profiles: profiles,
	})
	if err != nil {
		return nil, err
	}
	rejects, err := newRejects(run.Folder(), progress)
	if err != nil {
		return nil, err
	}
	defer rejects.close()

	samples := newSamples(c.Samples, c.Profiles)
	totals := newCounts(c)
	jobs := make(chan *job, c.Concurrency)
	ready := make(chan *segment, openSegments)
	gate, spill := newGate(), &spill{folder: run.Folder()}
	defer spill.close()

	g, ctx := errgroup.WithContext(ctx)
	fetching, fetchCtx := errgroup.WithContext(ctx)
	var targets int64
	sum := sha256.New()
	fetching.Go(func() (err error) {
		defer close(jobs)
		targets, err = produce(fetchCtx, c, sum, rejects, jobs, ready, gate)
		return err
	})
	for range c.Concurrency {
		fetching.Go(func() error { return work(fetchCtx, client, jobs, ready, gate, spill, progress) })
	}
	g.Go(func() error {
		defer close(ready)
		return fetching.Wait()
	})
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			a := newAnalyst(c, samples)
			for {
				select {
				case s, ok := <-ready:
					if !ok {
						return nil
					}
					if err := a.commit(run, s, spill, totals); err != nil {
						return err
					}
					progress.committed(len(s.jobs))
					gate.leave(s.bytes.Load())
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	err = g.Wait()
	// What is committed can be queried, however the run ended.
	if err := errors.Join(err, writeViews(c.Dir)); err != nil {
		return nil, err
	}
	for _, s := range samples.unused() {
		rejects.n++
		if err := rejects.add(s.Line, s.URL, "origin_not_in_run", "urls"); err != nil {
			return nil, err
		}
	}
	if err := rejects.close(); err != nil {
		return nil, err
	}
	if hosts.SHA256 == "" {
		hosts.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	if err := run.Complete(time.Now().UTC(), targets, rejects.n, append([]sink.Input{hosts}, c.Inputs...)); err != nil {
		return nil, err
	}
	return &Result{
		Folder: run.Folder(), Targets: targets, Rejected: rejects.n, Elapsed: time.Since(began),
		Rows: run.Rows(), Counts: totals,
	}, nil
}

// produce reads the source and hands its targets to the workers, opening
// segments as there is room. It returns the number of targets.
func produce(ctx context.Context, c Config, sum io.Writer, rejects *rejects, jobs chan<- *job, ready chan<- *segment, gate *gate) (int64, error) {
	var now *segment
	next, paths := 0, 0
	seal := func() error {
		if now == nil {
			return nil
		}
		s := now
		now = nil
		return s.done(ctx, ready, gate)
	}
	open := func() error {
		if err := gate.enter(ctx); err != nil {
			return err
		}
		now = &segment{index: next}
		now.pending.Store(1)
		next++
		return nil
	}
	s := &source{schemes: c.Schemes, limit: c.Limit, reject: rejects.host, remark: rejects.write}
	s.emit = func(t Target) error {
		if now == nil {
			if err := open(); err != nil {
				return err
			}
		}
		j := &job{target: t, segment: now}
		now.jobs = append(now.jobs, j)
		now.pending.Add(1)
		select {
		case jobs <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
		paths += len(t.Paths)
		if len(now.jobs) == segmentTargets || paths >= segmentPaths {
			paths = 0
			return seal()
		}
		return nil
	}
	err := readHosts(ctx, c.Hosts, sum, s.take)
	if err == nil {
		err = s.flush()
	}
	if err != nil && !errors.Is(err, errEnough) {
		return s.passed, err
	}
	if next == 0 {
		// A list without a single target makes tables too, empty ones.
		if err := open(); err != nil {
			return 0, err
		}
	}
	return s.passed, seal()
}

// done takes one off what the segment waits for.
func (s *segment) done(ctx context.Context, ready chan<- *segment, gate *gate) error {
	if s.pending.Add(-1) > 0 {
		return nil
	}
	gate.filled()
	select {
	case ready <- s:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func work(ctx context.Context, client *fetch.Client, jobs <-chan *job, ready chan<- *segment, gate *gate, spill *spill, progress *Progress) error {
	for {
		select {
		case j, ok := <-jobs:
			if !ok {
				return nil
			}
			j.capture = client.Fetch(ctx, j.target.Candidates...)
			if ctx.Err() != nil {
				return ctx.Err() // the facts may be about our own end
			}
			progress.fetched(j.capture, j.target.Lines)
			if body := j.capture.Body; gate.hold(len(body)) {
				j.segment.bytes.Add(int64(len(body)))
			} else {
				var err error
				if j.spilled, err = spill.put(body); err != nil {
					return err
				}
				j.capture.Body = nil
			}
			if err := j.segment.done(ctx, ready, gate); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeViews makes DIR/views.sql anew, with the views over the tables that
// any run has left there.
func writeViews(dir string) error {
	var tables []string
	for _, name := range sink.TableNames {
		if parts, _ := filepath.Glob(filepath.Join(dir, name, "run=*", "part-*.parquet")); len(parts) > 0 {
			tables = append(tables, name)
		}
	}
	return sink.ReplaceFile(filepath.Join(dir, "views.sql"), []byte(configs.Views(tables)))
}

// rejects is rejected.csv: the input lines that were no target.
type rejects struct {
	file     *os.File
	w        *csv.Writer
	n        int64
	progress *Progress
}

func newRejects(folder string, progress *Progress) (*rejects, error) {
	f, err := os.Create(filepath.Join(folder, "rejected.csv"))
	if err != nil {
		return nil, fmt.Errorf("create rejected.csv: %w", err)
	}
	r := &rejects{file: f, w: csv.NewWriter(f), progress: progress}
	r.w.Write([]string{"line", "text", "reason", "input"})
	return r, nil
}

// host rejects a line of the hosts list.
func (r *rejects) host(line int64, text, reason string) error {
	r.n++
	r.progress.rejected(1)
	return r.write(line, text, reason)
}

// write remarks on a line of the hosts list.
func (r *rejects) write(line int64, text, reason string) error {
	return r.add(line, text, reason, "hosts")
}

// add writes a line about an input, named by its role in the manifest.
func (r *rejects) add(line int64, text, reason, input string) error {
	if err := r.w.Write([]string{strconv.FormatInt(line, 10), sink.TextString(text), sink.TextString(reason), input}); err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}

// close may be called twice.
func (r *rejects) close() error {
	if r.file == nil {
		return nil
	}
	r.w.Flush()
	err := errors.Join(r.w.Error(), r.file.Sync(), r.file.Close())
	r.file = nil
	if err != nil {
		return fmt.Errorf("write rejected.csv: %w", err)
	}
	return nil
}

package sink

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// The test binary is its own child: a process that can be killed.
func TestMain(m *testing.M) {
	if role := os.Getenv("SINK_CHILD"); role != "" {
		if err := children[role](os.Getenv("SINK_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var children = map[string]func(dir string) error{
	"write": func(dir string) error { return writeRun(dir, func() { os.Stdout.WriteString(".") }) },
	"hold":  holdRun,
}

func child(t *testing.T, role, dir string) (*exec.Cmd, io.ReadCloser, io.WriteCloser) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "SINK_CHILD="+role, "SINK_DIR="+dir)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	must(t, err)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	return c, out, in
}

// described returns a plan to create and to resume a run with.
func described() journal.Plan {
	return journal.Plan{
		Run: "r", ToolVersion: "v0", Tables: schema.TableNames, Profiles: []string{"google"},
		Started:       time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC),
		Configuration: map[string]any{"retries": 2, "schemes": []string{"https", "http"}, "hosts": "hosts.csv"},
		Inputs: []journal.Input{
			{Role: "hosts", Path: "hosts.csv", SHA256: strings.Repeat("ab", 32)},
			{Role: "agents", Path: "agents.yaml", SHA256: strings.Repeat("cd", 32)},
			{Role: "configuration", Path: "c.yaml", SHA256: strings.Repeat("ef", 32)},
		},
	}
}

const (
	segmentsOfRun    = 20
	targetsOfSegment = 20
)

// fill writes rows of all tables that differ between segments.
func fill(s *Segment, index int) error {
	s.Targets = targetsOfSegment
	for i := range targetsOfSegment {
		seq := int64(index*targetsOfSegment + i + 1)
		host := fmt.Sprintf("h%d.example", seq)
		if err := errors.Join(
			s.Fetches.Write(schema.Fetch{Seq: seq, Host: host}),
			s.Groups.Write(schema.Group{Seq: seq, Host: host}, schema.Group{Seq: seq, Host: host, GroupIndex: 1}),
			s.Rules.Write(schema.Rule{Seq: seq, Line: 1}, schema.Rule{Seq: seq, Line: 4}),
			s.Sitemaps.Write(schema.Sitemap{Seq: seq, Line: 1}),
			s.Lines.Write(schema.Line{Seq: seq, Line: 2}, schema.Line{Seq: seq, Line: 2}),
			s.Signals.Write(schema.Signal{Seq: seq, Line: 3}),
			s.Preferences.Write(schema.Preference{Seq: seq, Line: new(int32(3))}),
			s.Templates.Write(schema.Template{Seq: seq, FirstLine: 1}),
			s.Answers.Write(schema.Answer{Seq: seq, Identity: "a", FetchTime: new(time.Unix(seq, 0).UTC())},
				schema.Answer{Seq: seq, Identity: "b", FetchTime: new(time.Unix(seq, 5000).UTC())}),
			s.Labels.Write(schema.Label{Seq: seq, Host: host, Label: "sector", Value: "news"}),
			s.LabelCounts.Write(
				schema.LabelCount{Metric: "targets", Label: "sector", Value: "news", Count: 1},
				schema.LabelCount{Metric: "policy", Label: "sector", Value: "news", Count: 1},
				schema.LabelCount{Metric: "verdict", Label: "sector", Value: "news", Count: 2},
			),
			s.SitemapFiles.Write(schema.SitemapFile{Seq: seq, FetchTime: new(time.Unix(seq, 0).UTC())}, schema.SitemapFile{
				Seq: seq, Line: new(int32(2))}),
			s.Coverage.Write(schema.Coverage{Seq: seq, Host: host}), s.URLs.Write(schema.ListedURL{Seq: seq, URL: "/"}),
			s.Documents.Write(schema.Document{Seq: seq, Document: "ai.txt"}, schema.Document{Seq: seq, Document: "tdmrep"}),
			s.Policies.Write(schema.Policy{Seq: seq, Host: host}),
			s.Verdicts.Write(schema.Verdict{Seq: seq, Host: host}, schema.Verdict{Seq: seq, Host: host, URL: "/"}),
			s.Examples.Write(schema.Example{Metric: "line_class", Host: host, Line: new(int32(2))}),
			s.Bodies.Write(schema.Body{ContentDigest: schema.ContentDigest([]byte(host)), Body: []byte(host)}),
		); err != nil {
			return err
		}
	}
	if s.run.plan.KeepsWARC() {
		if err := s.WriteWARC(fmt.Appendf(nil, "records of segment %d\n", index)); err != nil {
			return err
		}
	}
	if err := s.Agents.Write(schema.Agent{Name: "A bot", Category: "other", Tokens: []string{"A"}, FallsBackTo: []string{
		"B", "C"}}); err != nil {
		return err
	}
	return s.Summary.Write(schema.Count{Metric: "targets", Count: targetsOfSegment - 1}, schema.Count{Metric: "targets",
		Stratum: "unranked", Count: 1}, schema.Count{Metric: "status", Count: 7})
}

func TestFillWritesEveryTable(t *testing.T) {
	run, _ := newRun(t)
	s, err := run.Segment(0)
	must(t, err)
	must(t, fill(s, 0))
	must(t, s.Commit())
	for _, p := range run.Committed(0).Parts {
		if p.Rows == 0 {
			t.Errorf("fill writes no row of %s", p.Table)
		}
	}
}

func note(index int) string { return fmt.Sprintf(`{"segment":%d}`, index) }

// writeRun creates or resumes the run, writes two segments at a time, and calls
// step along the way.
func writeRun(dir string, step func()) error {
	run, err := Open(context.Background(), dir, described())
	if errors.Is(err, fs.ErrNotExist) {
		run, err = Create(dir, described())
	}
	if err != nil {
		return err
	}
	defer run.Close()
	errs := make(chan error, 2)
	for worker := range 2 {
		go func() {
			for index := worker; index < segmentsOfRun; index += 2 {
				if r := run.Committed(index); r != nil {
					var got bytes.Buffer
					json.Compact(&got, r.Note)
					if got.String() != note(index) {
						errs <- fmt.Errorf("the note of segment %d is %s", index, r.Note)
						return
					}
					continue
				}
				s, err := run.Segment(index)
				if err == nil {
					step()
					s.Note = json.RawMessage(note(index))
					err = fill(s, index)
					step()
				}
				if err == nil {
					err = s.Commit()
					step()
				}
				if err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		return err
	}
	step()
	return completeRun(run, Completion{
		Finished: time.Date(2026, 11, 20, 11, 0, 0, 0, time.UTC), Tally: journal.Tally{
			Targets: segmentsOfRun * targetsOfSegment}, Inputs: described().Inputs,
	})
}

func holdRun(dir string) error {
	run, err := Open(context.Background(), dir, described())
	if err != nil {
		return err
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	return run.Close()
}

// tree returns the files in dir with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(content)
		return err
	}))
	return files
}

// leftovers returns the files that are neither committed parts nor files of the
// run.
func leftovers(t *testing.T, dir string) (names []string) {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	named := map[string]bool{"_runs/r/manifest.json": true, "_runs/r/plan.json": true, "_runs/r/lock": true}
	for _, p := range slices.Concat(m.RunParts, m.Parts) {
		named[p.Path] = true
	}
	for _, r := range m.Records {
		named[layout.Record("r", r.Segment)] = true
	}
	for name := range tree(t, dir) {
		if !named[name] {
			names = append(names, name)
		}
	}
	return names
}

func TestAKilledRunEndsWithTheSameTables_NoRace(t *testing.T) {
	quiet, wanted := t.TempDir(), 20
	if testing.Short() {
		wanted = 5
	}
	must(t, writeRun(quiet, func() {}))
	// How far a child gets before it is killed is random.
	kills, runs := 0, 0
	for ; kills < wanted; runs++ {
		dir := t.TempDir()
		kills += killUntilComplete(t, dir)
		// A child killed after completion may leave its lock, or counters of its
		// segments.
		if _, err := Open(t.Context(), dir, described()); !errors.Is(err, ErrRunComplete) {
			t.Errorf("a complete run: %v", err)
		}
		if diff := cmp.Diff(tree(t, quiet), tree(t, dir)); diff != "" {
			t.Fatalf("(-undisturbed +killed):\n%.2000s", diff)
		}
	}
	t.Logf("%d runs were killed %d times", runs, kills)
}

// killUntilComplete kills and resumes a run until it is complete, and returns the
// number of kills.
func killUntilComplete(t *testing.T, dir string) (kills int) {
	t.Helper()
	committed := make(map[string]string)
	for complete := false; !complete; {
		c, out, _ := child(t, "write", dir)
		// Kill it after a random number of steps.
		if _, err := io.CopyN(io.Discard, out, rand.Int64N(8)); err == nil {
			c.Process.Kill()
		}
		io.Copy(io.Discard, out)
		killed := c.Wait() != nil
		if killed && c.ProcessState.Exited() {
			t.Fatalf("after %d kills the child failed: %v", kills, c.ProcessState)
		}
		if killed {
			kills++
		}
		m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
		if errors.Is(err, fs.ErrNotExist) {
			continue // killed before it was created
		}
		must(t, err)
		complete = m.State == "complete"
		sums := make(map[string]string)
		for _, p := range m.Parts {
			if !layout.OfRun[p.Table] { // completion merges them
				sums[p.Path] = p.SHA256
			}
		}
		for path, sum := range committed {
			if sums[path] != sum {
				t.Fatalf("after %d kills %s is committed no more, or another", kills, path)
			}
		}
		committed = sums
		if complete || kills%5 == 0 {
			if v := verify(t, dir); len(v.Problems) > 0 {
				t.Fatalf("after %d kills: %v", kills, v.Problems)
			}
		}
	}
	return kills
}

func TestOneWriterAcrossProcesses(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	must(t, run.Close())
	c, out, _ := child(t, "hold", dir)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}
	_, opened := Open(t.Context(), dir, described())
	_, created := Create(dir, described())
	for what, err := range map[string]error{"open": opened, "create": created, "remove": Remove(sinktest.Open(t, dir),
		"r")} {
		if !errors.Is(err, ErrRunBusy) || !strings.Contains(err.Error(), "run r is being written by another process") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := journal.ReadManifest(sinktest.Open(t, dir), "r"); err != nil {
		t.Errorf("read: %v", err)
	}
	must(t, c.Process.Kill())
	c.Wait()
	run, err = Open(t.Context(), dir, described())
	must(t, err)
	must(t, run.Close())
	must(t, run.Close())
}

// The holder of a lock removes its file while others wait for it.
func TestTheLockIsHeldByOneAtATime(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "_runs/r"), 0o777))
	var holders, won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			in, err := store.Open(t.Context(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer in.Close()
			for won.Load() < 500 {
				l, err := lockRun(in, "r")
				if errors.Is(err, ErrRunBusy) {
					continue
				}
				if err != nil || holders.Add(1) != 1 {
					t.Errorf("two hold the lock, or none can: %v", err)
					return
				}
				won.Add(1)
				holders.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	if names := tree(t, dir); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}

func TestRemove_NoRace(t *testing.T) {
	dir := t.TempDir()
	must(t, Remove(sinktest.Open(t, dir), "r")) // nothing to remove
	other := described()
	other.Run = "other"
	run, err := Create(dir, other)
	must(t, err)
	commitSegment(t, run, 0)
	must(t, run.Close())
	want := tree(t, dir)
	run, err = Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	commitSegment(t, run, 1)
	must(t, run.Close())
	must(t, os.WriteFile(filepath.Join(dir, "_runs/r/rejected.csv"), nil, 0o666))
	must(t, Remove(sinktest.Open(t, dir), "r"))
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "_runs/r")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run's folder: %v", err)
	}
	if err := Remove(sinktest.Open(t, dir), "../other"); err == nil {
		t.Error("a path is removed")
	}
}

// However far an interrupted removal got, the rest does not count as a run and can
// be removed.
func TestARemovalThatWasInterrupted_NoRace(t *testing.T) {
	for gone := range len(schema.TableNames) + 1 {
		dir := t.TempDir()
		run, err := Create(dir, described())
		must(t, err)
		commitSegment(t, run, 0)
		must(t, run.Close())
		must(t, os.Rename(filepath.Join(dir, "_runs/r/plan.json"), filepath.Join(dir, "_runs/r/removing.json")))
		for _, table := range schema.TableNames[:gone] {
			must(t, os.RemoveAll(filepath.Join(dir, layout.TableFolder(table, "r"))))
		}
		if _, err := Open(t.Context(), dir, described()); !errors.Is(err, journal.ErrNotResumable) ||
			errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "removal was interrupted") {
			t.Errorf("open: %v", err)
		}
		if _, err := Create(dir, described()); !errors.Is(err, journal.ErrRunExists) {
			t.Errorf("create: %v", err)
		}
		if v := verify(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != "manifest" {
			t.Errorf("verify: %+v", v)
		}
		must(t, Remove(sinktest.Open(t, dir), "r"))
		run, err = Create(dir, described())
		must(t, err)
		must(t, run.Close())
	}
}

func commitSegment(t *testing.T, run *Run, index int) {
	t.Helper()
	s, err := run.Segment(index)
	must(t, err)
	must(t, fill(s, index))
	must(t, s.Commit())
}

// finish completes a run of the given number of segments.
func finish(t *testing.T, run *Run) {
	t.Helper()
	targets := int64(0)
	for _, r := range run.records {
		targets += r.Targets
	}
	must(t, completeRun(run, Completion{Finished: time.Now(), Tally: journal.Tally{Targets: targets},
		Inputs: described().Inputs, WARCOut: warcOutOf(run)}))
	must(t, run.Close())
}

// patch changes the manifest of a complete run and seals it.
func patch(t *testing.T, dir string, change func(m *journal.Manifest)) {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	change(m)
	resealed(t, filepath.Join(dir, "_runs/r/manifest.json"), m)
}

func resealed(t *testing.T, path string, object any) {
	t.Helper()
	content, _ := sinktest.Sealed(t, object)
	must(t, os.WriteFile(path, content, 0o666))
}

// A crash leaves half-written files only in the run's folder, where the next
// process removes them, whether or not the run exists by then.
func TestWhatACrashLeavesIsRemoved(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "_runs", "r")
	left := filepath.Join(folder, "plan.ABCDEFGH.json.tmp")
	must(t, os.MkdirAll(folder, 0o777))
	must(t, os.WriteFile(left, []byte("{"), 0o666))
	if _, err := Open(t.Context(), dir, described()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("half a plan is opened: %v", err)
	}
	run, err := Create(dir, described())
	must(t, err)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a plan is left: %v", err)
	}
	must(t, run.Close())

	run, err = Open(t.Context(), dir, described())
	must(t, err)
	must(t, run.ReplaceFile("views.sql", []byte("SELECT 1")))
	if text, err := os.ReadFile(filepath.Join(dir, "views.sql")); string(text) != "SELECT 1" {
		t.Errorf("views.sql holds %q, %v", text, err)
	}
	must(t, os.Mkdir(filepath.Join(dir, "taken"), 0o777))
	if err := run.ReplaceFile("taken", nil); err == nil {
		t.Error("a folder is replaced by a file")
	}
	must(t, nothingOf(dir, 0))
	must(t, run.Close())
}

// nothingOf returns an error if files of a segment, or temporary files, exist.
func nothingOf(dir string, segment int) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".tmp") || strings.Contains(path, fmt.Sprintf("%010d", segment))) {
			err = fmt.Errorf("%s is left", path)
		}
		return err
	})
}

// wholeRun writes a complete run of three segments, with extra rows in segment 1.
func wholeRun(t *testing.T, extra func(s *Segment) error) string {
	t.Helper()
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	for index := range 3 {
		s, err := run.Segment(index)
		must(t, err)
		must(t, fill(s, index))
		if index == 1 && extra != nil {
			must(t, extra(s))
		}
		must(t, s.Commit())
	}
	must(t, completeRun(run, Completion{Finished: time.Now(), Tally: journal.Tally{Targets: 3 * targetsOfSegment},
		Inputs: described().Inputs}))
	must(t, run.Close())
	return dir
}

func edit(t *testing.T, path string, change func(content []byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, change(content), 0o666))
}

// part finds a part in the manifest.
func partOf(m *journal.Manifest, path string) *journal.Part {
	for i := range m.Parts {
		if m.Parts[i].Path == path {
			return &m.Parts[i]
		}
	}
	return nil
}

func verify(t *testing.T, dir string) *Verification {
	t.Helper()
	v, err := Verify(context.Background(), dir, "r", func(int, int) {})
	must(t, err)
	return v
}

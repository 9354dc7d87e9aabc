package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

func init() {
	children["limited"] = limited
}

// noise cannot be compressed.
func noise(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('!' + rand.IntN(94))
	}
	return string(text)
}

// much writes n rows of a kilobyte of noise to one table.
var much = map[string]func(s *Segment, n int) error{
	"fetches": many(func(s *Segment) Table[schema.Fetch] { return s.Fetches }, func(r *schema.Fetch) *string {
		return &r.Input
	}),
	"groups": many(func(s *Segment) Table[schema.Group] { return s.Groups }, func(r *schema.Group) *string {
		return &r.Host
	}),
	"rules": many(func(s *Segment) Table[schema.Rule] { return s.Rules }, func(r *schema.Rule) *string {
		return &r.Pattern
	}),
	"sitemaps": many(func(s *Segment) Table[schema.Sitemap] { return s.Sitemaps }, func(r *schema.Sitemap) *string {
		return &r.URL
	}),
	"lines": many(func(s *Segment) Table[schema.Line] { return s.Lines }, func(r *schema.Line) *string {
		return &r.Value
	}),
	"signals": many(func(s *Segment) Table[schema.Signal] { return s.Signals }, func(r *schema.Signal) *string {
		return &r.Value
	}),
	"preferences": many(func(s *Segment) Table[schema.Preference] { return s.Preferences },
		func(r *schema.Preference) *string { return &r.Value }),
	"templates": many(func(s *Segment) Table[schema.Template] { return s.Templates },
		func(r *schema.Template) *string { return &r.Template }),
	"answers": many(func(s *Segment) Table[schema.Answer] { return s.Answers }, func(r *schema.Answer) *string {
		return &r.UserAgent
	}),
	"labels": many(func(s *Segment) Table[schema.Label] { return s.Labels }, func(r *schema.Label) *string {
		return &r.Value
	}),
	"policies": many(func(s *Segment) Table[schema.Policy] { return s.Policies }, func(r *schema.Policy) *string {
		return &r.Agent
	}),
	"verdicts": many(func(s *Segment) Table[schema.Verdict] { return s.Verdicts }, func(r *schema.Verdict) *string {
		return &r.URL
	}),
	"summary": many(func(s *Segment) Table[schema.Count] { return s.Summary }, func(r *schema.Count) *string {
		return &r.Metric
	}),
	"label_counts": many(func(s *Segment) Table[schema.LabelCount] { return s.LabelCounts },
		func(r *schema.LabelCount) *string { return &r.Value }),
	"examples": many(func(s *Segment) Table[schema.Example] { return s.Examples }, func(r *schema.Example) *string {
		return &r.Text
	}),
	"bodies": many(func(s *Segment) Table[schema.Body] { return s.Bodies }, func(r *schema.Body) *string {
		return &r.ContentDigest
	}),
	"sitemap_files": many(func(s *Segment) Table[schema.SitemapFile] { return s.SitemapFiles },
		func(r *schema.SitemapFile) *string { return &r.URL }),
	"coverage": many(func(s *Segment) Table[schema.Coverage] { return s.Coverage },
		func(r *schema.Coverage) *string { return &r.Agent }),
	"urls": many(func(s *Segment) Table[schema.ListedURL] { return s.URLs }, func(r *schema.ListedURL) *string {
		return &r.URL
	}),
	"documents": many(func(s *Segment) Table[schema.Document] { return s.Documents },
		func(r *schema.Document) *string { return &r.URL }),
}

func many[T any](table func(*Segment) Table[T], cell func(*T) *string) func(*Segment, int) error {
	return func(s *Segment, n int) error {
		for range n {
			var row T
			*cell(&row) = noise(1024)
			if err := table(s).Write(row); err != nil {
				return err
			}
		}
		return nil
	}
}

// tryEveryTable fills the part of one table after another. It expects the error
// want, and no files of the segment afterwards.
func tryEveryTable(dir string, run *Run, kilobytes int, want error) error {
	for _, table := range schema.TableNames {
		if !layout.HasPart(table, 1) {
			continue
		}
		s, err := run.Segment(1)
		if err == nil {
			err = fill(s, 1)
		}
		if err == nil {
			err = much[table](s, kilobytes)
		}
		if err == nil {
			err = s.Commit()
		} else if s != nil {
			s.Abort()
		}
		if !errors.Is(err, want) || !strings.Contains(err.Error(), layout.SegmentPart(table, "r", 1, "")) {
			return fmt.Errorf("%s is full: %w", table, err)
		}
		if err := nothingOf(dir, 1); err != nil {
			return fmt.Errorf("%s was full: %w", table, err)
		}
	}
	return nil
}

func setLimit(resource int, n uint64) (restore func(), err error) {
	var before unix.Rlimit
	if err := unix.Getrlimit(resource, &before); err != nil {
		return nil, err
	}
	if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: n, Max: before.Max}); err != nil {
		return nil, err
	}
	return func() { unix.Setrlimit(resource, &before) }, nil
}

// limited writes a run under limits of file size and open files.
func limited(dir string) error {
	in, err := store.Open(context.Background(), dir)
	if err != nil {
		return err
	}
	defer in.Close()
	run, err := Create(dir, described())
	if err != nil {
		return err
	}
	commit := func(index int, note string) error {
		s, err := run.Segment(index)
		if err != nil {
			return err
		}
		if err := fill(s, index); err != nil {
			return err
		}
		if note != "" {
			s.Note = json.RawMessage(`"` + note + `"`)
		}
		return s.Commit()
	}
	long := strings.Repeat("n", 80<<10)
	if err := commit(0, long); err != nil {
		return err
	}

	// The parts, one by one.
	restore, err := setLimit(unix.RLIMIT_FSIZE, 64<<10)
	if err != nil {
		return err
	}
	if err := tryEveryTable(dir, run, 300, syscall.EFBIG); err != nil {
		return err
	}
	// The record: the parts fit.
	for range 2 {
		if err := commit(1, long); !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "record") {
			return fmt.Errorf("the record is full: %w", err)
		}
		if err := nothingOf(dir, 1); err != nil {
			return err
		}
	}
	// A short record still fits.
	if err := commit(1, ""); err != nil {
		return err
	}
	restore()

	// The manifest.
	if restore, err = setLimit(unix.RLIMIT_FSIZE, 1<<10); err != nil {
		return err
	}
	if err := completeRun(run, Completion{Tally: journal.Tally{Targets: 2 * targetsOfSegment}}); !errors.Is(err,
		syscall.EFBIG) {
		return fmt.Errorf("the manifest is full: %w", err)
	}
	restore()
	if m, err := journal.ReadManifest(in, "r"); err != nil || m.State != "running" || len(m.Parts) != partsIn(0, 1) {
		return fmt.Errorf("after a manifest that was not written: %w", err)
	}

	// Open files: enough for some parts but not for all.
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	if restore, err = setLimit(unix.RLIMIT_NOFILE, uint64(len(open)+3)); err != nil {
		return err
	}
	err = commit(2, "")
	restore()
	if !errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("too many open files: %w", err)
	}
	if err := nothingOf(dir, 2); err != nil {
		return err
	}
	// However few they are, that is not another process with the lock.
	for more := range 8 {
		if restore, err = setLimit(unix.RLIMIT_NOFILE, uint64(len(open)-1+more)); err != nil {
			return err
		}
		p := described()
		p.Run = fmt.Sprint("other", more)
		other, err := Create(dir, p)
		restore()
		if err == nil {
			err = other.Close()
		}
		if err != nil && !errors.Is(err, syscall.EMFILE) {
			return fmt.Errorf("%d more open files: %w", more, err)
		}
	}

	if err := commit(2, ""); err != nil {
		return err
	}
	return completeRun(run, Completion{Tally: journal.Tally{Targets: 3 * targetsOfSegment}, Inputs: described().Inputs})
}

func TestLimitsOfFiles_NoRace(t *testing.T) {
	dir := t.TempDir()
	c, out, _ := child(t, "limited", dir)
	io.Copy(io.Discard, out)
	must(t, c.Wait())
	if v := verify(t, dir); len(v.Problems) > 0 || !v.Complete || v.Segments != 3 {
		t.Errorf("%+v", v)
	}
}

func TestAFullDisk_NoRace(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("none", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a small disk cannot be mounted (%v); TestLimitsOfFiles stands for it", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(disk, unix.MNT_DETACH)) })
	dir := filepath.Join(disk, "out")
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, tryEveryTable(dir, run, 2048, syscall.ENOSPC))

	// No byte is left.
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	must(t, err)
	for err == nil {
		_, err = f.WriteString(noise(4096))
	}
	must(t, f.Close())
	s, err := run.Segment(1)
	if err == nil {
		must(t, fill(s, 1))
		err = s.Commit()
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a segment on a full disk: %v", err)
	}
	must(t, nothingOf(dir, 1))
	if err := completeRun(run, Completion{Tally: journal.Tally{Targets: targetsOfSegment}}); !errors.Is(err,
		syscall.ENOSPC) {
		t.Errorf("a manifest on a full disk: %v", err)
	}
	if m, err := journal.ReadManifest(sinktest.Open(t, dir), "r"); err != nil || m.State != "running" ||
		len(m.Parts) != partsIn(0) {
		t.Errorf("after a manifest that was not written: %v", err)
	}
	other := described()
	other.Run = "other"
	if _, err := Create(dir, other); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a run on a full disk: %v", err)
	}

	// Once there is room, the run continues.
	must(t, run.Close())
	must(t, os.Remove(filler))
	run, err = Open(t.Context(), dir, described())
	must(t, err)
	commitSegment(t, run, 1)
	finish(t, run)
	if v := verify(t, dir); len(v.Problems) > 0 || !v.Complete {
		t.Errorf("%+v", v)
	}
	run, err = Create(dir, other)
	must(t, err)
	must(t, run.Close())

	// A run is removed from a full disk, to make room.
	f, err = os.Create(filler)
	must(t, err)
	for err == nil {
		_, err = f.WriteString(noise(4096))
	}
	must(t, f.Close())
	must(t, Remove(sinktest.Open(t, dir), "r"))
}

func TestAFolderThatIsGone(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, os.RemoveAll(filepath.Join(dir, "rules")))
	if _, err := run.Segment(1); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "rules/run=r") {
		t.Errorf("a table's folder is gone: %v", err)
	}
	must(t, nothingOf(dir, 1))
	if err := completeRun(run, Completion{Tally: journal.Tally{Targets: targetsOfSegment}}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("complete without a part: %v", err)
	}
	must(t, run.Close())

	dir = t.TempDir()
	run, err = Create(dir, described())
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(dir, "_runs")))
	if err := s.Commit(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run's folder is gone: %v", err)
	}
	must(t, nothingOf(dir, 0))
	must(t, run.Close())
}

func TestAFolderThatIsReadOnly_NoRace(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	// Root may write everywhere, so this thread becomes the user who owns the
	// files.
	readOnly := func(table string, f func()) {
		folder := filepath.Join(dir, layout.TableFolder(table, "r"))
		if os.Getuid() == 0 {
			must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				return errors.Join(err, os.Chown(path, 65534, -1))
			}))
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			unix.SetfsuidRetUid(65534)
			defer unix.SetfsuidRetUid(0)
		}
		must(t, os.Chmod(folder, 0o555))
		f()
		must(t, os.Chmod(folder, 0o777))
	}
	readOnly("rules", func() {
		if _, err := run.Segment(1); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("begun: %v", err)
		}
		must(t, nothingOf(dir, 1))
	})
	s, err := run.Segment(1)
	must(t, err)
	readOnly("verdicts", func() {
		if err := s.Commit(); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("committed: %v", err)
		}
	})
	must(t, run.Close())
	run, err = Open(t.Context(), dir, described())
	must(t, err)
	must(t, nothingOf(dir, 1)) // the next attempt removes what stayed
	commitSegment(t, run, 1)
	finish(t, run)
	if v := verify(t, dir); len(v.Problems) > 0 {
		t.Errorf("%+v", v)
	}
}

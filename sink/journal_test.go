package sink

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// journaled makes an interrupted run of three segments, and gives the lines of
// its journal.
func journaled(t *testing.T) (dir, path string, lines []string) {
	t.Helper()
	dir = t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	for _, index := range []int{2, 0, 1} {
		commitSegment(t, run, index)
	}
	must(t, run.Close())
	path = filepath.Join(dir, "_runs/r/segments.jsonl")
	content, err := os.ReadFile(path)
	must(t, err)
	lines = strings.SplitAfter(string(content), "\n")
	if len(lines) != 4 || lines[3] != "" {
		t.Fatalf("the journal has %d lines", len(lines)-1)
	}
	return dir, path, lines[:3]
}

func TestATornLastLineIsNotCommitted(t *testing.T) {
	dir, path, lines := journaled(t)
	whole := lines[0] + lines[1]
	last := lines[2]
	torn := []string{
		strings.Repeat("\x00", len(last)), // a size that came to the disk before the blocks did
		last[:40] + strings.Repeat("\x00", 40) + last[80:],
		strings.Repeat("\x00", 40) + last[40:],
		"{\n", "\n",
	}
	step := 1
	if testing.Short() {
		step = 41
	}
	for n := 0; n < len(last); n += step {
		torn = append(torn, last[:n])
	}
	for _, tail := range torn {
		must(t, os.WriteFile(path, []byte(whole+tail), 0o666))
		m, err := ReadManifest(dir, "r")
		if err != nil || len(m.Parts) != partsIn(0, 2) || m.Parts[len(m.Parts)-1].Segment != 2 {
			t.Fatalf("after %.20q… (%d bytes): %v", tail, len(tail), err)
		}
	}
	// What follows must not continue the torn line.
	for _, tail := range []string{torn[0], torn[1], "{\n", last[:1], last[:len(last)/2], last[:len(last)-1]} {
		must(t, os.WriteFile(path, []byte(whole+tail), 0o666))
		run, err := Open(dir, described())
		must(t, err)
		if run.Committed(1) || !run.Committed(0) || !run.Committed(2) {
			t.Fatalf("after %.20q…: other segments are committed", tail)
		}
		commitSegment(t, run, 1)
		must(t, run.Close())
		content, err := os.ReadFile(path)
		must(t, err)
		if string(content) != whole+last {
			t.Fatalf("after %.20q… the journal is\n%s", tail, content)
		}
		if v := verify(t, dir); len(v.Problems) > 0 || v.Segments != 3 {
			t.Fatalf("after %.20q…: %+v", tail, v)
		}
	}
}

func TestADamagedJournalIsRefused(t *testing.T) {
	dir, path, lines := journaled(t)
	for _, row := range []struct{ name, content, want string }{
		{"a byte of an earlier line", "[" + lines[0][1:] + lines[1] + lines[2], ":1: the journal is damaged"},
		{"blocks of an earlier line", lines[0] + strings.Repeat("\x00", len(lines[1])-1) + "\n" + lines[2], ":2: the journal is damaged"},
		{"two lines in one", lines[0] + strings.TrimSuffix(lines[1], "\n") + lines[2] + lines[2], ":2: the journal is damaged"},
		{"an empty line", lines[0] + "\n" + lines[2], ":2: the journal is damaged"},
		{"a segment twice", lines[0] + lines[1] + lines[0], ":3: the journal is damaged: segment 2 stands here twice"},
		{"JSON of another kind", lines[0] + "[1]\n", ":2: the journal is damaged"},
		{"a line without end", lines[0] + strings.Repeat("x", maxEntry+1), ":2: the journal is damaged"},
	} {
		t.Run(row.name, func(t *testing.T) {
			must(t, os.WriteFile(path, []byte(row.content), 0o666))
			if _, err := ReadManifest(dir, "r"); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("read: %v", err)
			}
			if _, err := Open(dir, described()); !errors.Is(err, ErrNotResumable) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("open: %v", err)
			}
			if v := verify(t, dir); len(v.Problems) != 1 || v.Problems[0].Kind != badManifest {
				t.Errorf("verify: %+v", v)
			}
		})
	}
}

func TestSegmentsCommitSideBySide(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for index := worker; index < 16; index += 8 {
				s, err := run.Segment(index)
				if err == nil {
					err = fill(s, index)
				}
				if err == nil {
					err = s.Commit()
				}
				if err != nil {
					t.Error(err)
				}
				run.Rows()
			}
		})
	}
	all.Wait()
	m, err := ReadManifest(dir, "r")
	must(t, err)
	if len(m.Parts) != partsIn(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) || !slices.IsSortedFunc(m.Parts, func(a, b Part) int { return a.Segment - b.Segment }) {
		t.Errorf("%d parts, want those of 16 segments in their order", len(m.Parts))
	}
	must(t, run.Complete(m.Started, Tally{Targets: 16 * targetsOfSegment}, nil))
	if v := verify(t, dir); len(v.Problems) > 0 || !v.Complete {
		t.Errorf("%+v", v)
	}
}

func TestASegmentIsWrittenOnce(t *testing.T) {
	run, err := Create(t.TempDir(), described())
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	if _, err := run.Segment(0); err == nil {
		t.Error("a segment is begun twice")
	}
	s.Abort()
	commitSegment(t, run, 0)
	if _, err := run.Segment(0); err == nil {
		t.Error("a committed segment is begun again")
	}
	if _, err := run.Segment(-1); err == nil {
		t.Error("a negative segment")
	}
	s, err = run.Segment(1)
	must(t, err)
	must(t, s.Commit())
	if err := s.Commit(); err == nil {
		t.Error("a segment is committed twice")
	}
	must(t, run.Close())
	if err := run.Complete(described().Started, Tally{}, nil); err == nil {
		t.Error("a closed run is completed")
	}
}

func TestANoteThatIsTooLongOrNoJSON(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	for _, note := range []string{`{`, `"` + strings.Repeat("x", maxEntry) + `"`} {
		s, err := run.Segment(0)
		must(t, err)
		s.Note = json.RawMessage(note)
		if err := s.Commit(); err == nil {
			t.Errorf("a note of %d bytes is taken", len(note))
		}
		if names := leftovers(t, dir); len(names) > 0 {
			t.Errorf("left: %v", names)
		}
	}
	s, err := run.Segment(0)
	must(t, err)
	s.Note = json.RawMessage("{\n \"n\": 1\n}") // on one line in the journal
	must(t, s.Commit())
	must(t, run.Close())
	run, err = Open(dir, described())
	must(t, err)
	if got := string(run.Note(0)); got != `{"n":1}` {
		t.Errorf("the note is %s", got)
	}
	must(t, run.Close())
}

// A disk that neither takes a line nor gives it back leaves in doubt what is
// committed: the parts stay until a later look can tell.
func TestAJournalInDoubt(t *testing.T) {
	dir := t.TempDir()
	run, err := Create(dir, described())
	must(t, err)
	commitSegment(t, run, 0)
	must(t, run.journal.file.Close())
	run.journal.file, err = os.Open(run.journal.path) // refuses to be written and cut
	must(t, err)
	want := len(tree(t, dir)) + partsIn(1)
	s, err := run.Segment(1)
	must(t, err)
	must(t, fill(s, 1))
	if err := s.Commit(); !errors.Is(err, errInDoubt) {
		t.Fatalf("commit: %v", err)
	}
	s.Abort()
	if got := len(tree(t, dir)); got != want {
		t.Errorf("%d files, want %d: the parts in doubt stay", got, want)
	}
	s, err = run.Segment(2)
	must(t, err)
	if err := s.Commit(); !errors.Is(err, errInDoubt) {
		t.Errorf("another commit: %v", err)
	}
	if err := run.Complete(described().Started, Tally{}, nil); !errors.Is(err, errInDoubt) {
		t.Errorf("complete: %v", err)
	}
	must(t, run.Close())
	run, err = Open(dir, described())
	must(t, err)
	if names := leftovers(t, dir); len(names) > 0 || run.Committed(1) {
		t.Errorf("left: %v", names)
	}
	must(t, run.Close())
}

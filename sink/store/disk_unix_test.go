//go:build unix

package store

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallFiles limits the size of files that this process writes. Tests that use it
// must not run in parallel.
func smallFiles(t *testing.T, most uint64) (restore func()) {
	t.Helper()
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := before
	limit.Cur = most
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	return func() { must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }
}

// A failed write leaves nothing, and a file of that name stays as it was.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	s, dir := newStore(t)
	must(t, s.MakeFolder("_runs/r"))
	must(t, s.Replace("views.sql", "_runs/r", []byte("old")))
	long := make([]byte, 4<<20) // package testing writes a log of opened files meanwhile
	defer smallFiles(t, 2<<20)()
	failed := func(what, name string, err error) {
		t.Helper()
		if !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), filepath.Join(dir, name)) ||
			IsTemporary(err.Error()) || strings.Contains(err.Error(), temporarySuffix) {
			t.Errorf("%s: %v", what, err)
		}
		if got := names(t, dir); len(got) != 1 || got[0] != "views.sql" {
			t.Errorf("%s leaves %v", what, got)
		}
	}
	won, err := s.Put("_runs/r/plan.json", long)
	if won || errors.Is(err, ErrInDoubt) {
		t.Error("put: it says that the file has its name")
	}
	failed("put", "_runs/r/plan.json", err)
	failed("replace", "_runs/r/views.sql", s.Replace("views.sql", "_runs/r", long))
	if old, err := s.Read("views.sql", 3); string(old) != "old" {
		t.Errorf("replaced by half: %q, %v", old, err)
	}
	for _, published := range []bool{false, true} {
		f, err := s.Create("_runs/r/rejected.csv")
		must(t, err)
		if published {
			must(t, f.Publish())
		}
		_, err = f.Write(long)
		f.Discard()
		failed("a streamed file", "_runs/r/rejected.csv", err)
	}
	c, err := s.Scratch("_runs/r")
	must(t, err)
	if _, err := c.Write(long); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("scratch: %v", err)
	}
	must(t, c.Close())
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("scratch leaves %v", got)
	}
}

// A file that cannot get its name is removed too.
func TestAFileWithoutANameIsRemoved(t *testing.T) {
	s, dir := newStore(t)
	must(t, s.MakeFolder("taken/by"))
	if err := s.Replace("taken", ".", []byte("x")); err == nil {
		t.Error("a folder is replaced by a file")
	}
	if won, err := s.Put("taken", []byte("x")); won || err != nil {
		t.Errorf("put where a folder is: %v, %v", won, err)
	}
	f, err := s.Create("taken")
	must(t, err)
	if err := f.Publish(); err == nil {
		t.Error("a folder is replaced by a streamed file")
	}
	f.Discard()
	if got := names(t, dir); len(got) > 0 {
		t.Errorf("left: %v", got)
	}
}

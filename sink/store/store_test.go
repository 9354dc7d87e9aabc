package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/robocensus/robocensus/sink/store/remote"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newStore(t *testing.T) (*Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out", "tables")
	s, err := CreateFolder(dir)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// names returns the files in a folder.
func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(name))
		}
		return err
	}))
	return out
}

// Of sixteen writers of one name one wins, and the file has its content.
func TestPutHasOneWinner(t *testing.T) {
	rounds := 300 // a driver with this flaw lets two win in several of 1,500
	if testing.Short() {
		rounds = 50
	}
	dir := t.TempDir()
	var stores [16]*Folder // one per writer, as separate processes have
	for i := range stores {
		s, err := OpenFolder(dir)
		must(t, err)
		defer s.Close()
		stores[i] = s
	}
	for round := range rounds {
		name := fmt.Sprintf("record-%d.json", round)
		var won atomic.Int32
		var winner atomic.Int32
		var all sync.WaitGroup
		start := make(chan struct{})
		for i, s := range stores {
			all.Go(func() {
				<-start
				first, err := s.Put(name, bytes.Repeat([]byte{byte('a' + i)}, 1000))
				if err != nil {
					t.Error(err)
				}
				if first {
					won.Add(1)
					winner.Store(int32(i))
				}
			})
		}
		close(start)
		all.Wait()
		content, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if won.Load() != 1 || !bytes.Equal(content, bytes.Repeat([]byte{byte('a' + winner.Load())}, 1000)) {
			t.Fatalf("round %d: %d writers won, the file holds %.3q…", round, won.Load(), content)
		}
	}
	if left := names(t, dir); len(left) != rounds {
		t.Errorf("%d files after %d rounds", len(left), rounds)
	}
}

func TestPutChangesNothingThatIsThere(t *testing.T) {
	s, dir := newStore(t)
	won, err := s.Put("plan.json", []byte("first"))
	if !won || err != nil {
		t.Errorf("a name that is free: %v, %v", won, err)
	}
	won, err = s.Put("plan.json", []byte("second"))
	if won || err != nil {
		t.Errorf("a name that is taken: %v, %v", won, err)
	}
	if content, err := os.ReadFile(filepath.Join(dir, "plan.json")); string(content) != "first" {
		t.Errorf("it holds %q, %v", content, err)
	}
	if won, err := s.Put("none/plan.json", nil); won || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(),
		filepath.Dir(dir)) {
		t.Errorf("without a folder: %v, %v", won, err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("files: %v", got)
	}
}

func TestAStreamedFile(t *testing.T) {
	s, dir := newStore(t)
	must(t, s.MakeFolder("fetches/run=r"))
	f, err := s.Create("fetches/run=r/part-1.parquet")
	must(t, err)
	for range 3 {
		_, err = io.WriteString(f, "abc")
		must(t, err)
	}
	got := names(t, dir)
	if len(got) != 1 || !strings.HasPrefix(got[0], "fetches/run=r/part-1.") || !strings.HasSuffix(got[0],
		".parquet.tmp") || !IsTemporary(got[0]) {
		t.Errorf("before it is published: %v", got)
	}
	digest, err := f.Finish()
	if want := (Digest{9, "76b99ab4be8521d78b19bcff7d1078aabeb477bd134f404094c92cd39f051c3e"}); err != nil ||
		digest != want {
		t.Errorf("digest %v, %v, want %v", digest, err, want)
	}
	must(t, f.Publish())
	if got := names(t, dir); len(got) != 1 || got[0] != "fetches/run=r/part-1.parquet" {
		t.Errorf("published: %v", got)
	}
	f.Discard()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("discarded: %v", got)
	}
	f, err = s.Create("fetches/run=r/part-2.parquet")
	must(t, err)
	f.Discard()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("discarded before it is published: %v", got)
	}
}

func TestReplaceAndScratch(t *testing.T) {
	s, dir := newStore(t)
	must(t, s.MakeFolder("_runs/r"))
	must(t, s.Replace("views.sql", "_runs/r", []byte("one")))
	must(t, s.Replace("views.sql", ".", []byte("two")))
	content, err := s.Read("views.sql", 3)
	if err != nil || string(content) != "two" {
		t.Errorf("%q, %v", content, err)
	}
	if _, err := s.Read("views.sql", 2); err == nil || !strings.Contains(err.Error(), "more than 2 bytes") {
		t.Errorf("a file larger than is read: %v", err)
	}
	must(t, s.MakeFolder("taken"))
	if err := s.Replace("taken", "_runs/r", nil); err == nil {
		t.Error("a folder is replaced by a file")
	}
	c, err := s.Scratch("_runs/r")
	must(t, err)
	_, err = c.WriteString("body")
	must(t, err)
	back := make([]byte, 4)
	if _, err := c.ReadAt(back, 0); err != nil || string(back) != "body" {
		t.Errorf("read back: %q, %v", back, err)
	}
	must(t, c.Close())
	if got := names(t, dir); len(got) != 1 || got[0] != "views.sql" {
		t.Errorf("files: %v", got)
	}
}

// Whatever is planted in the folder, nothing outside is read, created, written or
// removed.
func TestPlantedLinksLeadNowhere(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o666))
	for _, target := range []string{secret, outside, filepath.Join(outside, "new")} {
		s, dir := newStore(t)
		must(t, s.MakeFolder("_runs"))
		link := func(name string) { must(t, os.Symlink(target, filepath.Join(dir, name))) }
		link("file")
		link("folder")
		link("_runs/r")
		link("lock")
		relative, err := filepath.Rel(dir, target)
		must(t, err)
		must(t, os.Symlink(relative, filepath.Join(dir, "relative")))

		refused := func(what string, err error) {
			t.Helper()
			if err == nil {
				t.Errorf("%s → %s: is done", what, target)
			} else if errors.Is(err, ErrLeadsOut) && !strings.Contains(err.Error(), filepath.Dir(dir)) {
				t.Errorf("%s: %v, which does not name the folder", what, err)
			}
		}
		for _, name := range []string{"file", "relative", "folder/secret", "../secret", "_runs/r/plan.json", secret} {
			_, err := s.Open(name)
			refused("open "+name, err)
			_, err = s.Read(name, 100)
			refused("read "+name, err)
		}
		for _, name := range []string{"folder/new", "_runs/r/new", "../new"} {
			_, err := s.Create(name)
			refused("create "+name, err)
			_, err = s.Put(name, []byte("x"))
			refused("put "+name, err)
			refused("replace "+name, s.Replace(name, "_runs", []byte("x")))
			refused("replace by way of "+name, s.Replace("views.sql", filepath.Dir(name), []byte("x")))
			_, err = s.Scratch(filepath.Dir(name))
			refused("scratch "+name, err)
			refused("make "+name, s.MakeFolder(name))
			_, err = s.Lock(filepath.Dir(name))
			refused("lock "+name, err)
		}
		_, err = s.Lock(".")
		refused("lock by a link", err)
		// A link itself is replaced and removed, not its target.
		must(t, s.Replace("file", ".", []byte("ours")))
		f, err := s.Create("relative")
		must(t, err)
		_, err = f.Write([]byte("ours"))
		must(t, err)
		must(t, f.Publish())
		if won, err := s.Put("folder", []byte("x")); won || err != nil {
			t.Errorf("put where a link is: %v, %v", won, err)
		}
		must(t, s.RemoveAll("folder"))
		must(t, s.RemoveAll("_runs"))
		must(t, s.Remove("lock"))
		content, err := os.ReadFile(secret)
		if left := names(t, outside); err != nil || string(content) != "secret" || len(left) != 1 {
			t.Fatalf("outside: %q, %v, %v", content, err, left)
		}
	}
}

// Files that would block, or never end, are not read.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	s, dir := newStore(t)
	must(t, s.MakeFolder("folder"))
	must(t, os.Symlink("folder", filepath.Join(dir, "link")))
	must(t, s.MakeFolder("folder/lock"))
	if _, err := s.Lock("folder"); !errors.Is(err, errNotRegular) {
		t.Errorf("lock: %v", err)
	}
	for _, name := range []string{"folder", "link"} {
		if _, err := s.Open(name); !errors.Is(err, errNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Open("none"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(),
		filepath.Join(dir, "none")) {
		t.Errorf("none: %v", err)
	}
	if list, err := s.List("none"); err != nil || len(list) > 0 {
		t.Errorf("list of none: %v, %v", list, err)
	}
	if _, err := OpenFolder(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
}

func TestLockHasOneHolder(t *testing.T) {
	s, dir := newStore(t)
	l, err := s.Lock(".")
	must(t, err)
	other, err := OpenFolder(dir)
	must(t, err)
	defer other.Close()
	if _, err := other.Lock("."); !errors.Is(err, ErrLocked) {
		t.Errorf("a second holder: %v", err)
	}
	l.Release()
	l, err = other.Lock(".")
	must(t, err)
	l.Release()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, LockName), nil, 0o600)) // left by a killed process
	l, err = s.Lock(".")
	must(t, err)
	l.Release()
	// A locked file that was removed or renamed locks nothing.
	must(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o666))
	must(t, os.Symlink("other", filepath.Join(dir, LockName)))
	if _, err := s.Lock("."); err == nil {
		t.Error("another file is locked")
	}
}

// A holder removes its lock file: a process that opened the file before must not
// take the lock with it.
func TestLockIsHeldByOneAtATime(t *testing.T) {
	_, dir := newStore(t)
	var holders, taken atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := OpenFolder(dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for range 300 {
				l, err := s.Lock(".")
				if errors.Is(err, ErrLocked) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d hold the lock", n)
				}
				taken.Add(1)
				runtime.Gosched()
				holders.Add(-1)
				l.Release()
			}
		})
	}
	all.Wait()
	if taken.Load() == 0 {
		t.Error("nobody got the lock")
	}
}

// A folder is a path or the URL of a folder in an object store: DuckDB reads some URLs
// as patterns, and a path "ftp:" would hide a mistake. No request is needed to refuse.
func TestURLsThatAreNoFolders(t *testing.T) {
	for _, dir := range []string{"s3://bucket/a*", "s3://bucket/a?", "s3://bucket/a[1]", "s3://a b/c", "S3://bucket/a",
		"ftp://host/a", "https://host/a"} {
		t.Chdir(t.TempDir())
		for name, open := range map[string]func(context.Context, string) (Store, error){"Open": Open, "Create": Create} {
			if s, err := open(t.Context(), dir); err == nil {
				s.Close()
				t.Errorf("%s opens %s", name, dir)
			} else if !errors.Is(err, remote.ErrFolder) {
				t.Errorf("%s of %s: %v", name, dir, err)
			}
		}
		if left := names(t, "."); len(left) > 0 {
			t.Errorf("%s left %q", dir, left)
		}
	}
}

// An error that leaves open whether a file is there has the text and the causes of its
// own, so that a full disk is told from a missing one.
func TestAnErrorInDoubt(t *testing.T) {
	cause := &fs.PathError{Op: "sync", Path: "x", Err: fs.ErrPermission}
	err := inDoubt(cause)
	var path *fs.PathError
	if !errors.Is(err, ErrInDoubt) || !errors.Is(err, fs.ErrPermission) || !errors.As(err, &path) ||
		err.Error() != cause.Error() || FaultOf(err) != FaultOf(cause) {
		t.Errorf("%v", err)
	}
	if errors.Is(cause, ErrInDoubt) || inDoubt(nil) != nil {
		t.Error("without a doubt there is one")
	}
}

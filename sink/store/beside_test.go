package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a killed process has left for a name goes when the next one writes it; what is of
// a living process, of another name, or of no process of ours, stays.
func TestBesideRemovesWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	living, err := fileBeside(filepath.Join(dir, "page"))
	must(t, err)
	left := []string{".page.ABCDEFGH.tmp", ".page.22222222.tmp/fetches", ".page.ABCDEFG1.tmp", ".page.ABCDEFGH.txt",
		".page.ABCDEFGHI.tmp", ".pages.ABCDEFGH.tmp", "page.ABCDEFGH.tmp", ".page"}
	for _, name := range left {
		name, folder, isFolder := strings.Cut(name, "/")
		if isFolder {
			must(t, os.MkdirAll(filepath.Join(dir, name, folder), 0o777))
			continue
		}
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	must(t, os.Symlink(dir, filepath.Join(dir, ".page.LINKLINK.tmp")))
	again, err := fileBeside(filepath.Join(dir, "page"))
	must(t, err)
	want := append([]string{".page.LINKLINK.tmp", filepath.Base(living.Path), filepath.Base(again.Path)}, left[2:]...)
	slices.Sort(want)
	if diff := cmp.Diff(want, namesIn(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	must(t, os.WriteFile(living.Path, []byte("one"), 0o666))
	must(t, living.Publish())
	living.Discard()
	again.Discard()
	if text, err := os.ReadFile(filepath.Join(dir, "page")); string(text) != "one" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A folder is named once all names in it are on disk. What an empty one that is there has
// is moved into it, last what says that it is whole.
func TestFolderBeside(t *testing.T) {
	real := syncFolder
	defer func() { syncFolder = real }()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	var synced []string
	syncFolder = func(path string) error {
		name, err := filepath.Rel(dir, path)
		must(t, err)
		synced = append(synced, name)
		return real(path)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "sets/new"), 0o777))
	must(t, os.Chmod(filepath.Join(dir, "sets/new"), 0o750))
	must(t, os.Symlink("sets/new", filepath.Join(dir, "there")))
	must(t, os.Symlink("sets/later", filepath.Join(dir, "dangling")))
	before, err := os.Stat(filepath.Join(dir, "sets/new"))
	must(t, err)
	for link, to := range map[string]string{"there": "sets/new", "dangling": "sets/later"} {
		synced = nil
		b, err := FolderBeside(filepath.Join(dir, link), "a")
		must(t, err)
		must(t, os.MkdirAll(filepath.Join(b.Path, "fetches/run=r"), 0o777))
		must(t, os.WriteFile(filepath.Join(b.Path, "fetches/run=r/part"), nil, 0o666))
		must(t, os.WriteFile(filepath.Join(b.Path, "a"), nil, 0o666))
		if len(synced) > 0 {
			t.Errorf("synced before: %v", synced)
		}
		tmp, _ := filepath.Rel(dir, b.Path)
		must(t, b.Publish())
		want := []string{tmp, tmp + "/fetches", tmp + "/fetches/run=r", "sets"}
		if link == "there" { // before "a", and after
			want = append(want[:3], to, to)
		}
		if diff := cmp.Diff(want, synced); diff != "" {
			t.Errorf("%s: synced (-want +got):\n%s", link, diff)
		}
		info, err := os.Lstat(filepath.Join(dir, link))
		must(t, err)
		if _, err := os.Stat(filepath.Join(dir, to, "fetches/run=r/part")); err != nil ||
			info.Mode().Type() != os.ModeSymlink {
			t.Errorf("%s: the link is now %v, %v", link, info.Mode(), err)
		}
		if info, err := os.Stat(filepath.Join(dir, to)); link == "there" && (err != nil || !os.SameFile(info, before) ||
			info.Mode().Perm() != 0o750) {
			t.Errorf("it is another folder, with permissions %v, %v", info.Mode(), err)
		}
		if got := namesIn(t, filepath.Join(dir, to)); !slices.Equal(got, []string{"a", "fetches"}) {
			t.Errorf("%s has %v", to, got)
		}
	}
	if got := namesIn(t, filepath.Join(dir, "sets")); !slices.Equal(got, []string{"later", "new"}) {
		t.Errorf("left %v", got)
	}
	if b, err := FolderBeside(filepath.Join(dir, "there"), "a"); !errors.Is(err, ErrNotEmpty) || b != nil {
		t.Errorf("a folder with files is replaced: %v", err)
	}
	if got := namesIn(t, filepath.Join(dir, "sets/new")); !slices.Equal(got, []string{"a", "fetches"}) {
		t.Errorf("left %v", got)
	}
}

// Of two at one empty folder, the second is refused while the first lives; what a killed
// one leaves there is removed.
func TestTwoAtOneFolder(t *testing.T) {
	dir := t.TempDir()
	first, err := FolderBeside(dir, "z")
	must(t, err)
	if _, err := FolderBeside(dir, "z"); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second one: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(first.Path, "z"), nil, 0o666))
	first.release() // as if killed
	second, err := FolderBeside(dir, "z")
	must(t, err)
	must(t, second.Publish())
	if got := namesIn(t, dir); len(got) > 0 {
		t.Errorf("left %v", got)
	}
}

// Of a file, the contents and the name are synced.
func TestFileBesideIsSynced(t *testing.T) {
	real := syncFolder
	defer func() { syncFolder = real }()
	var synced []string
	syncFolder = func(path string) error { synced = append(synced, path); return real(path) }
	path := filepath.Join(t.TempDir(), "page")
	b, err := fileBeside(path)
	must(t, err)
	tmp := b.Path
	must(t, b.Publish())
	if diff := cmp.Diff([]string{tmp, filepath.Dir(path)}, synced); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of several that write one new file, one wins, and the file has its contents; the others
// change nothing and leave nothing.
func TestOneOfSeveralWritesANewFile(t *testing.T) {
	dir := t.TempDir()
	for round := range 50 {
		path := filepath.Join(dir, fmt.Sprint(round))
		var won atomic.Int32
		var winner atomic.Value
		var all sync.WaitGroup
		begin := make(chan struct{})
		for i := range 8 {
			all.Go(func() {
				<-begin
				d, mine, err := WriteNewFile(path, func(w io.Writer) error { _, err := fmt.Fprint(w, "writer ", i); return err })
				if err != nil {
					t.Error(err)
				}
				if mine {
					won.Add(1)
					winner.Store(d)
				}
			})
		}
		close(begin)
		all.Wait()
		there, err := DigestOfFile(t.Context(), path)
		if err != nil || won.Load() != 1 || winner.Load() != there {
			t.Fatalf("%d have won, the last %v; the file is %v, %v", won.Load(), winner.Load(), there, err)
		}
	}
	if names := namesIn(t, dir); len(names) != 50 {
		t.Errorf("left %v", names)
	}
}

// Whether a new file can be made is told beforehand, also through links, and nothing is left.
func TestCheckNewFile(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	must(t, os.Symlink("sub/new", filepath.Join(dir, "link")))
	must(t, os.Symlink("missing/new", filepath.Join(dir, "dangling")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	for name, ok := range map[string]bool{"new": true, "link": true, "file": true, "dangling": false,
		"missing/new": false, "file/new": false} {
		err := CheckNewFile(filepath.Join(dir, name))
		if (err == nil) != ok || !ok && strings.Contains(err.Error(), temporarySuffix) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names := append(namesIn(t, dir), namesIn(t, filepath.Join(dir, "sub"))...); len(names) != 4 {
		t.Errorf("left %v", names)
	}
}

// The name of each folder that is created is synced.
func TestCreatedFoldersAreSynced(t *testing.T) {
	real := syncFolder
	defer func() { syncFolder = real }()
	dir := t.TempDir()
	for _, want := range [][]string{{"a/b", "a", "."}, {"a/b"}} {
		var synced []string
		syncFolder = func(path string) error {
			name, err := filepath.Rel(dir, path)
			must(t, err)
			synced = append(synced, filepath.ToSlash(name))
			return real(path)
		}
		f, err := CreateFolder(filepath.Join(dir, "a/b/c"))
		must(t, err)
		must(t, f.Close())
		if diff := cmp.Diff(want, synced); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// No folder is created but the one that is named and those above it, and all of them go.
func TestCreatedFoldersAreNamed(t *testing.T) {
	dir := t.TempDir()
	name := dir + "/a/../b/./c/../../d/e"
	f, err := CreateFolder(name)
	must(t, err)
	defer f.Close()
	if diff := cmp.Diff([]string{"d"}, namesIn(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := OpenFolder(name)
	must(t, err)
	must(t, again.Close())
	f.Unmake()
	if left := namesIn(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}

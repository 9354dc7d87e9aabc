//go:build unix

package flags

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWriteIntoDevice(t *testing.T) {
	if err := WriteFile(t.Context(), os.DevNull, text("page")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Fatalf("%s is now %v, %v", os.DevNull, info.Mode(), err)
	}
}

func TestWriteIntoPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	got := make(chan string)
	go func() {
		all, _ := os.ReadFile(path)
		got <- string(all)
	}()
	if err := WriteFile(t.Context(), path, text("page")); err != nil {
		t.Fatal(err)
	}
	if all := <-got; all != "page" {
		t.Errorf("the pipe's reader got %q", all)
	}
	if info, _ := os.Stat(path); info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is now %v", info.Mode())
	}
}

// The pipe has no reader.
func TestWriteIntoPipeEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WriteFile(ctx, path, text("page")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		f.Close() // ends the wait for a reader
	}
}

func TestWriteThroughLink(t *testing.T) {
	for name, old := range map[string]string{"to a file": "old", "to nothing": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "pages"), 0o777); err != nil {
				t.Fatal(err)
			}
			to, link := filepath.Join(dir, "pages", "p.html"), filepath.Join(dir, "latest.html")
			if old != "" {
				if err := os.WriteFile(to, []byte(old), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("pages/p.html", link); err != nil {
				t.Fatal(err)
			}
			if err := WriteFile(t.Context(), link, text("page")); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(to); string(got) != "page" {
				t.Errorf("the file holds %q, %v", got, err)
			}
			if at, err := os.Readlink(link); at != "pages/p.html" {
				t.Errorf("the link leads to %q, %v", at, err)
			}
			if info, _ := os.Stat(to); old != "" && info.Mode().Perm() != 0o640 {
				t.Errorf("permissions are now %v", info.Mode())
			}
			if left, _ := os.ReadDir(filepath.Join(dir, "pages")); len(left) != 1 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := WriteFile(t.Context(), path, func(w io.Writer) error {
		io.WriteString(w, "half")
		return broken
	}); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "old" {
		t.Errorf("after a failure the file holds %q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	for path, want := range map[string]string{dir: "is a folder",
		filepath.Join(dir, "no", "p"): "/no/p: no such file or directory"} {
		if err := WriteFile(t.Context(), path, text("page")); err == nil ||
			!strings.HasSuffix(strings.Split(err.Error(), "; ")[0], want) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: error %v, want %s", path, err, want)
		}
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(t.Context(), filepath.Join(dir, "loop"), text("page")); err == nil {
		t.Error("a link to itself can be written through")
	}
}

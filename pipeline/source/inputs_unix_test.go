//go:build unix

package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/store"
)

// Stopping the run ends the wait for a pipe without a writer.
func TestAWaitForAPipeEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := readHosts(ctx, path, sha256.New(), func(row) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	// End the abandoned reader, for the check of leaks. Opening the pipe to write
	// fails with ENXIO until the reader waits in its call to open.
	for {
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if errors.Is(err, syscall.ENXIO) {
			runtime.Gosched()
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		return
	}
}

func TestAPipeAsAList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(path, []byte("a.test\nb.test\n"), 0)
	var got []string
	if err := readHosts(t.Context(), path, sha256.New(), func(r row) error { got = append(got, r.host); return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.test", "b.test"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALineWithoutAnEnd_NoRace(t *testing.T) {
	if err := readHosts(t.Context(), "/dev/zero", sha256.New(), func(row) error { return nil }); !errors.Is(err, errEndless) {
		t.Errorf("error %v", err)
	}
	bomb := writeFile(t, "h.gz", gzipped(strings.Repeat("\x00", endlessLine+maxLine*2)))
	if _, err := inspect(t.Context(), bomb); !errors.Is(err, errEndless) {
		t.Errorf("a bomb: %v", err)
	}
}

func TestRejectsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	file, err := s.Create("rejected.csv")
	if err == nil {
		err = file.Publish()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := NewRejects(file, in(t, dir), func(int64) {})
	r.most = 3
	for i := range 10 {
		if err := r.host(int64(i+1), "x", "duplicate"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "rejected.csv"))
	want := "line,text,reason,input\n1,x,duplicate,hosts\n2,x,duplicate,hosts\n3,x,duplicate,hosts\n0,,not_listed: 7 more; the first 3 are listed,\n"
	if diff := cmp.Diff(want, string(text)); diff != "" || r.n != 10 {
		t.Errorf("%d counted\n%s", r.n, diff)
	}
}

func TestInputsHaveOneOrder(t *testing.T) {
	for range 20 {
		s, err := Open(t.Context(), Config{Hosts: writeFile(t, "h", []byte("a.test\n")), Ranks: writeFile(t, "r", []byte("1,a.test\n"))})
		must(t, err)
		inputs := s.Inputs()
		if len(inputs) != 2 || inputs[0].Role != "hosts" || inputs[1].Role != "ranks" {
			t.Fatalf("%+v, %v", inputs, err)
		}
	}
}

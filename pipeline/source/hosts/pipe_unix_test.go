//go:build unix

package hosts

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

	"github.com/robocensus/robocensus/pipeline/source/input"
)

// Stopping the run ends the wait for a pipe without a writer.
func TestAWaitForAPipeEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := readHosts(ctx, path, "", sha256.New(), func(row) error { return nil }); !errors.Is(err, context.Canceled) {
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
	if err := readHosts(t.Context(), path, "", sha256.New(), func(r row) error {
		got = append(got, r.host)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.test", "b.test"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALineWithoutAnEnd_NoRace(t *testing.T) {
	if err := readHosts(t.Context(), "/dev/zero", "", sha256.New(), func(row) error { return nil }); !errors.Is(err,
		input.ErrEndless) {
		t.Errorf("error %v", err)
	}
	bomb := writeFile(t, "h.gz", gzipped(strings.Repeat("\x00", 64<<20+input.MaxLine*2)))
	if _, err := Inspect(t.Context(), bomb); !errors.Is(err, input.ErrEndless) {
		t.Errorf("a bomb: %v", err)
	}
}

//go:build unix

package pipeline

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/store"
)

// A pipe that nobody writes to is waited for until the run is stopped.
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
	// Who waits inside the call to open is let go, for the check of leaks.
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err == nil {
		f.Close()
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

func TestALineWithoutAnEnd(t *testing.T) {
	if err := readHosts(t.Context(), "/dev/zero", sha256.New(), func(row) error { return nil }); !errors.Is(err, errEndless) {
		t.Errorf("error %v", err)
	}
	bomb := writeFile(t, "h.gz", gzipped(strings.Repeat("\x00", endlessLine+maxLine*2)))
	if _, err := inspect(t.Context(), bomb); !errors.Is(err, errEndless) {
		t.Errorf("a bomb: %v", err)
	}
}

// Archives are read side by side; what is told of them is not.
func TestRejectsStandInTheOrderOfTheInput(t *testing.T) {
	dir := t.TempDir()
	for i := range 8 {
		text := ""
		for j := range 200 {
			text += fmt.Sprintf("damage %d\n\n\n", j) + warcResponse(fmt.Sprintf("h%d-%d.test", i, j), "HTTP/1.1 200 OK\r\n\r\nUser-agent: *")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.warc", i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for range 4 {
		c := newConfig(t, nil, "")
		c.Source = Source{WARC: []string{filepath.Join(dir, "*.warc")}}
		result, err := Run(t.Context(), c, new(Progress))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(result.Folder, "rejected.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(text)
		}
		if n := strings.Count(first, "damaged_record"); n < 8*200 {
			t.Fatalf("%d lines", n)
		}
		if string(text) != first {
			t.Fatal("rejected.csv differs from run to run")
		}
		if left, _ := filepath.Glob(filepath.Join(result.Folder, "*.tmp")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}

func TestRejectsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(dir)
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
	r := newRejects(file, in(t, dir), new(Progress))
	r.most = 3
	for i := range 10 {
		if err := r.host(int64(i+1), "x", "duplicate"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.finish(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "rejected.csv"))
	want := "line,text,reason,input\n1,x,duplicate,hosts\n2,x,duplicate,hosts\n3,x,duplicate,hosts\n0,,not_listed: 7 more; the first 3 are listed,\n"
	if diff := cmp.Diff(want, string(text)); diff != "" || r.n != 10 {
		t.Errorf("%d counted\n%s", r.n, diff)
	}
}

func TestInputsStandInOneOrder(t *testing.T) {
	for range 20 {
		n := &census{Config: Config{}, progress: new(Progress)}
		n.Hosts, n.Ranks = writeFile(t, "h", []byte("a.test\n")), writeFile(t, "r", []byte("1,a.test\n"))
		inputs, err := n.open(t.Context())
		if err != nil || len(inputs) != 2 || inputs[0].Role != "hosts" || inputs[1].Role != "ranks" {
			t.Fatalf("%+v, %v", inputs, err)
		}
	}
}

// A run that has asked nobody leaves nothing; one that has, what it did.
func TestAFailedRunLeavesNothingBehind(t *testing.T) {
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {}, "x@y.test\n\n")
	_, err := Run(t.Context(), c, new(Progress))
	var input *userfile.Error
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "line 1: bad_host") {
		t.Errorf("error %v", err)
	}
	for _, left := range []string{"_runs/" + c.Run, "fetches/run=" + c.Run} {
		if _, err := os.Stat(filepath.Join(c.Dir, left)); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}

//go:build unix

package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Archives are read concurrently, but rejected.csv has their lines in the order of
// the input.
func TestRejectsKeepTheOrderOfTheInput(t *testing.T) {
	dir := t.TempDir()
	runs, records := 4, 200
	if testing.Short() {
		runs, records = 2, 80
	}
	for i := range 8 {
		text := ""
		for j := range records {
			text += fmt.Sprintf("damage %d\n\n\n", j) + warcResponse(fmt.Sprintf("h%d-%d.test", i, j), "HTTP/1.1 200 OK\r\n\r\nUser-agent: *")
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.warc", i)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for range runs {
		c := newConfig(t, nil, "")
		c.Source = source.Config{Schemes: []string{"http"}, WARC: []string{filepath.Join(dir, "*.warc")}}
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
		if n := strings.Count(first, "damaged_record"); n < 8*records {
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

// A failed run that asked no host leaves nothing, and what was there; one that asked hosts
// leaves what it did.
func TestAFailedRunLeavesNothingBehind(t *testing.T) {
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {}, "x@y.test\n\n")
	c.State = filepath.Join(filepath.Dir(c.Dir), "states", "a")
	refused := func() {
		t.Helper()
		_, err := Run(t.Context(), c, new(Progress))
		var input *userfile.Error
		if !errors.As(err, &input) || !strings.Contains(err.Error(), "line 1: bad_host") {
			t.Errorf("error %v", err)
		}
		if _, err := os.Stat(filepath.Dir(c.State)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder of the memory is left: %v", err)
		}
	}
	refused()
	if _, err := os.Stat(c.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
	none, state := c.Source.Hosts, c.State
	c.Source.Hosts, c.State = filepath.Join(t.TempDir(), "hosts"), ""
	must(t, os.WriteFile(c.Source.Hosts, []byte("a.test\n"), 0o666))
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	c.Source.Hosts, c.State, c.ForceNew = none, state, true
	refused()
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	if must(t, err); !m.Complete() {
		t.Error("the run that was to be replaced is gone")
	}
}

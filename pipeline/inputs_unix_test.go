//go:build unix

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/schema"
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
			text += fmt.Sprintf("damage %d\n\n\n", j) + warcResponse(fmt.Sprintf("h%d-%d.test", i, j),
				"HTTP/1.1 200 OK\r\n\r\nUser-agent: *")
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

// A failed run that asked no host leaves nothing.
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
}

// pipe returns a pipe that somebody writes a text to.
func pipe(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(path, 0o666))
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			io.WriteString(w, text)
			w.Close()
		}
	}()
	return path
}

// A run that replaces another and is interrupted before a host has answered stays, and is resumed.
func TestARunThatReplacesAnotherStaysWhenInterrupted(t *testing.T) {
	answer := func(*http.Request) {}
	c := newConfig(t, func(_ http.ResponseWriter, r *http.Request) { answer(r) }, "a.test\n")
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.ForceNew, answer = true, func(r *http.Request) { cancel(); <-r.Context().Done() }
	_, err = Run(ctx, c, new(Progress))
	if stopped := (*Stopped)(nil); !errors.As(err, &stopped) || !stopped.Resumable {
		t.Fatalf("an interrupted run: %v", err)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "_runs/r/plan.json")); err != nil {
		t.Errorf("neither run is there: %v", err)
	}
	c.ForceNew, c.Resume, answer = false, true, func(*http.Request) {}
	if r, err := Run(t.Context(), c, new(Progress)); err != nil || r.Targets != 1 {
		t.Errorf("resumed: %+v, %v", r, err)
	}
}

// The run that a new one replaces goes once the input of the new one is known to have a target. Then
// the new one is as it would be in an empty folder.
func TestARunStaysUntilAnotherHasATarget(t *testing.T) {
	robots := warcResponse("a.test", "HTTP/1.1 200 OK\r\n\r\nUser-agent: *")
	none := writeFile(t, "none.warc", []byte("no archive"))
	some := writeFile(t, "some.warc", []byte("damage\n\n\n"+robots+"damage\n\n\n"+robots))
	bodies := t.TempDir()
	must(t, errors.Join(os.WriteFile(filepath.Join(bodies, "not a host"), nil, 0o666),
		os.WriteFile(filepath.Join(bodies, "z.test"), []byte("User-agent: *"), 0o666)))
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {}, "")
	list := c.Source.Hosts
	c.Source = source.Config{Bodies: bodies, Schemes: []string{"http"}}
	_, err := Run(t.Context(), c, new(Progress))
	must(t, err)
	kept, err := os.ReadFile(filepath.Join(c.Dir, "_runs/r/manifest.json"))
	must(t, err)
	c.ForceNew = true
	for name, s := range map[string]source.Config{
		"an empty list": {Hosts: list}, "a list without a host": {Hosts: writeFile(t, "list", []byte("x@y.test\n"))},
		"an empty pipe": {Hosts: pipe(t, "")}, "a pipe without a host": {Hosts: pipe(t, "x@y.test\n")},
		"no list": {Hosts: "nowhere"}, "an empty folder": {Bodies: t.TempDir()}, "no archive": {WARC: []string{none}},
		"archives of others": {WARC: []string{none, some}, Hosts: writeFile(t, "list", []byte("b.test\n"))},
		"archives' last":     {WARC: []string{none}, LastCapture: true},
		"an empty archive":   {WARC: []string{pipe(t, "")}}, "an index": {CDX: []string{writeFile(t, "index.cdxj", nil)}},
	} {
		c := c
		s.Schemes = c.Source.Schemes
		c.Source = s
		_, err := Run(t.Context(), c, new(Progress))
		if input := (*userfile.Error)(nil); !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
		entries, err := os.ReadDir(c.Dir)
		must(t, err)
		for _, e := range entries {
			if !e.IsDir() && e.Name() != "views.sql" {
				t.Errorf("%s leaves %s", name, e.Name())
			}
		}
		if text, err := os.ReadFile(filepath.Join(c.Dir, "_runs/r/manifest.json")); err != nil ||
			string(text) != string(kept) {
			t.Fatalf("%s: the run that was to be replaced is gone: %v", name, err)
		}
	}
	lines := "x@y.test\na.test\nx@z.test\nb.test\n"
	for name, open := range map[string]func() source.Config{
		"a list":      func() source.Config { return source.Config{Hosts: writeFile(t, "list", []byte(lines))} },
		"a pipe":      func() source.Config { return source.Config{Hosts: pipe(t, lines)} },
		"bodies":      func() source.Config { return source.Config{Bodies: bodies} },
		"archives":    func() source.Config { return source.Config{WARC: []string{none, some, some + "x", some}} },
		"one archive": func() source.Config { return source.Config{WARC: []string{pipe(t, string(robots)+"damage")}} },
		"the last":    func() source.Config { return source.Config{WARC: []string{none, some}, LastCapture: true} },
		"the first":   func() source.Config { return source.Config{WARC: []string{none, some}, Limit: 1} },
	} {
		var made [2]string
		for i := range made {
			c := c
			if i == 0 {
				c.Dir = filepath.Join(t.TempDir(), "new")
			}
			c.Source = open()
			c.Source.Schemes = []string{"http"}
			if len(c.Source.WARC) == 4 {
				must(t, os.WriteFile(c.Source.WARC[2], []byte(robots), 0o666))
			}
			result, err := Run(t.Context(), c, new(Progress))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			rejected, err := os.ReadFile(filepath.Join(result.Folder, "rejected.csv"))
			must(t, err)
			delete(result.Rows, "summary") // how long hosts take makes rows
			made[i] = fmt.Sprint(result.Targets, result.Rejected, result.Rows, result.Skipped, "\n", string(rejected))
			for _, f := range rowsOf[schema.Fetch](t, c, "fetches") {
				made[i] += fmt.Sprintln(f.Seq, f.Host)
			}
			if len(c.Source.WARC) == 1 {
				made[i] = strings.ReplaceAll(made[i], c.Source.WARC[0], "PIPE")
			}
		}
		if made[0] != made[1] {
			t.Errorf("%s: instead of\n%s\nthere is\n%s", name, made[0], made[1])
		}
	}
}

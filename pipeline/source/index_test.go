package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// readAll reads a source, and returns the hosts with the first line of what they answered,
// and what is rejected.
func readAll(t *testing.T, c Config) (answers []string, rejects *input.Account, err error) {
	t.Helper()
	c.MaxBody, c.Schemes = 1<<20, []string{"https"}
	s, err := Open(t.Context(), c)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	rejects = input.NewAccount(nil, in(t, t.TempDir()), func(int64) {})
	if err := s.Start(t.Context(), rejects, func(int64) {}); err != nil {
		return nil, rejects, err
	}
	for _, v := range s.Volumes {
		err := v.Read(t.Context(), func(t target.Target) error {
			first, _, _ := strings.Cut(string(t.Capture.Body), "\n")
			if t.Capture.Unstored {
				first = "unstored"
			}
			answers = append(answers, fmt.Sprintf("%s %d %s", t.Capture.Origin.Host, t.Capture.Status(),
				first+t.Stored.Mismatch))
			return nil
		})
		if err != nil {
			return answers, rejects, err
		}
	}
	slices.Sort(answers)
	return answers, rejects, nil
}

// conformance returns the folder of archives that real writers wrote, or skips.
func conformance(t *testing.T) string {
	t.Helper()
	folder := filepath.FromSlash("../../../shared/conformance")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no archives of real writers: %v", err)
	}
	return folder
}

// The indexes of real servers are read: rows of 14 fields, and JSON.
func TestIndexesOfServers(t *testing.T) {
	archives := filepath.Join(conformance(t), "archives")
	want := []string{"a.test 200 User-agent: *", "b.test 200 User-agent: *"}
	for _, name := range []string{"index-14-fields.cdx", "index-json-lines.json"} {
		got, rejects, err := readAll(t, Config{CDX: []string{filepath.Join(archives, name)}, Base: archives})
		if d := cmp.Diff(want, got); d != "" || err != nil || rejects.Lines() > 0 {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
	}
	if err := Check(t.Context(), Config{CDX: []string{filepath.Join(archives, "index-*")}}); err != nil {
		t.Errorf("a pattern: %v", err)
	}
	if err := Check(context.Background(), Config{CDX: []string{filepath.Join(archives, "none-*")}}); err == nil ||
		!strings.Contains(err.Error(), "no such file; give indexes of captures") {
		t.Errorf("a pattern of nothing: %v", err)
	}
}

// Several files are one index: what one names again is a duplicate, and what is wrong is
// said to be in its line of its file.
func TestSeveralIndexes(t *testing.T) {
	dir := t.TempDir()
	a, b := sinktest.Response("a.example", "HTTP/1.1 200 OK\r\n\r\n# a\n"), sinktest.Response("b.example",
		"HTTP/1.1 200 OK\r\n\r\n# b\n")
	must(t, os.WriteFile(filepath.Join(dir, "x.warc"), []byte(a+b), 0o666))
	lineOf := func(host string, length, offset int) string {
		return fmt.Sprintf("x 20260110060000 https://%s/robots.txt text/plain 200 A - - %d %d x.warc", host, length, offset)
	}
	must(t, os.WriteFile(filepath.Join(dir, "1.cdx"), []byte("\ufeff\r\n"+lineOf("a.example", len(a), 0)+"\r\nwrong\r\n"),
		0o666))
	must(t, os.WriteFile(filepath.Join(dir, "2.cdx.gz"), sinktest.Gzip("bad\n"+lineOf("b.example", len(b), len(a))+"\n"+
		lineOf("a.example", len(a), 0)+"\n"), 0o666))
	for _, given := range [][]string{{filepath.Join(dir, "*.cdx*")}, {filepath.Join(dir, "1.cdx"),
		filepath.Join(dir, "2.cdx.gz")}} {
		got, rejects, err := readAll(t, Config{CDX: given, Base: dir})
		if d := cmp.Diff([]string{"a.example 200 # a", "b.example 200 # b"}, got); d != "" || err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
		if n, first := rejects.Found(); n != 3 || !strings.HasPrefix(first, "line 3: not_a_capture: 1 fields") {
			t.Errorf("%d rejected, the first %q", n, first)
		}
		if k := rejects.Kinds()["duplicate"]; k.N != 1 || k.First != "the same record as in line 2 of "+filepath.Join(dir,
			"1.cdx") {
			t.Errorf("duplicates: %+v", k)
		}
	}
}

// A list of archives may begin with a byte order mark, and have the line ends of Windows.
func TestByteOrderMarkInAListOfArchives(t *testing.T) {
	archive := writeFile(t, "a.warc", []byte(sinktest.Response("a.example", "HTTP/1.1 200 OK\r\n\r\n# a\n")))
	for _, text := range []string{"\ufeff" + archive + "\r\n", "\ufeff# archives\r\n" + archive + "\r\n\r\n",
		string(sinktest.Gzip("\ufeff" + archive + "\n"))} {
		got, _, err := readAll(t, Config{Paths: writeFile(t, "list", []byte(text))})
		if d := cmp.Diff([]string{"a.example 200 # a"}, got); d != "" || err != nil {
			t.Errorf("%.20q: %v\n%s", text, err, d)
		}
	}
}

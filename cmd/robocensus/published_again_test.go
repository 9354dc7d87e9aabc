package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A data set has the comparisons of its runs with their records, and the agents that
// they read, so that it can be followed, judged and published again. The day of its
// release is that on which its runs were made.
func TestPublishedAgain_NoRace(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	in := func(name string) string { return filepath.Join(work, name) }
	must(t, os.Mkdir(in("files"), 0o777))
	agents := in("mine.yaml")
	must(t, os.WriteFile(agents, []byte("- {name: GPTBot, category: ai-training}\n"), 0o666))
	for run, rule := range map[string]string{"q": "Disallow:", "r": "Disallow: /"} {
		must(t, os.WriteFile(filepath.Join(in("files"), "a.example"), []byte("User-agent: *\n"+rule+"\n"), 0o666))
		date := map[string]string{"q": "2014-05", "r": "2015-05"}[run]
		call(t, 0, "run", "--bodies", in("files"), "--agents", agents, "--keep-bodies", "--keep-comments", "--out",
			in("out"), "--run", run, "--as-of", date, "--progress", "none")
	}
	call(t, 0, "diff", "--out", in("out"), "q", "r")
	publish := func(from, to string) string {
		return call(t, 0, "publish", "--out", in(from), "q", "r", "--to", in(to), "--creator", "A", "--licence", "CC0-1.0")
	}
	if text := publish("out", "set"); strings.Contains(text, "mine.yaml") {
		t.Errorf("the agents are at hand: %s", text)
	}
	if text := call(t, 0, "series", "--out", in("set")); strings.Contains(text, "not compared") {
		t.Errorf("the comparison is published: %s", text)
	}
	files := filesOf(t, in("set"))
	if sheet := files["DATASHEET.md"]; !strings.Contains(sheet, "\n| `changes` | ") ||
		strings.Contains(sheet, "User agent: `") || strings.Contains(sheet, "| error class |") {
		t.Errorf("the data sheet:\n%s", sheet)
	}
	if query := files["queries/datasheet.sql"]; !strings.Contains(query, " FROM history.changes\n") {
		t.Errorf("the query of the data sheet:\n%s", query)
	}
	if year := fmt.Sprintf("date-released: \"%d-", time.Now().UTC().Year()); !strings.Contains(files["CITATION.cff"],
		year) {
		t.Errorf("want %s:\n%s", year, files["CITATION.cff"])
	}
	if text := call(t, 64, "verify", "--out", in("set"), "r"); !strings.Contains(text, "robocensus reproduce") {
		t.Errorf("verify: %s", text)
	}
	if text := call(t, 0, "reproduce", in("set")); !strings.Contains(text,
		"run r: changes: not compared (robocensus diff makes it)\n") ||
		!strings.HasSuffix(text, "\nthe same, as far as compared (not compared: changes)\n") {
		t.Errorf("a comparison is not made again:\n%s", text)
	}
	for _, flag := range []string{"--title", "--creator"} {
		if text := call(t, 64, "publish", "--out", in("out"), "q", "--to", in("bad"), flag, "a\nb", "--creator", "A",
			"--licence", "CC0-1.0"); !strings.Contains(text, flag+` "a\nb": write it on one line`) {
			t.Errorf("%s: %s", flag, text)
		}
	}
	for _, to := range []string{"out/_runs/set", "out/bodies", "out/fetches/run=set", "out/changes/run=r/set"} {
		text := call(t, 64, "publish", "--out", in("out"), "q", "--to", in(to), "--creator", "A", "--licence", "CC0-1.0")
		if !strings.Contains(text, "has its runs and tables") {
			t.Errorf("%s: %s", to, text)
		}
	}
	publish("out", "out/set")
	call(t, 0, "verify", "--out", in("out"), "r")
	if !maps.Equal(files, filesOf(t, in("out/set"))) {
		t.Error("beside the tables, the data set is another")
	}
	for _, to := range []string{"out/set/more", "out/set/queries/more"} {
		text := call(t, 64, "publish", "--out", in("out"), "q", "--to", in(to), "--creator", "A", "--licence", "CC0-1.0")
		if !strings.Contains(text, "is in the data set "+in("out/set")+", and would break its checksums") {
			t.Errorf("%s: %s", to, text)
		}
	}
	if !maps.Equal(files, filesOf(t, in("out/set"))) {
		t.Error("a data set in another changes it")
	}
	for _, args := range [][]string{
		{"diff", "r", "q"}, {"prune", "--keep", "1"}, {"run", "--bodies", in("files")},
		{"plan", "--bodies", in("files"), "--shards", "2", "--run", "s"},
	} {
		if text := call(t, 65, append(args, "--out", in("set"))...); !strings.Contains(text, "give another --out") {
			t.Errorf("%s: %s", args[0], text)
		}
	}
	if !maps.Equal(files, filesOf(t, in("set"))) {
		t.Error("files of the data set have changed")
	}
	call(t, 0, "publish", "--out", in("out"), "r", "--to", in("few"), "--creator", "A", "--licence", "CC0-1.0",
		"--without", "lines,summary,examples")
	call(t, 0, "reproduce", in("few")) // of a run with --keep-comments
	must(t, os.Remove(agents))
	publish("set", "again")
	call(t, 0, "reproduce", in("again"))
	if text := publish("out", "lacking"); !strings.Contains(text, "mine.yaml (agents) is not there") {
		t.Errorf("the agents are not at hand: %s", text)
	}
	call(t, 64, "reproduce", in("lacking"))
}

// Archives that are named by absolute paths are published without them.
func TestPublishedArchives_NoRace(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	archive, out, set := filepath.Join(work, "jane.warc"), filepath.Join(work, "out"), filepath.Join(work, "set")
	answer := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /\n"
	head := "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/robots.txt\r\n" +
		"WARC-Date: 2024-05-14T08:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n" +
		"Content-Type: application/http; msgtype=response\r\n"
	must(t, os.WriteFile(archive, fmt.Appendf(nil, "%sContent-Length: %d\r\n\r\n%s\r\n\r\n", head, len(answer), answer),
		0o666))
	call(t, 0, "run", "--warc", archive, "--keep-bodies", "--out", out, "--run", "r", "--progress", "none")
	call(t, 0, "publish", "--out", out, "r", "--to", set, "--creator", "A", "--licence", "CC0-1.0")
	if got := cellsOf(t, set)["fetches.warc_file"]; !slices.Equal(got, []string{"jane.warc"}) {
		t.Errorf("the archives are %q", got)
	}
	if !strings.HasSuffix(call(t, 0, "reproduce", set), "the same\n") {
		t.Error("the data set is not judged the same")
	}
}

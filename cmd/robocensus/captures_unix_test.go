//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Three captures of two hosts are not three hosts, whoever says how many there are.
func TestCapturesAreNotHosts_NoRace(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), t.TempDir()
	for name, hosts := range map[string][]string{"1.warc": {"a.example", "b.example", "a.example"},
		"2.warc": {"c.example"}} {
		var text string
		for _, host := range hosts {
			text += capture(host, "User-agent: *\n")
		}
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	one := filepath.Join(dir, "1.warc")
	counted := func(args ...string) [2]float64 {
		t.Helper()
		var said map[string]any
		text := call(t, 0, append([]string{"run", "--out", out, "--json", "--progress", "none", "--run"}, args...)...)
		must(t, json.Unmarshal([]byte(text[strings.IndexByte(text, '{'):strings.LastIndexByte(text, '}')+1]), &said))
		got := [2]float64{-1, -1}
		for i, key := range []string{"hosts", "captures"} {
			if n, ok := said[key].(float64); ok {
				got[i] = n
			}
		}
		return got
	}
	if got := counted("a", "--warc", one); got != [2]float64{2, 3} {
		t.Errorf("hosts and captures are %v", got)
	}
	if got := counted("a", "--warc", one, "--resume"); got != [2]float64{2, 3} { // complete already
		t.Errorf("hosts and captures of a complete run are %v", got)
	}
	if got := counted("b", "--warc", one, "--tables", "summary"); got != [2]float64{-1, 3} {
		t.Errorf("hosts and captures are %v where hosts are not counted", got)
	}
	if got := counted("c", "--warc", one, "--last-capture"); got != [2]float64{2, 2} {
		t.Errorf("hosts and last captures are %v", got)
	}
	bodies := filepath.Join(dir, "bodies")
	must(t, os.Mkdir(bodies, 0o777))
	must(t, os.WriteFile(filepath.Join(bodies, "a.example"), nil, 0o666))
	if got := counted("d", "--bodies", bodies); got != [2]float64{1, -1} {
		t.Errorf("hosts and captures of files are %v", got)
	}
	call(t, 0, "plan", "--warc-paths", list(t, one, filepath.Join(dir, "2.warc")), "--shards", "2", "--out", out, "--run",
		"s")
	if said := call(t, 0, "run", "--out", out, "--run", "s", "--shard", "0", "--progress", "none"); !strings.Contains(
		said, "shard 0 of 2: 3 captures, ") {
		t.Errorf("a shard says:\n%s", said)
	}
}

// Of several captures of an origin in a run the last one counts, by time, in history,
// show, diff and check.
func TestLastCaptureCounts_NoRace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, agents := filepath.Join(dir, "out"), filepath.Join(dir, "agents.yaml")
	must(t, os.WriteFile(agents, []byte("- {name: GPTBot}\n- {name: Googlebot}\n"), 0o666))
	const open, closed, partly = "User-agent: *\nDisallow:\n", "User-agent: *\nDisallow: /\n",
		"User-agent: GPTBot\nDisallow: /\n"
	run := func(name string, captures ...[2]string) { // time and body
		var text string
		for _, c := range captures {
			text += strings.Replace(capture("cap.example", c[1]), "2026-11-20T10", c[0], 1)
		}
		path := filepath.Join(dir, name+".warc")
		must(t, os.WriteFile(path, []byte(text), 0o666))
		call(t, 0, "run", "--warc", path, "--agents", agents, "--out", out, "--run", name, "--progress", "none")
	}
	run("a", [2]string{"2026-01-01T01", open}, [2]string{"2026-01-01T02", partly})
	run("b", [2]string{"2026-02-01T01", open}, [2]string{"2026-02-01T02", closed})
	run("c", [2]string{"2026-03-01T02", partly}, [2]string{"2026-03-01T01", closed}) // the first one is the last
	told := call(t, 0, "history", "cap.example", "--out", out, "--agent", "Googlebot")
	for _, want := range []string{
		"2026-01-01  a  a robots.txt, status 200; shuts out GPTBot\n",
		"2026-02-01  b  critical, policy class Googlebot: open → shut out (line 1)\n",
		"2026-03-01  c  critical, policy class Googlebot: shut out → open\n",
	} {
		if !strings.Contains(strings.ReplaceAll(told, "major", "critical"), want) {
			t.Errorf("history does not tell %q:\n%s", want, told)
		}
	}
	var shown []struct {
		Changes []struct{ Agent *string }
		Notes   []string
	}
	must(t, json.Unmarshal([]byte(call(t, 0, "show", "cap.example", "--out", out, "--run", "c", "--json")), &shown))
	if len(shown) != 2 || len(shown[0].Changes) == 0 || len(shown[0].Notes) != 0 || shown[1].Changes == nil ||
		len(shown[1].Changes) != 0 || len(shown[1].Notes) != 1 {
		t.Errorf("the last capture of c has the changes, and the other a note: %+v", shown)
	}
	if text := call(t, 0, "show", "cap.example", "--out", out, "--run", "b"); !strings.Contains(text,
		"\nsince run a\n  note: a later capture of the origin counts\n\n") || strings.Count(text, "Googlebot: open") != 1 {
		t.Errorf("show tells\n%s", text)
	}
	for run, code := range map[string]int{"a": 0, "b": 1, "c": 0} {
		urls := list(t, "https://cap.example/x")
		call(t, code, "check", "--out", out, "--run", run, "--agent", "Googlebot", "--urls", urls)
	}
}

// list writes lines to a file and returns its path.
func list(t *testing.T, lines ...string) string {
	path := filepath.Join(t.TempDir(), "list")
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	return path
}

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
	for name, hosts := range map[string][]string{"1.warc": {"a.example", "b.example", "a.example"}, "2.warc": {"c.example"}} {
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
	call(t, 0, "plan", "--warc-paths", list(t, one, filepath.Join(dir, "2.warc")), "--shards", "2", "--out", out, "--run", "s")
	if said := call(t, 0, "run", "--out", out, "--run", "s", "--shard", "0", "--progress", "none"); !strings.Contains(said, "shard 0 of 2: 3 captures, ") {
		t.Errorf("a shard says:\n%s", said)
	}
}

// list writes lines to a file and returns its path.
func list(t *testing.T, lines ...string) string {
	path := filepath.Join(t.TempDir(), "list")
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666))
	return path
}

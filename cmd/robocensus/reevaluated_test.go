package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/schema"
)

// remembered makes run r of hosts of which one is down since run q, one answers 503 for
// every missing page, and one has URLs of its own. Its first profile makes nothing of the
// copy, nor of the probe.
func remembered(t *testing.T) (dir, urls string) {
	t.Helper()
	var down atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "broken.example" && r.URL.Path != "/" || r.Host == "down.example" && down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "User-agent: *\nDisallow: /x\n")
	}))
	defer server.Close()
	inputs := t.TempDir()
	dir, urls = t.TempDir(), filepath.Join(inputs, "urls.txt")
	hosts, agents := filepath.Join(inputs, "hosts.txt"), filepath.Join(inputs, "agents.yaml")
	must(t, os.WriteFile(urls, []byte("/x\nhttp://down.example/y\n"), 0o666))
	must(t, os.WriteFile(hosts, []byte("broken.example\ndown.example\nhttp://own.example/x/1\nhttp://own.example/2\n"),
		0o666))
	must(t, os.WriteFile(agents,
		[]byte("- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n"), 0o666))
	state := t.TempDir()
	for _, run := range []string{"q", "r"} {
		call(t, 0, "run", "--hosts", hosts, "--out", dir, "--run", run, "--urls", urls, "--agents", agents, "--schemes",
			"http", "--connect-to", server.Listener.Addr().String(),
			"--allow-private", "--state", state, "--max-age", "0", "--retries", "0", "--probe-misconfigured", "--profile",
			"google-2012,google,rfc9309", "--keep-bodies", "--progress", "none")
		down.Store(true)
	}
	return dir, urls
}

// A data set of a run with a memory and with probes is the same under every profile.
func TestReproduceWithMemoryAndProbes_NoRace(t *testing.T) {
	t.Parallel()
	dir, _ := remembered(t)
	of := make(map[string]map[string]string)
	rows, err := parquet.ReadFile[schema.Policy](filepath.Join(dir, "policies", "run=r", "part-0000000000.parquet"))
	must(t, err)
	for _, row := range rows {
		if of[row.Host] == nil {
			of[row.Host] = make(map[string]string)
		}
		of[row.Host][row.Profile] = row.Outcome
	}
	if d, b := of["down.example"], of["broken.example"]; d["google-2012"] == d["rfc9309"] || b["google"] == b["rfc9309"] {
		t.Fatalf("the profiles agree, so the test shows nothing: %v", of)
	}
	folder := filepath.Join(t.TempDir(), "set")
	publishTo(t, dir, folder)
	// All tables but those of identities, documents, labels and sitemaps, which no host is asked for.
	if text := call(t, 0, "reproduce", folder); strings.Count(text, ": the same, ") != len(schema.TableNames)-7 ||
		strings.Contains(text, "compared") {
		t.Errorf("something is not the same, or not compared:\n%s", text)
	}
	bodies := t.TempDir()
	must(t, os.WriteFile(filepath.Join(bodies, "any.example"), []byte("User-agent: *\nDisallow: /x\n"), 0o666))
	less := filepath.Join(t.TempDir(), "less")
	publishTo(t, dir, less, "--without", "bodies")
	if text := call(t, 0, "reproduce", less, "--bodies", bodies); strings.Count(text, ": the same, ") != len(
		schema.TableNames)-8 || strings.Contains(text, "compared") {
		t.Errorf("something is not the same, or not compared:\n%s", text)
	}
}

// URLs that only some hosts have are re-evaluated, whatever --urls gives, or a note says
// that nothing names them.
func TestOwnURLsJudgedAgain_NoRace(t *testing.T) {
	t.Parallel()
	dir, urls := remembered(t)
	args := func(from string, more ...string) []string {
		return append([]string{"run", "--from-run", filepath.Join(from, "_runs", "r"), "--out", dir, "--urls", urls,
			"--keep-bodies", "--progress", "none"}, more...)
	}
	verdicts := func(run string) map[string]int {
		urls := make(map[string]int)
		rows, err := parquet.ReadFile[schema.Verdict](filepath.Join(dir, "verdicts", "run="+run, "part-0000000000.parquet"))
		must(t, err)
		for _, row := range rows {
			urls[row.Host+" "+row.URL]++
		}
		return urls
	}
	if text := call(t, 0, args(dir, "--run", "again")...); strings.Contains(text, "note:") {
		t.Errorf("a note, although nothing is missed:\n%s", text)
	}
	for _, url := range []string{"own.example /x", "own.example http://own.example/x/1",
		"own.example http://own.example/2", "down.example http://down.example/y"} {
		if verdicts("again")[url] == 0 {
			t.Errorf("%s is not re-evaluated: %v", url, verdicts("again"))
		}
	}
	for _, lost := range []string{"verdicts", "verdicts.url"} {
		set, run := filepath.Join(t.TempDir(), "set"), strings.ReplaceAll(lost, ".", "-")
		publishTo(t, dir, set, "--without", lost+",fetches.server")
		text := call(t, 0, args(set, "--run", run)...)
		if !strings.Contains(text, "note: URLs that only some hosts have are not re-evaluated") ||
			!strings.Contains(text, "published without fetches.server: ") {
			t.Errorf("without %s:\n%s", lost, text)
		}
		if verdicts(run)["own.example http://own.example/2"] != 0 {
			t.Errorf("without %s: the test shows nothing", lost)
		}
		if text := call(t, 0, args(set, "--run", run+"-2", "--tables", "fetches,policies")...); strings.Contains(text,
			"note: URLs") {
			t.Errorf("a note on URLs, although none is judged:\n%s", text)
		}
		text = call(t, 0, "reproduce", set)
		if want := map[string]string{"verdicts": "",
			"verdicts.url": "run r: verdicts: not compared (without verdicts.url, "}[lost]; !strings.Contains(text, want) ||
			strings.Contains(text, "different") {
			t.Errorf("without %s:\n%s", lost, text)
		}
	}
}

// Where the date of the earlier run cannot be read, the run ends with the error of that run
// and writes nothing: it must not become a run of today.
func TestNotJudgedAgainWithoutADate_NoRace(t *testing.T) {
	t.Parallel()
	dir, _ := published(t)
	folder := filepath.Join(dir, "_runs", "r")
	manifest := filepath.Join(folder, "manifest.json")
	whole, err := os.ReadFile(manifest)
	must(t, err)
	date := regexp.MustCompile(`"date": *"[^"]*"`)
	if !date.Match(whole) {
		t.Fatal("the manifest has no date, so the test shows nothing")
	}
	for name, damaged := range map[string][]byte{
		"no time":   date.ReplaceAll(whole, []byte(`"date": "2026-13-77"`)),
		"no date":   date.ReplaceAll(whole, []byte(`"tool": ""`)),
		"truncated": whole[:len(whole)/2],
		"empty":     nil,
	} {
		must(t, os.WriteFile(manifest, damaged, 0o666))
		for _, more := range [][]string{{"--progress", "none"}, {"--dry-run"}} {
			out := filepath.Join(t.TempDir(), "out")
			text := call(t, 65, append([]string{"run", "--from-run", folder, "--out", out}, more...)...)
			if !strings.Contains(text, folder+": is not a run: ") || !strings.Contains(text, "manifest.json") {
				t.Errorf("%s, %v: %s", name, more, text)
			}
			if parts, _ := filepath.Glob(filepath.Join(out, "*", "run=*")); parts != nil {
				t.Errorf("%s, %v: wrote %v", name, more, parts)
			}
		}
	}
}

// Without what a host answered, nothing is re-evaluated.
func TestNotJudgedAgain_NoRace(t *testing.T) {
	t.Parallel()
	dir, _ := published(t)
	for _, columns := range []string{"bodies.body", "fetches.content_digest", "fetches.hops", "fetches.status",
		"fetches.host", "fetches.copy_digest", "fetches.host,fetches.status"} {
		set := filepath.Join(t.TempDir(), "set")
		publishTo(t, dir, set, "--without", columns)
		want := "cannot be re-evaluated without " + strings.ReplaceAll(columns, ",", ", ")
		for _, args := range [][]string{
			{"run", "--from-run", filepath.Join(set, "_runs", "r"), "--out", t.TempDir(), "--progress", "none"},
			{"run", "--from-run", filepath.Join(set, "_runs", "r"), "--out", t.TempDir(), "--dry-run"},
			{"reproduce", set},
		} {
			if text := call(t, 65, args...); !strings.Contains(text, want) {
				t.Errorf("%s without %s: %s", args[0], columns, text)
			}
		}
		if sheet := filesOf(t, set)["DATASHEET.md"]; strings.Contains(sheet, "robocensus reproduce") {
			t.Errorf("the data sheet without %s says how to re-evaluate", columns)
		}
	}
	set := filepath.Join(t.TempDir(), "set")
	publishTo(t, dir, set, "--without", "bodies.body")
	bodies, _, _ := dumpBodies(t, dir)
	call(t, 0, "reproduce", set, "--bodies", bodies)
}

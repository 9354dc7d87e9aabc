package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/farm"
	"github.com/robocensus/robocensus/sink/schema"
)

// recordedPrograms are the columns of programs in the recorded answers, by profile.
var recordedPrograms = map[string]string{
	"scrapy": "scrapy-2.8.0", "crawlee": "crawlee-http-3.18.1", "colly": "colly-2.3.0",
	"simplecrawler": "simplecrawler-1.1.9",
	"robotstxt-r":   "robotstxt-r-d3d0a4d5", "wget": "wget-1.21.3", "httrack": "httrack-3.49.4",
	"broken-link-checker": "broken-link-checker-0.7.8",
	"supercrawler":        "supercrawler-2.0.0", "linkchecker": "linkchecker-10.2.1", "lwp": "lwp-robotua-6.68",
	"robots.js": "robots-0.10.1",
}

// missesOfPrograms are those of robots/crawlers_answers_test.go, which says why.
var missesOfPrograms = []string{
	"robotstxt-r 301-to-closed", "robotstxt-r 302-to-closed", "robotstxt-r 303-to-closed", "robotstxt-r 307-to-closed",
	"robotstxt-r 308-to-closed",
	"robots.js 200-html-type-closed", "robots.js 200-html-page", "robots.js 200-html-page-closed", "robots.js 200-empty",
	"robots.js timeout",
}

// Twelve programs do with 45 answers of servers what they were recorded to do, whether the
// census asks, reads what it has kept of its requests, or judges its tables again.
func TestProgramsTakeAnswersAsRecorded_NoRace(t *testing.T) {
	t.Parallel()
	in, err := os.Open("../../../shared/conformance/crawlers/answers.jsonl.gz")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recorded answers are not at hand: put the data beside the repository as ../shared")
	}
	must(t, err)
	defer in.Close()
	z, err := gzip.NewReader(in)
	must(t, err)
	recorded := make(map[string]map[string]string) // by case and program
	r := bufio.NewScanner(z)
	r.Buffer(nil, 1<<20)
	for r.Scan() {
		var row struct {
			Kind, Case string
			Answers    map[string]string
		}
		if json.Unmarshal(r.Bytes(), &row) == nil && row.Kind == "status" {
			recorded[row.Case] = row.Answers
		}
	}
	dir := t.TempDir()
	list, faults := "", "elsewhere.test: {body: \"User-agent: *\\nDisallow: /\\n\"}\n"
	for name := range recorded {
		list += name + ".test\n"
		faults += fmt.Sprintf("%s.test: %s\n", name, faultOf(t, name))
	}
	hosts, agents, urls := filepath.Join(dir, "hosts"), filepath.Join(dir, "agents.yaml"), filepath.Join(dir, "urls")
	must(t, os.WriteFile(hosts, []byte(list), 0o666))
	must(t, os.WriteFile(agents, []byte("- {name: bot, tokens: [bot], category: other}\n"), 0o666))
	must(t, os.WriteFile(urls, []byte("/page\n"), 0o666))
	f, err := farm.ParseFaults(strings.NewReader(faults), "faults")
	must(t, err)
	server, err := farm.New(farm.Config{Faults: f})
	must(t, err)
	defer server.Close()
	addr, err := server.ListenHTTP("127.0.0.1:0")
	must(t, err)
	profiles := "scrapy"
	for name := range recordedPrograms {
		if name != "scrapy" {
			profiles += "," + name
		}
	}
	out, evidence := filepath.Join(dir, "out"), filepath.Join(dir, "evidence.warc.gz")
	common := []string{"--out", out, "--agents", agents, "--urls", urls, "--config",
		"../../robots/testdata/programs.yaml", "--progress", "none", "--keep-bodies"}
	for _, run := range []struct {
		name, before string // profiles before those of programs
		source       []string
	}{
		{"asked", "", []string{"--hosts", hosts, "--schemes", "http", "--connect-to", addr, "--timeout", "3s", "--retries",
			"0", "--warc-out", evidence}},
		{"read", "google,", []string{"--warc", evidence}},
		{"again", "", []string{"--from-run", filepath.Join(out, "_runs", "asked")}},
		{"aside", "", []string{"--from-run", filepath.Join(out, "_runs", "read")}},
	} {
		run.source = append(run.source, "--profile", run.before+profiles)
		if code, said := called(append(append([]string{"run", "--run", run.name}, run.source...),
			common...)...); code != cli.ExitOK {
			t.Fatal(said)
		}
		var missed []string
		asked := 0
		for _, v := range tableOf[schema.Verdict](t, out, run.name, "verdicts") {
			name := strings.TrimSuffix(v.Host, ".test")
			want, ok := recorded[name][recordedPrograms[v.Profile]]
			if !ok {
				continue
			}
			asked++
			if got := map[string]string{"allow": "allow", "disallow": "forbid", "undefined": "error"}[v.Verdict]; got != want {
				missed = append(missed, v.Profile+" "+name)
			}
		}
		slices.Sort(missed)
		if want := slices.Sorted(slices.Values(missesOfPrograms)); asked != 538 || !slices.Equal(missed, want) {
			t.Errorf("%s: of %d answers these are others than recorded: %q, want %q", run.name, asked, missed, want)
		}
	}
}

// faultOf returns what the server of a recorded case does, as the farm has it.
func faultOf(t *testing.T, name string) string {
	const closed, page = `"User-agent: *\nDisallow: /\n"`, `<html><body>page</body></html>\n`
	status, what, _ := strings.Cut(name, "-")
	switch {
	case name == "drop":
		return "{reset: start}"
	case name == "timeout":
		return "{hang: start}"
	case name == "loop":
		return `{status: 302, redirect: "http://{host}/robots.txt"}`
	case what == "to-closed":
		return fmt.Sprintf(`{status: %s, redirect: "/real.txt", paths: {"/real.txt": {body: %s}}}`, status, closed)
	case what == "to-other-host":
		return fmt.Sprintf(`{status: %s, redirect: "http://elsewhere.test/robots.txt"}`, status)
	case what == "empty":
		return fmt.Sprintf(`{status: %s, body: ""}`, status)
	case what == "open-body":
		return fmt.Sprintf(`{status: %s, body: "User-agent: *\nDisallow:\n"}`, status)
	case what == "html-page":
		return fmt.Sprintf(`{status: %s, body: "%s", headers: {Content-Type: text/html}}`, status, page)
	case what == "html-page-closed":
		return fmt.Sprintf(`{status: %s, body: "%sUser-agent: *\nDisallow: /\n", headers: {Content-Type: text/html}}`,
			status, page)
	case what == "html-type-closed":
		return fmt.Sprintf(`{status: %s, body: %s, headers: {Content-Type: text/html}}`, status, closed)
	case what == "octet-closed":
		return fmt.Sprintf(`{status: %s, body: %s, headers: {Content-Type: application/octet-stream}}`, status, closed)
	case what == "notype-closed":
		return `{raw: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nUser-agent: *\nDisallow: /\n"}`
	case what == "retry-after":
		return fmt.Sprintf(`{status: %s, body: %s, retry_after: 1}`, status, closed)
	case status == "206": // programs look at no range; the census reads what is whole
		return fmt.Sprintf(`{status: %s, body: %s, headers: {Content-Range: bytes 0-25/26}}`, status, closed)
	case what == "closed":
		return fmt.Sprintf(`{status: %s, body: %s}`, status, closed)
	}
	t.Fatalf("what is the case %s?", name)
	return ""
}

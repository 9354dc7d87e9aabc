package series

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink"
)

// Runs that asked in another way are not compared; what changes answers little, or of
// few hosts, is marked.
func TestSettingsOfNeighbours(t *testing.T) {
	run := func(source string, archives int, version string, set ...string) *counted {
		m := &sink.Manifest{Plan: sink.Plan{ToolVersion: version, Configuration: map[string]any{
			"user-agent": "census/1 (+https://example.org/)", "schemes": []any{"https", "http"}, "timeout": "30s", "max-redirects": "0", "warc-paths": "",
		}}}
		for i := 0; i < len(set); i += 2 {
			m.Configuration[set[i]] = set[i+1]
		}
		for range archives {
			m.Inputs = append(m.Inputs, sink.Input{Role: "warc"})
		}
		return &counted{m: m, agents: &registry{}, sources: map[string]int64{source: 9}}
	}
	again := run("network", 0, "v1", "user-agent", "other")
	again.m.Inputs, again.m.Earlier = []sink.Input{{Role: "run"}}, []sink.Choice{}
	for _, c := range []struct {
		name          string
		before, after *counted
		kind, want    string // of the only mark
	}{
		{"nothing", run("network", 0, "v1"), run("network", 0, "v1"), "", ""},
		{"a name", run("network", 0, "v1"), run("network", 0, "v1", "user-agent", "Googlebot"), "break", "another user agent: census/1 (+https://example.org/), then Googlebot"},
		{"its version", run("network", 0, "v1"), run("network", 0, "v1", "user-agent", "census/2 (+https://example.org/)"), "settings_changed", "another user agent"},
		{"schemes", run("network", 0, "v1"), run("network", 0, "v1", "schemes", "http"), "break", `other --schemes: ["https","http"], then http`},
		{"redirects", run("network", 0, "v1"), run("network", 0, "v1", "max-redirects", "20"), "break", "another --max-redirects: 0, then 20"},
		{"redirects of captures", run("warc", 1, "v1"), run("warc", 1, "v1", "max-redirects", "20"), "break", "another --max-redirects"},
		{"time", run("network", 0, "v1"), run("network", 0, "v1", "timeout", "5s"), "settings_changed", "another --timeout: 30s, then 5s"},
		{"the program", run("network", 0, "v1"), run("network", 0, "v2"), "settings_changed", "another version of robocensus: v1, then v2"},
		{"what captures do not depend on", run("warc", 1, "v1"), run("warc", 1, "v1", "user-agent", "x", "timeout", "5s"), "", ""},
		{"one archive and a crawl", run("warc", 1, "v1"), run("warc", 300, "v1", "warc-paths", "robotstxt.paths.gz"), "break", "another number of archives: 1, then 300"},
		{"few archives and many", run("warc", 1, "v1"), run("warc", 300, "v1"), "settings_changed", "another number of archives: 1, then 300"},
		{"crawls of about one size", run("warc", 290, "v1"), run("warc", 300, "v1"), "", ""},
		{"judged again", run("network", 0, "v1"), again, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNeighbours(c.before, c.after, nil)
			marks := n.marks(nil)
			if c.kind == "" && len(marks) > 0 || c.kind != "" && (len(marks) != 1 || marks[0].Kind != c.kind || !strings.Contains(marks[0].Text, c.want)) {
				t.Errorf("marks %+v, want %s: %s", marks, c.kind, c.want)
			}
			if broken := n.whyNot(id{metric: "status"}, All) != ""; broken != (c.kind == "break") {
				t.Errorf("broken: %v", broken)
			}
		})
	}
}

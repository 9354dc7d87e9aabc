package past

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/journal"
)

// Runs that asked in another way are not compared; what changes few answers, or
// answers of few hosts, is noted.
func TestSettings(t *testing.T) {
	run := func(source string, archives int, version string, set ...string) *Run {
		m := &journal.Manifest{Plan: journal.Plan{ToolVersion: version, Configuration: map[string]any{
			"user-agent": "census/1 (+https://example.org/)", "schemes": []any{"https", "http"}, "timeout": "30s",
			"max-redirects": "0", "last-capture": "false", "warc-paths": "",
		}}}
		for i := 0; i < len(set); i += 2 {
			m.Configuration[set[i]] = set[i+1]
		}
		for range archives {
			m.Inputs = append(m.Inputs, journal.Input{Role: "warc"})
		}
		return &Run{Manifest: m, Registry: &Registry{}, Source: source}
	}
	again := run("network", 0, "v1", "user-agent", "other")
	again.Inputs, again.Earlier = []journal.Input{{Role: "run"}}, []journal.Choice{}
	for _, c := range []struct {
		name          string
		before, after *Run
		kind, want    string // of the only difference
	}{
		{"nothing", run("network", 0, "v1"), run("network", 0, "v1"), "", ""},
		{"a name", run("network", 0, "v1"), run("network", 0, "v1", "user-agent", "Googlebot"), "asked",
			"another user agent: census/1 (+https://example.org/), then Googlebot"},
		{"its version", run("network", 0, "v1"), run("network", 0, "v1", "user-agent", "census/2 (+https://example.org/)"),
			"note", "another user agent"},
		{"schemes", run("network", 0, "v1"), run("network", 0, "v1", "schemes", "http"), "asked",
			`other --schemes: ["https","http"], then http`},
		{"redirects", run("network", 0, "v1"), run("network", 0, "v1", "max-redirects", "20"), "asked",
			"another --max-redirects: 0, then 20"},
		{"redirects of captures", run("warc", 1, "v1"), run("warc", 1, "v1", "max-redirects", "20"), "asked",
			"another --max-redirects"},
		{"last captures", run("warc", 1, "v1"), run("warc", 1, "v1", "last-capture", "true"), "asked",
			"another --last-capture: false, then true"},
		{"time", run("network", 0, "v1"), run("network", 0, "v1", "timeout", "5s"), "note",
			"another --timeout: 30s, then 5s"},
		{"the program", run("network", 0, "v1"), run("network", 0, "v2"), "note",
			"another version of robocensus: v1, then v2"},
		{"what captures do not depend on", run("warc", 1, "v1"), run("warc", 1, "v1", "user-agent", "x", "timeout", "5s"),
			"", ""},
		{"one archive and a crawl", run("warc", 1, "v1"), run("warc", 300, "v1", "warc-paths", "robotstxt.paths.gz"),
			"asked", "another number of archives: 1, then 300"},
		{"few archives and many", run("warc", 1, "v1"), run("warc", 300, "v1"), "note",
			"another number of archives: 1, then 300"},
		{"crawls of about one size", run("warc", 290, "v1"), run("warc", 300, "v1"), "", ""},
		{"re-evaluated", run("network", 0, "v1"), again, "", ""},
		{"a source that is not known", run("network", 0, "v1"), run("", 0, "v1", "user-agent", "x"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Compare(c.before, c.after)
			told := d.Told()
			if c.kind == "" && len(told) > 0 || c.kind != "" && (len(told) != 1 || !strings.Contains(told[0], c.want)) {
				t.Errorf("told %q, want %s", told, c.want)
			}
			if (len(d.All()) == 1) != (c.kind == "asked") || (len(d.Notes) == 1) != (c.kind == "note") || d.MayMiss() != "" {
				t.Errorf("breaks %q, notes %q, hosts may be missing: %q; want one %s", d.All(), d.Notes, d.MayMiss(), c.kind)
			}
		})
	}
}

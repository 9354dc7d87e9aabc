package journal

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/schema"
)

// A run is resumed only with the inputs of its plan: of each role as many, in the same
// order, because seq depends on the place in the input.
func TestDifferencesOfInputs(t *testing.T) {
	hosts, urls := Input{Role: "hosts", Path: "hosts.csv", SHA256: "aa"}, Input{Role: "urls", Path: "urls.txt",
		SHA256: "bb"}
	one, two := Input{Role: "warc", Path: "1.warc", EndsSHA256: "cc"}, Input{Role: "warc", Path: "2.warc",
		EndsSHA256: "dd"}
	far, pipe := Input{Role: "cdx", Path: "https://a.example/1", IdentifiedWhenRead: true},
		Input{Role: "ranks", Path: "/dev/fd/3"}
	for _, row := range []struct {
		name          string
		before, after []Input
		want          []string // the differences, each by its beginning
	}{
		{"the same", []Input{hosts, one, two, urls, far}, []Input{hosts, one, two, urls, far}, nil},
		{"roles in another order", []Input{hosts, one, two, urls}, []Input{urls, one, hosts, two}, nil},
		{"moved", []Input{hosts, one}, []Input{{Role: "hosts", Path: "/h.csv", SHA256: "aa"}, {Role: "warc", Path: "/1.warc",
			EndsSHA256: "cc"}}, nil},
		{"another configuration file", []Input{{Role: "configuration", SHA256: "1"}},
			[]Input{{Role: "configuration", SHA256: "2"}}, nil},
		{"no URLs", []Input{hosts, urls}, []Input{hosts}, []string{"the number of inputs called urls was 1 and is now 0"}},
		{"none", []Input{hosts, one}, nil, []string{"the number of inputs called hosts was 1 and is now 0",
			"the number of inputs called warc was 1 and is now 0"}},
		{"an archive twice", []Input{one, two}, []Input{one, two, two},
			[]string{"the number of inputs called warc was 2 and is now 3"}},
		{"archives in another order", []Input{one, two}, []Input{two, one},
			[]string{"warc: 2.warc is not the file that the run has read, 1.warc",
				"warc: 1.warc is not the file that the run has read, 2.warc"}},
		{"an archive that has no ends", []Input{one}, []Input{{Role: "warc", Path: "1.warc"}},
			[]string{"warc: 1.warc is not a regular file and cannot be read again"}},
		{"other URLs", []Input{urls}, []Input{{Role: "urls", Path: "u.txt", SHA256: "ee"}},
			[]string{"urls: u.txt (SHA-256 ee…) differs from what the run has read, urls.txt (bb…)"}},
		{"from a pipe", []Input{pipe}, []Input{pipe}, []string{"ranks: /dev/fd/3 is not a regular file"}},
		{"from standard input", []Input{{Role: "hosts", Path: "-"}}, []Input{hosts},
			[]string{"hosts: standard input cannot be read again"}},
		{"to standard input", []Input{hosts}, []Input{{Role: "hosts", Path: "-"}},
			[]string{"hosts: standard input cannot be read again"}},
		{"another URL", []Input{far}, []Input{{Role: "cdx", Path: "https://a.example/2", IdentifiedWhenRead: true}},
			[]string{"cdx: https://a.example/2 is not the archive that the run has read, https://a.example/1"}},
		{"another spelling", []Input{far}, []Input{{Role: "cdx", Path: "HTTPS://A.example:443/x/../1",
			IdentifiedWhenRead: true}}, nil},
		{"a file for a URL", []Input{far}, []Input{{Role: "cdx", Path: "1", EndsSHA256: "cc"}},
			[]string{"cdx: one of https://a.example/1 and 1 is at an https URL"}},
	} {
		before, after := described(), described()
		before.Inputs, after.Inputs = row.before, row.after
		got := before.Differences(&after)
		for i, want := range row.want {
			if i < len(got) && strings.HasPrefix(got[i], want) {
				got[i] = want
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

func TestDifferencesOfSettings(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*Plan)
		want   []string
	}{
		{"the same", func(p *Plan) {}, nil},
		{"as it was read back", func(p *Plan) { p.Configuration["retries"] = 2.0 }, nil},
		{"another start and version", func(p *Plan) { p.Started, p.ToolVersion = p.Started.AddDate(1, 0, 0), "v1" }, nil},
		{"what may change", func(p *Plan) { p.Adjustable = Values{"concurrency": "7"} }, nil},
		{"the path of an input", func(p *Plan) { p.Configuration["hosts"] = "/other.csv" }, nil},
		{"another spelling of a path", func(p *Plan) {
			p.Configuration["also-as"], p.Configuration["warc-out"] = "./x/../as.yaml", "/data//e.warc.gz"
		}, nil},
		{"another path", func(p *Plan) { p.Configuration["also-as"] = "/as.yaml" },
			[]string{`also-as was "as.yaml" and is now "/as.yaml"`}},
		{"no path", func(p *Plan) { p.Configuration["also-as"] = "" }, []string{`also-as was "as.yaml" and is now ""`}},
		{"another spelling of what is no path", func(p *Plan) { p.Configuration["vantage"] = "./home" },
			[]string{`vantage was "home" and is now "./home"`}},
		{"tables", func(p *Plan) { p.Tables, p.Configuration["tables"] = []string{"fetches"}, "fetches" },
			[]string{`tables was ["fetches","groups",`}},
		{"profiles", func(p *Plan) { p.Profiles = []string{"rfc9309"} },
			[]string{`profiles was ["google"] and is now ["rfc9309"]`}},
		{"settings", func(p *Plan) {
			p.Configuration["retries"], p.Configuration["schemes"], p.Configuration["limit"] = 3, []string{"http"}, "0"
		},
			[]string{`limit was null and is now "0"`, `retries was 2 and is now 3`,
				`schemes was ["https","http"] and is now ["http"]`}},
		{"shards", func(p *Plan) { p.Shards, p.FromShards, p.PublicSuffixes = 3, 2, "of today" },
			[]string{"shards was 1 and is now 3", "shards of the earlier run was 0 and is now 2"}},
		{"the list of suffixes", func(p *Plan) { p.PublicSuffixes = "of today" },
			[]string{`the public suffix list of the program was "" and is now "of today"`}},
		{"versions", func(p *Plan) { p.SchemaVersion, p.SummaryBins = schema.SchemaVersion+1, schema.BinsVersion+1 },
			[]string{"the tables' schema version was 2 and is now 3", "the version of the bins in summary was 1 and is now 2"}},
	} {
		before, after := described(), described()
		for _, p := range []*Plan{&before, &after} {
			must(t, p.Prepare())
			p.Configuration = maps.Clone(p.Configuration)
			p.Configuration["also-as"], p.Configuration["warc-out"], p.Configuration["vantage"] = "as.yaml", "/data/e.warc.gz",
				"home"
		}
		row.change(&after)
		got := before.Differences(&after)
		for i, want := range row.want {
			if i < len(got) && strings.HasPrefix(got[i], want) {
				got[i] = want
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

// A manifest repeats the inputs of the plan. Of those that were read it takes what is known
// only once they are, and no other path, order or configuration file.
func TestManifestRepeatsThePlan(t *testing.T) {
	planned := []Input{
		{Role: "warc", Path: "a.warc", EndsSHA256: "aa"}, {Role: "warc", Path: "https://h.example/b",
			IdentifiedWhenRead: true}, {Role: "hosts", Path: "-"},
		{Role: "agents", Path: "agents.yaml", SHA256: "bb", Rows: 2},
	}
	read := []Input{
		{Role: "agents", Path: "./agents.yaml", SHA256: "bb", Rows: 2}, {Role: "configuration", Path: "c.yaml",
			SHA256: "cc"}, {Role: "warc", Path: "/a.warc", EndsSHA256: "aa"},
		{Role: "warc", Path: "https://h.example:443/b", IdentifiedWhenRead: true, Bytes: 7, Tag: "t"},
		{Role: "hosts", Path: "-", SHA256: "dd", Rows: 9},
	}
	m := &Manifest{Plan: Plan{Inputs: planned}}
	m.Finish(m.Started, read, nil)
	want := []Input{
		planned[0], {Role: "warc", Path: "https://h.example/b", IdentifiedWhenRead: true, Bytes: 7, Tag: "t"},
		{Role: "hosts", Path: "-", SHA256: "dd", Rows: 9}, planned[3],
	}
	if diff := cmp.Diff(want, m.Inputs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"agents.yaml", "c.yaml", "a.warc", "https://h.example/b", "-"},
		m.Names(read)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

package diff

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// readSitemaps makes runs read a sitemap of each host.
func readSitemaps(c *pipeline.Config, sample int) {
	c.Evaluate.SitemapSample = sample
	c.Fetch.Further = append(c.Fetch.Further, sitemap.Bounds{Files: 5, Bytes: 1 << 20, Sample: sample,
		Profile: c.Evaluate.Profiles[0]}.Plan())
	c.Settings = journal.Values{"sitemaps": "5"}
}

// listing is a sitemap in text that lists pages below a path, and others.
func listing(path string, below, others int) string {
	var b strings.Builder
	for i := range below + others {
		at := path
		if i >= below {
			at = "/other/"
		}
		fmt.Fprintf(&b, "http://HOST%s%d\n", at, i)
	}
	return b.String()
}

// A row says for each agent that it may fetch another share of what its host lists, where
// chance does not explain that and its class does not say it. It needs no change of the file.
func TestCoverageChanges(t *testing.T) {
	type state struct{ file, list string }
	const both = "User-agent: GPTBot\nUser-agent: Googlebot\nDisallow: /shop/\n"
	const files, star = "User-agent: GPTBot\nDisallow: /shop/\n", "User-agent: *\nDisallow: /shop/\n"
	hosts := map[string][2]state{
		"rules": {{files, listing("/shop/", 4, 196)}, {files + "Disallow: /other/\nAllow: /other/1\n",
			listing("/shop/", 4, 196)}},
		"lists":  {{star, listing("/shop/", 4, 196)}, {star, listing("/shop/", 30, 170)}},
		"chance": {{star, listing("/shop/", 400, 3600)}, {star, listing("/shop/", 440, 3560)}},
		"all":    {{star, listing("/shop/", 10, 90)}, {star, listing("/shop/", 11, 89)}}, // no chance in it
		"little": {{star, listing("/shop/", 10, 190)}, {star, listing("/shop/", 11, 189)}},
		"shut": {{star, listing("/shop/", 4, 196)}, {star + "User-agent: GPTBot\nDisallow: /\n",
			listing("/shop/", 4, 196)}},
		"opened": {{star, listing("/shop/", 150, 50)}, {"User-agent: *\nAllow: /\n", listing("/shop/", 150, 50)}},
		"closes": {{"", listing("/shop/", 150, 50)}, {star, listing("/shop/", 150, 50)}}, // its class is partial now
		// One line closes most to both, and one agent has more of it.
		"merged": {{both, listing("/shop/", 100, 100)}, {both + "\nUser-agent: GPTBot\nDisallow: /other/1\n",
			listing("/shop/", 100, 100)}},
		"gone": {{star, listing("/shop/", 150, 50)}, {star, ""}},
		"down": {{star, listing("/shop/", 150, 50)}, {"down", listing("/shop/", 0, 50)}},
		"same": {{star, listing("/shop/", 150, 50)}, {star + "# a comment", listing("/shop/", 150, 50)}},
	}
	var list strings.Builder
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range hosts {
			yield(name)
		}
	}) {
		fmt.Fprintf(&list, "%s.example\n", name)
	}
	now := 0
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		s := hosts[strings.TrimSuffix(r.Host, ".example")][now]
		switch {
		case s.file == "down":
			audittest.Down(w)
		case r.URL.Path == "/robots.txt":
			io.WriteString(w, s.file)
		case r.URL.Path == "/sitemap.xml" && s.list != "":
			io.WriteString(w, strings.ReplaceAll(s.list, "HOST", r.Host))
		default:
			http.NotFound(w, r)
		}
	}, list.String())
	readSitemaps(&c, 200)
	c.Settings["page"], c.Settings["pages"] = "/", "allowed"
	for i, id := range []string{"a", "b", "c"} {
		now, c.Run = min(i, 1), id
		if id == "c" {
			c.Settings = journal.Values{"sitemaps": "1", "page": "/", "pages": "all"}
		}
		_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	promises, err := expect.Parse("promises", []byte(`
- {name: all, no_change: coverage}
- {name: grave, no_change: coverage, severity: major, agents: Googlebot}
- {name: shut, no_change: coverage, hosts: shut.example, agents: GPTBot}
- {name: gone, no_change: coverage, hosts: gone.example}
- {name: down, no_change: coverage, hosts: down.example}
- {name: same, no_change: coverage, hosts: [same.example, chance.example]}
- {name: whatever, no_change: all, hosts: gone.example}
- {name: Google, coverage: {agent: googlebot, at_least: 90%}, hosts: "[acls]*"}
- {name: nothing is closed, coverage: {agent: Googlebot, at_least: 100%}, hosts: opened.example}
- {name: nothing listed, coverage: {agent: Googlebot, at_least: 100%}, hosts: gone.example}
`), nil)
	sinktest.Must(t, err)
	r, err := Runs(t.Context(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b", Expect: promises})
	sinktest.Must(t, err)
	var got []string
	for _, row := range changesOf(t, c.Dir, "b", "a") {
		if row.Kind == "coverage" {
			got = append(got, showChange(&row))
		}
	}
	if diff := cmp.Diff([]string{
		"all.example coverage minor GPTBot other google - 90/100 89/100 2 2",
		"all.example coverage minor Googlebot other google - 90/100 89/100 2 2",
		"closes.example coverage major GPTBot other google - 200/200 50/200 - 2",
		"closes.example coverage major Googlebot other google - 200/200 50/200 - 2",
		"lists.example coverage major GPTBot other google - 196/200 170/200 2 2",
		"lists.example coverage major Googlebot other google - 196/200 170/200 2 2",
		"merged.example coverage major GPTBot other google - 100/200 0/200 3 3",
		"rules.example coverage major GPTBot other google - 196/200 110/200 2 3",
	}, got); diff != "" {
		t.Errorf("coverage (-want +got):\n%s", diff)
	}
	if i := slices.IndexFunc(r.Kinds, func(k Kind) bool {
		return k.Kind == "coverage" && k.Severity == "major"
	}); i < 0 || r.Kinds[i].Count != 6 || r.Kinds[i].Hosts != 4 {
		t.Errorf("%+v", r.Kinds)
	}
	got = nil
	for _, p := range r.Expectations {
		line := fmt.Sprintf("%s: %s %v %d/%d %s", p.Name, p.State, p.Fails, p.Broken, p.Checked, p.Note)
		for _, b := range p.First[:min(1, len(p.First))] {
			line += " | " + b.Host + " " + b.Found
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{
		"all: broken true 11/10 2 of 12 hosts unknown: not read in both runs, or without listed pages in one of them | " +
			"all.example coverage: 90/100 → 89/100",
		"grave: broken true 2/10 2 of 12 hosts unknown: not read in both runs, or without listed pages in one of them | " +
			"closes.example coverage: 200/200 → 50/200",
		"shut: broken true 1/1  | shut.example coverage: 196/200 → 0/200",
		"gone: unchecked false 0/0 1 of 1 host unknown: not read in both runs, or without listed pages in one of them",
		"down: unchecked false 0/0 1 of 1 host unknown: not read in both runs, or without listed pages in one of them",
		"same: kept false 0/2 ",
		"whatever: kept false 0/1 ",
		"Google: broken true 5/7  | all.example coverage: 89/100",
		"nothing is closed: kept false 0/1 ",
		"nothing listed: unchecked true 0/0 it matches nothing of the 1 host that it covers; correct the entry or remove it",
	}, got); diff != "" {
		t.Errorf("promises (-want +got):\n%s", diff)
	}
	// Another number of sitemaps is another list of pages, also if a run judges it again.
	again := c
	again.Run, again.Source, again.Settings = "c-again", source.Config{FromRun: c.Dir + "/_runs/c"},
		journal.Values{"sitemaps": "", "sitemap-sample": "9"}
	_, err = pipeline.Run(t.Context(), again, new(pipeline.Progress))
	sinktest.Must(t, err)
	for _, after := range []string{"c", "c-again"} {
		r, err = Runs(t.Context(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: after, Expect: promises})
		sinktest.Must(t, err)
		if p := r.Expectations[0]; !slices.Contains(r.Notes, "coverage is not compared: another --sitemaps: 5, then 1") ||
			p.State != expect.Unchecked || !p.Fails {
			t.Errorf("%s: %q, %+v", after, r.Notes, p)
		}
	}
	// So it is with another choice of hosts to ask for a page.
	for pair, want := range map[[2]string]string{{"a", "b"}: "", {"a", "c"}: "another --pages: allowed, then all",
		{"a", "c-again"}: "another --pages: allowed, then all",
		{"c", "c-again"}: ""} {
		var runs [2]*past.Run
		for i, id := range pair {
			runs[i], err = past.Read(t.Context(), sinktest.Open(t, c.Dir), id)
			sinktest.Must(t, err)
		}
		if got := past.Compare(runs[0], runs[1]).Pages(); got != want {
			t.Errorf("pages of %v: %q, want %q", pair, got, want)
		}
	}
	if r, err = Runs(t.Context(), Config{In: sinktest.Open(t, c.Dir), Before: "c", After: "c-again"}); err != nil ||
		strings.Contains(fmt.Sprint(r.Notes), "coverage") {
		t.Errorf("c and itself again: %q, %v", r.Notes, err)
	}
}

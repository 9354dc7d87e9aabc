package evaluate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// The tables have the kinds of the reader.
func TestKindsOfSitemaps(t *testing.T) {
	var kinds []string
	for _, k := range sitemap.Kinds {
		kinds = append(kinds, string(k))
	}
	if !slices.Equal(kinds, summary.SitemapKinds) {
		t.Errorf("%v, want %v", summary.SitemapKinds, kinds)
	}
}

func TestCauseOfARule(t *testing.T) {
	for pattern, want := range map[string]string{
		"/": summary.CauseAll, "*": summary.CauseAll, "/*": summary.CauseAll, "/private/": summary.CauseFolder,
		"/private/*": summary.CauseFolder,
		"/private":   summary.CausePath, "/*.pdf$": summary.CauseWildcard, "/a*b": summary.CauseWildcard,
		"/*?": summary.CauseQuery, "/search?q=": summary.CauseQuery,
	} {
		if got := causeOf(pattern); got != want {
			t.Errorf("%s is %s, want %s", pattern, got, want)
		}
	}
}

// A host's file closes what lies on its origin and was not asked for: neither what another site's
// file closes, nor where a redirect leads. An index has as many children as were asked for.
func TestWhatAFileCloses(t *testing.T) {
	const host, closed = "https://a.example", summary.SitemapDisallowed
	parent, now := new(host+"/index"), new(time.Unix(1, 0))
	files := []schema.SitemapFile{
		{URL: host + "/index", Outcome: summary.SitemapOK, Sitemaps: 4, FetchTime: now, Line: new(int32(1))},
		{URL: host + "/shut", Outcome: closed, Parent: parent, Line: new(int32(2))},
		{URL: host + "/moved", Outcome: closed, Parent: parent, Line: new(int32(3)), FetchTime: now},
		{URL: "https://b.example/shut", Outcome: closed, Parent: parent, Line: new(int32(4))},
		{URL: host + ".example/shut", Outcome: closed, Line: new(int32(5))},
		{URL: host + "/gone", Outcome: summary.SitemapAbsent, Parent: parent, FetchTime: now},
	}
	for _, name := range []string{"6", *parent} { // nobody was asked, so that nobody knows whether it is there
		f, _ := new(Evaluator).sitemapFile(&fetch.Further{Name: name, URL: "https://b.example/busy",
			Outcome: usage.PageSpared}, new(schema.Fetch))
		if f.Outcome != summary.SitemapSpared || f.Remark != nil {
			t.Errorf("a sitemap of a busy origin is %s, %v", f.Outcome, f.Remark)
		}
		files = append(files, f)
	}
	spared, gone := files[len(files)-1:], files[5] // for which the host was asked
	gone.Kind = spared[0].Kind
	if got, also := HostLists(spared, 0), HostLists(append(slices.Clone(spared), gone), 0); got != summary.ListsSpared ||
		also != summary.ListsDead {
		t.Errorf("nobody was asked: %s; one was not there: %s", got, also)
	}
	var faults []string
	for i := range files {
		files[i].Origin = host
		faults = append(faults, faultOf(&files[i]))
	}
	if diff := cmp.Diff([]string{"", summary.FaultClosed, "", "", "", "", "", ""}, faults); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
	if countChildren(files); files[0].SitemapsRead != 2 {
		t.Errorf("%d of its sitemaps were asked for, want 2", files[0].SitemapsRead)
	}
}

func TestClosedBand(t *testing.T) {
	for n, want := range map[int32]string{0: "none", 1: "under_1", 2: "to_half", 100: "to_half", 101: "over_half",
		199: "over_half", 200: "all"} {
		if got := summary.ClosedBand(n, 200); got != want {
			t.Errorf("%d of 200 is %s, want %s", n, got, want)
		}
	}
	if got := summary.CoverageKey(199, 200); got != "99" {
		t.Errorf("199 of 200 is %s %%", got)
	}
}

// The sample of a host is judged for each agent under each profile, as its groups say; the
// rows name the rule that closes most and the page of the lowest hash that it closes. The
// counters are those of the rows.
func TestCoverage(t *testing.T) {
	const file = "User-agent: *\nDisallow: /a\nDisallow: /b/\nDisallow: /*?q\n\nUser-agent: Googlebot\nDisallow: /c\n\n" +
		"User-agent: GPTBot\nDisallow: /\n"
	var pages []sitemap.Sampled
	for _, path := range []string{"/", "/a1", "/a2", "/b/1", "/c", "/d?q", "/e"} {
		pages = append(pages, sitemap.Sampled{URL: "https://a.example" + path, LastMod: "2024"})
	}
	pages = append(pages, sitemap.Sampled{URL: "https://b.example/"}) // of an archive that somebody else wrote
	reading, err := json.Marshal(sitemap.Reading{Kind: sitemap.URLSet, URLs: 9, Listed: 8, Outside: 1, Sample: pages})
	must(t, err)
	url := "https://a.example/sitemap.xml"
	hop := func(status int) []answer.Hop { return []answer.Hop{{URL: url, Status: status}} }
	c := &fetch.Capture{
		Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, Hops: []answer.Hop{
			{URL: "https://a.example/robots.txt", Status: 200}}, Attempts: 1, Body: []byte(file),
		Further: []*fetch.Further{
			{Kind: fetch.KindSitemap, Name: "7", URL: url, Outcome: usage.PageRead, Hops: hop(200), Reading: reading,
				Start: time.Unix(1, 0)},
			{Kind: fetch.KindSitemap, Name: url, URL: url + "?2", Outcome: usage.PageStatus, Hops: hop(404),
				Start: time.Unix(2, 0)},
			{Kind: fetch.KindSitemap, Name: "8", URL: url + "?3", Outcome: usage.PageRead, Hops: hop(200),
				Reading: []byte("{}"), Start: time.Unix(3, 0)},
			{Kind: fetch.KindSitemap, Name: "9", URL: url + "?4", Outcome: usage.PageDisallowed},
		},
	}
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "sitemap_files", "coverage", "urls",
		"summary"}, Profiles: []string{"google", "rfc9309"}})
	must(t, err)
	s, err := run.Segment(0)
	must(t, err)
	agents := []schema.Agent{{Name: "Googlebot", Tokens: []string{"Googlebot"}},
		{Name: "bingbot", Tokens: []string{"bingbot"}}, {Name: "Other", Tokens: []string{"Other"}},
		{Name: "GPTBot", Tokens: []string{"GPTBot"}}}
	counts, err := Prepare(Config{Agents: agents, Profiles: profilesNamed("google", "rfc9309"),
		SitemapSample: 100}).Evaluator().Segment(s, func(yield func(*target.Target, error) bool) {
		yield(&target.Target{Seq: 1, Capture: c}, nil)
	})
	must(t, err)
	var counted []string
	for _, n := range counts.List() {
		if slices.Contains([]string{"sitemap_host", "sitemap_file", "sitemap_fault", "listed_closed", "coverage_closed"},
			n.Metric) && n.Profile != "rfc9309" && n.Agent != "Other" {
			counted = append(counted, strings.TrimSpace(fmt.Sprint(n.Metric, " ", n.Agent, " ", n.Key, " ", n.N)))
		}
	}
	slices.Sort(counted)
	if diff := cmp.Diff([]string{
		"coverage_closed GPTBot disallow_all all 1", "coverage_closed Googlebot partial to_half 1",
		"coverage_closed bingbot partial over_half 1",
		"listed_closed Googlebot any 1", "listed_closed Googlebot path 1", "listed_closed bingbot any 1",
		"listed_closed bingbot folder 1", "listed_closed bingbot path 1", "listed_closed bingbot query 1",
		"sitemap_fault  closed 1", "sitemap_fault  dead 1", "sitemap_file  none absent 1", "sitemap_file  none damaged 1",
		"sitemap_file  none disallowed 1", "sitemap_file  urlset ok 1", "sitemap_host  lists 1",
	}, counted); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	must(t, s.Commit())
	must(t, run.Close())
	urls := rowsIn[schema.ListedURL](t, dir, "urls")
	first := "" // below /a, of the lowest hash
	for _, u := range urls {
		if strings.HasPrefix(u.URL, "https://a.example/a") && first == "" {
			first = u.URL
		}
	}
	if len(urls) != 7 || urls[0].Sitemap != url || *urls[0].LastMod != "2024" {
		t.Errorf("%+v", urls)
	}
	want := map[string]string{
		"Googlebot": "6 1 0 line 7 /c https://a.example/c", "bingbot": "3 4 0 line 2 /a " + first,
		"Other": "3 4 0 line 2 /a " + first, "GPTBot": "0 7 0 line 10 / " + urls[0].URL,
	}
	rows := rowsIn[schema.Coverage](t, dir, "coverage")
	for _, r := range rows {
		got := fmt.Sprint(r.Allowed, " ", r.Disallowed, " ", r.Undefined, " line ", *r.RuleLine, " ", *r.RulePattern, " ",
			*r.Example)
		if r.Listed != 8 || r.Sampled != 7 || got != want[r.Agent] {
			t.Errorf("%s under %s: %+v\n%s, want %s", r.Agent, r.Profile, r, got, want[r.Agent])
		}
	}
	if len(rows) != 8 {
		t.Errorf("%d rows", len(rows))
	}
}

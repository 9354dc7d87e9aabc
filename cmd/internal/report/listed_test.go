package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Figures about sitemaps have bases of their own: hosts that list pages, those of them that
// are partly closed, hosts asked for sitemaps, and sitemaps.
func TestFiguresOfSitemaps(t *testing.T) {
	of := func(metric, agent, key string, n int64) schema.Count {
		return agentCount(metric, agent, "search", key, n)
	}
	other := of("coverage_closed", "GPTBot", "partial over_half", 900)
	other.Profile = new("rfc9309")
	counts := []schema.Count{
		count1("targets", "", 100), profiled("outcome", "conditional_allow", "google", 100), profiled("reason", "success",
			"google", 100),
		of("coverage_closed", "GPTBot", "disallow_all all", 10), of("coverage_closed", "GPTBot", "partial over_half", 2),
		of("coverage_closed", "GPTBot", "partial under_1", 8), of("coverage_closed", "GPTBot", "allow_all none", 20), other,
		of("coverage", "GPTBot", "0", 10), of("coverage", "GPTBot", "9", 2), of("coverage", "GPTBot", "99", 8),
		of("coverage", "GPTBot", "100", 20),
		of("coverage_closed", "Googlebot", "partial to_half", 3), of("coverage_closed", "Googlebot", "partial none", 2),
		of("coverage_closed", "Googlebot", "allow_all none", 35),
		of("coverage", "Googlebot", "50", 3), of("coverage", "Googlebot", "100", 37),
		of("listed_closed", "Googlebot", "any", 3), of("listed_closed", "Googlebot", "query", 1),
		of("listed_closed", "Googlebot", "folder", 3),
		count1("sitemap_host", "lists", 40), count1("sitemap_host", "none", 10),
		count1("sitemap_file", "urlset ok", 60), count1("sitemap_file", "none absent", 10),
		count1("sitemap_file", "none damaged", 5), count1("sitemap_file", "rss damaged", 5),
		count1("sitemap_fault", "dead", 4), count1("sitemap_fault", "outside", 1),
	}
	examples := []schema.Example{{Metric: "listed_closed", Key: "Googlebot folder", Host: "a.example",
		Line: new(int32(7)), Text: "https://a.example/shop/1"}, {Metric: "sitemap_fault", Key: "dead", Host: "b.example",
		Text: "https://b.example/gone.xml"}}
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, counts, examples)
	out := text1(t, drawn(t, dir, "r", ""))
	for _, want := range []string{
		"More than half of what a host lists is closed most often to GPTBot: by 30.0% of 40 hosts\n",
		"Hosts that are partly closed to an agent close less than 1% of what they list in 66.7% of 15 cases, and " +
			"more than half in 2\n",
		"A page is both listed and closed to Googlebot on 7.5% of 40 hosts\n",
		"Pages of their own are listed by 80.0% of 50 hosts asked for sitemaps\n",
		"There and whole: 75.0% of 80 sitemaps\n",
		"robots.txt names a sitemap that is not there on 8.0% of 50 hosts asked for sitemaps, and closes one " +
			"that it names on 0\n",
		"https://a.example/shop/1", "https://b.example/gone.xml", "Googlebot: by a folder", "no sitemap", "RSS: damaged",
		"median 99%",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}

	d := &data{profile: "google", sums: sumsOf(counts)}
	for id, want := range map[string]struct {
		got  [][]string
		want [][]string
	}{
		"coverage": {d.coverage().Rows, [][]string{{"GPTBot", "20", "8", "0", "2", "10", "40", "0", "99", "100"},
			{"Googlebot", "37", "0", "3", "0", "0", "40", "100", "100", "100"}}},
		"coverage-partly": {d.coveragePartly().Rows, [][]string{{"GPTBot", "0", "8", "0", "2", "0", "10"},
			{"Googlebot", "2", "0", "3", "0", "0", "5"}}},
		"listed-closed": {d.listedClosed().Rows, [][]string{{"Googlebot any", "3"}, {"Googlebot folder", "3"},
			{"Googlebot query", "1"}}},
	} {
		if diff := cmp.Diff(want.want, want.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	if whole := d.listedClosed().Bars[0].Tracks[0].Whole; whole != 40 {
		t.Errorf("a bar of what is listed and closed is of %d hosts", whole)
	}
	if f := d.coveragePartly(); f.Bars[0].Tracks[0].Whole != 10 || f.Bars[1].Tracks[0].Whole != 5 {
		t.Error("a bar is not of the hosts that are partly closed to its agent")
	}

	d.archived, d.hosts, d.captured, d.files, d.texts = true, 100, 50, 100, 100
	for _, f := range []*draw.Figure{d.coverage(), d.coveragePartly(), d.listedClosed(), d.sitemapHosts(),
		d.sitemapFaults()} {
		if said := f.Of + f.Title + f.Axis; !strings.Contains(f.Of, " captures ") || !strings.Contains(f.Axis,
			"of captures") || strings.Contains(said, "% of 40 hosts") || strings.Contains(said, "50 hosts") {
			t.Errorf("%s of captures says %q, %q, %q", f.ID, f.Of, f.Title, f.Axis)
		}
	}
	if of := d.ofFiles(); of != "Shares of 100 files, one of each capture with rules." {
		t.Error(of)
	}

	dir = t.TempDir()
	writeRun(t, dir, plan("r"), 1, counts[:3], nil)
	if page := string(drawn(t, dir, "r", "")); strings.Contains(page, "How much of what sites list") ||
		strings.Contains(page, `id="sitemap-`) {
		t.Error("a run that asked for no sitemaps has figures about them")
	}
}

// Nothing that is listed is closed, and nothing is wrong with a sitemap.
func TestAllThatIsListedIsOpen(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, []schema.Count{
		count1("targets", "", 1), profiled("outcome", "conditional_allow", "google", 1), profiled("reason", "success",
			"google", 1), count1("sitemap_host", "lists", 1), count1("sitemap_host", "closed", 15),
		count1("sitemap_file", "urlset ok", 1),
		agentCount("coverage_closed", "Googlebot", "search", "allow_all none", 1), agentCount("coverage", "Googlebot",
			"search", "100", 1),
	}, nil)
	page := drawn(t, dir, "r", "")
	if strings.Contains(string(page), `id="coverage-ranks"`) {
		t.Error("medians by rank of one band are drawn")
	}
	out := text1(t, page)
	for _, want := range []string{
		"No host whose sitemaps were read closes more than half of what it lists to any agent\n",
		"Missing: 15 hosts whose sitemaps are closed to this census",
		"Pages of their own are listed by 6.2% of 16 hosts asked for sitemaps or closed to this census\n",
		"There and whole: 1 of 1 sitemap\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say %q:\n%s", want, out)
		}
	}
	for _, word := range []string{"listed and closed", "robots.txt names a sitemap", "partly closed to an agent"} {
		if strings.Contains(out, word) {
			t.Errorf("the page says %q", word)
		}
	}
}

// sumsOf adds up counts.
func sumsOf(counts []schema.Count) counters.Sums {
	s := make(counters.Sums)
	for _, c := range counts {
		text := func(p *string) string {
			if p == nil {
				return ""
			}
			return *p
		}
		s.Add(summary.Count{Metric: c.Metric, Stratum: c.Stratum, Agent: text(c.Agent), Category: text(c.Category),
			Profile: text(c.Profile), Key: text(c.Key), N: c.Count})
	}
	return s
}

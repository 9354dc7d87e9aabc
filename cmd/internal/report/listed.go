package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// closedBands are the shares of its listed pages that a host closes to an agent, by the
// columns of the numbers.
var closedBands = draw.Kinds{
	{Key: summary.ClosesNone, Class: "open", Name: "closes none"},
	{Key: summary.ClosesFew, Class: "allow", Name: "closes less than 1%"},
	{Key: summary.ClosesSome, Class: "partly", Name: "closes 1 to 50%"},
	{Key: summary.ClosesMost, Class: "star", Name: "closes more than half"},
	{Key: summary.ClosesAll, Class: "closed", Name: "closes all"},
}

// aCoverage is how much of what they list hosts close to an agent.
type aCoverage struct {
	agent string
	hosts int64
	bands map[string]int64
}

// mostlyClosed counts the hosts that close more than half.
func (c *aCoverage) mostlyClosed() int64 {
	return c.bands[summary.ClosesMost] + c.bands[summary.ClosesAll]
}

// coverages adds up the metric coverage_closed by agent, for policies of a class or, if it
// is "", for all.
func (d *data) coverages(class string) (out []aCoverage) {
	for agent, counts := range d.sums.Pivot("coverage_closed", d.profile,
		func(l counters.Label) string { return l.Agent }) {
		c := aCoverage{agent: agent, bands: make(map[string]int64)}
		for key, n := range counts {
			if of, band := counters.CutLast(key); class == "" || of == class {
				c.bands[band] += n
				c.hosts += n
			}
		}
		if c.hosts > 0 {
			out = append(out, c)
		}
	}
	return out
}

// bandColumns computes the columns of the numbers of closed bands, and all hosts.
func bandColumns() string {
	var out []string
	for _, band := range summary.ClosedBands {
		out = append(out, counters.SumIf("ends_with(key, ' "+band+"')", "closes_"+band))
	}
	return strings.Join(append(out, "sum(count)::BIGINT AS hosts"), ",\n  ")
}

func bandHeads() (out []string) {
	for _, band := range summary.ClosedBands {
		out = append(out, "closes_"+band)
	}
	return append(out, "hosts")
}

// coverage shows how much of what hosts list in their sitemaps each agent may fetch.
func (d *data) coverage() *draw.Figure {
	percents := percentsOf(d.sums, d.profile, func(counters.Label) bool { return true })
	all := d.coverages("")
	all = slices.DeleteFunc(all, func(c aCoverage) bool { return percents[c.agent] == nil })
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b aCoverage) int {
		return cmp.Or(cmp.Compare(b.mostlyClosed(), a.mostlyClosed()), cmp.Compare(a.agent, b.agent))
	})
	f := &draw.Figure{
		ID: "coverage", Of: fmt.Sprintf("Shares of the %s that list pages of their own in sitemaps.",
			words.Count(all[0].hosts, d.noun())), Legend: closedBands.Legend(),
		Note: "Of each host a sample of the pages that its sitemaps list is judged: whether the agent may fetch them. " +
			"Half of the hosts let it fetch at most the median of what they list, a quarter at most the lower quartile; " +
			"percentages of a host are rounded down.",
		Title: fmt.Sprintf("No %s whose sitemaps were read closes more than half of what it lists to any agent", d.noun()),
		Head:  append(append([]string{"agent"}, bandHeads()...), "lower_quartile", "median", "upper_quartile"),
	}
	f.Note += d.unreadListed()
	if all[0].mostlyClosed() > 0 {
		most := make(map[string]int64)
		for _, c := range all {
			most[c.agent] = c.mostlyClosed()
		}
		leading, n, each := counters.Leading(most, words.Plain)
		f.Title = fmt.Sprintf("More than half of what a host lists is closed most often to %s: by %s%s", leading,
			words.OfCount(n, all[0].hosts, d.noun()), each)
	}
	for _, c := range all {
		quarters := percents[c.agent].Quartiles()
		f.AddBar(c.agent, "", draw.Track{Whole: c.hosts, Shares: closedBands.Shares(c.bands),
			Values: []string{"median " + words.Number(quarters[1]) + "%"}})
		f.AddRow([]string{c.agent}, append(append(closedBands.Numbers(c.bands), c.hosts), quarters[:]...)...)
	}
	f.Fill(d.noun() + "s")
	f.Shorten()
	f.SQL = fmt.Sprintf(`SELECT * FROM (SELECT agent,
  %s
%s
GROUP BY agent)
JOIN (SELECT agent, min(percent) FILTER (4 * upto >= n) AS lower_quartile,
    min(percent) FILTER (2 * upto >= n) AS median, min(percent) FILTER (4 * upto >= 3 * n) AS upper_quartile
  FROM (SELECT agent, key::BIGINT AS percent,
      sum(sum(count)) OVER (PARTITION BY agent ORDER BY key::BIGINT) AS upto,
      sum(sum(count)) OVER (PARTITION BY agent) AS n
    %s
    GROUP BY agent, key)
  GROUP BY agent) USING (agent)
ORDER BY closes_over_half + closes_all DESC, agent`, bandColumns(), d.from("coverage_closed", true),
		d.from("coverage", true))
	return f
}

// unreadListed says how many hosts or captures close their sitemaps to this census, of which the figures about
// what hosts list know nothing.
func (d *data) unreadListed() string {
	n := d.sums.By("sitemap_host", d.profile, counters.Key)[summary.ListsClosed]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" Missing: %s whose sitemaps are closed to this census, whatever they list.",
		words.Count(n, d.noun()))
}

// coveragePartly shows how much of what they list those hosts close that are partly closed to
// an agent.
func (d *data) coveragePartly() *draw.Figure {
	all := d.coverages("partial")
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b aCoverage) int {
		return cmp.Or(cmp.Compare(b.hosts, a.hosts),
			cmp.Compare(a.agent, b.agent))
	})
	f := &draw.Figure{
		ID: "coverage-partly", Of: fmt.Sprintf("Shares of the %ss that list pages of their own in sitemaps and are partly "+
			"closed to the agent.", d.noun()), Legend: closedBands.Legend(),
		Note: "A host is partly closed to an agent if its rules close some path and not all. A rule may close what no " +
			"sitemap lists.",
		Head: append([]string{"agent"}, bandHeads()...),
	}
	var cases, few, most int64
	for _, c := range all {
		cases, few, most = cases+c.hosts, few+c.bands[summary.ClosesNone]+c.bands[summary.ClosesFew], most+c.mostlyClosed()
		f.AddBar(c.agent, words.Count(c.hosts, d.noun()), draw.Track{Whole: c.hosts, Shares: closedBands.Shares(c.bands),
			Values: []string{words.Percent(c.bands[summary.ClosesNone]+c.bands[summary.ClosesFew], c.hosts) + " below 1%"}})
		f.AddRow([]string{c.agent}, append(closedBands.Numbers(c.bands), c.hosts)...)
	}
	f.Title = fmt.Sprintf("Hosts that are partly closed to an agent close less than 1%% of what they list in %s, and "+
		"more than half in %s", words.OfCount(few, cases, "case"), words.Number(most))
	f.Fill(d.noun() + "s")
	f.Shorten()
	f.SQL = fmt.Sprintf("SELECT agent,\n  %s\n%s AND starts_with(key, 'partial ')\n"+
		"GROUP BY agent ORDER BY hosts DESC, agent", bandColumns(), d.from("coverage_closed", true))
	return f
}

// listedClosed shows by which rules hosts close to search engines what they list.
func (d *data) listedClosed() *draw.Figure {
	by := d.sums.By("listed_closed", d.profile, func(l counters.Label) string { return l.Agent + " " + l.Key })
	if len(by) == 0 {
		return nil
	}
	hosts := make(map[string]int64)
	for _, c := range d.coverages("") {
		hosts[c.agent] = c.hosts
	}
	f := &draw.Figure{
		ID: "listed-closed", Of: fmt.Sprintf("Shares of the %ss that list pages of their own in sitemaps.", d.noun()),
		Names: listedCause,
		Head:  []string{"agent_and_rule", "hosts"},
		Note: "A host closes to the crawler of a search engine a page that its own sitemap lists, among those that " +
			"were judged. It counts once for each kind of rule that closes one.",
		Legend: []draw.Legend{{Class: "closed", Name: d.noun() + "s"}},
	}
	keys := counters.Ranked(by)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(agentOf(a), agentOf(b)) })
	var told []string
	for _, k := range keys {
		of := hosts[agentOf(k)]
		if strings.HasSuffix(k, " any") {
			told = append(told, fmt.Sprintf("to %s on %s", agentOf(k), words.OfCount(by[k], of, d.noun())))
		}
		f.AddBar(listedCause(k), "", draw.Part("closed", d.noun()+"s", by[k], of, words.Percent(by[k], of)))
		f.AddRow([]string{k}, by[k])
	}
	f.Title = "A page is both listed and closed " + words.And(told)
	f.Fit(d.noun() + "s")
	f.SQL = "SELECT agent || ' ' || key AS agent_and_rule, sum(count)::BIGINT AS hosts\n" + d.from("listed_closed",
		true) + "\nGROUP BY agent, key ORDER BY agent, hosts DESC, agent_and_rule"
	f.Examples = d.examples.List("Examples", "page", "listed_closed", listedCause,
		slices.DeleteFunc(keys, func(k string) bool { return strings.HasSuffix(k, " any") })...)
	return f
}

func agentOf(key string) string {
	agent, _ := counters.CutLast(key)
	return agent
}

// listedCause returns the display name of an agent and a kind of rule.
func listedCause(key string) string {
	agent, cause := counters.CutLast(key)
	return agent + ": " + words.ClosedCause.Of(cause)
}

// sitemapHosts shows what the hosts list that were asked for sitemaps.
func (d *data) sitemapHosts() *draw.Figure {
	all := d.sums.By("sitemap_host", d.profile, counters.Key)
	asked, spared := summary.AskedForSitemaps(all), all[summary.ListsSpared]
	if asked == 0 {
		return nil
	}
	delete(all, summary.ListsSpared)
	who := words.AskedForSitemaps(all)
	f := &draw.Figure{
		ID: "sitemap-hosts", Of: fmt.Sprintf("Shares of the %s %s.", words.Count(asked, d.noun()), who),
		Names: words.SitemapHost.Of,
		Note: "A host is asked for the sitemaps that its robots.txt names, or else for /sitemap.xml, and for those of " +
			"their indexes, so far as the limits allow. It counts once, for the first of these that holds: pages of its " +
			"own, pages of other sites, and so on.",
		Legend: []draw.Legend{{Class: "allow", Name: d.noun() + "s"}},
		Title: fmt.Sprintf("Pages of their own are listed by %s %s",
			words.OfCount(all[summary.HostLists], asked, d.noun()), who),
	}
	if spared > 0 {
		f.Note += fmt.Sprintf(" Missing: %s whose sitemaps nobody was asked for, since their origins are busy or want to "+
			"be left alone.", words.Count(spared, d.noun()))
	}
	from := d.from("sitemap_host", false) + " AND key <> " + views.Quote(summary.ListsSpared)
	byKey(f, from, "lists", d.noun()+"s", all, "allow", asked)
	return f
}

// sitemapFiles shows what the sitemaps are, and what came of the requests for them.
func (d *data) sitemapFiles() *draw.Figure {
	all := d.sums.By("sitemap_file", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	files, read := sum(all), int64(0)
	for key, n := range all {
		if _, outcome := counters.CutLast(key); outcome == summary.SitemapOK {
			read += n
		}
	}
	f := &draw.Figure{
		ID: "sitemap-files", Of: fmt.Sprintf("Shares of the %s that hosts were to be asked for.",
			words.Count(files, "sitemap")), Names: sitemapFile,
		Note: "A sitemap is an index, or lists pages in XML, text, RSS or Atom. Of a damaged one counts what comes " +
			"before the damage.",
		Legend: []draw.Legend{{Class: "allow", Name: "sitemaps"}},
		Title:  fmt.Sprintf("There and whole: %s", words.OfCount(read, files, "sitemap")),
	}
	byKey(f, d.from("sitemap_file", false), "sitemap", "sitemaps", all, "allow", files)
	return f
}

// sitemapFile returns the display name of a kind of sitemap and an outcome.
func sitemapFile(key string) string {
	kind, outcome := counters.CutLast(key)
	if kind == "none" {
		if outcome == summary.SitemapDamaged {
			return "no sitemap"
		}
		return words.SitemapOutcome.Of(outcome)
	}
	return words.SitemapKind.Of(kind) + ": " + words.SitemapOutcome.Of(outcome)
}

// sitemapFaults shows what is wrong with the sitemaps that robots.txt names.
func (d *data) sitemapFaults() *draw.Figure {
	all := d.sums.By("sitemap_fault", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	hosts := d.sums.By("sitemap_host", d.profile, counters.Key)
	asked, who := summary.AskedForSitemaps(hosts), words.AskedForSitemaps(hosts)
	f := &draw.Figure{
		ID: "sitemap-faults", Of: fmt.Sprintf("Shares of the %s %s.", words.Count(asked, d.noun()), who),
		Names: words.SitemapFault.Of,
		Note: "A host counts once for each of these that a sitemap has which its robots.txt names. It is not there if " +
			"the answer is an error, or none, or no sitemap.",
		Legend: []draw.Legend{{Class: "partly", Name: d.noun() + "s"}},
		Title: fmt.Sprintf("robots.txt names a sitemap that is not there on %s %s, and closes one that it names on %s",
			words.OfCount(all[summary.FaultDead], asked, d.noun()), who, words.Number(all[summary.FaultClosed])),
	}
	byKey(f, d.from("sitemap_fault", false), "fault", d.noun()+"s", all, "partly", asked)
	f.Examples = d.examples.List("Examples", "sitemap", "sitemap_fault", words.SitemapFault.Of, counters.Ranked(all)...)
	return f
}

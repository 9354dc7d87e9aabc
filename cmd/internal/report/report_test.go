package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/robocensus/robocensus/cmd/internal/report/changes"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/reporttest"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plan returns the plan of a run that has just started.
func plan(run string) journal.Plan {
	return journal.Plan{
		Run: run, ToolVersion: "v0", Tables: []string{"summary", "examples"}, Profiles: []string{"google"},
		Started: time.Unix(1_800_000_000, 0),
		Inputs:  []journal.Input{{Role: "hosts", Path: "hosts.csv"}},
	}
}

// writeRun writes a complete run whose segments have these rows.
func writeRun(t testing.TB, dir string, p journal.Plan, segments int, counts []schema.Count,
	examples []schema.Example) {
	t.Helper()
	run, err := sink.Create(dir, p)
	must(t, err)
	for i := range segments {
		s, err := run.Segment(i)
		must(t, err)
		must(t, s.Summary.Write(counts...))
		must(t, s.Examples.Write(examples...))
		must(t, s.Commit())
	}
	sums, err := summary.SumUp(context.Background(), run)
	must(t, err)
	must(t, run.Complete(sink.Completion{Totals: sums, Finished: time.Unix(1_800_000_100, 0), Inputs: p.Inputs}))
}

func drawn(t testing.TB, dir, run, against string) []byte {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), run)
	must(t, err)
	out, err := Page(context.Background(), sinktest.Open(t, dir), m, against)
	must(t, err)
	return out
}

// hostilePage returns a page with hostile text wherever text from the network can
// appear.
func hostilePage(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	var counts []schema.Count
	var examples []schema.Example
	var changes []schema.Change
	for i, evil := range reporttest.Hostile {
		evil = schema.TextString(evil)
		n := int64(100 + i)
		for _, metric := range []string{
			"targets", "outcome", "reason", "status", "error_class", "body", "feature", "field", "signal", "sitemap",
			"line_class", "line_class_hosts",
			"tld", "tld_failed", "tld_slow", "address_block", "address_block_failed", "server", "server_slow", "body_bytes",
			"lines", "crawl_delay", "sitemaps", "total_us",
			"sitemap_host", "sitemap_file", "sitemap_fault",
		} {
			counts = append(counts, schema.Count{Metric: metric, Stratum: evil, Key: &evil, Count: n})
			examples = append(examples, schema.Example{Metric: metric, Key: evil, Host: evil, Line: new(int32(7)), Text: evil})
		}
		outcome := schema.Count{Metric: "reason", Stratum: evil, Profile: new("google"), Key: new("success"), Count: n}
		counts = append(counts, outcome, schema.Count{Metric: "category", Stratum: evil, Category: new(counters.Headline),
			Profile: new("google"), Key: new("some"), Count: 3})
		for _, metric := range []string{"policy", "policy_explicit", "category", "verdict", "coverage", "coverage_closed",
			"listed_closed"} {
			for _, key := range []string{"disallow_all", "some", "9", "partial all", evil} {
				counts = append(counts, schema.Count{Metric: metric, Stratum: evil, Agent: &evil, Category: &evil,
					Profile: new("google"), Key: new(key), Count: n})
			}
		}
		examples = append(examples, schema.Example{Metric: "body_bytes", Key: "largest", Host: evil, Text: evil},
			schema.Example{Metric: "total_us", Key: "slowest", Host: evil, Text: evil},
			schema.Example{Metric: "server", Key: "other", Host: evil, Text: evil}, schema.Example{Metric: "sitemap",
				Key: "relative", Host: evil, Text: evil})
		for _, severity := range []string{evil, "critical", "major", "minor"} {
			changes = append(changes, schema.Change{Host: evil, Origin: evil + severity, Rank: new(int64(i)), Kind: evil,
				Severity: severity, Agent: &evil, Category: &evil, URL: &evil, Before: &evil, After: &evil},
				schema.Change{Host: evil, Origin: evil + severity, Kind: "policy_class", Severity: severity, Agent: &evil,
					Category: &evil, Profile: new("google"), URL: &evil, Before: new("partial"), After: new("disallow_all")})
		}
	}
	for _, metric := range []string{"sitemaps", "sitemap", "body_bytes", "crawl_delay", "lines", "total_us"} {
		for _, key := range []string{"0", "9200000000000000000-9223372036854775807", "9223372036854775807-", "relative"} {
			counts = append(counts, schema.Count{Metric: metric, Stratum: "unranked", Key: new(key), Count: 3})
		}
	}
	p := plan("b")
	p.ToolVersion, p.Profiles = reporttest.Hostile[0], []string{"google", reporttest.Hostile[1]}
	p.Inputs[0].Path = reporttest.Hostile[2]
	writeRun(t, dir, p, 2, counts, examples)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "b")
	must(t, err)
	c, err := sink.CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
	must(t, err)
	must(t, c.Write(changes...))
	must(t, c.Commit())
	return drawn(t, dir, "b", "a")
}

func TestHostileTextIsText(t *testing.T) {
	out := hostilePage(t)
	for i, b := range bytes.Runes(out) {
		if unicode.In(b, unicode.C, unicode.Zl, unicode.Zp) && b != '\n' {
			t.Fatalf("%U stands in the page, at %.60q", b, string(bytes.Runes(out)[max(0, i-30):]))
		}
	}
	tree, err := html.Parse(bytes.NewReader(out))
	must(t, err)
	elements := strings.Fields("html head meta title style body main header footer h1 h2 h3 a b bdi small strong p span " +
		"div dl dt dd nav ol ul li section figure figcaption svg g rect text line table caption thead tbody tr th td " +
		"details summary pre code")
	attributes := strings.Fields("aria-hidden aria-label aria-labelledby charset class content download dy height href " +
		"http-equiv id lang name role rowspan scope start tabindex title width x x1 x2 y y1 y2")
	policies, shown, taken := 0, 0, 0
	for n := range tree.Descendants() {
		switch n.Type {
		case html.ElementNode:
			if !slices.Contains(elements, n.Data) {
				t.Errorf("the page has an element %s", n.Data)
			}
			for _, a := range n.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Errorf("%s has an attribute %s", n.Data, a.Key)
				}
				switch {
				case a.Key == "href" && strings.HasPrefix(a.Val, "data:"):
					taken++
					reporttest.CheckCopy(t, a.Val)
				case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
					t.Errorf("a link leads to %s", a.Val)
				case a.Key == "download" && strings.Trim(a.Val, "abcdefghijklmnopqrstuvwxyz-.") != "":
					t.Errorf("a copy is called %q", a.Val)
				}
				if strings.HasPrefix(a.Val, "default-src 'none'; style-src 'unsafe-inline';") {
					policies++
				}
			}
		case html.CommentNode:
			t.Errorf("a comment: %s", n.Data)
		case html.TextNode:
			if strings.Contains(n.Data, `<script>document`) {
				shown++
			}
			if n.Parent.Data == "style" && strings.Contains(n.Data, "127.0.0.1") {
				t.Error("a stranger's text is in the style sheet")
			}
		}
	}
	if taken < 40 {
		t.Errorf("the page has %d drawings and numbers to take away", taken)
	}
	if policies != 1 {
		t.Errorf("%d policies forbid what is not the page's own", policies)
	}
	if shown < 20 {
		t.Errorf("the hostile text is shown in %d places only: the test has missed them", shown)
	}
	for _, want := range []string{`safe\u202etxt.exe`, `a\u200bb\u2066c\ufeff`, `\u001b[31mred`,
		`line\u000d\u000abreak\u2028`} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is not shown", want)
		}
	}
}

func count1(metric, key string, n int64) schema.Count {
	return schema.Count{Metric: metric, Stratum: "unranked", Key: schema.NonZero(key), Count: n}
}

// agentCount returns a counter of an agent.
func agentCount(metric, agent, category, key string, n int64) schema.Count {
	return schema.Count{Metric: metric, Stratum: "1-1000", Agent: &agent, Category: &category, Profile: new("google"),
		Key: &key, Count: n}
}

func profiled(metric, key, profile string, n int64) schema.Count {
	c := count1(metric, key, n)
	c.Stratum, c.Profile = "1-1000", &profile
	return c
}

// Counters add up over parts; titles state the totals and their base.
func TestSentences(t *testing.T) {
	dir := t.TempDir()
	p := plan("r")
	p.Profiles = []string{"google", "rfc9309"}
	targets := count1("targets", "", 500)
	targets.Stratum = "1-1000"
	category := func(category, key string, n int64) schema.Count {
		c := agentCount("category", "", category, key, n)
		c.Agent = nil
		return c
	}
	writeRun(t, dir, p, 2, []schema.Count{
		targets, profiled("outcome", "conditional_allow", "google", 400), profiled("outcome", "full_allow", "google", 90),
		profiled("outcome", "full_disallow", "google", 10),
		profiled("outcome", "undefined", "rfc9309", 500),
		profiled("reason", "success", "google", 400), profiled("reason", "client_error", "google", 90),
		profiled("reason", "network_failure", "google", 8), profiled("reason", "server_error", "google", 2),
		count1("error_class", "dns_not_found", 7), count1("error_class", "timeout", 1), count1("error_class", "server_error",
			2),
		agentCount("policy", "GPTBot", counters.Headline, "disallow_all", 68), agentCount("policy", "GPTBot",
			counters.Headline, "allow_all", 422), agentCount("policy", "GPTBot", counters.Headline, "unknown", 10),
		agentCount("policy_explicit", "GPTBot", counters.Headline, "disallow_all", 60), agentCount("policy_fallback",
			"GPTBot", counters.Headline, "disallow_all", 3),
		agentCount("policy", "CCBot", counters.Headline, "disallow_all", 50), agentCount("policy", "CCBot",
			counters.Headline, "partial", 440),
		category(counters.Headline, "all", 50), category(counters.Headline, "some", 18), category(counters.Headline, "none",
			422), category(counters.Headline, "unknown", 10), category("seo", "none", 490),
		count1("body_bytes", "64", 200), count1("body_bytes", "540-559", 200), count1("body", "truncated", 1),
		count1("field", "content-signal", 4),
		count1("line_class_hosts", "no_field", 2), count1("line_class", "no_field", 9),
		count1("tld", "com", 300), count1("tld", "de", 200), count1("tld_failed", "de", 20), count1("tld_slow", "com", 3),
	}, nil)
	out := text1(t, drawn(t, dir, "r", ""))
	for _, want := range []string{
		"Crawl policies of 1,000 hosts, 15 January 2027",
		"13.6% of 1,000 hosts (17.0% of the 800 with rules) shut out agents for AI training: 10.0% of hosts " +
			"all of them, 3.6% some",
		"The category of agents that is shut out most is AI training: 13.6% of 1,000 hosts (17.0% of the 800 with rules) " +
			"shut out at least one of its agents, and 10.0% of hosts all of them",
		"GPTBot is shut out most often of 2 agents, by 13.6% of 1,000 hosts (17.0% of the 800 with rules)",
		"GPTBot is named most often: by 12.0% of 1,000 hosts (15.0% of the 800 with rules), of which 120 shut it out",
		"80.0% of 1,000 hosts have a file, 18.0% have none or refuse it, 0.4% give a server error and 1.6% cannot be reached",
		"Why hosts cannot be reached: DNS: no such name 14, timeout 2.",
		"Under the profile google the rules decide for 800 hosts (80.0%), everything is allowed without rules at 180 hosts " +
			"(18.0%) and everything is closed without rules at 20 hosts (2.0%).",
		"At 20 of 1,000 hosts the attempt failed or led nowhere, most often with “DNS: no such name” (14)",
		"The median file has 64 bytes, and nine in ten at most 549; 0.2% reach the size limit",
		"The commonest extension is content-signal, in 1.0% of files",
		"The commonest flaw is “line without a field”, in 0.5% of files",
		"By top-level domain, failures are commonest for .de (10.0% of 400 hosts), slow answers for .com (1.0% of 600 hosts)",
		"The run judges every file under 2 profiles. The page shows the first, google, and where the others differ from " +
			"it; the tables hold all of them.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
	for _, word := range []string{"What changed", "client_error", "no_field", "dns_not_found", "network_failure",
		"hosts.csv/", "/lists", "\u00a0%", " %"} {
		if strings.Contains(out, word) {
			t.Errorf("the page says %q", word)
		}
	}
	if strings.Index(out, "r") == 0 || strings.Contains(out[:200], "run r") {
		t.Errorf("the ID of the run is a title: %.200s", out)
	}
}

// text1 returns the visible text of a page without SQL.
func text1(t *testing.T, page []byte) string {
	t.Helper()
	tree, err := html.Parse(bytes.NewReader(page))
	must(t, err)
	var out strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode && (n.Data == "style" || n.Data == "pre" || n.Data == "head") {
			return
		}
		if n.Type == html.TextNode {
			out.WriteString(n.Data)
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(tree)
	return strings.TrimSpace(out.String())
}

// A drawing agrees with its figure: each of the two bases has a bar with its share.
func TestTheHeadlineHasTwoBases(t *testing.T) {
	d := &data{profile: "google", hosts: 1000, files: 400, known: 1000, sums: counters.Sums{
		"targets": {{Stratum: "1-1000"}: 600, {Stratum: "unranked"}: 400},
		"outcome": {{Stratum: "1-1000", Profile: "google", Key: "conditional_allow"}: 300,
			{Stratum: "unranked", Profile: "google", Key: "conditional_allow"}: 100},
		"category": {
			{Stratum: "1-1000", Profile: "google", Category: counters.Headline, Key: "all"}:    30,
			{Stratum: "1-1000", Profile: "google", Category: counters.Headline, Key: "some"}:   60,
			{Stratum: "unranked", Profile: "google", Category: counters.Headline, Key: "none"}: 400,
			{Stratum: "unranked", Profile: "rfc9309", Category: counters.Headline, Key: "all"}: 400,
			{Stratum: "1-1000", Profile: "google", Category: "seo", Key: "all"}:                500,
		},
		"policy": {{Profile: "google", Agent: "GPTBot", Category: counters.Headline}: 1},
	}}
	f := d.aiTraining()
	var got []string
	for _, b := range f.Bars {
		for _, track := range b.Tracks {
			line := b.Name + ": " + track.Values[0]
			for _, p := range track.Parts {
				line += fmt.Sprintf("; %s %.4g at %.4g (%s)", p.Class, p.Width, p.X, p.Tip)
			}
			got = append(got, line)
		}
	}
	want := []string{ // the width stands for 50 %
		"all hosts: 9.0% of hosts; closed 6 at 0 (shut out all: 30, 3.0%); partly 12 at 6 (shut out some: 60, 6.0%)",
		"all hosts: 22.5% of 400; closed 15 at 0 (shut out all: 30, 7.5%); partly 30 at 15 (shut out some: 60, 15.0%)",
		"rank 1 to 1,000: 15.0% of hosts; closed 10 at 0 (shut out all: 30, 5.0%); partly 20 at 10 (shut " +
			"out some: 60, 10.0%)",
		"rank 1 to 1,000: 30.0% of 300; closed 20 at 0 (shut out all: 30, 10.0%); partly 40 at 20 (shut out some: 60, 20.0%)",
		"unranked: 0% of hosts", "unranked: 0% of 100",
	}
	if diff := cmp.Diff(want, got); diff != "" || f.Axis != "50%" {
		t.Errorf("axis %s, bars (-want +got):\n%s", f.Axis, diff)
	}
}

// The SQL of a run that is not complete says that the table it reads has no row of it.
func TestTheSQLOfAnUnfinishedRun(t *testing.T) {
	dir := t.TempDir()
	counts := []schema.Count{count1("targets", "", 3), profiled("reason", "success", "google", 2),
		profiled("reason", "client_error", "google", 1)}
	run, err := sink.Create(dir, plan("unfinished"))
	must(t, err)
	defer run.Close()
	s, err := run.Segment(0)
	must(t, err)
	must(t, s.Summary.Write(counts...))
	must(t, s.Commit())
	writeRun(t, dir, plan("finished"), 1, counts, nil)
	for name, want := range map[string]bool{"unfinished": true, "finished": false} {
		page := string(drawn(t, dir, name, ""))
		statements := strings.Count(page, `<pre class="sql">`)
		if got := strings.Count(page, `<pre class="sql">-- once the run is complete, `); statements == 0 || want &&
			got != statements || !want && got != 0 {
			t.Errorf("run %s: %d of %d statements wait for its completion", name, got, statements)
		}
	}
}

func TestARunWithoutCounters(t *testing.T) {
	dir := t.TempDir()
	p := plan("r")
	writeRun(t, dir, p, 1, nil, nil)
	if out := drawn(t, dir, "r", ""); !bytes.Contains(out, []byte("The run has no counters: no host was asked.")) ||
		bytes.Contains(out, []byte("<figure")) {
		t.Errorf("the page is\n%s", out)
	}
}

// If several keys tie for the greatest count, no title names just one.
func TestLeadersTie(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, []schema.Count{
		count1("targets", "", 1), profiled("outcome", "conditional_allow", "google", 1), profiled("reason", "success",
			"google", 1),
		agentCount("policy", "CCBot", counters.Headline, "disallow_all", 1), agentCount("policy", "GPTBot",
			counters.Headline, "disallow_all", 1),
		agentCount("policy_explicit", "CCBot", counters.Headline, "disallow_all", 1), agentCount("policy_explicit", "GPTBot",
			counters.Headline, "disallow_all", 1),
		agentCount("category", "", counters.Headline, "all", 1), agentCount("category", "", "seo", "all", 1),
	}, nil)
	out := text1(t, drawn(t, dir, "r", ""))
	for _, want := range []string{
		"CCBot and GPTBot are named most often of 2 agents, each by 1 of 1 host",
		"2 categories of agents are shut out most, by equally many: 1 of 1 host shuts out at least one agent of each",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
}

// A page about one host does not use the plural.
func TestOneHostFailed(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, []schema.Count{
		count1("targets", "", 1), profiled("outcome", "full_disallow", "google", 1), profiled("reason", "network_failure",
			"google", 1), count1("error_class", "timeout", 1),
	}, nil)
	out := text1(t, drawn(t, dir, "r", ""))
	for _, want := range []string{"The only host has not said what crawlers may do there",
		"At the only host the attempt failed or led nowhere, with “timeout”"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
}

// A page about hosts that did not answer says so, shows how the attempts failed,
// and says nothing about policies.
func TestNothingAnswered(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, []schema.Count{
		count1("targets", "", 30), profiled("outcome", "full_disallow", "google", 30), profiled("reason", "network_failure",
			"google", 28), profiled("reason", "server_error", "google", 2),
		count1("error_class", "dns_not_found", 20), count1("error_class", "timeout", 8),
		count1("error_class", "server_error", 2),
		agentCount("policy", "GPTBot", counters.Headline, "unknown", 30), agentCount("category", "", counters.Headline,
			"unknown", 30), agentCount("category", "", "seo", "unknown", 30),
		count1("total_us", "57", 30), count1("tld", "de", 20), count1("tld_failed", "de", 20), count1("tld", "com", 10),
		count1("tld_failed", "com", 10),
	}, nil)
	out := text1(t, drawn(t, dir, "r", ""))
	for _, want := range []string{"None of the 30 hosts said what crawlers may do there",
		"At all 30 hosts the attempt failed or led nowhere, most often with “DNS: no such name” (20)", "timeout",
		"server error"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
	for _, word := range []string{"shut out AI", "shuts", "median", "commonest flaw", "of files", "GPTBot"} {
		if strings.Contains(out, word) {
			t.Errorf("the page says %q", word)
		}
	}
}

// Every figure has a link and downloads, and its tables have heads.
func TestFiguresCanBeTakenAway(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, []schema.Count{
		count1("targets", "", 10), profiled("reason", "success", "google", 10), profiled("outcome", "conditional_allow",
			"google", 10),
		agentCount("policy", "-agent", "other", "disallow_all", 3), agentCount("policy", "<b>", "other", "allow_all", 10),
		count1("body_bytes", "57", 10),
	}, []schema.Example{{Metric: "body_bytes", Key: "largest", Host: "h", Text: "57", Rank: new(int64(1234))}})
	tree, err := html.Parse(bytes.NewReader(drawn(t, dir, "r", "")))
	must(t, err)
	figures, ids := 0, make(map[string]bool)
	for n := range tree.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "th" && attribute(n, "scope") == "" {
			t.Error("a head has no scope")
		}
		if n.Data == "svg" && attribute(n, "aria-hidden") != "true" && (attribute(n, "role") != "img" ||
			attribute(n, "aria-label") == "") {
			t.Error("a drawing has no text for those who do not see it")
		}
		if n.Data != "figure" {
			continue
		}
		figures++
		id := attribute(n, "id")
		if id == "" || ids[id] {
			t.Errorf("a figure has the ID %q", id)
		}
		ids[id] = true
		var links []string
		for c := range n.Descendants() {
			if c.Data == "a" {
				links = append(links, attribute(c, "href"))
			}
		}
		if len(links) != 3 || links[0] != "#"+id {
			t.Errorf("figure %s has the links %q", id, links)
			continue
		}
		kind, drawing := reporttest.Copied(t, links[1])
		if kind != "image/svg+xml" || !strings.Contains(string(drawing), "<title id=") || !strings.Contains(string(drawing),
			"Crawl policies of 10 hosts, 15 January 2027, run r") {
			t.Errorf("figure %s: the drawing is %s", id, drawing)
		}
		if _, numbers := reporttest.Copied(t, links[2]); id == "agents" &&
			string(numbers) != "agent,category,shut_out,by_name,by_fallback,by_star\n'-agent,other,3,0,0,3\n"+
				"<b>,other,0,0,0,0\n" {
			t.Errorf("the numbers of figure %s are\n%s", id, numbers)
		}
	}
	if figures < 3 {
		t.Errorf("the page has %d figures", figures)
	}
	if out := text1(t, drawn(t, dir, "r", "")); !strings.Contains(out, "1,234") {
		t.Error("an example has no rank")
	}
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// The page contains no folder of the machine and no URL of an input.
func TestNoPathOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	p := plan("r")
	p.Inputs = []journal.Input{{Role: "hosts", Path: "/home/someone/secret/hosts.csv", SHA256: strings.Repeat("ab", 32)},
		{Role: "agents", Path: "../own/agents.yaml"}, {Role: "urls", Path: "-"}}
	writeRun(t, dir, p, 1, []schema.Count{count1("targets", "", 1)}, nil)
	out := text1(t, drawn(t, dir, "r", ""))
	for _, word := range []string{"someone", "secret", "own/", dir} {
		if strings.Contains(out, word) {
			t.Errorf("the page says %q", word)
		}
	}
	for _, want := range []string{"hosts.csv, sha256 abababababab", "agents.yaml", "standard input"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, plan("r"), 1, []schema.Count{count1("targets", "", 1)}, nil)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	if _, err := Page(context.Background(), sinktest.Open(t, dir), m, "a"); !errors.Is(err, changes.ErrNoChanges) ||
		!strings.Contains(err.Error(), "robocensus diff") {
		t.Errorf("no changes: %v", err)
	}
	c, err := sink.CreateChanges(sinktest.Open(t, dir), m, "a", "v1")
	must(t, err)
	must(t, c.Commit())
	path := "changes/run=r/against=a/part-0000000000.parquet"
	must(t, os.WriteFile(filepath.Join(dir, path), []byte("PAR1 no, not at all PAR1"), 0o666))
	if _, err := Page(context.Background(), sinktest.Open(t, dir), m, "a"); err == nil || !strings.Contains(err.Error(),
		path) {
		t.Errorf("no Parquet: %v", err)
	}
	must(t, os.Truncate(filepath.Join(dir, m.RunParts[0].Path), 100))
	if _, err := Page(context.Background(), sinktest.Open(t, dir), m, ""); err == nil || !strings.Contains(err.Error(),
		"robocensus verify") {
		t.Errorf("a part cut short: %v", err)
	}
	m.RunParts[0].Path = "../../etc/passwd"
	if _, err := Page(context.Background(), sinktest.Open(t, dir), m, ""); err == nil {
		t.Error("a path elsewhere is read")
	}
}

// Changes count hosts: a host that shuts out 20 agents counts once. An agent that
// ties with others is not named as the one that lost most. If not everything was
// compared, the page does not say that nothing changed.
func TestSentencesOfChanges(t *testing.T) {
	policy := func(host, agent, after string) schema.Change {
		before := map[string]string{"disallow_all": "partial", "partial": "disallow_all"}[after]
		return schema.Change{Host: host, Origin: "http://" + host, Kind: "policy_class", Severity: map[string]string{
			"disallow_all": "critical", "partial": "major"}[after],
			Agent: &agent, Category: new(counters.Headline), Profile: new("google"), Before: &before, After: &after}
	}
	rules := func(host, agent, how string) schema.Change {
		return schema.Change{Host: host, Origin: "http://" + host, Kind: "rules", Severity: "major", Agent: &agent,
			Category: new(counters.Headline), Profile: new("google"), After: &how}
	}
	of := func(host, kind, severity string) schema.Change {
		return schema.Change{Host: host, Origin: "http://" + host, Kind: kind, Severity: severity}
	}
	var many []schema.Change
	for h := range 5 {
		for a := range 20 {
			many = append(many, policy(fmt.Sprint("h", h), fmt.Sprint("agent", a), "disallow_all"))
		}
	}
	for _, row := range []struct {
		name    string
		changes []schema.Change
		notes   []string
		want    string
		not     string
	}{
		{"unread 9", nil, nil, "Changes since 8 January 2027 are unknown: no host could be read in both runs", "Of what was"},
		{"unread 4", nil, nil, "Of what was compared, nothing has changed since 8 January 2027", "Nothing has changed"},
		{"unread 2", many, nil, "Of the 9 hosts in both runs, 2 could not be read in one or in both: their policies " +
			"are not compared.", "Nothing"},
		{"earlier 3", many, nil, "Compared with a run before the earlier one, which could not read them: 3 hosts.",
			"not compared"},
		{"nothing", nil, nil, "Nothing has changed since 8 January 2027", "Not everything was compared"},
		{"nothing of some", nil, []string{"verdicts are not compared", "nor is <b>"},
			"Of what was compared, nothing has changed since 8 January 2027", "Nothing has changed"},
		{"notes", nil, []string{"verdicts are not compared", "nor is <b>"},
			"Notes on the comparison: verdicts are not compared; nor is <b>.", "100 critical"},
		{"hosts, and no pairs", many, nil,
			"5 of 9 hosts changed since 8 January 2027: 5 closed a path to an agent (5 shut one out entirely)", "100 changes"},
		{"hosts of a kind", many, nil, "What changed on most hosts: whether an agent is shut out, partly closed or open " +
			"(policy class), on 5", "on 100 hosts"},
		{"rows are named so", many, nil, "policy class5100", "hosts 100"},
		{"hosts of a category", many, nil, "AI training lost most: 5 hosts closed a path to at least one of its agents, " +
			"and 5 shut one out entirely", "100 hosts"},
		{"as many", many, nil, "20 agents lost most: 5 hosts closed a path to each of them, and 5 shut it out entirely",
			"agent0 lost most"},
		{"two that lost as much", []schema.Change{policy("a", "A", "disallow_all"), policy("a", "B", "disallow_all")}, nil,
			"A and B lost most: 1 host closed a path to each of them, and 1 shut it out entirely", "2 agents"},
		{"and more like it", many, nil, "policy class, agent0: partly closed → shut out (and 19 more)", "disallow_all"},
		{"the most", []schema.Change{policy("a", "A", "disallow_all"), policy("a", "B", "disallow_all"),
			policy("b", "B", "disallow_all")}, nil, "B lost most: 2 hosts closed a path to it, and 2 shut it out entirely",
			"each of them"},
		{"opened", []schema.Change{policy("a", "A", "partial"), policy("b", "A", "partial")}, nil,
			"No agent lost a path anywhere", "lost most"},
		{"both", []schema.Change{policy("a", "A", "disallow_all"), policy("a", "B", "partial"), policy("b", "B", "partial")},
			nil, "2 of 9 hosts changed since 8 January 2027: 1 closed a path to an agent (1 shut one out entirely) and 2 " +
				"opened one (2 let in an agent that was shut out)", "3 let"},
		{"numbers as the legend has them", []schema.Change{policy("a", "A", "disallow_all"), policy("a", "B", "partial"),
			policy("b", "B", "partial")}, nil, "2 opened, 2 let in", "2 closed"},
		{"by meaning", []schema.Change{rules("a", "A", "closes"), rules("b", "A", "both"), policy("c", "A", "disallow_all")},
			nil, "A lost most: 3 hosts closed a path to it, and 1 shut it out entirely", "3 shut"},
		{"none entirely", []schema.Change{rules("a", "A", "closes"), rules("b", "B", "undecided")}, nil,
			"A lost most: 1 host closed a path to it, none shut it out entirely", "2 agents"},
		{"new and gone", []schema.Change{of("a", "host_gone", "minor"), of("b", "host_new", "minor"),
			of("c", "text", "cosmetic")}, nil, "1 of 9 hosts changed since 8 January 2027; 1 new, 1 gone", "3 of 9"},
		{"the most severe", []schema.Change{of("a", "group", "minor"), of("a", "signal", "major"),
			of("b", "group", "minor")}, nil, "1 host1 of 9\nminor", "2 hosts1 of 9"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			earlier := plan("a")
			earlier.Started = earlier.Started.AddDate(0, 0, -7)
			writeRun(t, dir, earlier, 1, nil, nil)
			writeRun(t, dir, plan("b"), 1, []schema.Count{count1("targets", "", 12)}, nil) // three of them new
			m, err := journal.ReadManifest(sinktest.Open(t, dir), "b")
			must(t, err)
			c, err := sink.CreateChanges(sinktest.Open(t, dir), m, "a", "v1", row.notes...)
			must(t, err)
			must(t, c.Write(row.changes...))
			var unread, since int64
			fmt.Sscanf(row.name, "unread %d", &unread)
			fmt.Sscanf(row.name, "earlier %d", &since)
			c.Compared(9, unread, journal.EarlierRun{Run: "0", Hosts: since - since/2}, journal.EarlierRun{Run: "00",
				Hosts: since / 2})
			must(t, c.Commit())
			out := text1(t, drawn(t, dir, "b", "a"))
			if !strings.Contains(out, row.want) || strings.Contains(out, row.not) {
				t.Errorf("it does not say %q, or says %q", row.want, row.not)
				t.Log(out)
			}
		})
	}
}

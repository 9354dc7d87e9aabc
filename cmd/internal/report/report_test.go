package report

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/net/html"

	"github.com/robocensus/robocensus/sink"
)

// hostile is what strangers may write, and each tries to act: as markup, as an
// attribute, in a style sheet, on a terminal, or by hiding and turning round.
var hostile = []string{
	`<script>document.documentElement.setAttribute("data-ran", "1")</script>`,
	`"><img src=x onerror='document.documentElement.setAttribute("data-ran", "1")'>`,
	`' autofocus onfocus=document.documentElement.setAttribute("data-ran","1") x='`,
	`</title></svg></style><svg onload=document.documentElement.setAttribute("data-ran","1")>`,
	`<a href="javascript:document.documentElement.setAttribute('data-ran','1')">x</a>`,
	`{{.}}<style>*{background:url(//127.0.0.1:9/x)}</style><!--`,
	"\x1b]0;title\x07\x1b[31mred", "safe\u202etxt.exe", "a\u200bb\u2066c\ufeff", "line\r\nbreak\u2028",
}

// change is a row of the table changes, as far as the report reads it, and a
// column that it does not.
type changeRow struct {
	Host       string  `parquet:"host,dict"`
	Kind       string  `parquet:"kind,dict"`
	Severity   string  `parquet:"severity,dict"`
	Agent      *string `parquet:"agent,dict"`
	Profile    *string `parquet:"profile,dict"`
	URL        *string `parquet:"url,dict"`
	Before     *string `parquet:"before,dict"`
	After      *string `parquet:"after,dict"`
	LineBefore *int32  `parquet:"line_before"`
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// manifest is a run as it is begun.
func manifest(run string) sink.Manifest {
	return sink.Manifest{
		Run: run, ToolVersion: "v0", Tables: []string{"summary", "examples"}, Profiles: []string{"google"}, Started: time.Unix(1_800_000_000, 0),
		Inputs: []sink.Input{{Role: "hosts", Path: "hosts.csv"}},
	}
}

// writeRun makes a complete run of segments that have these rows.
func writeRun(t testing.TB, dir string, m sink.Manifest, segments int, counts []sink.Count, examples []sink.Example) {
	t.Helper()
	run, err := sink.Create(dir, m)
	must(t, err)
	for i := range segments {
		s, err := run.Segment(i)
		must(t, err)
		must(t, s.Summary.Write(counts...))
		must(t, s.Examples.Write(examples...))
		must(t, s.Commit())
	}
	must(t, run.Complete(time.Unix(1_800_000_100, 0), sink.Tally{Targets: 1}, nil))
}

func drawn(t testing.TB, dir, run, against string) []byte {
	t.Helper()
	m, err := sink.ReadManifest(dir, run)
	must(t, err)
	out, err := Page(context.Background(), dir, m, against)
	must(t, err)
	return out
}

// hostilePage is a page that has hostile text wherever a stranger's can come.
func hostilePage(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	var counts []sink.Count
	var examples []sink.Example
	var changes []changeRow
	for i, evil := range hostile {
		evil = sink.TextString(evil)
		n := int64(100 + i)
		for _, metric := range []string{
			"targets", "outcome", "reason", "status", "error_class", "body", "feature", "field", "signal", "sitemap", "line_class", "line_class_hosts",
			"tld", "tld_failed", "tld_slow", "address_block", "address_block_failed", "server", "server_slow", "body_bytes", "lines", "crawl_delay", "sitemaps", "total_us",
		} {
			counts = append(counts, sink.Count{Metric: metric, Stratum: evil, Key: &evil, Count: n})
			examples = append(examples, sink.Example{Metric: metric, Key: evil, Host: evil, Line: sink.Some(int32(7)), Text: evil})
		}
		for _, metric := range []string{"policy", "policy_explicit", "category", "verdict"} {
			for _, key := range []string{"disallow_all", "some"} {
				counts = append(counts, sink.Count{Metric: metric, Stratum: evil, Agent: &evil, Category: &evil, Profile: sink.Some("google"), Key: sink.Some(key), Count: n})
			}
		}
		examples = append(examples, sink.Example{Metric: "body_bytes", Key: "largest", Host: evil, Text: evil}, sink.Example{Metric: "total_us", Key: "slowest", Host: evil, Text: evil},
			sink.Example{Metric: "server", Key: "other", Host: evil, Text: evil}, sink.Example{Metric: "sitemap", Key: "relative", Host: evil, Text: evil})
		for _, severity := range []string{evil, "critical", "major", "minor"} {
			changes = append(changes, changeRow{evil, evil, severity, &evil, nil, &evil, &evil, &evil, nil}, changeRow{evil, "policy_class", severity, &evil, sink.Some("google"), &evil, sink.Some("partial"), sink.Some("disallow_all"), nil})
		}
	}
	for _, metric := range []string{"sitemaps", "sitemap", "body_bytes", "crawl_delay", "lines", "total_us"} {
		for _, key := range []string{"0", "9200000000000000000-9223372036854775807", "9223372036854775807-", "relative"} {
			counts = append(counts, sink.Count{Metric: metric, Stratum: "unranked", Key: sink.Some(key), Count: 3})
		}
	}
	m := manifest("b")
	m.ToolVersion, m.Profiles = hostile[0], []string{"google", hostile[1]}
	m.Inputs[0].Path = hostile[2]
	writeRun(t, dir, m, 2, counts, examples)
	folder := filepath.Join(dir, "changes", "run=b", "against=a")
	must(t, os.MkdirAll(folder, 0o777))
	must(t, parquet.WriteFile(filepath.Join(folder, "part-0.parquet"), changes))
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
	elements := strings.Fields("html head meta title style body main header footer h1 h2 h3 a b bdi small strong p span div dl dt dd nav ol ul li section figure figcaption svg g rect text line table caption thead tbody tr th td details summary pre code")
	attributes := strings.Fields("aria-hidden aria-label aria-labelledby charset class content dy height href http-equiv id lang name role rowspan width x x1 x2 y y1 y2")
	policies, shown := 0, 0
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
				if a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("a link leads to %s", a.Val)
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
	if policies != 1 {
		t.Errorf("%d policies forbid what is not the page's own", policies)
	}
	if shown < 20 {
		t.Errorf("the hostile text is shown in %d places only: the test has missed them", shown)
	}
	for _, want := range []string{`safe\u202etxt.exe`, `a\u200bb\u2066c\ufeff`, `\u001b[31mred`, `line\u000d\u000abreak\u2028`} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is not shown", want)
		}
	}
}

func count1(metric, key string, n int64) sink.Count {
	return sink.Count{Metric: metric, Stratum: "unranked", Key: sink.NonZero(key), Count: n}
}

// Counters add up over parts; titles say what they come to.
func TestTitlesStateFindings(t *testing.T) {
	policy := func(metric, agent, class string, n int64) sink.Count {
		return sink.Count{Metric: metric, Stratum: "1-1000", Agent: &agent, Category: sink.Some("ai-training"), Profile: sink.Some("google"), Key: &class, Count: n}
	}
	profiled := func(metric, key, profile string, n int64) sink.Count {
		c := count1(metric, key, n)
		c.Profile = &profile
		return c
	}
	dir := t.TempDir()
	m := manifest("r")
	m.Profiles = []string{"google", "rfc9309"}
	writeRun(t, dir, m, 2, []sink.Count{
		count1("targets", "", 500), profiled("outcome", "conditional_allow", "google", 400), profiled("outcome", "full_allow", "google", 99), profiled("outcome", "full_disallow", "google", 1),
		profiled("outcome", "undefined", "rfc9309", 500),
		policy("policy", "GPTBot", "disallow_all", 68), policy("policy", "GPTBot", "allow_all", 432), policy("policy_explicit", "GPTBot", "disallow_all", 60),
		policy("policy", "CCBot", "disallow_all", 50), policy("policy", "CCBot", "partial", 450),
		count1("body_bytes", "540-559", 201), count1("body_bytes", "1000-1039", 199), count1("body", "truncated", 1),
		count1("tld", "com", 300), count1("tld", "de", 200), count1("tld_failed", "de", 20), count1("tld_slow", "com", 3),
	}, nil)
	out := string(drawn(t, dir, "r", ""))
	for _, want := range []string{
		"The rules decide on 80.0\u00a0% of 1,000 hosts; 19.8\u00a0% allow everything for want of a file, 0.2\u00a0% count as closed",
		"GPTBot is closed on 13.6\u00a0% of 1,000 hosts, most of all 2 agents",
		"Half of the files have 549 bytes or fewer; 0.2\u00a0% reach the limit",
		"By top-level domain, .de fails most, 10.0\u00a0% of 400 hosts; .com is slowest, 1.0\u00a0% of 600 hosts take a second",
		"The run reads every file by 2 profiles; this is the reading of the first, google.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page does not say: %s", want)
		}
	}
	if strings.Contains(out, "What changed") {
		t.Error("changes are shown that nobody asked for")
	}
}

func TestARunWithoutCounters(t *testing.T) {
	dir := t.TempDir()
	m := manifest("r")
	writeRun(t, dir, m, 1, nil, nil)
	if out := drawn(t, dir, "r", ""); !bytes.Contains(out, []byte("The run has no counters")) || bytes.Contains(out, []byte("<figure")) {
		t.Errorf("the page is\n%s", out)
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	writeRun(t, dir, manifest("r"), 1, []sink.Count{count1("targets", "", 1)}, nil)
	m, err := sink.ReadManifest(dir, "r")
	must(t, err)
	if _, err := Page(context.Background(), dir, m, "a"); !errors.Is(err, ErrNoChanges) || !strings.Contains(err.Error(), "robocensus diff") {
		t.Errorf("no changes: %v", err)
	}
	folder := filepath.Join(dir, "changes", "run=r", "against=a")
	must(t, os.MkdirAll(folder, 0o777))
	path := filepath.Join(folder, "x.parquet")
	must(t, os.WriteFile(path, []byte("PAR1 no, not at all PAR1"), 0o666))
	if _, err := Page(context.Background(), dir, m, "a"); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("no Parquet: %v", err)
	}
	must(t, parquet.WriteFile(path, []struct {
		Host string `parquet:"host"`
	}{{"h"}}))
	if _, err := Page(context.Background(), dir, m, "a"); err == nil || !strings.Contains(err.Error(), "no column severity") {
		t.Errorf("other columns: %v", err)
	}
	must(t, os.Truncate(filepath.Join(dir, m.Parts[0].Path), 100))
	if _, err := Page(context.Background(), dir, m, ""); err == nil || !strings.Contains(err.Error(), "robocensus verify") {
		t.Errorf("a part cut short: %v", err)
	}
	m.Parts[0].Path = "../../etc/passwd"
	if _, err := Page(context.Background(), dir, m, ""); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a path elsewhere: %v", err)
	}
}

// Agents that lost as many hosts as others are not told as the one that lost
// most; and where not all was compared, nothing is not all that changed.
func TestTitlesOfChanges(t *testing.T) {
	policy := func(agent, after string) sink.Change {
		before := map[string]string{"disallow_all": "partial", "partial": "disallow_all"}[after]
		return sink.Change{Host: "h", Origin: "http://h", Kind: "policy_class", Severity: "critical", Agent: &agent, Profile: sink.Some("google"), Before: &before, After: &after}
	}
	for _, row := range []struct {
		name    string
		changes []sink.Change
		notes   []string
		want    string
		not     string
	}{
		{"nothing", nil, nil, "Nothing has changed since a<", "Not all was compared"},
		{"nothing of some", nil, []string{"verdicts are not compared", "nor is <b>"}, "Of what was compared, nothing has changed since a<", "Nothing has changed"},
		{"notes", nil, []string{"verdicts are not compared", "nor is <b>"}, "Not all was compared: verdicts are not compared; nor is &lt;b&gt;.", "<b>."},
		{"one", []sink.Change{policy("A", "disallow_all")}, nil, "1 policy closed and 0 opened; A lost most, 1 host<", " host each"},
		{"one of a kind", []sink.Change{policy("A", "disallow_all")}, nil, "1 change since a, 1 critical; of kind policy_class<", "most of kind"},
		{"the most", []sink.Change{policy("A", "disallow_all"), policy("B", "disallow_all"), policy("B", "disallow_all")}, nil, "B lost most, 2 hosts<", "hosts each"},
		{"as many", []sink.Change{policy("A", "disallow_all"), policy("B", "disallow_all"), policy("C", "partial")}, nil, "; 2 agents lost most, 1 host each<", "A lost most"},
		{"opened", []sink.Change{policy("A", "partial"), policy("B", "partial")}, nil, "No policy closed; 2 opened", "lost most"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			writeRun(t, dir, manifest("b"), 1, []sink.Count{count1("targets", "", 9)}, nil)
			m, err := sink.ReadManifest(dir, "b")
			must(t, err)
			c, err := sink.CreateChanges(dir, m, "a", "v1", row.notes...)
			must(t, err)
			must(t, c.Write(row.changes...))
			must(t, c.Commit())
			out := string(drawn(t, dir, "b", "a"))
			if !strings.Contains(out, row.want) || strings.Contains(out, row.not) {
				t.Errorf("it does not say %q, or says %q", row.want, row.not)
				t.Log(out[strings.Index(out, "<main>"):][:2500])
			}
		})
	}
}

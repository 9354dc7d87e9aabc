package earlier_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

var must = sinktest.Must

// judges are profiles that differ in all that the memory, the probe, redirects and
// limits decide.
func judges() (all []*robots.Profile) {
	for i, change := range []func(p *robots.Profile){
		func(p *robots.Profile) { p.SizeLimit = 60 },
		func(p *robots.Profile) { p.SizeLimit, p.MaxRedirects = mostBytes, 2 },
		func(p *robots.Profile) { p.SizeLimit, p.MisconfiguredAs404 = 80, false },
		func(p *robots.Profile) {
			p.SizeLimit, p.MaxRedirects, p.TooManyRequests, p.MisconfiguredAs404 = mostBytes, mostRedirects, answer.ServerError,
				true
		},
		func(p *robots.Profile) { p.SizeLimit, p.UnreachableLimit = 30, 0 },
	} {
		p, _ := robots.ProfileNamed([]string{"google", "rfc9309", "google-2012", "rfc9309", "google"}[i])
		own := *p
		own.Name = fmt.Sprintf("p%d", i+1)
		change(&own)
		all = append(all, &own)
	}
	return all
}

// mostBytes and mostRedirects are the largest limits of the judges, up to which captures
// are made.
const (
	mostBytes     = 100
	mostRedirects = 7
)

var epoch = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

// targets draws targets of which every fact that a profile can ask for varies.
var targets = rapid.Custom(func(t *rapid.T) (all []target.Target) {
	for i := range 100 {
		o := fetch.Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i), Port: 80}
		c := &fetch.Capture{Origin: o, Start: epoch.Add(some(t)), Attempts: 1}
		one := target.Target{Seq: int64(i + 1), Input: o.Host, Candidates: []fetch.Origin{o}, Capture: c}
		answered(t, c)
		body := func() ([]byte, bool) {
			text := []byte(strings.Repeat("User-agent: *\nDisallow: /a\n",
				4)[:rapid.SampledFrom([]int{0, 20, 54, 60, 79, 81}).Draw(t, "bytes")])
			if rapid.Bool().Draw(t, "long") {
				text = append(text, "Allow: /a/b\nUser-agent: GPTBot\nDisallow: /a/b/c\nAllow: /a/b/c/d\nDisallow: /e\n"+
					"Allow: /f\nDisallow: /g\n#"...)
			}
			return text[:min(len(text), mostBytes)], len(text) > mostBytes
		}
		kind := c.Facts().Kind()
		if status := c.Status(); status/100 == 2 && c.Error == "" {
			c.Body, c.Truncated = body()
		} else if status/100 == 2 {
			n := rapid.IntRange(0, 9).Draw(t, "cut")
			c.Cut = &n
		}
		if rapid.Bool().Draw(t, "memory") {
			at, m := epoch.Add(-time.Hour), answer.Memory{}
			for n := range rapid.IntRange(0, 6).Draw(t, "answers") {
				before := &fetch.Capture{Start: at.Add(some(t))}
				if answered(t, before); rapid.IntRange(0, 2).Draw(t, "plain") > 0 { // a file, and an outage since
					before.Hops, before.Error = []answer.Hop{{URL: "http://h.example/", Status: []int{200, 503}[min(n, 1)]}}, ""
				}
				m, at = m.After(before.Facts().Kind(), before.Start), before.Start
			}
			c.Memory = &m
			if rapid.IntRange(0, 9).Draw(t, "clock") > 0 { // otherwise it was wrong
				c.Start = at.Add(some(t))
			}
			if m.WholeCopy() && !kind.Settled() && rapid.Bool().Draw(t, "has copy") {
				c.Copy = &fetch.WholeCopy{Fetched: at}
				c.Copy.Body, c.Copy.Truncated = body()
			}
			if rapid.Bool().Draw(t, "stored before it was judged") {
				m = m.After(kind, c.Start)
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "own") == 0 {
			one.Paths = []string{"/a/b?é", "/z"}[:rapid.IntRange(1, 2).Draw(t, "urls")]
		}
		stored(t, &one)
		all = append(all, one)
	}
	return all
})

// some draws a time between two answers, of days and a little.
func some(t *rapid.T) time.Duration {
	days := rapid.SampledFrom([]int{1, 0, 7, 29, 30, 31}).Draw(t, "days")
	return time.Duration(days)*24*time.Hour + time.Duration(rapid.Int64Range(0, 5000).Draw(t, "ns"))
}

// answer draws what answered a request: redirects, statuses, failures, and the probe.
func answered(t *rapid.T, c *fetch.Capture) {
	url := func(n int) string { return fmt.Sprintf("http://h.example/%d", n) }
	redirects := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 5, 6, mostRedirects, mostRedirects + 1}).Draw(t, "redirects")
	for n := range redirects {
		c.Hops = append(c.Hops, answer.Hop{URL: url(n), Status: 301})
	}
	if redirects > mostRedirects {
		c.Error, c.Err = answer.ErrorRedirectLimit, errors.New("redirected")
		return
	}
	last := answer.Hop{URL: url(redirects), Status: rapid.SampledFrom([]int{200, 503, 206, 204, 404, 429, 500, 200, 503,
		304, 600, 0, 0}).Draw(t, "status")}
	c.Hops = append(c.Hops, last)
	switch failure := rapid.SampledFrom([]answer.ErrorClass{answer.ErrorTimeout, answer.ErrorProtocol,
		answer.ErrorTruncatedBody}).Draw(t, "error"); {
	case last.Status == 0:
		c.Error, c.Err = answer.ErrorTimeout, errors.New("timeout")
	case rapid.IntRange(0, 4).Draw(t, "fails") == 0:
		c.Error, c.Err = failure, errors.New("failed")
	case last.Status >= 500 && last.Status < 600 && rapid.Bool().Draw(t, "probed"):
		c.Probe.Front = rapid.SampledFrom([]int{0, 200, 301, 500}).Draw(t, "front")
		if c.Probe.Front == 200 || c.Probe.Front == 301 {
			c.Probe.Missing = rapid.SampledFrom([]int{0, 404, 500, 503}).Draw(t, "missing")
		}
	}
	if c.Error == "" && rapid.IntRange(0, 4).Draw(t, "remarks") == 0 {
		c.Err = errors.New("a line of the header is dropped")
	}
}

// stored makes some targets stored captures, whose facts may be unknown.
func stored(t *rapid.T, one *target.Target) {
	c := one.Capture
	if c.Memory != nil || rapid.IntRange(0, 3).Draw(t, "stored") > 0 {
		return
	}
	one.Stored = &target.Stored{Source: "warc", WARC: "a.warc", Offset: &one.Seq}
	switch rapid.IntRange(0, 3).Draw(t, "unknown") {
	case 0:
		c.Hops, c.Error, c.Err, c.Body, c.Cut, c.Truncated, c.Probe = []answer.Hop{{URL: "http://h.example/", Status: 301}},
			"", nil, nil, nil, false, fetch.Probe{}
		c.Location = "http://h.example/there"
	case 1:
		c.Hops, c.Error, c.Err, c.Body, c.Cut, c.Truncated, c.Probe = []answer.Hop{{URL: "http://h.example/", Status: 200}},
			"", nil, nil, nil, false, fetch.Probe{}
		c.Unstored = true
	case 2:
		if c.Body != nil {
			one.Stored.Source, one.Stored.Assumed, c.Hops = "body", true, []answer.Hop{{URL: c.Origin.RobotsURL(), Status: 200}}
		}
	}
}

// write makes a run of targets under profiles.
func write(t *testing.T, dir, run string, profiles []*robots.Profile, targets []target.Target) {
	t.Helper()
	agents, _, err := registry.ParseAgents("agents",
		[]byte("- {name: GPTBot, tokens: [GPTBot], category: ai-training}\n"+
			"- {name: other, tokens: [other], category: other}\n"))
	must(t, err)
	samples, err := registry.ParseSamples("urls",
		[]byte("/\n/a/b/c\n/e\n/robots.txt\nhttp://h1.example/a/b\nHTTP://h2.example/a/b\n"))
	must(t, err)
	c := evaluate.Config{Agents: agents, Samples: samples, Profiles: profiles}
	first := journal.Input{Role: "hosts", Path: "hosts.csv"}
	if strings.HasPrefix(run, "again") {
		first = journal.Input{Role: "run", Path: "first"} // its bodies may be longer than its own limit
	}
	inputs := []journal.Input{first, {Role: "agents", Path: "built-in agents.yaml"},
		{Role: "urls", Path: "built-in urls.txt"}}
	out, err := sink.Create(dir, journal.Plan{
		Run: run, Started: epoch, Tables: schema.TableNames, Profiles: c.ProfileNames(), ProfileFields: c.ProfileFields(),
		Inputs: inputs,
	})
	must(t, err)
	defer out.Close()
	s, err := out.Segment(0)
	must(t, err)
	s.Targets = int64(len(targets))
	var each iter.Seq2[*target.Target, error] = func(yield func(*target.Target, error) bool) {
		for i := range targets {
			if !yield(&targets[i], nil) {
				return
			}
		}
	}
	_, err = evaluate.Prepare(c).Evaluator().Segment(s, each)
	must(t, err)
	must(t, s.Commit())
	sums, err := summary.SumUp(t.Context(), out)
	must(t, err)
	must(t, out.Complete(sink.Completion{Finished: epoch, Tally: journal.Tally{Targets: s.Targets}, Totals: sums,
		Inputs: inputs}))
}

// read returns the targets of a run, as --from-run has them.
func read(ctx context.Context, dir, run string) (all []target.Target, missed earlier.Missed, err error) {
	folder := filepath.Join(dir, "_runs", run)
	if missed, err = earlier.MissedBy(ctx, folder); err != nil {
		return nil, missed, err
	}
	s, err := source.Open(ctx, source.Config{FromRun: folder})
	if err != nil {
		return nil, missed, err
	}
	for _, v := range s.Volumes {
		if err := v.Read(ctx, func(t target.Target) error {
			all = append(all, t)
			return nil
		}); err != nil {
			return nil, missed, err
		}
	}
	return all, missed, nil
}

// sameRows compares the tables of two runs row by row.
func sameRows(t *testing.T, what, dir, a, b string) {
	t.Helper()
	compareRows[schema.Group](t, what, dir, a, b, "groups")
	compareRows[schema.Rule](t, what, dir, a, b, "rules")
	compareRows[schema.Line](t, what, dir, a, b, "lines")
	compareRows[schema.Policy](t, what, dir, a, b, "policies")
	compareRows[schema.Verdict](t, what, dir, a, b, "verdicts")
	compareRows[schema.Count](t, what, dir, a, b, "summary", cmpopts.SortSlices(func(x, y schema.Count) bool {
		return fmt.Sprint(x.Metric, x.Stratum, x.Count) < fmt.Sprint(y.Metric, y.Stratum, y.Count)
	}))
	compareRows[schema.Body](t, what, dir, a, b, "bodies")
	// How much of an answer that broke off came, is not in a row that has the copy instead.
	broken := cmp.FilterPath(func(p cmp.Path) bool {
		if last, ok := p.Last().(cmp.StructField); ok && (last.Name() == "BodyBytes" || last.Name() == "BodyTruncated") {
			x, _ := p.Index(-2).Values()
			row := x.Interface().(schema.Fetch)
			return row.CopyTime != nil
		}
		return false
	}, cmp.Ignore())
	compareRows[schema.Fetch](t, what, dir, a, b, "fetches", broken)
}

func compareRows[R any](t *testing.T, what, dir, a, b, table string, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(sinktest.Rows[R](t, dir, a, table), sinktest.Rows[R](t, dir, b, table), options...); diff != "" {
		t.Fatalf("%s: %s (-%s +%s):\n%.3000s", what, table, a, b, diff)
	}
}

// A run re-evaluated under any profiles is what the first run would have been under
// these, whatever the first run's profiles were.
func TestJudgedAgainUnderAnyProfiles_NoRace(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 1
	}
	met := make(map[string]int) // rows that have a fact
	for seed := range seeds {
		dir, all := t.TempDir(), judges()
		captured := targets.Example(seed)
		write(t, dir, "first", all, captured)
		for _, p := range all {
			one := []*robots.Profile{p}
			write(t, dir, "direct-"+p.Name, one, captured)
			facts, _, err := read(t.Context(), dir, "first")
			must(t, err)
			write(t, dir, "again-"+p.Name, one, facts)
			sameRows(t, fmt.Sprintf("seed %d, from all to %s", seed, p.Name), dir, "direct-"+p.Name, "again-"+p.Name)
			facts, missed, err := read(t.Context(), dir, "again-"+p.Name)
			must(t, err)
			write(t, dir, "all-"+p.Name, all, facts)
			sameRows(t, fmt.Sprintf("seed %d, from %s to all", seed, p.Name), dir, "first", "all-"+p.Name)
			if diff := cmp.Diff(earlier.Missed{}, missed); diff != "" {
				t.Error(diff)
			}
		}
		for _, row := range sinktest.Rows[schema.Fetch](t, dir, "first", "fetches") {
			for fact, has := range map[string]bool{
				"a copy that is judged": row.StaleSince != nil, "a copy that is not": row.CopyTime != nil && row.StaleSince == nil,
				"answers before": len(row.AnswersSince) > 2, "a first answer": len(row.AnswersSince) == 1,
				"a missing page": row.ProbeRandomStatus != nil, "a front page alone": row.ProbeFrontStatus != nil &&
					row.ProbeRandomStatus == nil,
				"a body cut by the limit": row.KeptTruncated != nil && *row.KeptTruncated && row.CopyTime == nil,
				"a body read in part":     row.KeptTruncated != nil && !*row.KeptTruncated,
				"a copy cut by the limit": row.KeptTruncated != nil && *row.KeptTruncated && row.CopyTime != nil,
			} {
				if met[fact] += 0; has {
					met[fact]++
				}
			}
		}
	}
	for fact, n := range met {
		if n == 0 {
			t.Errorf("no target has %s, so the test shows nothing of it", fact)
		}
	}
}

// What the header of a front page says is said again, whatever its bytes: a dictionary has
// none that is not ASCII (RFC 9651, 4.2), and may have what a table writes for one.
func TestFrontPageIsReadAgain(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	var all []target.Target
	for i, header := range [][]string{
		{"content-usage", "train-ai=n, x=\"\xe9\""},
		{"content-usage", "train-ai=n, x=\"%E9\""},
		{"content-usage", "train-ai=n, x=\"%00%E9\x00\xe9\""},
		{"content-usage", "train-ai=n", "content-usage", "x=\"%C3\xa9\"", "x-robots-tag", "%E9"},
		{"content-usage", "train-ai=n", "content-usage", "x=\"%E9%e9%\"", "x-robots-tag", "caf\xe9, %C3\xa9, %e9, \xe9"},
		{"content-usage", "x=\"é%E9\xe9\""}, {"content-usage", "%\xe9"},
		{"robots-tag", "GPTBot;x=\"\xff\""}, {"robots-tag", "GPTBot;x=\"%FF\""},
		{"tdm-policy", "https://\xe9.example/%E9"}, {"tdm-policy", "\xe9"},
	} {
		front := &fetch.Front{Outcome: usage.PageRead, Hops: []answer.Hop{{URL: "http://a.example/", Status: 200}}}
		for line := range slices.Chunk(header, 2) {
			front.Header = append(front.Header, usage.HeaderField{Name: line[0], Value: &line[1]})
		}
		o := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
		all = append(all, target.Target{Seq: int64(i + 1), Candidates: []fetch.Origin{o}, Capture: &fetch.Capture{
			Origin: o, Start: epoch, Front: front, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 404}},
		}})
	}
	dir, profiles := t.TempDir(), []*robots.Profile{google}
	write(t, dir, "first", profiles, all)
	facts, _, err := read(t.Context(), dir, "first")
	must(t, err)
	write(t, dir, "again", profiles, facts)
	compareRows[schema.Fetch](t, "read", dir, "first", "again", "fetches")
	compareRows[schema.Preference](t, "read", dir, "first", "again", "preferences")
}

// A profile that follows more redirects than the earlier run did cannot know where they
// lead.
func TestRedirectsThatWereNotFollowed(t *testing.T) {
	o := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
	c := &fetch.Capture{Origin: o, Start: epoch, Error: answer.ErrorRedirectLimit,
		Err: errors.New("redirected more than 2 times")}
	for range 3 {
		c.Hops = append(c.Hops, answer.Hop{URL: "http://a.example/", Status: 301})
	}
	dir, all := t.TempDir(), judges()
	write(t, dir, "first", all[1:2], []target.Target{{Seq: 1, Input: "a.example", Candidates: []fetch.Origin{o},
		Capture: c}})
	facts, _, err := read(t.Context(), dir, "first")
	must(t, err)
	write(t, dir, "again", all[:1], facts)
	row := sinktest.Rows[schema.Fetch](t, dir, "again", "fetches")[0]
	if row.Outcome != "undefined" || row.Reason != "redirect_unresolved" {
		t.Errorf("%s, %s", row.Outcome, row.Reason)
	}
}

package main

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Twelve crawls of a known history, read over https from a server that throttles, breaks
// and refuses, one command each: the series has every figure of the model, to the last
// digit, and no other.
func TestTwelveCrawls(t *testing.T) {
	if testing.Short() {
		t.Skip("TestSeriesOfAKnownHistory has the figures of a series; package pipeline reads archives of a troubled server")
	}
	t.Parallel()
	const largest = 50_000
	w := &crawlsTest{twelveCrawls: newTwelveCrawls(largest), server: newTroubledServer(t), began: time.Now()}
	var err error
	w.dir, err = os.MkdirTemp(scratch, "crawls-")
	must(t, err)
	w.out = filepath.Join(w.dir, "out")
	write(t, filepath.Join(w.dir, "ca.pem"),
		string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw})))
	write(t, filepath.Join(w.dir, "urls.txt"), "/\n")
	var ranks strings.Builder
	for _, s := range w.sites {
		if s.rank > 0 {
			fmt.Fprintf(&ranks, "%d,%s\n", s.rank, s.host)
		}
	}
	write(t, filepath.Join(w.dir, "ranks.csv"), ranks.String())
	w.run(t)
	w.took(t, "runs")
	w.wantTrouble(t)

	const share = 0.4
	sampled, samples := []int{0, 5, 11}, []string{"sample-x", "sample-z", "sample-y"}
	each(t, len(sampled), func(k int) error { return w.census(sampled[k], samples[k], "--sample", fmt.Sprint(share)) })
	each(t, len(w.crawls)-1, func(k int) error {
		return w.command("diff", "--out", w.out, w.crawls[k].id, w.crawls[k+1].id)
	})
	w.took(t, "comparisons")
	w.wantWords(t)
	w.took(t, "words and uses")

	var all []int
	var runs []string
	for c := range w.crawls {
		all, runs = append(all, c), append(runs, w.crawls[c].id)
	}
	section, _ := w.expect(all, runs, everySite, false)
	if w.expectChanges(section) == 0 {
		t.Error("the outage hid no host")
	}
	panel, hosts := w.expect(all, runs, everySite, true)
	w.expectChanges(panel)
	w.wantCalm(t, section)
	w.took(t, "the model")

	ofSample, sampleHosts := w.expect(sampled, samples, inSampleOf(share), true)
	parquet := filepath.Join(w.dir, "series.parquet")
	for name, check := range map[string]func(*testing.T){
		"section": func(t *testing.T) { w.wantSeries(t, section, 0, "--runs", "crawl-*") },
		"panel": func(t *testing.T) {
			w.wantSeries(t, panel, hosts, "--runs", "crawl-*", "--panel", "--parquet", parquet)
			w.wantParquet(t, panel, parquet)
		},
		"sample": func(t *testing.T) { w.wantSeries(t, ofSample, sampleHosts, "--runs", "sample-*", "--panel") },
		"views":  func(t *testing.T) { w.wantViews(t, section) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t)
			w.took(t, name)
		})
	}
}

// crawlsTest runs the command over the crawls.
type crawlsTest struct {
	*twelveCrawls
	server   *troubledServer
	dir, out string
	began    time.Time
}

func (w *crawlsTest) took(t *testing.T, what string) {
	t.Logf("%s: after %s", what, time.Since(w.began).Round(10*time.Millisecond))
}

// each calls f with 0 to n-1 at the same time, and waits.
func each(t *testing.T, n int, f func(i int) error) {
	t.Helper()
	var group sync.WaitGroup
	failed := make([]error, n)
	for i := range n {
		group.Go(func() { failed[i] = f(i) })
	}
	group.Wait()
	must(t, errors.Join(failed...))
}

// command runs the command, which trusts the server.
func (w *crawlsTest) command(args ...string) error {
	c := exec.Command(filepath.Join(bin, "robocensus"), args...)
	c.Env = append(os.Environ(), "SSL_CERT_FILE="+filepath.Join(w.dir, "ca.pem"))
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return nil
}

// run makes the census of each crawl, all at the same time.
func (w *crawlsTest) run(t *testing.T) {
	for c := range w.crawls {
		w.server.upset(c, w.archiveFiles(c))
	}
	w.took(t, "the archives")
	each(t, len(w.crawls), func(c int) error { return w.census(c, w.crawls[c].id) })
}

// census reads a crawl.
func (w *crawlsTest) census(c int, id string, more ...string) error {
	now := &w.crawls[c]
	var registry strings.Builder
	for _, a := range now.agents {
		fmt.Fprintf(&registry, "- {name: %s, category: %s", a.name, a.category)
		if a.tokens != "" {
			fmt.Fprintf(&registry, ", tokens: %s", a.tokens)
		}
		if a.kind != "" {
			fmt.Fprintf(&registry, ", kind: %s", a.kind)
		}
		registry.WriteString("}\n")
	}
	agents := filepath.Join(w.dir, id+".yaml")
	if err := os.WriteFile(agents, []byte(registry.String()), 0o666); err != nil {
		return err
	}
	args := []string{
		"run", "--warc-paths", w.server.URL + "/" + now.list(), "--warc-base", w.server.URL, "--archive-rate", "0,2",
		"--ranks", filepath.Join(w.dir, "ranks.csv"), "--urls", filepath.Join(w.dir, "urls.txt"), "--out", w.out, "--run",
		id, "--progress", "none", "--agents", agents,
	}
	if now.asOf != "" {
		args = append(args, "--as-of", now.asOf)
	}
	return w.command(append(args, more...)...)
}

// wantTrouble checks that the server did what it was to do.
func (w *crawlsTest) wantTrouble(t *testing.T) {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	for path, left := range w.server.trouble {
		if len(left) > 0 {
			t.Errorf("%s was asked for too rarely for its troubles: %v are left", path, left)
		}
	}
	for _, what := range []string{"429", "503", "403", "cut", "whole", "resumed"} {
		if w.server.said[what] == 0 {
			t.Errorf("the server had no trouble of the kind %q: %v", what, w.server.said)
		}
	}
}

// wantSeries compares a series with the model, as JSON.
func (w *crawlsTest) wantSeries(t *testing.T, want map[figure]counted, panel int, args ...string) {
	t.Helper()
	text, _ := robocensus(t, 0, append([]string{"series", "--out", w.out, "--json"}, args...)...)
	var s struct {
		seriesOutput
		Points []struct {
			point
			Profile string
			Date    time.Time
		}
	}
	must(t, json.Unmarshal([]byte(text), &s))
	if int(s.Panel.Hosts) != panel {
		t.Errorf("%v: the panel has %d hosts, want %d", args, s.Panel.Hosts, panel)
	}
	if said := strings.Join(s.Warnings, "\n"); !strings.Contains(said, "several") || len(s.Warnings) > 7 {
		t.Errorf("%v: warnings are %s", args, said)
	} else if outage := "are unknown in run " + w.crawls[outageCrawl].id; args[1] == "crawl-*" &&
		!strings.Contains(said, outage) {
		t.Errorf("%v: no warning of the outage: %s", args, said)
	}
	for i, run := range s.Runs {
		if run.Source != "warc" {
			t.Errorf("run %s is from %q", run.Run, run.Source)
		}
		if i > 0 && !run.Date.After(s.Runs[i-1].Date) {
			t.Errorf("run %s of %s comes after that of %s", run.Run, run.Date, s.Runs[i-1].Date)
		}
		if c := slices.IndexFunc(w.crawls[:], func(c crawl) bool { return c.id == run.Run }); c >= 0 &&
			!run.Date.Equal(w.crawls[c].day) {
			t.Errorf("run %s is of %s, want %s", run.Run, run.Date, w.crawls[c].day)
		}
	}
	got := make(map[figure]counted)
	at := ""
	for _, p := range s.Points {
		f := figure{p.Metric, p.Population, p.Stratum, p.Agent, p.Category, p.Profile, p.Key, p.Run, p.Base}
		now := counted{int(p.Count), int(p.Denominator), ""}
		if p.Comparable != nil {
			now.comparable = fmt.Sprint(*p.Comparable)
		}
		if _, twice := got[f]; twice {
			t.Errorf("%s comes twice", f)
		}
		got[f] = now
		if want := float64(p.Count) / float64(p.Denominator); p.Denominator > 0 && p.Share != want {
			t.Errorf("%s: share %v of %d of %d", f, p.Share, p.Count, p.Denominator)
		}
		if (p.WhyNot == "") != (now.comparable != "false") {
			t.Errorf("%s: comparable %q, because %q", f, now.comparable, p.WhyNot)
		}
		if p.Method != "" && p.Denominator > 0 {
			wantWilson(t, f, p.Share, float64(p.Denominator), p.Low, p.High)
		}
		// The points of a line are by date.
		line := f
		line.run, line.category = "", ""
		if key := fmt.Sprint(line, p.Date.Format(time.DateOnly)); key <= at && strings.HasPrefix(at, fmt.Sprint(line)) {
			t.Errorf("%s is out of order", f)
		} else {
			at = key
		}
	}
	wantFigures(t, fmt.Sprint(args), want, got)
}

// wantParquet compares a series in Parquet with the model, by DuckDB.
func (w *crawlsTest) wantParquet(t *testing.T, want map[figure]counted, parquet string) {
	t.Helper()
	_, rows, err := ask(bare(t), "SELECT metric, population, stratum, agent, category, profile, key, run, base, count, "+
		"denominator, share, comparable FROM '"+parquet+"'")
	must(t, err)
	wantFigures(t, "Parquet", want, figuresOf(t, rows))
}

// figuresOf reads rows: the columns of a figure, count, denominator, share, comparable.
func figuresOf(t *testing.T, rows [][]string) map[figure]counted {
	t.Helper()
	got := make(map[figure]counted)
	for _, r := range rows {
		for i := range r {
			if r[i] == "NULL" {
				r[i] = ""
			}
		}
		f := figure{r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]}
		now := counted{comparable: r[12]}
		fmt.Sscan(r[9], &now.count)
		fmt.Sscan(r[10], &now.denominator)
		if _, twice := got[f]; twice {
			t.Errorf("%s comes twice", f)
		}
		got[f] = now
		var share float64
		if fmt.Sscan(r[11], &share); now.denominator > 0 && share != float64(now.count)/float64(now.denominator) {
			t.Errorf("%s: share %s of %d of %d", f, r[11], now.count, now.denominator)
		}
	}
	return got
}

// wantFigures compares figures, and shows a few that differ.
func wantFigures(t *testing.T, what string, want, got map[figure]counted) {
	t.Helper()
	var bad []string
	for f, n := range want {
		if m, ok := got[f]; !ok {
			bad = append(bad, fmt.Sprintf("%s: lacks %v", f, n))
		} else if m != n {
			bad = append(bad, fmt.Sprintf("%s: %v, want %v", f, m, n))
		}
	}
	for f, n := range got {
		if _, ok := want[f]; !ok {
			bad = append(bad, fmt.Sprintf("%s: should not have %v", f, n))
		}
	}
	slices.Sort(bad)
	if len(bad) > 0 {
		t.Errorf("%s: %d of %d figures are wrong:\n%s", what, len(bad), len(want), strings.Join(bad[:min(len(bad), 12)],
			"\n"))
	}
	t.Logf("%s: %d figures", what, len(want))
}

// wantWilson checks an interval by the equation that defines it: its ends are the shares
// from which the one found is 1.96 standard errors away.
func wantWilson(t *testing.T, f figure, share, n, low, high float64) {
	const z = 1.959963984540054
	for _, end := range []float64{low, high} {
		if off := math.Abs(math.Abs(share-end) - z*math.Sqrt(end*(1-end)/n)); off > 1e-9 {
			t.Errorf("%s: the interval of %v of %v is %v to %v", f, share, n, low, high)
		}
	}
	if !(low <= share && share <= high) {
		t.Errorf("%s: %v is not between %v and %v", f, share, low, high)
	}
}

// wantViews compares the views with the model.
func (w *crawlsTest) wantViews(t *testing.T, points map[figure]counted) {
	t.Helper()
	want := make(map[figure]counted)
	for f, n := range points {
		if !slices.Contains([]string{"targets", "policy_explicit", "change", "challenge"}, f.metric) {
			n.comparable = ""
			want[f] = n
		}
	}
	const query = `SELECT metric, 'all', stratum, agent, category, profile, key, run, base, count, denominator, share, NULL FROM (
		SELECT 'policy' AS metric, stratum, agent, category, profile, class AS key, run, 'hosts' AS base, count, hosts AS denominator, of_hosts AS share FROM series_policies
		UNION ALL SELECT 'policy', stratum, agent, category, profile, class, run, 'files', count, files, of_files FROM series_policies WHERE class IN ('disallow_all', 'partial')
		UNION ALL SELECT 'category', stratum, NULL, category, profile, closes, run, 'hosts', count, hosts, of_hosts FROM series_categories
		UNION ALL SELECT 'category', stratum, NULL, category, profile, closes, run, 'files', count, files, of_files FROM series_categories WHERE closes IN ('all', 'some', 'any')
		UNION ALL SELECT metric, stratum, NULL, NULL, profile, key, run, 'hosts', count, hosts, of_hosts FROM series_statuses
		UNION ALL SELECT metric, stratum, NULL, NULL, NULL, key, run, 'hosts', count, hosts, of_hosts FROM series_signals
		UNION ALL SELECT metric, stratum, NULL, NULL, NULL, key, run, 'texts', count, texts, of_texts FROM series_signals
		UNION ALL SELECT 'refusal', stratum, NULL, NULL, profile, way, run, 'hosts', count, hosts, of_hosts FROM series_refusals
		UNION ALL SELECT 'refusal', stratum, NULL, NULL, profile, way, run, 'files', count, files, of_files FROM series_refusals
		UNION ALL SELECT 'policy_template', stratum, agent, category, profile, template, run, 'hosts', count, hosts, of_hosts FROM series_templates
		UNION ALL SELECT 'policy_template', stratum, agent, category, profile, template, run, 'files', count, files, of_files FROM series_templates
		UNION ALL SELECT 'feature', stratum, NULL, NULL, NULL, feature, run, 'hosts', count, hosts, of_hosts FROM series_features
		UNION ALL SELECT 'feature', stratum, NULL, NULL, NULL, feature, run, 'texts', count, texts, of_texts FROM series_features)
		WHERE run LIKE 'crawl-%'`
	_, rows, err := ask(everyRun(t, w.out), query)
	must(t, err)
	wantFigures(t, "views", want, figuresOf(t, rows))
}

// wantCalm checks that the outage looks like no change of policy: it closes and opens
// nothing, and of the hosts whose rules decide as many are closed as before. After it, a few
// hosts have changed since the crawl that read them last, one or more before the outage: the
// model says which.
func (w *crawlsTest) wantCalm(t *testing.T, points map[figure]counted) {
	for f, n := range points {
		if f.metric == "change" && f.run == w.crawls[outageCrawl].id && n.count > 0 {
			t.Errorf("%s: %d of %d", f, n.count, n.denominator)
		}
	}
	down := points[figure{metric: "reason", population: "all", stratum: "all", profile: profile, key: "server_error",
		run: w.crawls[outageCrawl].id, base: "hosts"}]
	if down.count*25 < down.denominator {
		t.Errorf("the outage is none: %v", down)
	}
}

package pipeline

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// Hosts that invent fields, values, servers and domains create no new counter, and
// only as many examples as others; the text of these is valid for any reader.
func TestNoStrangerMakesACounter_NoRace(t *testing.T) {
	const n = 300
	var hosts strings.Builder
	for i := range n {
		fmt.Fprintf(&hosts, "h%d.made-up-%d\n", i, i)
	}
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "own-"+r.Host+"/1 <script>")
		fmt.Fprintf(w, "field-%[1]s: \x00\xff%[2]s\nUser-agent: *\nCrawl-delay: %[3]d\n"+
			"Content-Signal: %[1]s=yes, search=%[1]s, ai-train=No\nLICENSE: https://%[1]s/l\nDisallow /x\n",
			r.Host, strings.Repeat("é", 150), len(r.Host))
	}, hosts.String())
	var err error
	if c.Evaluate.Labels, err = registry.ParseUses("uses.yaml", configs.Uses, nil); err != nil {
		t.Fatal(err)
	}
	result, err := Run(context.Background(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]int64)
	for _, row := range result.Counts.List() {
		if slices.Contains([]string{"tld", "server", "field", "signal", "preference", "preference_remark", "crawl_delay",
			"line_class_hosts", "address_block"}, row.Metric) {
			got[row.Metric+" "+row.Key] += row.N
		}
	}
	want := map[string]int64{
		"tld other": n, "server other": n, "address_block 127.0.0.0/8": n,
		"field other": n, "field crawl-delay": n, "field content-signal": n, "field license": n,
		"signal content-signal other": n, "signal content-signal search=other": n, "signal content-signal ai-train=no": n,
		"signal license": n,
		"preference content-signal ai-train disallow": n, "preference_remark unknown_label": n,
		"preference_remark unknown_value": n,
		"crawl_delay 12":                  10, "crawl_delay 14": 90, "crawl_delay 16": n - 100,
		"line_class_hosts unknown_field": n, "line_class_hosts nul": n, "line_class_hosts missing_colon": n,
		"line_class_hosts extension": n, "line_class_hosts lighthouse": n,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	if err != nil {
		t.Fatal(err)
	}
	written, err := summary.Read(context.Background(), sinktest.Open(t, c.Dir), m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result.Counts.List(), written.List()); diff != "" {
		t.Errorf("counters as they are written (-counted +read):\n%s", diff)
	}
	keys, few := texts(t, c, "examples", "key"), make(map[string]int)
	for i, metric := range texts(t, c, "examples", "metric") {
		few[metric+" "+keys[i]]++
	}
	for key, n := range few {
		if want := map[string]int{"body_bytes largest": 10, "total_us slowest": 10}[key]; n != max(want,
			summary.ExamplesOfKey) {
			t.Errorf("%d examples of %s", n, key)
		}
	}
	for _, text := range texts(t, c, "examples", "text") {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") || len(text) > summary.ExampleBytes+len("…") {
			t.Errorf("text %q", text)
		}
	}
}

func TestTopKeepsTheGreatestInOrder(t *testing.T) {
	var e summary.Examples
	e.Reset()
	for i := range int64(100) {
		e.Begin(fmt.Sprint("h", i), nil)
		e.Largest(i % 50)
	}
	var got []string
	for _, row := range e.Rows() {
		got = append(got, row.Host+" "+row.Text)
	}
	want := []string{"h49 49", "h99 49", "h48 48", "h98 48", "h47 47", "h97 47", "h46 46", "h96 46", "h45 45", "h95 45"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Examples come from the hosts with the best rank, wherever they are in the input;
// of unranked hosts the first count. A host gives one example.
func TestExamplesAreOfTheBestRanks(t *testing.T) {
	var e summary.Examples
	e.Reset()
	for _, x := range []struct {
		host string
		rank int64
	}{{"none-1", 0}, {"r50", 50}, {"r7", 7}, {"none-2", 0}, {"r7", 7}, {"r900", 900}, {"r3", 3}, {"r20", 20}} {
		e.Begin(x.host, schema.NonZero(x.rank))
		e.Add("line_class", "typo", 1, x.host)
	}
	for _, host := range []string{"none-1", "none-2"} {
		e.Begin(host, nil)
		e.Add("line_class", "nul", 1, host)
	}
	e.Begin("r9", new(int64(9)))
	e.Add("line_class", "nul", 1, "r9")
	var got []string
	for _, row := range e.Rows() {
		got = append(got, row.Key+" "+row.Host)
	}
	want := []string{"nul r9", "nul none-1", "nul none-2", "typo r3", "typo r7", "typo r20"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

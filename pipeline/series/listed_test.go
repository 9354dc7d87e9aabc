package series

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// A run that read no sitemaps, or did not judge by the profile, is left out of what hosts list: the
// next one is compared with the run above it there. Hosts whose sitemaps are closed to the
// census are counted beside those that list pages.
func TestRunsThatSayWhatHostsList(t *testing.T) {
	dir := t.TempDir()
	host := func(key string, n int64) schema.Count {
		return schema.Count{Metric: "sitemap_host", Stratum: summary.Unranked, Key: &key, Count: n}
	}
	half := schema.Count{Metric: "coverage", Stratum: summary.Unranked, Agent: new("Googlebot"), Category: new("search"),
		Profile: new("google"), Key: new("50"), Count: 7}
	for i, run := range []struct {
		profile string
		counts  []schema.Count
	}{
		{"google", []schema.Count{host(summary.HostLists, 7), host(summary.ListsClosed, 3), half}},
		{"google", nil}, // without --sitemaps
		{"rfc9309", []schema.Count{host(summary.HostLists, 7)}},
		{"google", []schema.Count{host(summary.ListsClosed, 9)}},
		{"google", []schema.Count{host(summary.HostLists, 7), half}},
	} {
		counts := append([]schema.Count{{Metric: "targets", Stratum: summary.Unranked, Count: 20}}, run.counts...)
		r, err := sink.Create(dir, journal.Plan{Run: fmt.Sprint("r", i), Profiles: []string{run.profile},
			Tables: []string{"summary"}, AsOf: new(time.Date(2026, 1, 1+7*i, 0, 0, 0, 0, time.UTC))})
		must(t, err)
		s, err := r.Segment(0)
		must(t, err)
		must(t, s.Summary.Write(counts...))
		must(t, s.Commit())
		totals, err := summary.SumUp(t.Context(), r)
		must(t, err)
		must(t, r.Complete(sink.Completion{Totals: totals}))
	}
	r, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"r0", "r1", "r2", "r3", "r4"},
		Profiles: []string{"google"}})
	must(t, err)
	var got []string
	for _, l := range r.Listed([]string{"Googlebot"}) {
		for _, s := range l.Runs {
			if l.Stratum == All {
				got = append(got, fmt.Sprintf("%s: %d list, %d closed, %s", s.Run, s.Hosts, s.Closed, schema.OrZero(s.WhyNot)))
			}
		}
	}
	if diff := cmp.Diff([]string{"r0: 7 list, 3 closed, ",
		"r3: 0 list, 9 closed, the registry of run r0 has no Googlebot",
		"r4: 7 list, 0 closed, the registry of run r3 has no Googlebot"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

package series

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// What front pages say is a share of those that were read, in runs that look at them. A run
// that does not has no such figure, and not a count of 0.
func TestFrontPagesOfRuns(t *testing.T) {
	dir := t.TempDir()
	count := func(metric, key string, n int64) schema.Count {
		c := schema.Count{Metric: metric, Stratum: summary.Unranked, Key: schema.NonZero(key), Count: n}
		if metric == "page_refusal" {
			c.Profile = new("google")
		}
		return c
	}
	for i, counts := range [][]schema.Count{
		{count("targets", "", 100)},
		{count("targets", "", 100), count("front_page", "read", 80), count("front_page", "failed", 20),
			count("page_preference", "x-robots-tag ai-train disallow", 8), count("page_refusal", "any", 8),
			count("page_refusal", "alone", 2)},
		{count("targets", "", 100), count("front_page", "read", 50), count("front_page", "failed", 50)},
	} {
		run, err := sink.Create(dir, journal.Plan{Run: fmt.Sprint("r", i), Profiles: []string{"google"},
			Tables: []string{"summary"}, AsOf: new(time.Date(2026, 1, 1+7*i, 0, 0, 0, 0, time.UTC))})
		must(t, err)
		s, err := run.Segment(0)
		must(t, err)
		must(t, s.Summary.Write(counts...))
		must(t, s.Commit())
		totals, err := summary.SumUp(t.Context(), run)
		must(t, err)
		must(t, run.Complete(sink.Completion{Totals: totals}))
	}
	r, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"r0", "r1", "r2"}})
	must(t, err)
	var got []string
	for _, p := range r.Points {
		if p.Stratum == All && p.Metric != "targets" {
			got = append(got, fmt.Sprintf("%s %s %s %d/%d %s", p.Metric, schema.OrZero(p.Key), p.Run, p.Count, p.Denominator,
				p.Base))
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"front_page failed r1 20/100 hosts", "front_page failed r2 50/100 hosts", "front_page read r1 80/100 hosts",
		"front_page read r2 50/100 hosts",
		"page_preference x-robots-tag ai-train disallow r1 8/80 pages",
		"page_preference x-robots-tag ai-train disallow r2 0/50 pages",
		"page_refusal alone r1 2/80 pages", "page_refusal alone r2 0/50 pages", "page_refusal any r1 8/80 pages",
		"page_refusal any r2 0/50 pages",
	}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

package report

import (
	"fmt"
	"maps"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// from returns the FROM and WHERE clauses for the counters of metrics. It names
// the run, because the page is kept, and the bare view summary shows only the last
// run.
func (d *data) from(metrics string, profiled bool) string {
	return d.counted("summary", "", metrics, profiled)
}

// fromLabel is from for the counters of a label's values.
func (d *data) fromLabel(label, metrics string, profiled bool) string {
	return d.counted("label_counts", " AND label = "+counters.QuoteAll([]string{label}), metrics, profiled)
}

func (d *data) counted(table, and, metrics string, profiled bool) string {
	s := fmt.Sprintf("FROM history.%s WHERE run = %s%s AND metric ", table, views.Quote(d.run), and)
	if names := strings.Fields(metrics); len(names) == 1 {
		s += "= " + views.Quote(names[0])
	} else {
		s += "IN (" + counters.QuoteAll(names) + ")"
	}
	if profiled {
		s += " AND profile = " + views.Quote(d.profile)
	}
	return s
}

// byKey fills a figure with counts by key, as keyRows does, and draws them as shares of base.
func byKey(f *draw.Figure, from, name, unit string, counts map[string]int64, class string, base int64) {
	keyRows(f, from, name, unit, counts)
	keyBars(f, counts, class, unit, base)
}

// keyRows sets the numbers of a figure to counts by key, greatest first, and its SQL to what
// computes them from the counters that from selects.
func keyRows(f *draw.Figure, from, name, unit string, counts map[string]int64) {
	f.Head = []string{name, unit}
	for _, k := range counters.Ranked(counts) {
		f.AddRow([]string{k}, counts[k])
	}
	f.SQL = fmt.Sprintf("SELECT key AS %s, sum(count)::BIGINT AS %s\n%s\nGROUP BY key ORDER BY %s DESC, key", name, unit,
		from, unit)
}

// histogram returns the distribution that a metric counts.
func (d *data) histogram(metric string) summary.Histogram {
	counts := d.sums.By(metric, d.profile, counters.Key)
	maps.DeleteFunc(counts, func(key string, _ int64) bool {
		_, err := summary.ParseBin(key)
		return err != nil
	})
	h, _ := summary.NewHistogram(counts) // no error: all keys are bins
	return h
}

// bins fills a figure with the numbers of a histogram, in the bins that are drawn.
func (d *data) bins(f *draw.Figure, metric, unit string, h summary.Histogram) {
	f.Head, f.Names = []string{"least", "most", unit}, words.Commas
	for _, b := range h.Grouped() {
		if b.Count > 0 {
			f.AddRow([]string{}, b.First, b.Last, b.Count)
		}
	}
	f.SQL = fmt.Sprintf(
		`SELECT least, CASE WHEN least = 0 THEN 0 WHEN left(least::VARCHAR, 1) = '2' THEN least // 2 * 5 - 1
    ELSE least * 2 - 1 END AS most, %[1]s
FROM (SELECT CASE WHEN key = '0' THEN 0 ELSE CASE WHEN key < '2' THEN 1 WHEN key < '5' THEN 2 ELSE 5 END
      * 10::BIGINT ** (strlen(split_part(key, '-', 1)) - 1) END::BIGINT AS least, sum(count)::BIGINT AS %[1]s
    %[2]s
    GROUP BY least)
ORDER BY least`, unit, d.from(metric, false))
}

func sum(counts map[string]int64) (n int64) {
	for _, count := range counts {
		n += count
	}
	return n
}

func keyBars(f *draw.Figure, counts map[string]int64, class, unit string, base int64) {
	for _, k := range counters.Ranked(counts) {
		f.AddBar(f.Cell(0, k), "", draw.Part(class, unit, counts[k], base, words.Percent(counts[k], base)))
	}
	f.Fit(unit)
	f.Shorten()
}

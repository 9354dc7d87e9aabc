package report

import (
	"fmt"
	"maps"
	"strings"

	"github.com/robocensus/robocensus/sink/summary"
)

// from returns the FROM and WHERE clauses for the counters of metrics. It names
// the run, because the page is kept, and the bare view summary shows only the last
// run.
func (d *data) from(metrics string, profiled bool) string {
	s := fmt.Sprintf("FROM history.summary WHERE run = %s AND metric ", quote(d.run))
	if names := strings.Fields(metrics); len(names) == 1 {
		s += "= " + quote(names[0])
	} else {
		for i := range names {
			names[i] = quote(names[i])
		}
		s += "IN (" + strings.Join(names, ", ") + ")"
	}
	if profiled {
		s += " AND profile = " + quote(d.profile)
	}
	return s
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// sumIf returns a column that sums the counters for which condition holds.
func sumIf(condition, name string) string {
	return fmt.Sprintf("coalesce(sum(count) FILTER (%s), 0)::BIGINT AS %s", condition, name)
}

// number returns n as a cell.
func number(n int64) string { return fmt.Sprint(n) }

// byKey fills a figure with the counts of a metric by key, greatest first, and
// draws them as shares of base.
func (d *data) byKey(f *figure, metric, name, unit string, profiled bool, counts map[string]int64, class string, base int64) {
	d.keyRows(f, metric, name, unit, profiled, counts)
	f.keyBars(counts, class, unit, base)
}

// keyRows sets the numbers of a figure to the counts of a metric by key, greatest first.
func (d *data) keyRows(f *figure, metric, name, unit string, profiled bool, counts map[string]int64) {
	f.Head = []string{name, unit}
	for _, k := range ranked(counts) {
		f.Rows = append(f.Rows, []string{k, number(counts[k])})
	}
	f.SQL = fmt.Sprintf("SELECT key AS %s, sum(count)::BIGINT AS %s\n%s\nGROUP BY key ORDER BY %s DESC, key", name, unit, d.from(metric, profiled), unit)
}

// barsDrawn is the most bars that a figure draws. Its table lists all numbers.
const barsDrawn = 24

func (f *figure) keyBars(counts map[string]int64, class, unit string, base int64) {
	keys := ranked(counts)
	scale := scaleFor(counts[keys[0]], base)
	f.Axis = fmt.Sprintf("%d%% of %s", scale, unit)
	for _, k := range keys[:min(len(keys), barsDrawn)] {
		f.Bars = append(f.Bars, bar{Name: f.Cell(0, k), Tracks: []track{{Parts: parts(scale, base, share{class, unit, counts[k]}), Values: []string{percent(counts[k], base)}}}})
	}
}

// histogram returns the distribution that a metric counts.
func (d *data) histogram(metric string) summary.Histogram {
	counts := d.sums.by(metric, d.profile, key)
	maps.DeleteFunc(counts, func(key string, _ int64) bool {
		_, err := summary.ParseBin(key)
		return err != nil
	})
	h, _ := summary.NewHistogram(counts) // no error: all keys are bins
	return h
}

// bins fills a figure with the numbers of a histogram, in the bins that are drawn.
func (d *data) bins(f *figure, metric, unit string, h summary.Histogram) {
	f.Head, f.Names = []string{"least", "most", unit}, commas
	for _, b := range h.Grouped() {
		if b.Count > 0 {
			f.Rows = append(f.Rows, []string{number(b.First), number(b.Last), number(b.Count)})
		}
	}
	f.SQL = fmt.Sprintf(`SELECT least, CASE WHEN least = 0 THEN 0 WHEN left(least::VARCHAR, 1) = '2' THEN least // 2 * 5 - 1 ELSE least * 2 - 1 END AS most, %[1]s
FROM (SELECT CASE WHEN key = '0' THEN 0 ELSE CASE WHEN key < '2' THEN 1 WHEN key < '5' THEN 2 ELSE 5 END
      * 10::BIGINT ** (strlen(split_part(key, '-', 1)) - 1) END::BIGINT AS least, sum(count)::BIGINT AS %[1]s
    %[2]s
    GROUP BY least)
ORDER BY least`, unit, d.from(metric, false))
}

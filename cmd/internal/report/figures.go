package report

import (
	"fmt"
	"maps"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// from is the FROM and WHERE of a metric's counters.
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

// sumIf is a column of counters that fulfil a condition.
func sumIf(condition, name string) string {
	return fmt.Sprintf("coalesce(sum(count) FILTER (%s), 0)::BIGINT AS %s", condition, name)
}

// byKey is a figure's table of a metric by key, the greatest first.
func (d *data) byKey(f *figure, metric, name, unit string, profiled bool, counts map[string]int64) {
	f.Head = []string{name, unit}
	for _, k := range ranked(counts) {
		f.Rows = append(f.Rows, []string{k, count(counts[k])})
	}
	f.SQL = fmt.Sprintf("SELECT key AS %s, sum(count)::BIGINT AS %s\n%s\nGROUP BY key ORDER BY %s DESC, key", name, unit, d.from(metric, profiled), unit)
}

// histogram is the distribution that a metric counts.
func (d *data) histogram(metric string) sink.Histogram {
	counts := d.sums.by(metric, d.profile, key)
	maps.DeleteFunc(counts, func(key string, _ int64) bool {
		_, err := sink.ParseBin(key)
		return err != nil
	})
	h, _ := sink.NewHistogram(counts) // all of them are bins
	return h
}

// bins is a figure's table of a histogram, in the bins that are drawn.
func (d *data) bins(f *figure, metric, unit string, h sink.Histogram) {
	f.Head = []string{"bin_from", unit}
	for _, b := range h.Grouped() {
		if b.Count > 0 {
			f.Rows = append(f.Rows, []string{count(b.First), count(b.Count)})
		}
	}
	f.SQL = fmt.Sprintf(`SELECT CASE WHEN key = '0' THEN 0 ELSE CASE WHEN key < '2' THEN 1 WHEN key < '5' THEN 2 ELSE 5 END
    * 10::BIGINT ** (strlen(split_part(key, '-', 1)) - 1) END::BIGINT AS bin_from, sum(count)::BIGINT AS %s
%s
GROUP BY bin_from ORDER BY bin_from`, unit, d.from(metric, false))
}

// keyBars draws a metric by key, the greatest first, as shares of whole.
func (f *figure) keyBars(counts map[string]int64, whole int64, class, what string) {
	keys := ranked(counts)
	scale, words := scaleFor(counts[keys[0]], whole)
	for _, k := range keys[:min(len(keys), keysDrawn)] {
		f.Bars = append(f.Bars, bar{Name: k, Parts: plain(parts(scale, whole, share{class, what, counts[k]})), Value: percent(counts[k], whole)})
	}
	f.Of += words
}

// keysDrawn bounds the bars of a metric by key; the table has all.
const keysDrawn = 24

// plain leaves the text out of parts, where the value beside them says it.
func plain(parts []part) []part {
	for i := range parts {
		parts[i].Text = ""
	}
	return parts
}

var outcomes = []struct{ key, class, name string }{
	{"conditional_allow", "allow", "the rules decide"},
	{"full_allow", "open", "all allowed, there are no rules"},
	{"full_disallow", "closed", "all closed, as of an outage"},
	{"undefined", "unknown", "undefined"},
}

const stratumOrder = "try_cast(split_part(stratum, '-', 1) AS BIGINT) NULLS LAST"

func (d *data) outcomes() *figure {
	all := d.sums.by("outcome", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "outcomes", Of: fmt.Sprintf("Of all %s asked, by band of rank.", hosts(d.targets)),
		Title: fmt.Sprintf("The rules decide on %s of %s; %s allow everything for want of a file",
			percent(all["conditional_allow"], d.targets), hosts(d.targets), percent(all["full_allow"], d.targets)),
	}
	if n := all["full_disallow"]; n > 0 {
		f.Title += fmt.Sprintf(", %s count as closed", percent(n, d.targets))
	}
	f.Head = []string{"stratum"}
	columns := []string{"stratum"}
	for _, o := range outcomes {
		f.Legend = append(f.Legend, legend{o.class, o.name})
		f.Head = append(f.Head, o.key)
		columns = append(columns, sumIf("key = "+quote(o.key), o.key))
	}
	strata := d.sums.pivot("outcome", d.profile, func(l label) string { return l.stratum })
	for _, stratum := range ascending(strata) {
		n, whole, row := strata[stratum], int64(0), []string{stratum}
		var shares []share
		for _, o := range outcomes {
			whole += n[o.key]
			shares = append(shares, share{o.class, o.name, n[o.key]})
			row = append(row, count(n[o.key]))
		}
		name := "rank " + stratum
		if stratum == "unranked" {
			name = stratum
		}
		f.Bars = append(f.Bars, bar{Name: name, Parts: parts(100, whole, shares...), Value: hosts(whole)})
		f.Rows = append(f.Rows, row)
	}
	f.SQL = fmt.Sprintf("SELECT %s\n%s\nGROUP BY stratum ORDER BY %s", strings.Join(columns, ",\n  "), d.from("outcome", true), stratumOrder)
	return f
}

func (d *data) reasons() *figure {
	all := d.sums.by("reason", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{ID: "reasons", Of: fmt.Sprintf("Of all %s asked.", hosts(d.targets)), Title: "Every host gave a file"}
	for _, k := range ranked(all) {
		if k != "success" {
			f.Title = fmt.Sprintf("%s of %s gave a file; what else there was is most often %s, %s", percent(all["success"], d.targets), hosts(d.targets), k, percent(all[k], d.targets))
			break
		}
	}
	f.keyBars(all, d.targets, "allow", "hosts")
	d.byKey(f, "reason", "reason", "hosts", true, all)
	f.Examples = d.examples.list("The first of each", "status and last URL, or error", "reason", ranked(all)...)
	return f
}

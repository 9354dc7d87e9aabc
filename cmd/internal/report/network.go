package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

func (d *data) times() *draw.Figure {
	bins := d.histogram("total_us")
	if len(bins) == 0 {
		return nil
	}
	timed, slow := bins.Total(), d.sums.Total("tld_slow")
	f := &draw.Figure{
		ID: "times", Of: fmt.Sprintf("Shares of the %s asked over the network.", words.Hosts(timed)),
		Title: fmt.Sprintf("The median fetch takes about %s, and nine in ten at most %s; %s take %s or more",
			microsName(bins.Quantile(0.5)), microsName(bins.Quantile(0.9)), words.Percent(slow, timed),
			microsName(summary.SlowMicros)),
		Note: "The whole fetch, with redirects and retries, whether it succeeds or not. A column is labelled with its " +
			"least value.",
		Columns: draw.Histogram(bins, timed, microsName, microsName, "host", "time"),
	}
	d.bins(f, "total_us", "hosts", bins)
	f.Examples = d.examples.List("The slowest", "time", "total_us", nil, "slowest").Measured(microsName)
	return f
}

// Bounds of the parts of the network with a bar, and of those with numbers.
const (
	networkDrawn  = 12
	networkListed = 50
)

// enough returns the number of hosts that a part of the network needs to be
// compared.
func (d *data) enough() int64 {
	if d.hosts < 100 {
		return 1
	}
	return max(10, d.hosts/1000)
}

// network compares failures and slow answers of parts of the network, worst first.
func (d *data) network(metric, what, prefix string) *draw.Figure {
	all, failed, slow := d.sums.By(metric, d.profile, counters.Key),
		d.sums.By(metric+"_failed", d.profile, counters.Key), d.sums.By(metric+"_slow", d.profile, counters.Key)
	var names []string
	for k, n := range all {
		if n >= d.enough() && k != "none" { // none: the host did not answer
			names = append(names, k)
		}
	}
	rate := func(k string) float64 { return float64(max(failed[k], slow[k])) / float64(all[k]) }
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rate(b), rate(a)), cmp.Compare(all[b], all[a]), cmp.Compare(a, b))
	})
	if len(names) < 2 || rate(names[0]) == 0 {
		return nil // nothing to compare, or no failure
	}
	shown := func(k string) string {
		switch k {
		case "other":
			return "others"
		case "address":
			return "an IP address"
		}
		return prefix + k
	}
	f := &draw.Figure{
		ID: strings.ReplaceAll(metric, "_", "-"),
		Of: fmt.Sprintf("Shares of the hosts of each %s, the worst first, of %s with at least %s.", what,
			words.Number(int64(len(names))), words.Hosts(d.enough())),
		Note: fmt.Sprintf("Failed: no answer, or a server error. Slow: %s or more, failed or not. Of all %s, %s failed "+
			"and %s were slow.",
			microsName(summary.SlowMicros), d.all(), words.Percent(d.sums.Total(metric+"_failed"), d.hosts),
			words.Percent(d.sums.Total(metric+"_slow"), d.hosts)),
		Head: []string{metric, "hosts", "failed", "slow"}, Names: shown,
	}
	counts := map[string]map[string]int64{"failed": failed, "slow": slow}
	kinds := slices.DeleteFunc(draw.Kinds{{Key: "failed", Class: "closed", Name: "failed"},
		{Key: "slow", Class: "partly", Name: "slow"}}, func(of draw.Kind) bool {
		return !slices.ContainsFunc(names, func(k string) bool { return counts[of.Key][k] > 0 }) // no host of any part
	})
	f.Legend = kinds.Legend()
	var said []string
	tell := func(what string, n map[string]int64) {
		most := highest(names, n, all)
		k := most[0]
		if n[k] == 0 {
			return
		}
		if said == nil {
			what += " are commonest"
		}
		if len(most) == 1 {
			said = append(said, fmt.Sprintf("%s for %s (%s of %s)", what, shown(k), words.Percent(n[k], all[k]),
				words.Hosts(all[k])))
			return
		}
		for i := range most {
			most[i] = shown(most[i])
		}
		slices.Sort(most)
		said = append(said, fmt.Sprintf("%s for %s (%s each)", what, words.Tied(most, "of them"),
			words.Percent(n[k], all[k])))
	}
	tell("failures", failed)
	tell("slow answers", slow)
	f.Title = fmt.Sprintf("By %s, %s", what, strings.Join(said, ", "))
	for i, k := range names[:min(len(names), networkListed)] {
		if i < networkDrawn && rate(k) > 0 {
			var tracks []draw.Track
			for _, of := range kinds {
				n := counts[of.Key][k]
				tracks = append(tracks, draw.Track{Label: of.Name, Whole: all[k],
					Shares: []draw.Share{{Class: of.Class, Name: of.Name, N: n}},
					Values: []string{words.Percent(n, all[k]) + " " + of.Name}})
			}
			f.AddBar(shown(k), words.Hosts(all[k]), tracks...)
		}
		f.AddRow([]string{k}, all[k], failed[k], slow[k])
	}
	f.Fit("its hosts")
	if metric == "server" {
		f.Examples = d.examples.List("Others", "Server header", "server", nil, "other")
	}
	f.SQL = fmt.Sprintf("SELECT key AS %s,\n  %s,\n  %s,\n  %s\n%s\nGROUP BY key HAVING hosts >= %d AND key <> 'none'\n"+
		"ORDER BY greatest(failed, slow) / hosts DESC, hosts DESC, key LIMIT %d", metric,
		counters.SumIf("metric = "+views.Quote(metric), "hosts"), counters.SumIf("metric = "+views.Quote(metric+"_failed"),
			"failed"), counters.SumIf("metric = "+views.Quote(metric+"_slow"), "slow"),
		d.from(metric+" "+metric+"_failed "+metric+"_slow", false), d.enough(), networkListed)
	return f
}

// microsName formats a time in microseconds.
func microsName(n int64) string {
	trim := func(f float64, unit string) string {
		return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0") + "\u00a0" + unit
	}
	switch {
	case n < 1000:
		return fmt.Sprintf("%d\u00a0µs", n)
	case n < 10_000:
		return trim(float64(n)/1000, "ms")
	case n < 1_000_000:
		return fmt.Sprintf("%.0f\u00a0ms", float64(n)/1000)
	}
	return trim(float64(n)/1_000_000, "s")
}

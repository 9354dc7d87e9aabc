package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/summary"
)

func (d *data) times() *figure {
	bins := d.histogram("total_us")
	if len(bins) == 0 {
		return nil
	}
	timed, slow := bins.Total(), d.sums.total("tld_slow")
	f := &figure{
		ID: "times", Of: fmt.Sprintf("Shares of the %s asked over the network.", hosts(timed)),
		Title:   fmt.Sprintf("The median fetch takes about %s, and nine in ten at most %s; %s take %s or more", microsName(bins.Quantile(0.5)), microsName(bins.Quantile(0.9)), percent(slow, timed), microsName(summary.SlowMicros)),
		Note:    "The whole fetch, with redirects and retries, whether it succeeds or not. A column is labelled with its least value.",
		Columns: histogram(bins, timed, microsName, microsName, "host", "time"),
	}
	d.bins(f, "total_us", "hosts", bins)
	f.Examples = d.examples.list("The slowest", "time", "total_us", nil, "slowest").measured(microsName)
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
func (d *data) network(metric, what, prefix string) *figure {
	all, failed, slow := d.sums.by(metric, d.profile, key), d.sums.by(metric+"_failed", d.profile, key), d.sums.by(metric+"_slow", d.profile, key)
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
	f := &figure{
		ID: strings.ReplaceAll(metric, "_", "-"), Of: fmt.Sprintf("Shares of the hosts of each %s, the worst first, of %s with at least %s.", what, count(int64(len(names))), hosts(d.enough())),
		Note: fmt.Sprintf("Failed: no answer, or a server error. Slow: %s or more, failed or not. Of all %s, %s failed and %s were slow.",
			microsName(summary.SlowMicros), d.all(), percent(d.sums.total(metric+"_failed"), d.hosts), percent(d.sums.total(metric+"_slow"), d.hosts)),
		Head: []string{metric, "hosts", "failed", "slow"}, Names: shown,
		Legend: []legend{{"closed", "failed"}, {"partly", "slow"}},
	}
	var said []string
	if k := worst(names, failed, all); failed[k] > 0 {
		said = append(said, fmt.Sprintf("failures are commonest for %s (%s of %s)", shown(k), percent(failed[k], all[k]), hosts(all[k])))
	}
	if k := worst(names, slow, all); slow[k] > 0 {
		said = append(said, fmt.Sprintf("slow answers for %s (%s of %s)", shown(k), percent(slow[k], all[k]), hosts(all[k])))
	}
	if len(said) == 1 && failed[worst(names, failed, all)] == 0 {
		said[0] = strings.Replace(said[0], "answers for", "answers are commonest for", 1)
	}
	f.Title = fmt.Sprintf("By %s, %s", what, strings.Join(said, ", "))
	scale := scaleFor(max(failed[names[0]], slow[names[0]]), all[names[0]])
	f.Axis = fmt.Sprintf("%d%% of its hosts", scale)
	for i, k := range names[:min(len(names), networkListed)] {
		if i < networkDrawn && rate(k) > 0 {
			f.Bars = append(f.Bars, bar{Name: shown(k), Sub: hosts(all[k]), Tracks: []track{
				{"failed", parts(scale, all[k], share{"closed", "failed", failed[k]}), []string{percent(failed[k], all[k]) + " failed"}},
				{"slow", parts(scale, all[k], share{"partly", "slow", slow[k]}), []string{percent(slow[k], all[k]) + " slow"}},
			}})
		}
		f.Rows = append(f.Rows, []string{k, number(all[k]), number(failed[k]), number(slow[k])})
	}
	if metric == "server" {
		f.Examples = d.examples.list("Others", "Server header", "server", nil, "other")
	}
	f.SQL = fmt.Sprintf("SELECT key AS %s,\n  %s,\n  %s,\n  %s\n%s\nGROUP BY key HAVING hosts >= %d AND key <> 'none'\nORDER BY greatest(failed, slow) / hosts DESC, hosts DESC, key LIMIT %d", metric,
		sumIf("metric = "+quote(metric), "hosts"), sumIf("metric = "+quote(metric+"_failed"), "failed"), sumIf("metric = "+quote(metric+"_slow"), "slow"),
		d.from(metric+" "+metric+"_failed "+metric+"_slow", false), d.enough(), networkListed)
	return f
}

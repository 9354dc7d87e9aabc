package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func (d *data) times() *figure {
	bins := d.histogram("total_us")
	if len(bins) == 0 {
		return nil
	}
	timed, slow := bins.Total(), d.sums.total("tld_slow")
	f := &figure{
		ID: "times", Of: fmt.Sprintf("Of the %s that were asked over the network.", hosts(timed)),
		Title:   fmt.Sprintf("Half of the hosts are done within %s; %s take a second or more", microsName(bins.Quantile(0.5)), percent(slow, timed)),
		Note:    "The whole fetch, with redirects and retries; a column is called by its first value.",
		Columns: histogram(bins, timed, microsName, "hosts"),
	}
	d.bins(f, "total_us", "hosts", bins)
	f.Examples = d.examples.list("The slowest", "time", "total_us", "slowest").measured(microsName)
	return f
}

func (d *data) errors() *figure {
	all := d.sums.by("error_class", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	n := int64(0)
	for _, count := range all {
		n += count
	}
	top := ranked(all)
	f := &figure{
		ID: "errors", Of: fmt.Sprintf("Of all %s asked.", hosts(d.targets)),
		Title: fmt.Sprintf("%s of %s end in an error, most often %s", percent(n, d.targets), hosts(d.targets), top[0]),
	}
	f.keyBars(all, d.targets, "closed", "hosts")
	d.byKey(f, "error_class", "error_class", "hosts", false, all)
	f.Examples = d.examples.list("The first of each", "error", "error_class", top...)
	return f
}

// networkDrawn bounds the parts of the network that are drawn, networkListed
// those that the table has.
const (
	networkDrawn  = 15
	networkListed = 50
)

// enough is how many hosts a part of the network must have to be compared.
func (d *data) enough() int64 {
	if d.targets < 100 {
		return 1
	}
	return max(10, d.targets/1000)
}

// network is how parts of the network fare, the worst first.
func (d *data) network(metric, what, prefix string) *figure {
	all, failed, slow := d.sums.by(metric, d.profile, key), d.sums.by(metric+"_failed", d.profile, key), d.sums.by(metric+"_slow", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	var names []string
	for k, n := range all {
		if n >= d.enough() && k != "none" { // that is what did not answer
			names = append(names, k)
		}
	}
	rate := func(k string) float64 { return float64(max(failed[k], slow[k])) / float64(all[k]) }
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(rate(b), rate(a)), cmp.Compare(all[b], all[a]), cmp.Compare(a, b))
	})
	if len(names) < 2 {
		return nil // nothing to compare
	}
	shown := func(k string) string {
		if k == "other" || k == "none" || k == "address" {
			return k
		}
		return prefix + k
	}
	f := &figure{
		ID: strings.ReplaceAll(metric, "_", "-"), Of: fmt.Sprintf("Of the hosts of each %s that has at least %s.", what, hosts(d.enough())),
		Note:   fmt.Sprintf("The worst of %s. Failed: no answer, or a 5xx. Slow: it took a second or more, which many a failure does too. On average %s fail and %s are slow.", count(int64(len(names))), percent(d.sums.total(metric+"_failed"), d.targets), percent(d.sums.total(metric+"_slow"), d.targets)),
		Head:   []string{metric, "hosts", "failed", "slow"},
		Legend: []legend{{"closed", "failed"}, {"partly", "slow"}},
	}
	worst := func(of map[string]int64) string {
		return slices.MaxFunc(names, func(a, b string) int {
			return cmp.Compare(float64(of[a])/float64(all[a]), float64(of[b])/float64(all[b]))
		})
	}
	f.Title = fmt.Sprintf("By %s nothing failed", what)
	bad, late := worst(failed), worst(slow)
	if failed[bad] > 0 {
		f.Title = fmt.Sprintf("By %s, %s fails most, %s of %s", what, shown(bad), percent(failed[bad], all[bad]), hosts(all[bad]))
	}
	switch {
	case slow[late] > 0 && late == bad:
		f.Title += fmt.Sprintf(", and is slowest, %s take a second", percent(slow[late], all[late]))
	case slow[late] > 0:
		f.Title += fmt.Sprintf("; %s is slowest, %s of %s take a second", shown(late), percent(slow[late], all[late]), hosts(all[late]))
	}
	scale, words := scaleFor(max(failed[names[0]], slow[names[0]]), all[names[0]])
	f.Of += words
	if metric == "server" {
		f.Examples = d.examples.list("The first that are none of the known ones", "Server header", "server", "other")
	}
	for i, k := range names[:min(len(names), networkListed)] {
		if i < networkDrawn && rate(k) > 0 {
			fail := plain(parts(scale, all[k], share{"closed upper", "failed", failed[k]}))
			late := plain(parts(scale, all[k], share{"partly lower", "slow", slow[k]}))
			f.Bars = append(f.Bars, bar{Name: shown(k), Sub: hosts(all[k]), Parts: append(fail, late...), Value: percent(failed[k], all[k]) + " · " + percent(slow[k], all[k])})
		}
		f.Rows = append(f.Rows, []string{k, count(all[k]), count(failed[k]), count(slow[k])})
	}
	f.SQL = fmt.Sprintf("SELECT key AS %s,\n  %s,\n  %s,\n  %s\n%s\nGROUP BY key HAVING hosts >= %d AND key <> 'none'\nORDER BY greatest(failed, slow) / hosts DESC, hosts DESC, key LIMIT %d", metric,
		sumIf("metric = "+quote(metric), "hosts"), sumIf("metric = "+quote(metric+"_failed"), "failed"), sumIf("metric = "+quote(metric+"_slow"), "slow"),
		d.from(metric+" "+metric+"_failed "+metric+"_slow", false), d.enough(), networkListed)
	return f
}

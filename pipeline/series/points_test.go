package series

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Each condition of the intervals has a caution of its own.
func TestCautions(t *testing.T) {
	even := sizes{n: 4000, squares: 8000, clusters: 2000}
	good := estimate{share: 0.3, effect: 2, counted: 600}
	with := func(change func(*estimate)) estimate {
		e := good
		change(&e)
		return e
	}
	for name, c := range map[string]struct {
		estimate
		method string
		n      float64
		hosts  sizes
		want   string
	}{
		"none":                 {good, "clustered", 4000, even, ""},
		"few hosts":            {good, "clustered", 999, even, "few_hosts"},
		"a rare share":         {with(func(e *estimate) { e.share = 0.049 }), "clustered", 4000, even, "rare"},
		"a share near one":     {with(func(e *estimate) { e.share = 0.951 }), "wilson", 4000, even, "rare"},
		"few that say as much": {with(func(e *estimate) { e.counted = 19 }), "clustered", 4000, even, "rare"},
		"few clusters":         {good, "clustered", 4000, sizes{n: 4000, squares: 90000, clusters: 199}, "few_clusters"},
		"uneven clusters": {good, "clustered", 4000, sizes{n: 4000, squares: 4000 * 41, clusters: 2000},
			"uneven_clusters"},
		"clusters of no interest": {good, "wilson", 4000, sizes{n: 4000, squares: 4000 * 4000, clusters: 1}, ""},
		"two":                     {with(func(e *estimate) { e.share = 0.01 }), "stratified", 10, even, "few_hosts,rare"},
	} {
		p, row := &pointMaker{shared: make(map[string]*string)}, new(schema.Point)
		p.estimated(row, c.estimate, c.method, c.n, c.hosts)
		if got := schema.OrZero(row.Caution); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if (row.DesignEffect != nil) != (c.method != "wilson") {
			t.Errorf("%s: design effect %v by %s", name, row.DesignEffect, c.method)
		}
	}
}

// Of a category, any counts the hosts that close all of its agents or some.
func TestAnyOfACategory(t *testing.T) {
	r := &countedRun{all: make(population)}
	for key, n := range map[string]int64{"all": 2, "some": 30, "none": 400, "unknown": 5000} {
		r.add(summary.Count{Metric: "category", Stratum: "1-1000", Category: "x", Profile: "google", Key: key, N: n})
	}
	if n := r.all.of("1-1000").counts[id{metric: "category", category: "x", profile: "google",
		key: closesAny}].n; n != 32 {
		t.Errorf("any is %d, want 32", n)
	}
}

// Each cell of the CSV stands under its column; null is empty.
func TestColumnsOfCSV(t *testing.T) {
	point := schema.Point{
		Metric: "policy", Population: "all", Stratum: "1-1000", Agent: new("=A"), Category: new("c"), Profile: new("p"),
		Key: new("k"),
		Run: "r", Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Base: "hosts", Count: 1, Denominator: 2,
		Share: new(0.5), Low: new(0.25), High: new(0.75),
		Method: new("clustered"), DesignEffect: new(1.5), Clusters: new(int64(7)), Caution: new("rare"),
		Comparable: new(false), WhyNot: new("why"),
	}
	var out strings.Builder
	must(t, WriteCSV(&out, []schema.Point{point, {Metric: "targets"}}))
	want := `metric,population,stratum,agent,category,profile,key,run,date,base,count,denominator,share,low,high,method,design_effect,clusters,caution,comparable,why_not
policy,all,1-1000,'=A,c,p,k,r,2026-01-02T03:04:05Z,hosts,1,2,0.5,0.25,0.75,clustered,1.5,7,rare,false,why
targets,,,,,,,,0001-01-01T00:00:00Z,,0,0,,,,,,,,,
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package diff

import (
	"fmt"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// Hosts that opened are kept by rank, each with the row that opens most, beside what closed
// on the same host and is more severe.
func TestHostsThatOpened(t *testing.T) {
	r := newResult(Config{}, nil, []string{"google"})
	for i := range MaxExamples + 5 {
		host, rank := fmt.Sprint("h", i), int64(100-i)
		row := func(kind, severity, agent, before, after string) {
			r.add(&schema.Change{Host: host, Origin: "https://" + host, Rank: &rank, Kind: kind, Severity: severity,
				Agent: &agent, Category: new("seo"), Profile: new("google"), Before: schema.NonZero(before), After: &after})
		}
		row("policy_class", "critical", "A", "partial", "disallow_all")
		if i != 3 {
			row("rules", "minor", "B", "", "opens")
			row("policy_class", "major", "C", "disallow_all", "partial")
			row("policy_class", "minor", "D", "partial", "allow_all")
		}
		r.endOfPair()
	}
	r.finish()
	if len(r.Opened) != MaxExamples || r.Opened[0].Host != fmt.Sprint("h", MaxExamples+4) || *r.Opened[0].Agent != "C" ||
		r.Opened[0].Hosts != 1 {
		t.Errorf("%d opened, first %+v", len(r.Opened), r.Opened[0])
	}
	for _, e := range append(r.Opened, r.Examples...) {
		if e.Kind == "policy_class" && *e.Agent == "A" && *e.After != "disallow_all" || e.Host == "h3" && *e.Agent != "A" {
			t.Errorf("%s: %s %s", e.Host, *e.Agent, *e.After)
		}
	}
	if r.Ways != 1 { // h3 alone has another
		t.Errorf("%d ways of several hosts, want 1", r.Ways)
	}
}

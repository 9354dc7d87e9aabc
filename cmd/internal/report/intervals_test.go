package report

import (
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/summary"
)

// Wilson's interval of 20 in 100 is 13.3 to 28.9 % (by hand: (0.2 + 1.9207/100 ± 1.96 √(0.2·0.8/100
// + 0.9604/100²)) / 1.0384).
func TestIntervalsOfAgents(t *testing.T) {
	d := &data{run: "r", profile: "google", hosts: 150, manifest: &journal.Manifest{},
		sums: counters.Of(summary.New(nil, nil))}
	if f := d.intervals(); f != nil {
		t.Errorf("of no agent: %+v", f)
	}
	d.sums["policy"] = map[counters.Label]int64{
		{Stratum: "unranked", Agent: "A", Category: "seo", Profile: "google", Key: "disallow_all"}: 20,
		{Stratum: "unranked", Agent: "A", Category: "seo", Profile: "google", Key: "allow_all"}:    80,
		{Stratum: "unranked", Agent: "A", Category: "seo", Profile: "google", Key: "unknown"}:      50,
		{Stratum: "unranked", Agent: "B", Category: "seo", Profile: "google", Key: "allow_all"}:    100,
	}
	f := d.intervals()
	if want := "A is shut out by 20.0% of 100 hosts whose policy is known; if these are a sample, by 13.3% to 28.9% of all"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if len(f.Rows) != 1 || f.Bars[0].Tracks[0].Values[0] != "20.0%, 13.3% to 28.9%" {
		t.Errorf("%q, %+v", f.Rows, f.Bars)
	}
}

// The title agrees with few hosts and with agents that tie.
func TestTitlesOfIntervals(t *testing.T) {
	for _, c := range []struct {
		hosts  int64
		agents []string
		want   string
	}{
		{1, []string{"A"}, "A is shut out by 1 of 1 host whose policy is known; if these are a sample, by 20.7% to 100% of all"},
		{2, []string{"A"}, "A is shut out by 1 of 2 hosts whose policy is known; if these are a sample, by 9.5% to 90.5% of all"},
		{3, []string{"A", "B"}, "A and B are shut out most often, each by 1 of 3 hosts whose policy is known; if these are a sample, " +
			"by 6.1% to 79.2% of all"},
		{100, []string{"A", "B", "C", "D"}, "4 agents are shut out most often, each by 1.0% of 100 hosts whose policy is known; if these are a " +
			"sample, by 0.2% to 5.4% of all"},
	} {
		d := &data{run: "r", profile: "google", hosts: c.hosts, manifest: &journal.Manifest{},
			sums: counters.Of(summary.New(nil, nil))}
		d.sums["policy"] = make(map[counters.Label]int64)
		for _, name := range c.agents {
			d.sums["policy"][counters.Label{Stratum: "unranked", Agent: name, Category: "seo", Profile: "google",
				Key: "disallow_all"}] = 1
			d.sums["policy"][counters.Label{Stratum: "unranked", Agent: name, Category: "seo", Profile: "google",
				Key: "partial"}] = c.hosts - 1
		}
		if f := d.intervals(); f.Title != c.want {
			t.Errorf("title %q, want %q", f.Title, c.want)
		}
	}
}

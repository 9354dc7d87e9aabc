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
	d := &data{run: "r", profile: "google", hosts: 100, manifest: &journal.Manifest{}, sums: counters.Of(summary.New(nil, nil))}
	if f := d.intervals(); f != nil {
		t.Errorf("of no agent: %+v", f)
	}
	d.sums["policy"] = map[counters.Label]int64{
		{Stratum: "unranked", Agent: "A", Category: "seo", Profile: "google", Key: "disallow_all"}: 20,
		{Stratum: "unranked", Agent: "B", Category: "seo", Profile: "google", Key: "allow_all"}:    100,
	}
	f := d.intervals()
	if want := "A is shut out by 20.0% of 100 hosts; if these are a sample, by 13.3% to 28.9% of all"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if len(f.Rows) != 1 || f.Bars[0].Tracks[0].Values[0] != "20.0%, 13.3% to 28.9%" {
		t.Errorf("%q, %+v", f.Rows, f.Bars)
	}
}

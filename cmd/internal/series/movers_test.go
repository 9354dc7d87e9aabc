package series

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// The terminal shows what moved most first, with the shares and the interval, and escapes
// names.
func TestShowMovers(t *testing.T) {
	at := func(run string, month time.Month, metric, agent, key string, count int64) schema.Point {
		share := float64(count) / 1000
		p := schema.Point{
			Metric: metric, Population: "all", Stratum: "all", Key: &key, Profile: new("google"), Run: run,
			Date: time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC),
			Base: "files", Count: count, Denominator: 1000, Share: &share, Low: new(max(0, share-0.01)),
			High: new(share + 0.01), Method: new("wilson"),
		}
		if metric == "policy" {
			p.Agent = &agent
		}
		if metric != "signal" {
			p.Category = new("ai-training")
		} else {
			p.Base = "texts"
		}
		if month > 1 {
			p.Comparable = new(true)
		}
		return p
	}
	r := &series.Result{
		Profiles: []string{"google"}, Runs: []series.Run{{Run: "a"}, {Run: "b"}}, Warnings: []string{"a warning"},
		Points: []schema.Point{
			at("a", 1, "category", "", "any", 205), at("b", 2, "category", "", "any", 305),
			at("a", 1, "policy", "GPTBot", "disallow_all", 50), at("b", 2, "policy", "GPTBot", "disallow_all", 250),
			at("a", 1, "policy", "CCBot", "disallow_all", 50), at("b", 2, "policy", "CCBot", "disallow_all", 52),
			at("a", 1, "signal", "", "x\x1b[31m", 300), at("b", 2, "signal", "", "x\x1b[31m", 100),
		},
	}
	var out bytes.Buffer
	showMovers(&out, r)
	want := `What moved most, as shares of hosts whose rules decide (signals: that have a file)
figure                       from        to           then    now  points        interval
GPTBot shut out              2026-01-01  2026-02-01   5.0%  25.0%   +20.0  +16.2 to +23.9
x\u001b[31m                  2026-01-01  2026-02-01  30.0%  10.0%   -20.0  -24.3 to -15.6
any of AI training shut out  2026-01-01  2026-02-01  20.5%  30.5%   +10.0   +5.1 to +14.8
3 of 4 comparable figures moved by more than chance: the intervals, of percentage points, hold for all figures together in 95% of samples
unpaired: as samples that differ; --panel compares the hosts that all runs have host by host, which tells more; adjusted for 4 figures (Bonferroni)
a warning
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

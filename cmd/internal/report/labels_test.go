package report

import (
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/sink/summary"
)

// A value is compared with the other hosts that have the label, and not with all of them; few
// hosts come last.
func TestGroupsAreComparedWithTheOthers(t *testing.T) {
	group := func(closed, hosts int64) counters.Sums {
		s := make(counters.Sums)
		s.Add(summary.Count{Metric: "targets", N: hosts})
		for key, n := range map[string]int64{"all": closed / 2, "some": closed - closed/2, "none": hosts - closed} {
			s.Add(summary.Count{Metric: "category", Category: counters.Headline, Profile: "google", Key: key, N: n})
		}
		return s
	}
	groups := Labels{"sector": {"news": group(36, 100), "shop": group(15, 100), "one": group(1, 1)}}.Groups("sector",
		"google")
	want := []struct {
		value         string
		closed, hosts int64
		differs       string
	}{{"news", 36, 100, "more"}, {"shop", 15, 100, "less"}, {"one", 1, 1, ""}}
	for i, w := range want {
		if g := groups[i]; g.Value != w.value || g.Closed != w.closed || g.Hosts != w.hosts || g.Difference() != w.differs {
			t.Errorf("%s: %d of %d, %q; want %+v", g.Value, g.Closed, g.Hosts, g.Difference(), w)
		}
	}
	// An outage that hides most of a group makes it neither more nor less open.
	hidden := group(10, 20)
	hidden.Add(summary.Count{Metric: "targets", N: 80})
	hidden.Add(summary.Count{Metric: "category", Category: counters.Headline, Profile: "google", Key: "unknown", N: 80})
	dark := make(counters.Sums)
	dark.Add(summary.Count{Metric: "targets", N: 30})
	dark.Add(summary.Count{Metric: "category", Category: counters.Headline, Profile: "google", Key: "unknown", N: 30})
	some := Labels{"sector": {"all": group(50, 100), "hidden": hidden, "dark": dark}}
	for i, g := range some.Groups("sector", "google") {
		share := 0.5
		if i == 2 {
			share = 0
		}
		if g.Value != []string{"all", "hidden", "dark"}[i] || g.Known != []int64{100, 20, 0}[i] ||
			g.Hosts != []int64{100, 100, 30}[i] || g.Share != share || g.Differs != 0 || (g.Interval() == "") != (i == 2) {
			t.Errorf("%d: %s: %d of %d of %d hosts, %q", i, g.Value, g.Closed, g.Known, g.Hosts, g.Difference())
		}
	}
	alike := Labels{"sector": {"news": group(30, 100), "shop": group(28, 100)}}.Groups("sector", "google")
	if alike[0].Differs != 0 || alike[1].Differs != 0 {
		t.Errorf("30 and 28 of 100 differ: %+v", alike)
	}
}

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
	alike := Labels{"sector": {"news": group(30, 100), "shop": group(28, 100)}}.Groups("sector", "google")
	if alike[0].Differs != 0 || alike[1].Differs != 0 {
		t.Errorf("30 and 28 of 100 differ: %+v", alike)
	}
}

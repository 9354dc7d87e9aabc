package journal

import (
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/schema"
)

// The date of a run is --as-of, else the median day of its captures, else the start.
func TestDateOfRun(t *testing.T) {
	day := func(s string) time.Time {
		d, err := time.Parse(DayFormat, s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	count := func(metric, key string, n int64) schema.Count {
		return schema.Count{Metric: metric, Stratum: "unranked", Key: &key, Count: n}
	}
	captures := []schema.Count{
		count("captured", "2024-05-20", 4), count("captured", "1994-01-02", 1), count("captured", "other", 90),
		count("captured", "2024-05-14", 4), count("captured", "2024-05-14", 1), count("status", "2001-01-01", 90),
	}
	asOf := day("2023-01-01")
	for name, c := range map[string]struct {
		asOf   *time.Time
		counts []schema.Count
		want   string
	}{
		"given":       {&asOf, captures, "2023-01-01"},
		"captures":    {nil, captures, "2024-05-14"},
		"halves":      {nil, []schema.Count{captures[0], captures[3]}, "2024-05-14"},
		"no captures": {nil, captures[5:], "2026-11-20"},
		"not yet":     {nil, []schema.Count{count("captured", "2031-05-14", 4)}, "2026-11-20"},
		"only other":  {nil, captures[2:3], "2026-11-20"},
	} {
		m := &Manifest{Plan: Plan{Started: day("2026-11-20"), AsOf: c.asOf}}
		m.Finish(time.Now(), nil, c.counts)
		if got := m.Date.Format(DayFormat); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

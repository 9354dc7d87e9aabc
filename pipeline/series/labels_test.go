package series

import (
	"testing"

	"github.com/robocensus/robocensus/sink/summary"
)

// A value that somebody asks for has a band. Another one is in the band of all that the run
// counts together, unless the run counts it apart: then it has none.
func TestBandsOfValues(t *testing.T) {
	of := func(value string) string { return summary.LabelValue{Label: "cdn", Value: value}.Stratum() }
	for _, c := range []struct {
		what   string
		bands  []string
		counts []string // of the run
		value  string
		want   int
	}{
		{"its own", []string{of("a"), of(summary.Other)}, []string{"a", summary.Other}, "a", 0},
		{"its own, not counted apart", []string{of("a"), of(summary.Other)}, []string{summary.Other}, "a", 0},
		{"not counted apart", []string{of("a"), of(summary.Other)}, []string{"a", summary.Other}, "b", 1},
		{"counted apart, not asked for", []string{of("a"), of(summary.Other)}, []string{"b", summary.Other}, "b", -1},
		{"nothing together", []string{of("a"), of(summary.Other)}, []string{"a"}, "b", -1},
		{"what is together is not asked for", []string{of("a")}, []string{"a", summary.Other}, "b", -1},
	} {
		h := hostReader{label: "cdn", bandNames: c.bands, run: &countedRun{values: make(map[string]bool)}}
		for _, value := range c.counts {
			h.run.values[of(value)] = true
		}
		if got := h.bandOf(c.value); got != c.want {
			t.Errorf("%s: band %d, want %d", c.what, got, c.want)
		}
	}
}

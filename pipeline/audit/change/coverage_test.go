package change

import (
	"testing"

	"github.com/robocensus/robocensus/sink/summary"
)

// A share of pages has changed where it moved by a point, and by more than two samples differ
// by chance. Samples that are all of what is listed differ by no chance.
func TestCoverageChanged(t *testing.T) {
	type pages = summary.Pages
	for _, c := range []struct {
		before, after pages
		want          bool
	}{
		{pages{Allowed: 196, Sampled: 200, Listed: 50_000}, pages{Allowed: 6, Sampled: 200, Listed: 50_000}, true},
		{pages{Allowed: 196, Sampled: 200, Listed: 50_000}, pages{Allowed: 190, Sampled: 200, Listed: 50_000}, false},
		{pages{Allowed: 196, Sampled: 200, Listed: 200}, pages{Allowed: 190, Sampled: 200, Listed: 200}, true}, // all of it
		{pages{Allowed: 200, Sampled: 200, Listed: 50_000}, pages{Allowed: 193, Sampled: 200, Listed: 50_000}, false},
		{pages{Allowed: 200, Sampled: 200, Listed: 50_000}, pages{Allowed: 185, Sampled: 200, Listed: 50_000}, true},
		// half a point
		{pages{Allowed: 200, Sampled: 200, Listed: 200}, pages{Allowed: 199, Sampled: 200, Listed: 200}, false},
		{pages{Allowed: 200, Sampled: 200, Listed: 200}, pages{Allowed: 198, Sampled: 200, Listed: 200}, true},
		{pages{Allowed: 3, Sampled: 3, Listed: 3}, pages{Allowed: 3, Sampled: 4, Listed: 4}, true},
		{pages{Allowed: 1, Sampled: 1, Listed: 9}, pages{Allowed: 0, Sampled: 1, Listed: 9}, false},
	} {
		for range 2 { // a rise is told as a fall is
			if got := CoverageChanged(c.before, c.after); got != c.want {
				t.Errorf("%+v to %+v: %v", c.before, c.after, got)
			}
			c.before, c.after = c.after, c.before
		}
	}
}

func TestParseCoverage(t *testing.T) {
	for text, want := range map[string]bool{"6/200": true, "0/1": true, "200/200": true, "0/0": false, "3/2": false,
		"06/200": false, "-1/2": false, "6": false, "6/": false, "6/200/1": false} {
		if _, _, ok := ParseCoverage(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

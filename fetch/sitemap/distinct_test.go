package sitemap

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
)

// Up to its bound the count of different URLs is exact, in whatever order and however often they
// come; beyond it is close, and what it holds is bounded.
func TestDistinct(t *testing.T) {
	for _, n := range []int{0, 1, 200, mostDistinct, mostDistinct + 1, 50_000, 500_000} {
		var d distinct
		for i := range n + n/3 {
			d.add(rankOf(fmt.Sprintf("https://a.example/%d", i%max(n, 1))))
		}
		if n <= mostDistinct && d.n != int64(n) {
			t.Errorf("%d are %d", n, d.n)
		}
		if off := math.Abs(float64(d.n)/float64(max(n, 1)) - 1); n > 0 && off > 0.05 || len(d.has) > mostDistinct {
			t.Errorf("%d are %d, and %d are held", n, d.n, len(d.has))
		}
	}
}

// What sitemaps list together counts once: a page that one repeats, or that an earlier one has.
func TestRepeatsOfAHost(t *testing.T) {
	host, _, err := fetch.Parse("https://a.example", "")
	if err != nil {
		t.Fatal(err)
	}
	tour := Bounds{Files: 5, Bytes: 1 << 20, Sample: 10}.tour(host)
	for _, c := range []struct {
		pages       []string
		listed, new int64
	}{
		{[]string{"/1", "/2", "/1", "/1#part", "https://b.example/1"}, 4, 2}, {[]string{"/2", "/3"}, 2, 1},
		{[]string{"/3", "/1"}, 2, 0}, {nil, 0, 0},
	} {
		body := ""
		for _, p := range c.pages {
			if !strings.Contains(p, "://") {
				p = "https://a.example" + p
			}
			body += p + "\n"
		}
		r, _, err := tour.read(stop{}, nil, strings.NewReader(body))
		if err != nil || r.Listed != c.listed || r.New != c.new {
			t.Errorf("%v: %d listed, %d new: %v", c.pages, r.Listed, r.New, err)
		}
	}
}

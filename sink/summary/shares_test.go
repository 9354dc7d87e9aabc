package summary

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The interval for the pages of a host holds the true share in 95 % of samples, whether they are
// few or most of what is listed; that of a difference holds it at its level.
func TestPages(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 1))
	draw := func(open, listed, n int64) (allowed int64) { // without replacement
		for range n {
			if r.Int64N(listed) < open {
				allowed++
				open--
			}
			listed--
		}
		return allowed
	}
	const times = 4000
	for _, c := range []struct{ open, listed, sampled int64 }{{500, 1000, 200}, {30, 1000, 200}, {210, 220, 200},
		{150, 230, 200}, {40_000, 50_000, 200}, {70, 100, 20}} {
		held, differs := 0, 0
		for range times {
			n := draw(c.open, c.listed, c.sampled)
			truth := float64(c.open) / float64(c.listed)
			if _, low, high := ShareOfPages(n, c.sampled, c.listed); low <= truth && truth <= high {
				held++
			}
			low, high := PagesDiffer(Pages{n, c.sampled, c.listed}, Pages{draw(c.open, c.listed, c.sampled), c.sampled,
				c.listed}, 0.01)
			if low > 0 || high < 0 {
				differs++
			}
		}
		if share := float64(held) / times; share < 0.93 {
			t.Errorf("%+v: the interval holds in %.3f of samples", c, share)
		}
		if share := float64(differs) / times; share > 0.015 {
			t.Errorf("%+v: samples of the same pages differ in %.3f", c, share)
		}
	}
	if _, low, high := ShareOfPages(100, 200, 220); math.Abs(high-low-0.0425) > 0.002 { // 0.137 of any number
		t.Errorf("of 200 of 220 pages: %v to %v", low, high)
	}
	if share, low, high := ShareOfPages(150, 200, 200); share != 0.75 || low != 0.75 || high != 0.75 {
		t.Errorf("of a sample that is all: %v, %v to %v", share, low, high)
	}
}

// Published: R. G. Newcombe, Statistics in Medicine 17, 1998, 873, table II, method 10.
func TestDiffer(t *testing.T) {
	for _, c := range []struct {
		n, of, later, ofLater int64
		low, high             float64
	}{{48, 80, 56, 70, -0.3339, -0.0524}, {3, 10, 9, 10, -0.8090, -0.1705}, {0, 10, 10, 10, -1, -0.6075}} {
		low, high := SharesDiffer(c.n, c.of, c.later, c.ofLater, 0.05)
		if math.Abs(low+c.high) > 6e-5 || math.Abs(high+c.low) > 6e-5 { // he takes the earlier less the later
			t.Errorf("%+v: %v to %v", c, low, high)
		}
	}
}

func TestPercents(t *testing.T) {
	p := Percents{0: 10, 9: 2, 99: 8, 100: 20}
	if q := p.Quartiles(); q != [3]int64{0, 99, 100} || p.Hosts() != 40 {
		t.Errorf("%v of %d", q, p.Hosts())
	}
	if median, low, high := p.Median(); median != 99 || low != 99 || high != 100 { // the 13th and the 28th
		t.Errorf("%d, %d to %d", median, low, high)
	}
	if median, low, high := (Percents{7: 1}).Median(); median != 7 || low != 0 || high != 100 {
		t.Errorf("of one host: %d, %d to %d", median, low, high)
	}
	if median, low, high := (Percents{}).Median(); median != 0 || low != 0 || high != 100 {
		t.Errorf("of none: %d, %d to %d", median, low, high)
	}
	if median, low, high := (Percents{7: 3, 9: 2}).Median(); median != 7 || low != 0 || high != 100 {
		t.Errorf("of five: %d, %d to %d", median, low, high)
	}
	if median, low, high := (Percents{7: 3, 9: 3}).Median(); median != 7 || low != 7 || high != 9 {
		t.Errorf("of six: %d, %d to %d", median, low, high)
	}
	each := make(Percents) // a host with each percentage from 0 to 99: the 40th and the 61st
	for i := range int64(100) {
		each[i] = 1
	}
	if median, low, high := each.Median(); median != 49 || low != 39 || high != 60 {
		t.Errorf("of 100: %d, %d to %d", median, low, high)
	}
	// Of a population of percentages whose median is 60, the interval holds it in 95 % of samples.
	r, held := rand.New(rand.NewPCG(57, 2)), 0
	const times = 3000
	for range times {
		p := make(Percents)
		for range 75 {
			p[r.Int64N(121)]++
		}
		if _, low, high := p.Median(); low <= 60 && 60 <= high {
			held++
		}
	}
	if share := float64(held) / times; share < 0.945 || share > 0.985 {
		t.Errorf("the interval holds the median in %.3f of samples", share)
	}
}

// Of a thousand groups that do not differ, none stands apart in 95 % of populations, however few hosts
// the groups have; and groups that do differ stand apart.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 3))
	const groups, populations = 1000, 200
	for _, size := range []int64{1, 2, 3, 10} {
		for _, rate := range []float64{0.003, 0.05, 0.5, 0.97} {
			found := 0
			for range populations {
				var n [groups]int64
				var those int64
				for g := range n {
					for range size {
						if r.Float64() < rate {
							n[g]++
							those++
						}
					}
				}
				for _, n := range n {
					if sign, _, _ := SharesApart(those-n, (groups-1)*size, n, size, 0.05/groups); sign != 0 {
						found++
						break
					}
				}
			}
			if share := float64(found) / populations; share > 0.08 {
				t.Errorf("groups of %d hosts, rate %v: one stands apart in %.3f of populations", size, rate, share)
			}
		}
	}
	for _, c := range []struct {
		n, of, later, ofLater int64
		sign                  int
	}{{3, 900, 12, 80, 1}, {888, 900, 68, 80, -1}, {0, 1000, 5, 5, 1}, {50, 1000, 1, 1, 0}, {950, 1000, 0, 1, 0},
		{100, 1000, 10, 100, 0}, {1_000_000, 50_000_000, 1_050_000, 50_000_000, 1}, {0, 9, 0, 1, 0}} {
		if sign, low, high := SharesApart(c.n, c.of, c.later, c.ofLater, 0.05/1000); sign != c.sign {
			t.Errorf("%+v: %d, %v to %v", c, sign, low, high)
		}
	}
}

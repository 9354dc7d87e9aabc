package summary

import (
	"maps"
	"math"
	"slices"
)

// Percents counts hosts by a percentage of each, rounded down: how much of what it lists an
// agent may fetch.
type Percents map[int64]int64

// LeastHosts are those whose lowest and highest percentage have the median between them in 95 %
// of samples.
const LeastHosts = 6

// Hosts returns their number.
func (p Percents) Hosts() (n int64) {
	for _, of := range p {
		n += of
	}
	return n
}

// at returns the percentage of the host of a place, the lowest first, from 1.
func (p Percents) at(place int64) int64 {
	upTo := int64(0)
	for _, percent := range slices.Sorted(maps.Keys(p)) {
		if upTo += p[percent]; upTo >= place {
			return percent
		}
	}
	return 0
}

// Quartiles returns the quartiles: a quarter of the hosts has at most the first.
func (p Percents) Quartiles() (q [3]int64) {
	n := p.Hosts()
	for k := range q {
		q[k] = p.at((n*int64(k+1) + 3) / 4)
	}
	return q
}

// Median returns the median with its interval of 95 %, for a simple sample of hosts: that of the
// places between which the middle one is (H. A. David, Order Statistics, 1970, 2.5). Fewer than
// [LeastHosts] say nothing of others.
func (p Percents) Median() (median, low, high int64) {
	n := p.Hosts()
	if n < LeastHosts {
		return p.Quartiles()[1], 0, 100
	}
	first := max(1, int64(math.Floor((float64(n)-Normal95*math.Sqrt(float64(n)))/2)))
	return p.Quartiles()[1], p.at(first), p.at(n + 1 - first)
}

package summary

import "math"

// Normal95 is the quantile of the normal distribution that leaves 2.5 % above.
const Normal95 = 1.959963984540054

// ShareOf returns the share n of some hosts and its interval of 95 %.
func ShareOf(n, of int64) (share, low, high float64) {
	share = float64(n) / float64(of)
	low, high = ScoreInterval(share, float64(of), Normal95)
	return share, low, high
}

// ShareOfPages does the same for a sample of pages out of those that a host lists. A sample that is
// all of them has no chance in it.
func ShareOfPages(n, sampled, listed int64) (share, low, high float64) {
	share = float64(n) / float64(sampled)
	low, high = ScoreInterval(share, drawnPages(sampled, listed), Normal95)
	return share, low, high
}

// SharesDiffer returns the interval of the difference between two shares of hosts, the later less
// the earlier one, that holds at a level: the square-and-add one (R. G. Newcombe, Statistics
// in Medicine 17, 1998, 873, method 10).
func SharesDiffer(n, of, later, ofLater int64, level float64) (low, high float64) {
	return sharesDiffer(float64(n)/float64(of), float64(of), float64(later)/float64(ofLater), float64(ofLater), level)
}

// SharesApart compares the share of a group of hosts, the later one, with that of the others:
// 1 if it is greater by more than chance at a level, -1 if it is less, 0 if that may be chance; with the
// interval of the difference. The interval alone would do for groups of any size but those of few
// hosts, of which it promises too much at the levels that many comparisons need: they have to pass
// Fisher's exact test (R. A. Fisher, Statistical Methods for Research Workers, 1934, 21.02), too.
func SharesApart(n, of, later, ofLater int64, level float64) (sign int, low, high float64) {
	low, high = SharesDiffer(n, of, later, ofLater, level)
	all, those := of+ofLater, n+later
	switch {
	case low > 0 && tailOf(later, ofLater, those, all) <= level/2:
		return 1, low, high
	case high < 0 && tailOf(ofLater-later, ofLater, all-those, all) <= level/2:
		return -1, low, high
	}
	return 0, low, high
}

// tailOf returns the probability that at least k of n hosts are among those of all hosts, if the n are
// drawn at random. It is for k above the mean, from where the terms fall.
func tailOf(k, n, those, all int64) (sum float64) {
	logChoose := func(n, k int64) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	term := math.Exp(logChoose(those, k) + logChoose(all-those, n-k) - logChoose(all, n))
	for x := k; x <= min(n, those) && term > sum*1e-15; x++ {
		sum += term
		term *= float64(those-x) * float64(n-x) / (float64(x+1) * float64(all-those-n+x+1))
	}
	return sum
}

// PairedShares returns the difference between two shares of the same hosts, the later less the
// earlier one, and its interval for a quantile of the normal distribution: the square-and-add one of
// paired shares (R. G. Newcombe, Statistics in Medicine 17, 1998, 2635, method 10). Hosts count
// in both shares, in the later or the earlier alone, or in none.
func PairedShares(both, later, earlier, none int64, quantile float64) (d, low, high float64) {
	n := float64(both + later + earlier + none)
	if n == 0 {
		return 0, -1, 1
	}
	a, b, c, e := float64(both), float64(earlier), float64(later), float64(none)
	before, after := (a+b)/n, (a+c)/n
	lowBefore, highBefore := ScoreInterval(before, n, quantile)
	lowAfter, highAfter := ScoreInterval(after, n, quantile)
	phi := 0.0
	if of := (a + b) * (c + e) * (a + c) * (b + e); of > 0 {
		product := a*e - b*c
		if product > 0 { // corrected for continuity
			product = max(0, product-n/2)
		}
		phi = product / math.Sqrt(of)
	}
	add := func(x, y float64) float64 { return math.Sqrt(max(0, x*x-2*phi*x*y+y*y)) }
	d = (c - b) / n
	return d, max(-1, d-add(after-lowAfter, highBefore-before)), min(1, d+add(highAfter-after, before-lowBefore))
}

// Pages are those of the sample of a host that are allowed.
type Pages struct{ Allowed, Sampled, Listed int64 }

func (p Pages) share() float64 { return float64(p.Allowed) / float64(p.Sampled) }

// PagesDiffer does what SharesDiffer does for the pages of a host, as if each sample had been drawn
// by itself: of two that are mostly the same, the interval is too wide, never too narrow.
func PagesDiffer(a, b Pages, level float64) (low, high float64) {
	return sharesDiffer(a.share(), drawnPages(a.Sampled, a.Listed), b.share(), drawnPages(b.Sampled, b.Listed), level)
}

// drawnPages returns the pages that, drawn out of any number, would say as much as a sample of
// those that are listed (W. G. Cochran, Sampling Techniques, 3rd edition 1977, 2.6).
func drawnPages(sampled, listed int64) float64 {
	if listed <= sampled {
		return math.Inf(1)
	}
	return float64(sampled) * float64(listed-1) / float64(listed-sampled)
}

func sharesDiffer(a, ofA, b, ofB, level float64) (low, high float64) {
	quantile := math.Sqrt2 * math.Erfinv(1-level)
	lowA, highA := ScoreInterval(a, ofA, quantile)
	lowB, highB := ScoreInterval(b, ofB, quantile)
	return b - a - math.Hypot(b-lowB, highA-a), b - a + math.Hypot(highB-b, a-lowA)
}

// ScoreInterval returns the score interval (E. B. Wilson, JASA 22, 1927, 209) of a share p of n.
func ScoreInterval(p, n, z float64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	// The ends of 0 and 1 are 0 and 1, which rounding may miss.
	return min(p, max(0, (middle-half)/(1+z*z/n))), max(p, min(1, (middle+half)/(1+z*z/n)))
}

package summary

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A distribution in summary is a histogram with fixed edges, so that the counts
// of parts and of runs add up. Values below 100 are exact. From there on each
// decade has 100 bins, none wider than 4 % of its first value, so that the
// middle of a bin is within 2 % of every value in it. Who changes an edge raises
// [sink.BinsVersion].

// Bin is a range of whole numbers, its ends included.
type Bin struct{ First, Last int64 }

// BinOf is the bin of summary in which a value lies. Those below 0 count as 0.
func BinOf(n int64) Bin {
	if n < 100 {
		return Bin{max(n, 0), max(n, 0)}
	}
	decade := decadeOf(n)
	from, step := decade, decade/25 // 4 %
	switch {
	case n >= 5*decade:
		from, step = 5*decade, decade/5
	case n >= 2*decade:
		from, step = 2*decade, decade/50*3
	}
	return bin(from+(n-from)/step*step, step)
}

// groupOf is the bin for display in which a value lies: 0, 1, 2-4, 5-9, 10-19,
// 20-49 and so on. Each bin of summary lies in one of them.
func groupOf(n int64) Bin {
	if n <= 0 {
		return Bin{}
	}
	decade := decadeOf(n)
	switch {
	case n >= 5*decade:
		return bin(5*decade, 5*decade)
	case n >= 2*decade:
		return bin(2*decade, 3*decade)
	}
	return bin(decade, decade)
}

// decadeOf is the greatest power of ten that is not above n.
func decadeOf(n int64) int64 {
	decade := int64(1)
	for n/10 >= decade {
		decade *= 10
	}
	return decade
}

// bin is that of width values. The last one ends where int64 does.
func bin(first, width int64) Bin {
	if first > math.MaxInt64-(width-1) {
		return Bin{first, math.MaxInt64}
	}
	return Bin{first, first + width - 1}
}

// String is the bin's key in summary, such as 57 or 104-107.
func (b Bin) String() string {
	if b.First == b.Last {
		return strconv.FormatInt(b.First, 10)
	}
	return strconv.FormatInt(b.First, 10) + "-" + strconv.FormatInt(b.Last, 10)
}

// middle stands for all values of the bin.
func (b Bin) middle() int64 { return b.First + (b.Last-b.First)/2 }

// ParseBin reads a key of summary.
func ParseBin(key string) (Bin, error) {
	first, _, _ := strings.Cut(key, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil || BinOf(n).String() != key {
		return Bin{}, fmt.Errorf("%q is not a bin of a distribution", key)
	}
	return BinOf(n), nil
}

// Histogram is a distribution, its bins ascending.
type Histogram []BinCount

// BinCount is how many values lie in a bin.
type BinCount struct {
	Bin
	Count int64
}

// NewHistogram makes a distribution of the counts of a metric by key. A key
// that is no bin is an error.
func NewHistogram(counts map[string]int64) (Histogram, error) {
	h := make(Histogram, 0, len(counts))
	for key, n := range counts {
		b, err := ParseBin(key)
		if err != nil {
			return nil, err
		}
		h = append(h, BinCount{b, n})
	}
	slices.SortFunc(h, func(a, b BinCount) int { return cmp.Compare(a.First, b.First) })
	return h, nil
}

// Total is the number of values.
func (h Histogram) Total() (n int64) {
	for _, b := range h {
		n += b.Count
	}
	return n
}

// Quantile is the smallest value that at least the share q of all values do
// not exceed: exact below 100, and else within 2 %. Of no values it is 0.
func (h Histogram) Quantile(q float64) int64 {
	wanted := max(1, int64(math.Ceil(q*float64(h.Total()))))
	below := int64(0)
	for _, b := range h {
		if below += b.Count; below >= wanted {
			return b.middle()
		}
	}
	return 0
}

// Grouped is the distribution for display, in bins that people can read, with
// the empty ones between the first and the last.
func (h Histogram) Grouped() Histogram {
	sums := make(map[Bin]int64)
	for _, b := range h {
		sums[groupOf(b.First)] += b.Count
	}
	if len(sums) == 0 {
		return nil
	}
	bins := slices.SortedFunc(maps.Keys(sums), func(a, b Bin) int { return cmp.Compare(a.First, b.First) })
	last := bins[len(bins)-1]
	var out Histogram
	for b := bins[0]; ; b = groupOf(b.Last + 1) {
		out = append(out, BinCount{b, sums[b]})
		if b == last {
			return out
		}
	}
}

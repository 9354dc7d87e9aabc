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

// A distribution in summary is a histogram with fixed edges, so that the counts of
// parts and runs add up. Values below 100 are exact. Each decade from 100 on has at
// most 100 bins, none wider than 4 % of its first value, so the middle of a bin is
// within 2 % of every value in it. Changing an edge requires a new
// [schema.BinsVersion].

// Bin is a range of whole numbers, both ends included.
type Bin struct{ First, Last int64 }

// BinOf returns the bin of a value. Values below 0 count as 0.
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

// groupOf returns the display bin of a value: 0, 1, 2-4, 5-9, 10-19, 20-49 and so
// on. Each bin of summary lies within one display bin.
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

// decadeOf returns the greatest power of ten that is at most n.
func decadeOf(n int64) int64 {
	decade := int64(1)
	for n/10 >= decade {
		decade *= 10
	}
	return decade
}

// bin returns the bin of width values from first. The last bin ends at
// math.MaxInt64.
func bin(first, width int64) Bin {
	if first > math.MaxInt64-(width-1) {
		return Bin{first, math.MaxInt64}
	}
	return Bin{first, first + width - 1}
}

// String returns the bin's key in summary, such as 57 or 104-107.
func (b Bin) String() string {
	if b.First == b.Last {
		return strconv.FormatInt(b.First, 10)
	}
	return strconv.FormatInt(b.First, 10) + "-" + strconv.FormatInt(b.Last, 10)
}

// middle returns the value that represents the bin.
func (b Bin) middle() int64 { return b.First + (b.Last-b.First)/2 }

// ParseBin parses a key of summary. A key that is not a bin is an error.
func ParseBin(key string) (Bin, error) {
	first, _, _ := strings.Cut(key, "-")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil || BinOf(n).String() != key {
		return Bin{}, fmt.Errorf("%q is not a bin of a distribution", key)
	}
	return BinOf(n), nil
}

// Histogram is a distribution, sorted by bin.
type Histogram []BinCount

// BinCount is the number of values in a bin.
type BinCount struct {
	Bin
	Count int64
}

// NewHistogram returns the distribution for the counts of a metric by key. A key
// that is not a bin is an error.
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

// Total returns the number of values.
func (h Histogram) Total() (n int64) {
	for _, b := range h {
		n += b.Count
	}
	return n
}

// Quantile returns the smallest value that at least the share q of all values do
// not exceed: exact below 100, otherwise within 2 %. It returns 0 for an empty
// histogram.
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

// Grouped returns the distribution in display bins, including empty ones between the
// first and the last.
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

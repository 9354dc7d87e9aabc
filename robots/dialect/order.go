package dialect

import "math/bits"

// few is the number of elements that are sorted by insertion.
const few = 16

// Introsort sorts by length, the longest first, as the sort of C++'s common library does. It
// moves equals, so which of them is first depends on all; 16 or fewer it leaves in order.
func Introsort[E any](all []E, length func(E) int32) {
	if len(all) == 0 {
		return
	}
	before := func(a, b E) bool { return length(a) > length(b) }
	partitions(all, 2*(bits.Len(uint(len(all)))-1), before)
	for i := 1; i < len(all); i++ {
		x, k := all[i], i
		for ; k > 0 && before(x, all[k-1]); k-- {
			all[k] = all[k-1]
		}
		all[k] = x
	}
}

// partitions sorts all but what insertion sorts. Past the depth, the real one would make
// a heap.
func partitions[E any](all []E, depth int, before func(a, b E) bool) {
	for ; len(all) > few && depth > 0; depth-- {
		cut := partition(all, before)
		partitions(all[cut:], depth-1, before)
		all = all[:cut]
	}
}

// partition moves the median of three to the front and parts the others by it.
func partition[E any](all []E, before func(a, b E) bool) int {
	pivot, a, b, c := 0, 1, len(all)/2, len(all)-1
	median := a
	if before(all[a], all[b]) {
		if before(all[b], all[c]) {
			median = b
		} else if before(all[a], all[c]) {
			median = c
		}
	} else if !before(all[a], all[c]) {
		if median = b; before(all[b], all[c]) {
			median = c
		}
	}
	all[pivot], all[median] = all[median], all[pivot]
	first, last := 1, len(all)
	for {
		for before(all[first], all[pivot]) {
			first++
		}
		last--
		for before(all[pivot], all[last]) {
			last--
		}
		if first >= last {
			return first
		}
		all[first], all[last] = all[last], all[first]
		first++
	}
}

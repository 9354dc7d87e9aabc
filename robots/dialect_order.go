package robots

import (
	"cmp"
	"math/bits"
	"slices"
)

// introsort ranks the rules of a ruleset as a parser does that sorts them by length with
// the sort of C++'s common library and takes the first that matches. That sort moves
// equals, so which of them is first depends on all rules; 16 or fewer it leaves in order.
func (rs *ruleset) introsort() {
	var all []ranked
	for i := range rs.literals {
		all = append(all, ranked{&rs.literals[i].key, rs.literals[i].rule, rs.literals[i].key >> 1})
	}
	for i := range rs.wilds {
		all = append(all, ranked{&rs.wilds[i].key, rs.wilds[i].rule, rs.wilds[i].key >> 1})
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.rule, b.rule) })
	introsort(all)
	for i, x := range all {
		*x.key = int32(len(all)-i)<<1 | *x.key&1
	}
}

type ranked struct {
	key          *int32
	rule, length int32
}

// few is the number of elements that are sorted by insertion.
const few = 16

func before(a, b ranked) bool { return a.length > b.length }

func introsort(all []ranked) {
	if len(all) == 0 {
		return
	}
	partitions(all, 2*(bits.Len(uint(len(all)))-1))
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
func partitions(all []ranked, depth int) {
	for ; len(all) > few && depth > 0; depth-- {
		cut := partition(all)
		partitions(all[cut:], depth-1)
		all = all[:cut]
	}
}

// partition moves the median of three to the front and parts the others by it.
func partition(all []ranked) int {
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

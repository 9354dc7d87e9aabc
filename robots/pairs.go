package robots

import "slices"

// A PairMemo compares many pairs of policies, the first of one judge and the second of
// another or of the same. A pair with the rules of an earlier pair has its result and takes no work,
// so that copies do not decide which later pairs are undecided: many files repeat one group
// for a hundred agents.
type PairMemo[T comparable] struct {
	Compare func(a, b *Policy, most int) (result T, work int) // in the unit of [Relate]
	Most    int                                               // bounds the work for all pairs
	Each    int                                               // bounds the work for one pair, 0 for Most
	Store   *PairStore[T]                                     // results of other files; nil for none

	work   int
	known  map[[2]int]T    // by SameAs
	costly []costlyPair[T] // pairs whose comparison took work, up to maxCostlyPairs
}

// costlyPair is a pair with its result.
type costlyPair[T any] struct {
	a, b   *Policy
	result T
}

// maxCostlyPairs bounds the pairs in which a pair is looked up by its rules. A hostile file
// may have thousands of groups.
const maxCostlyPairs = 64

// Of returns the result of comparing two policies.
func (m *PairMemo[T]) Of(a, b *Policy) T {
	key := [2]int{a.SameAs, b.SameAs}
	result, ok := m.known[key]
	if ok {
		return result
	}
	if i := slices.IndexFunc(m.costly, func(c costlyPair[T]) bool {
		return b.SameRules(c.b) && a.SameRules(c.a)
	}); i >= 0 {
		result = m.costly[i].result
	} else {
		most := m.Most - m.work
		if m.Each > 0 {
			most = min(most, m.Each)
		}
		var work int
		result, work = m.compare(a, b, most)
		m.work += work
		if work > 0 && len(m.costly) < maxCostlyPairs {
			m.costly = append(m.costly, costlyPair[T]{a, b, result})
		}
	}
	if m.known == nil {
		m.known = make(map[[2]int]T)
	}
	m.known[key] = result
	return result
}

// compare compares a pair, unless the store knows what that gives.
func (m *PairMemo[T]) compare(a, b *Policy, most int) (result T, work int) {
	if m.Store == nil || most <= 0 {
		return m.Compare(a, b, most)
	}
	k := pairKeyOf(a, b)
	if o, ok := m.Store.find(k, most); ok {
		return o.result, o.work
	}
	result, work = m.Compare(a, b, most)
	m.Store.keep(k, pairOutcome[T]{result, work, most})
	return result, work
}

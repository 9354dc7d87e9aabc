// Package pairs compares many pairs of policies within a bound on the work. Many files
// repeat one group for a hundred agents; such a copy is compared once.
package pairs

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
)

// A Memo compares pairs of policies, the first of one judge and the second of another or
// of the same. A pair with the rules of an earlier pair has its result and takes no work,
// so that copies do not decide which later pairs are undecided.
type Memo[T comparable] struct {
	Compare func(a, b *robots.Policy, most int) (result T, work int) // in the unit of [robots.Relate]
	Most    int                                                      // bounds the work for all pairs
	Each    int                                                      // bounds the work for one pair, 0 for Most
	Store   *Store[T]                                                // results of other files; nil for none

	work   int
	known  map[[2]int]T // by SameAs
	costly []costly[T]  // pairs whose comparison took work, up to maxCostly
	memory []byte
}

// costly is a pair with its result.
type costly[T any] struct {
	a, b   *robots.Policy
	result T
}

// maxCostly bounds the pairs in which a pair is looked up by its rules. A hostile file
// may have thousands of groups.
const maxCostly = 64

// Of returns the result of comparing two policies.
func (m *Memo[T]) Of(a, b *robots.Policy) T {
	key := [2]int{a.SameAs, b.SameAs}
	result, ok := m.known[key]
	if ok {
		return result
	}
	if i := slices.IndexFunc(m.costly, func(c costly[T]) bool { return b.SameRules(c.b) && a.SameRules(c.a) }); i >= 0 {
		result = m.costly[i].result
	} else {
		most := m.Most - m.work
		if m.Each > 0 {
			most = min(most, m.Each)
		}
		var work int
		result, work = m.compare(a, b, most)
		m.work += work
		if work > 0 && len(m.costly) < maxCostly {
			m.costly = append(m.costly, costly[T]{a, b, result})
		}
	}
	if m.known == nil {
		m.known = make(map[[2]int]T)
	}
	m.known[key] = result
	return result
}

// compare compares a pair, unless the store knows what that gives.
func (m *Memo[T]) compare(a, b *robots.Policy, most int) (result T, work int) {
	if m.Store == nil || most <= 0 {
		return m.Compare(a, b, most)
	}
	var k key
	k, m.memory = keyOf(m.memory, a, b)
	if o, ok := m.Store.find(k, most); ok {
		return o.result, o.work
	}
	result, work = m.Compare(a, b, most)
	m.Store.keep(k, outcome[T]{result, work, most})
	return result, work
}

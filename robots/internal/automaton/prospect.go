package automaton

import (
	"math/bits"
	"slices"
)

// This file determines what can still follow from a state, so that the search
// skips states without a future.

// values is a set of verdicts.
type values uint8

func setOf(v Verdict) values { return 1 << v }

func (s values) lowest() Verdict { return Verdict(bits.TrailingZeros8(uint8(s))) }

func (s values) highest() Verdict { return Verdict(bits.Len8(uint8(s)) - 1) }

const anyValue = values(1<<Allowed | 1<<Disallowed | 1<<Undefined)

// coming returns a superset of the policy's verdicts from here on.
func (m *automaton) coming(st []int32, s *policy) values {
	every, some := anyValue, values(0)
	for _, v := range s.voices {
		x := m.comingOf(st, v)
		every &= x
		some |= x
	}
	if len(s.voices) > 1 && some&(some-1) != 0 {
		every |= setOf(Undefined) // the voices may differ
	}
	if s.exempt >= 0 && m.left(st, s.exempt) != [2]bool{} {
		every |= setOf(Allowed)
	}
	return every
}

func (m *automaton) comingOf(st []int32, v voice) values {
	n := laddersOf[v.mode]
	if v.mode == Highest {
		return m.comingOfHighest(st, v)
	}
	var may [4][noLabel + 3]bool
	for k := range n {
		d := &m.Language.ladders[v.ladders[k]]
		plains := m.left(st, v.ladders[k])
		may[k][labelAllow] = plains[allow]
		may[k][labelDisallow] = plains[disallow]
		x := st[m.ladders+v.ladders[k]]
		may[k][x&3] = true
		if d.recent && x>>2 != settled && x>>2&forever != 0 {
			may[k][labelDisallow] = true
		}
		for _, r := range d.stars {
			if r.key > x>>2 && m.stars[r.star].live(st) {
				may[k][r.label] = true
			}
		}
	}
	set := values(0)
	var labels [4]label
	var try func(k int)
	try = func(k int) {
		if k == n {
			set |= setOf(verdictOf(v.mode, labels))
			return
		}
		for l, ok := range may[k] {
			if ok {
				labels[k] = label(l)
				try(k + 1)
			}
		}
	}
	try(0)
	if v.negated {
		return set.negated()
	}
	return set
}

// negated returns what a voice says that negates one with these verdicts.
func (s values) negated() (set values) {
	for v := Allowed; v <= Disallowed; v++ {
		if s&setOf(v) != 0 {
			set |= setOf(v.negated())
		}
	}
	return set
}

// comingOfHighest is comingOf for the mode Highest.
func (m *automaton) comingOfHighest(st []int32, v voice) values {
	for _, k := range v.ladders[:laddersOf[Highest]] {
		if m.left(st, k) != [2]bool{} || slices.ContainsFunc(m.Language.ladders[k].stars,
			func(r rung) bool { return m.stars[r.star].live(st) }) {
			return anyValue
		}
	}
	return setOf(m.verdict(st, &policy{voices: []voice{v}, exempt: -1}))
}

// over reports whether policy b never has a lower verdict than a from here on;
// false means that it cannot tell cheaply. A verdict rises with each ladder,
// from allow over no label to disallow.
func (m *automaton) over(st []int32, b, a *policy) bool {
	// A single voice is compared with each voice of the other policy.
	n, k := len(a.voices), len(b.voices)
	if n != k && n > 1 && k > 1 {
		return false
	}
	if b.exempt >= 0 && a.exempt != b.exempt && m.left(st, b.exempt) != [2]bool{} {
		return false
	}
	for i := range max(n, k) {
		x, y := a.voices[min(i, n-1)], b.voices[min(i, k-1)]
		if x.mode == alwaysAllow && !x.negated || x == y {
			continue
		}
		if x.mode != y.mode || x.negated || y.negated {
			return false
		}
		for i := range laddersOf[x.mode] {
			if !m.overLadder(st, y.ladders[i], x.ladders[i]) {
				return false
			}
		}
	}
	return true
}

// overLadder reports whether the label of ladder b is never lower than that of
// a from here on. That holds if b's label is no lower now, each disallow of a
// that still matters is on b too, with the same key, and each allow of b is on
// a. A missing one does no harm if the ladder has the same label already and no
// contrary rule lies below.
func (m *automaton) overLadder(st []int32, b, a int32) bool {
	if a == b {
		return true
	}
	p, q := &m.Language.ladders[a], &m.Language.ladders[b]
	if p.recent || q.recent || p.keyed || q.keyed {
		return false
	}
	x, y := st[m.ladders+a], st[m.ladders+b]
	saysA, saysB := label(x&3), label(y&3)
	if saysB.height() < saysA.height() {
		return false
	}
	leftA, leftB := m.left(st, a), m.left(st, b)
	fixedA, fixedB := int32(gone), int32(gone) // below these keys the label stays
	if saysA == labelAllow && !leftA[disallow] {
		fixedA = m.lowest(st, p, x>>2, labelDisallow)
	}
	if saysB == labelDisallow && !leftB[allow] {
		fixedB = m.lowest(st, q, y>>2, labelAllow)
	}
	if leftA[disallow] && fixedB < settled && (p.view != q.view || y>>2 > x>>2) ||
		leftB[allow] && fixedA < settled && (p.view != q.view || x>>2 > y>>2) {
		return false
	}
	if leftA[disallow] && fixedB < settled || leftB[allow] && fixedA < settled {
		v := &m.views[p.view]
		if counts := v.under(a, b); counts[st[v.slot]] != counts[st[v.slot+1]] {
			return false
		}
	}
	// Both lists ascend by key.
	return m.on(st, p, x>>2, labelDisallow, q, y>>2, fixedB) && m.on(st, q, y>>2, labelAllow, p, x>>2, fixedA)
}

func (l label) height() int { return [...]int{noLabel: 1, labelAllow: 0, labelDisallow: 2}[l] }

// lowest returns the least key of the stars of a ladder that still matter and
// have the label want, or settled.
func (m *automaton) lowest(st []int32, d *ladder, key int32, want label) int32 {
	for _, r := range d.stars {
		if r.key > key && r.label == want && !m.dead(st, r.star) {
			return r.key
		}
	}
	return settled
}

// on reports whether another ladder has all stars of ladder d that still matter
// and have the label want and a key of at least fixed.
func (m *automaton) on(st []int32, d *ladder, key int32, want label, other *ladder, otherKey, fixed int32) bool {
	i := 0
	for _, r := range d.stars {
		if r.key <= key || r.key < fixed || r.label != want || m.dead(st, r.star) {
			continue
		}
		for i < len(other.stars) && (other.stars[i].key < r.key || other.stars[i].key == r.key &&
			other.stars[i].star < r.star) {
			i++
		}
		if i == len(other.stars) || other.stars[i] != r || r.key <= otherKey {
			return false
		}
	}
	return true
}

// under counts, for each plain of a view, the plains before it whose disallow
// on ladder a is not on b, or whose allow on b is not on a.
func (v *view) under(a, b int32) []int32 {
	if known, ok := v.unders[[2]int32{a, b}]; ok {
		return known
	}
	counts := make([]int32, len(v.plains)+1)
	for i := range v.plains {
		p := &v.plains[i]
		counts[i+1] = counts[i]
		if lacks(p.of(a), p.of(b), labelDisallow) || lacks(p.of(b), p.of(a), labelAllow) {
			counts[i+1]++
		}
	}
	v.unders[[2]int32{a, b}] = counts
	return counts
}

// lacks reports whether others lack an effect that has the label want.
func lacks(effects, others []effect, want label) bool {
	for _, e := range effects {
		if e.label == want && !slices.ContainsFunc(others, func(x effect) bool {
			return x.key == e.key && x.label == want && x.when == e.when
		}) {
			return true
		}
	}
	return false
}

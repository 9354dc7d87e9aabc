package robots

import (
	"bytes"
	"cmp"
	"slices"
)

// A statedRule is a compiled rule in a form that is compared with the rules of
// another set.
type statedRule struct {
	text []byte
	key  int32
	kind uint8 // 2 with an anchor, and 1 more with a star
}

func (a statedRule) compare(b statedRule) int {
	return cmp.Or(cmp.Compare(a.key, b.key), bytes.Compare(a.text, b.text), cmp.Compare(a.kind, b.kind))
}

func (rs *ruleset) stated() (out []statedRule) {
	if rs == nil {
		return nil
	}
	out = make([]statedRule, 0, len(rs.literals)+len(rs.wilds))
	add := func(text []byte, key int32, anchor bool, kind uint8) {
		if anchor {
			kind += 2
		}
		out = append(out, statedRule{text, key, kind})
	}
	for i := range rs.literals {
		l := &rs.literals[i]
		add(rs.text(l)[:l.n], l.key, l.anchor, 0)
	}
	for i := range rs.wilds {
		w := &rs.wilds[i]
		add(w.pattern, w.key, w.anchor, 1)
	}
	slices.SortFunc(out, statedRule.compare)
	return slices.CompactFunc(out, func(a, b statedRule) bool { return a.compare(b) == 0 })
}

// ways returns the ways in which two policies can differ, as far as their sets
// of rules show. Under every profile, one more disallow rule never opens a
// path, and one more allow rule never closes one.
func ways(a, b *Policy) [2]bool {
	both := [2]bool{closes: true, opens: true}
	j := a.judge
	if j.profile != b.judge.profile || len(a.sets) != 1 || len(b.sets) != 1 {
		return both
	}
	x, y := a.sets[0], b.sets[0]
	if x != nil && x.odd || y != nil && y.odd {
		return both
	}
	if x != nil && y != nil && x.letter != y.letter {
		return both
	}
	var can [2]bool
	one, two := x.stated(), y.stated()
	for len(one)+len(two) > 0 {
		order := 0
		switch {
		case len(one) == 0:
			order = 1
		case len(two) == 0:
			order = -1
		default:
			order = one[0].compare(two[0])
		}
		switch {
		case order < 0: // b lacks it
			can[[2]int{Disallow: opens, Allow: closes}[one[0].key&1]] = true
		case order > 0: // a lacks it
			can[[2]int{Disallow: closes, Allow: opens}[two[0].key&1]] = true
		}
		if order <= 0 {
			one = one[1:]
		}
		if order >= 0 {
			two = two[1:]
		}
		if can == both {
			break
		}
	}
	return can
}

package robots

import (
	"slices"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// Most rules read alike under two profiles, and stand in the order of the file in both. That
// shows without normal forms, which are sorted and have each rule compared with others.

// alikeAsWritten is likenessOf for readings that have the same rules one by one. If it does not
// know, normal forms may.
func alikeAsWritten(readings []spoken, on domain) (l likeness, work int) {
	for ; on.likeness > unknownLikeness; on.likeness-- {
		same := true
		for i := 0; i < len(readings) && same; i++ {
			var cost int
			same, cost = readings[0].sameAsWritten(&readings[i], on)
			work += cost
		}
		if same {
			break
		}
	}
	return on.likeness, work
}

// sameAsWritten reports whether two readings, or one and itself, have the same rules in one
// order, each matches the same of some paths in both, and the same rule decides.
func (r *spoken) sameAsWritten(other *spoken, on domain) (same bool, work int) {
	a, b := r.rules, other.rules
	if a == nil || b == nil || len(a.literals) != len(b.literals) || len(a.wilds) != len(b.wilds) || b.hides || b.odd {
		return false, 0
	}
	work = len(a.literals) + len(a.wilds)
	if !a.isInert(on) || !other.longestDecides() {
		return false, work
	}
	var keys keyPairs
	for i := range a.literals {
		x, y := &a.literals[i], &b.literals[i]
		text, kind := a.text(x)[:x.n], r.kindOf(x)
		if kind != other.kindOf(y) || string(text) != string(b.text(y)[:y.n]) || !keys.add(x.key, y.key) ||
			!other.keeps(text, kind) {
			return false, work
		}
	}
	for i := range a.wilds {
		x, y := &a.wilds[i], &b.wilds[i]
		kind := x.kind()
		if kind != y.kind() || y.once || y.inQuery != nil || string(x.pattern) != string(y.pattern) ||
			!keys.add(x.key, y.key) || !other.keeps(x.pattern, kind) {
			return false, work
		}
	}
	return keys.inOneOrder(), work
}

// keeps reports whether an inert pattern matches the same of a path that a dialect rewrites.
func (r *spoken) keeps(pattern []byte, kind uint8) bool {
	return r.view.Form != automaton.Rewritten || rewritesFew(r.view.As) && isInertRewritten(pattern, kind, r.view.As)
}

// isInert reports whether all patterns are, on some paths, and each may match one.
func (rs *ruleset) isInert(on domain) bool {
	for _, known := range rs.inert {
		if known.on == on {
			return known.is
		}
	}
	is := func(pattern []byte, starred bool) bool {
		return !isDead(pattern, on, automaton.AsIs) && isInert(pattern, starred, on)
	}
	all := !rs.hides && !rs.odd &&
		!slices.ContainsFunc(rs.literals, func(l literal) bool { return !is(rs.text(&l)[:l.n], false) }) &&
		!slices.ContainsFunc(rs.wilds, func(w wild) bool { return w.inQuery != nil || w.once || !is(w.pattern, true) })
	rs.inert = append(rs.inert, inertOn{on, all})
	return all
}

// inertOn says whether all patterns of a ruleset are inert on some paths.
type inertOn struct {
	on domain
	is bool
}

// longestDecides reports whether the longest rule of a reading decides, allow before disallow.
func (r *spoken) longestDecides() bool {
	mode := r.judge.mode(r.rules)
	switch {
	case r.judge.profile.matchEndDecides():
		return false
	case mode == automaton.TheLongest, !r.rules.has(Allow):
		return true
	}
	rules := make([]statedRule, 0, len(r.rules.literals)+len(r.rules.wilds))
	allows := 0
	for _, starred := range [...]bool{false, true} {
		for i := 0; ; i++ {
			x, ok := r.rules.at(i, starred)
			if !ok {
				break
			}
			rules, allows = append(rules, x), allows+int(x.key&1)
		}
	}
	return allows*len(rules) <= maxMeetings && lengthsDecide(rules, mode)
}

// keyPairs are the keys of the same rules in two readings.
type keyPairs struct {
	of     [128]int32 // by length in the first: the length in the second, plus 1
	differ bool
	many   bool   // a length is not in the table, or has several
	rules  [2]int // their number by kind
}

// add adds a rule. It reports whether both readings have it for one of the same kind.
func (k *keyPairs) add(one, two int32) (same bool) {
	k.rules[one&1]++
	k.differ = k.differ || one != two
	if n := one >> 1; uint(n) >= uint(len(k.of)) || k.of[n] != 0 && k.of[n] != two>>1+1 {
		k.many = true
	} else {
		k.of[n] = two>>1 + 1
	}
	return one&1 == two&1
}

// inOneOrder reports whether of any rules of both kinds the same one is before the other.
func (k *keyPairs) inOneOrder() bool {
	if !k.differ || k.rules[Allow] == 0 || k.rules[Disallow] == 0 {
		return true
	}
	last := int32(0)
	for _, n := range k.of {
		if n != 0 && n <= last {
			return false
		}
		last = max(last, n)
	}
	return !k.many
}

// fewRules is the number of patterns with a star, and of others, about which tryFirst asks.
const fewRules = 4

// tryFirst asks about the first rules that two policies do not have alike as written: mostly
// one of them shows a difference.
func (p *prober) tryFirst() {
	p.most = p.work + differWork
	if p.a.judge.profile.FoldCase != p.b.judge.profile.FoldCase {
		p.tryTraits(p.a)
	}
	a, b, on := p.a.sets[0], p.b.sets[0], domain{alikePlainly, madeNormally}
	for _, starred := range [...]bool{true, false} {
		for i, n := 0, 0; n < fewRules; i++ {
			x, one := a.at(i, starred)
			y, two := b.at(i, starred)
			if !one && !two {
				break
			}
			if one && two && x.comparePattern(y) == 0 && isInert(x.text, starred, on) {
				continue
			}
			n++
			if one && !p.rule(x.text, x.kind&anchorKind != 0, starred) ||
				two && !p.rule(y.text, y.kind&anchorKind != 0, starred) {
				return
			}
		}
	}
}

// at returns pattern number i of those with a star, or of the others.
func (rs *ruleset) at(i int, starred bool) (x statedRule, ok bool) {
	switch {
	case rs == nil:
	case starred && i < len(rs.wilds):
		w := &rs.wilds[i]
		return statedRule{w.pattern, w.key, w.kind()}, true
	case !starred && i < len(rs.literals):
		l := &rs.literals[i]
		return statedRule{rs.text(l)[:l.n], l.key, (&spoken{rules: rs}).kindOf(l)}, true
	}
	return x, false
}

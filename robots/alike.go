package robots

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// Most policies of one file under two profiles mean the same, and their rules show it
// without a search (see [automaton.Language.Search]): after what never decides is left out,
// both have the same patterns, each pattern matches the same paths whatever the form in
// which it is compared, and the same rule decides wherever several match.

// A likeness says on which paths two policies are known to agree.
type likeness uint8

const (
	unknownLikeness likeness = iota
	alikePlainly             // on those without needless escapes
	alike                    // on all
)

// likenessOf compares the rules of readings, on some paths or fewer. It also returns
// what that cost, in the unit of [Relate].
func likenessOf(readings []spoken, on domain) (l likeness, work int) {
	l, work = alikeAsWritten(readings, on)
	l, cost := likenessAbove(l, readings, on)
	return l, work + cost
}

// likenessAbove is likenessOf for readings that are known to agree on some paths.
func likenessAbove(l likeness, readings []spoken, on domain) (more likeness, work int) {
	for ; on.likeness > l; on.likeness-- {
		same, cost := sameNormal(readings, on)
		if work += cost; same {
			break
		}
	}
	return on.likeness, work
}

// readingsOf returns the readings of two policies, none if they cannot be compared by their
// rules, and the most paths on which it is known how their forms of a path are alike.
func readingsOf(a, b *Policy) (readings []spoken, on domain) {
	if a.judge.profile.RobotsTxtAllowed != b.judge.profile.RobotsTxtAllowed {
		return nil, on
	}
	readings = append(a.readings(), b.readings()...)
	if len(readings) > maxAlike {
		return nil, on
	}
	on = domain{alike, madeEscapes}
	for _, r := range readings {
		if on.likeness = min(on.likeness, r.agreement()); r.view.Form == automaton.Rewritten {
			on.made = madeNormally
		}
	}
	return readings, on
}

// sameNormal reports whether readings have the same normal form on some paths.
func sameNormal(readings []spoken, on domain) (same bool, work int) {
	var first []statedRule
	for i := range readings {
		rules, ok := readings[i].normal(on)
		work += 8 * len(rules)
		switch {
		case !ok:
			return false, work
		case i == 0:
			first = rules
			continue
		case !slices.EqualFunc(rules, first, func(a, b statedRule) bool {
			return a.compareUnder(readings[i].view, b, readings[0].view) == 0
		}):
			return false, work
		}
		same, cost := sameDecisions(first, rules)
		if work += cost; !same {
			return false, work
		}
	}
	return true, work
}

// A domain is the paths on which readings are compared.
type domain struct {
	likeness
	made string // characters that a form of the RFC escapes, or whose escapes it decodes
}

// maxAlike bounds the readings that are compared.
const maxAlike = 8

// agreement returns the paths on which the form that a reading compares is like the path as
// it stands, as far as a pattern without escapes can tell.
func (r *spoken) agreement() likeness {
	switch {
	case r.rules == nil:
		return alike
	case r.view.Form <= automaton.UpperHexed:
		return alike
	case r.view.Form <= automaton.ReservedToo, rewritesFew(r.view.As):
		return alikePlainly
	}
	return unknownLikeness
}

// The kinds of a statedRule. From viewKind on it is the form of the path that the pattern is
// compared with, 0 if all are alike to it.
const (
	starKind   = 1 << iota
	anchorKind // it has an anchor
	borderKind // it ends where a path may (BarePrefix)
	viewKind
)

// A normalForm is the normal form of rules as one reading compares them on some paths. The
// rules of a file are compared with those of several profiles.
type normalForm struct {
	on    domain
	view  automaton.View
	whole bool
	rules []statedRule
	ok    bool
}

// normal returns the rules of a reading in their normal form: those that may decide, each
// pattern once, sorted. It is not ok if more than their lengths decides.
func (r *spoken) normal(on domain) (rules []statedRule, ok bool) {
	rs := r.rules
	if rs == nil {
		return nil, true
	}
	for i := range rs.normals {
		if n := &rs.normals[i]; n.on == on && n.view == r.view && n.whole == r.whole {
			return n.rules, n.ok
		}
	}
	rules, ok = r.findNormal(on)
	rs.normals = append(rs.normals, normalForm{on, r.view, r.whole, rules, ok})
	return rules, ok
}

func (r *spoken) findNormal(on domain) (rules []statedRule, ok bool) {
	rs := r.rules
	if rs.hides || rs.odd || r.judge.profile.matchEndDecides() {
		return nil, false
	}
	rules = make([]statedRule, 0, len(rs.literals)+len(rs.wilds))
	form := r.view.Form
	if on.likeness == alikePlainly && form == automaton.UpperHexed {
		form = automaton.AsIs // as the digits of such a path are
	}
	add := func(text []byte, key int32, kind uint8) {
		if form != automaton.Rewritten && isDead(text, on, form) {
			return
		}
		if !isInert(text, kind&starKind != 0, on) || !r.keeps(text, kind) {
			kind += viewKind * (1 + uint8(form))
		}
		rules = append(rules, statedRule{text, key, kind})
	}
	for i := range rs.literals {
		l := &rs.literals[i]
		add(rs.text(l)[:l.n], l.key, r.kindOf(l))
	}
	for i := range rs.wilds {
		w := &rs.wilds[i]
		if w.inQuery != nil || w.once {
			return nil, false
		}
		add(w.pattern, w.key, w.kind())
	}
	slices.SortFunc(rules, func(a, b statedRule) int { return cmp.Or(a.comparePattern(b), cmp.Compare(b.key, a.key)) })
	rules = slices.CompactFunc(rules, func(a, b statedRule) bool { return a.comparePattern(b) == 0 })
	mode := r.judge.mode(rs)
	if rules, ok = withoutIdle(rules); !ok && mode != automaton.TheLongest {
		return rules, false
	}
	return rules, lengthsDecide(rules, mode)
}

// kindOf returns the kind of a literal, for a path that is compared as it stands.
func (r *spoken) kindOf(l *literal) uint8 {
	switch {
	case l.anchor:
		return anchorKind
	case r.whole && l.n > 0 && r.rules.text(l)[l.n-1] != '/':
		return borderKind
	}
	return 0
}

func (w *wild) kind() uint8 {
	if w.anchor {
		return starKind | anchorKind
	}
	return starKind
}

// comparePattern compares two rules but for their lengths.
func (a statedRule) comparePattern(b statedRule) int {
	if c := bytes.Compare(a.text, b.text); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.key&1, b.key&1))
}

// compareUnder is comparePattern for rules of two views: one that depends on the form of the
// path is like none of another form, and its kind does not tell how a path is rewritten.
func (a statedRule) compareUnder(one automaton.View, b statedRule, two automaton.View) int {
	if c := a.comparePattern(b); c != 0 || a.kind < viewKind || one == two {
		return c
	}
	return -1
}

// sameDecisions reports whether two readings with the same patterns let the same rule decide
// wherever rules of both kinds may match.
func sameDecisions(one, two []statedRule) (same bool, work int) {
	if slices.EqualFunc(one, two, func(a, b statedRule) bool { return a.key == b.key }) {
		return true, 0
	}
	for i := range one {
		if one[i].key&1 == int32(Disallow) {
			continue
		}
		if work += len(one); work > maxMeetings {
			return false, work
		}
		for k := range one {
			if one[k].key&1 == int32(Disallow) && (one[i].key > one[k].key) != (two[i].key > two[k].key) &&
				one[i].mayMeet(&one[k]) {
				return false, work
			}
		}
	}
	return true, work
}

// What is made on plain paths; and on normal ones, on which no other is raw.
const (
	madeEscapes  = "*$[]\"<>\\^`{|}"
	madeNormally = "*$[]"
)

// maxMeetings bounds the pairs of rules that are looked at.
const maxMeetings = 1 << 14

// withoutIdle leaves out rules that never decide against another: those that meet no rule of
// the other kind, if they allow, or if a shorter rule of their kind covers them. The rules are
// sorted. It is not ok if there are too many to look at.
func withoutIdle(rules []statedRule) (left []statedRule, ok bool) {
	var of [2][]*statedRule
	allows := 0
	for i := range rules {
		allows += int(rules[i].key & 1)
	}
	if allows*(len(rules)-allows) > maxMeetings {
		return rules, false
	}
	if allows > 0 && allows < len(rules) { // else no rule meets one of the other kind
		all := make([]*statedRule, len(rules))
		of[Allow], of[Disallow] = all[:0:allows], all[allows:allows]
		for i := range rules {
			k := rules[i].key & 1
			of[k] = append(of[k], &rules[i])
		}
	}
	left = make([]statedRule, 0, len(rules))
	var covers [2][]*statedRule // prefixes of the current pattern, each one of the next
	for i := range rules {
		r := &rules[i]
		k := r.key & 1
		for c := &covers[k]; len(*c) > 0 && !bytes.HasPrefix(r.head(), (*c)[len(*c)-1].text); {
			*c = (*c)[:len(*c)-1]
		}
		covered := len(covers[k]) > 0
		if r.kind&(starKind|anchorKind|borderKind) == 0 {
			covers[k] = append(covers[k], r)
		}
		if (k == int32(Allow) || covered) && !slices.ContainsFunc(of[1-k], r.mayMeet) {
			continue
		}
		left = append(left, *r)
	}
	return left, true
}

// mayMeet reports whether two patterns may match one path: what stands before their first
// stars does not forbid it.
func (a *statedRule) mayMeet(b *statedRule) bool {
	x, y := a.head(), b.head()
	n := min(len(x), len(y))
	return string(x[:n]) == string(y[:n])
}

func (a *statedRule) head() []byte {
	if a.kind&starKind != 0 {
		return a.text[:bytes.IndexByte(a.text, '*')]
	}
	return a.text
}

// lengthsDecide reports whether the longest rule decides on every path, an allow rule among
// equals, although a profile leaves the rank of some open.
func lengthsDecide(rules []statedRule, m automaton.Mode) bool {
	if m == automaton.TheLongest {
		return true
	}
	for i := range rules {
		a := &rules[i]
		if a.key&1 == int32(Disallow) {
			continue
		}
		for k := range rules {
			d := &rules[k]
			if d.key&1 == int32(Allow) || !a.mayMeet(d) {
				continue
			}
			starred := (a.kind|d.kind)&starKind != 0
			switch tied := a.key>>1 == d.key>>1; m {
			case automaton.TheLongestTies:
				if tied {
					return false
				}
			case automaton.AnyWild:
				if starred {
					return false
				}
			case automaton.AnyWildTies:
				if starred || tied {
					return false
				}
			case automaton.OrTheLeast:
				if starred && d.key > a.key {
					return false
				}
			case automaton.OrTheLeastTies:
				if starred && d.key > a.key || tied {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

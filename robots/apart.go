package robots

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// Most policies whose normal forms differ do so in a few rules, on whose patterns the forms of
// a path may part. Where each of them matches what its like in the other form matches, the
// policies mean the same; and a path on which two of them part mostly shows how the policies
// differ. A search through two patterns has few states, one through all rules many.

// apartWork bounds the work of comparing rules by themselves.
const apartWork = 1 << 20

// A parting is the rules of two readings in the order in which those are first, n in number,
// that both have and that match the same paths.
type parting struct {
	a, b     *spoken
	one, two []statedRule
	n        int
	paired   bool // the others are alike, one by one, but for their texts and forms
	same     bool // the readings mean the same if the others match the same
}

// partingsOf compares the normal forms of the first reading and each other. It returns none if
// one has no normal form.
func partingsOf(readings []spoken, on domain) (all []parting, work int) {
	for i := 1; i < len(readings); i++ {
		p := parting{a: &readings[0], b: &readings[i]}
		one, ok := p.a.normal(on)
		two, ok2 := p.b.normal(on)
		if !ok || !ok2 {
			return nil, work
		}
		p.likeFirst(one, two)
		n := p.n
		if p.paired = slices.EqualFunc(p.one[n:], p.two[n:], statedRule.sameKind); p.paired {
			n = len(one)
		}
		same, cost := sameDecisions(p.one[:n], p.two[:n])
		p.same = same && (n == len(one) || n == len(two) || onlyCloses(p.one, n) && onlyCloses(p.two, n))
		work += cost + 8*(len(one)+len(two))
		all = append(all, p)
	}
	return all, work
}

// tryApart asks about the rules that part, first those without a star, which cost less; and
// about all where one of those opens what others name, or the ranks of rules part.
func (p *prober) tryApart(partings []parting) {
	p.most = p.work + differWork
	all := len(partings) == 0
	var apart []statedRule
	for _, x := range partings {
		apart = slices.Concat(apart, x.one[x.n:], x.two[x.n:])
		all = all || !x.same
	}
	slices.SortStableFunc(apart, func(a, b statedRule) int { return cmp.Compare(a.kind&starKind, b.kind&starKind) })
	for _, r := range apart {
		all = all || r.key&1 == int32(Allow)
		if !p.rule(r.text, r.kind&anchorKind != 0, r.kind&starKind != 0) {
			return
		}
	}
	if all {
		p.try(p.a, p.b)
	}
}

// compareApart reports whether readings mean the same on plain paths, because the rules match
// the same that seem to part. It asks about paths on which they do part.
func (p *prober) compareApart(partings []parting) (same bool, work int) {
	p.most = p.work + differWork
	same = len(partings) > 0
	for _, x := range partings {
		same = same && x.same
		n, step := x.n, max(len(x.one), len(x.two))-x.n
		if x.paired {
			step = 1
		}
		for ; n < max(len(x.one), len(x.two)) && p.found == [2]bool{}; n += step {
			one, two := x.one[n:min(n+step, len(x.one))], x.two[n:min(n+step, len(x.two))]
			path, whole, cost := shortestApart(x.a, one, x.b, two, apartWork-work)
			work += cost
			same = same && path == nil && whole
			switch {
			case path != nil && x.paired:
				p.askMet(path, one, x.one)
			case path != nil:
				p.askMet(path, nil, x.one)
			}
		}
	}
	return same && p.found == [2]bool{}, work
}

// askMet asks about a path on which rules part, and about longer ones that further rules match,
// as another rule may hide a difference.
func (p *prober) askMet(path []byte, parted, rules []statedRule) {
	if p.path = append(p.path[:0], path...); !p.ask() {
		return
	}
	for i := range rules {
		x := &rules[i]
		if x.kind&starKind != 0 && !p.both(path, false, x.text) {
			return
		}
		for k := range parted {
			if r := &parted[k]; r.kind&starKind != 0 && bytes.HasPrefix(path, r.head()) &&
				!p.both(x.text, x.kind&starKind != 0, slices.Concat(r.head(), []byte("*"), path[len(r.head()):])) {
				return
			}
		}
	}
}

// likeFirst merges two normal forms, which are sorted.
func (p *parting) likeFirst(a, b []statedRule) {
	var apart [2][]statedRule
	p.one, p.two = make([]statedRule, 0, len(a)), make([]statedRule, 0, len(b))
	for i, k := 0, 0; i < len(a) || k < len(b); {
		c := 0
		switch {
		case i == len(a):
			c = 1
		case k == len(b):
			c = -1
		default:
			c = a[i].compareUnder(p.a.view, b[k], p.b.view)
		}
		if c == 0 {
			p.one, p.two = append(p.one, a[i]), append(p.two, b[k])
			i, k = i+1, k+1
		} else if c < 0 {
			apart[0] = append(apart[0], a[i])
			i++
		} else {
			apart[1] = append(apart[1], b[k])
			k++
		}
	}
	p.n = len(p.one)
	p.one, p.two = append(p.one, apart[0]...), append(p.two, apart[1]...)
}

// sameKind reports whether two rules are alike but for their texts, lengths, and the form
// that they are compared with.
func (a statedRule) sameKind(b statedRule) bool {
	return a.kind%viewKind == b.kind%viewKind && a.key&1 == b.key&1
}

// onlyCloses reports whether the rules from n on close paths that no rule opens.
func onlyCloses(rules []statedRule, n int) bool {
	if len(rules)*(len(rules)-n) > maxMeetings {
		return false
	}
	return !slices.ContainsFunc(rules[n:], func(r statedRule) bool { // a rule that opens meets itself
		return slices.ContainsFunc(rules, func(x statedRule) bool { return x.key&1 == int32(Allow) && r.mayMeet(&x) })
	})
}

// shortestApart returns a plain path, mostly the shortest, that rules of one reading match and
// those of another do not, or the other way round.
func shortestApart(a *spoken, one []statedRule, b *spoken, two []statedRule, most int) (path []byte, whole bool,
	work int) {
	if most <= 0 {
		return nil, false, 0
	}
	l := automaton.NewLanguage(len(one), most)
	a.tellStated(l, 0, one)
	b.tellStated(l, 1, two)
	if l.Full() || !l.Complete() || l.Work() >= most {
		return nil, false, l.Work()
	}
	f := l.Search(automaton.Search{Most: most - l.Work(), Ways: [2]bool{true, true}, Either: true, Any: true,
		Paths: PlainPaths})
	return f.First, f.Whole, f.Work + l.Work()
}

// tellStated adds rules to policy number i of a language, as if all of them closed paths.
func (r *spoken) tellStated(l *automaton.Language, i int, rules []statedRule) {
	v := l.Voice(i, r.view, automaton.TheLongest, len(rules))
	for _, x := range rules {
		if l.Full() {
			break // the caller sees that
		}
		when := automaton.AtOnce
		switch {
		case x.kind&starKind != 0:
			v.Starred(automaton.Pattern{Text: x.text, Anchor: x.kind&anchorKind != 0}, int32(Disallow)+2, when)
			continue
		case x.kind&anchorKind != 0:
			when = automaton.AtEnd
		case x.kind&borderKind != 0:
			when = automaton.AtBorder
		}
		v.Plain(x.text, int32(Disallow)+2, when, x.kind%viewKind == 0)
	}
	v.Add(false)
}

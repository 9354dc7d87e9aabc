package robots

import (
	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/automaton"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// newLanguage tells an automaton what the rules of two policies are; ok is false if that
// would be too large, or take more work than most, or if it cannot read the forms in which
// they compare a path.
func newLanguage(a, b *Policy, most int) (l *automaton.Language, ok bool) {
	rules := 0
	for _, rs := range a.sets {
		if rs != nil {
			rules = max(rules, len(rs.literals))
		}
	}
	l = automaton.NewLanguage(rules, most)
	for i, p := range [...]*Policy{a, b} {
		if !p.tell(l, i) {
			return l, false
		}
	}
	return l, l.Complete()
}

// tell adds the policy to a language as number i: each permitted reading of its rules is a
// voice. It reports false if the language is full.
func (p *Policy) tell(l *automaton.Language, i int) bool {
	if p.judge.profile.RobotsTxtAllowed {
		l.Exempt(i, p.judge.views(new(ruleset))[0], []byte("/robots.txt"))
	}
	return p.tellRules(l, i)
}

// tellRules is tell without what is always allowed.
func (p *Policy) tellRules(l *automaton.Language, i int) bool {
	for _, r := range p.readings() {
		if r.tell(l, i, false); l.Full() {
			return false
		}
	}
	return true
}

// A spoken is one permitted reading of a policy: rules, nil for none, that are compared
// with a form of the path. With whole, a path covers only itself and those below it.
type spoken struct {
	judge *Judge
	rules *ruleset
	view  automaton.View
	whole bool
}

// readings returns the permitted readings of a policy.
func (p *Policy) readings() (all []spoken) {
	for _, rs := range p.sets {
		if rs == nil {
			all = append(all, spoken{judge: p.judge})
			continue
		}
		for _, view := range p.judge.views(rs) {
			if p.judge.profile.BarePrefix != Reject {
				all = append(all, spoken{p.judge, rs, view, false})
			}
			if p.judge.profile.BarePrefix != Accept {
				all = append(all, spoken{p.judge, rs, view, true})
			}
		}
	}
	return all
}

// views returns the forms of the path that decideForms compares with a ruleset.
func (j *Judge) views(rs *ruleset) []automaton.View {
	if as := dialect.RewriterOf(&j.profile.Matching.Matching); as != (rewrite.Rewriter{}) {
		return []automaton.View{{Form: automaton.Rewritten, As: as}}
	}
	view := func(f automaton.Form) automaton.View { return automaton.View{Form: f} }
	switch j.profile.Escapes {
	case EscapesBoth:
		return []automaton.View{view(automaton.UpperHexed)}
	case EscapesRFC:
		switch {
		case j.profile.Reserved == ReservedEqual || rs.letter:
			return []automaton.View{view(automaton.ReservedToo)}
		case j.profile.Reserved == ReservedOpen && rs.twin == nil:
			return []automaton.View{view(automaton.NormalForm), view(automaton.ReservedToo)}
		}
		return []automaton.View{view(automaton.NormalForm)}
	}
	return []automaton.View{view(automaton.AsIs)}
}

// tell adds the rules of one reading to policy number i of a language.
func (r *spoken) tell(l *automaton.Language, i int, negated bool) {
	j, rs, whole := r.judge, r.rules, r.whole
	switch {
	case rs == nil && negated:
		l.ForbidAll(i)
		return
	case rs == nil:
		l.AllowAll(i)
		return
	}
	recent := j.profile.matchEndDecides()
	v := l.Voice(i, r.view, j.mode(rs), len(rs.literals)+len(rs.wilds))
	for i := range rs.literals {
		x := &rs.literals[i]
		text := rs.text(x)[:x.n]
		when := automaton.AtOnce
		switch {
		case x.anchor:
			when = automaton.AtEnd
		case recent && rs.file.Rules[x.rule].Wildcard:
			when = automaton.FromThenOn
		case whole && x.n > 0 && text[x.n-1] != '/':
			when = automaton.AtBorder
		}
		v.Plain(text, x.key, when, rs.isPlain(x))
	}
	for i := range rs.wilds {
		x := &rs.wilds[i]
		if l.Full() {
			break // the caller sees that
		}
		when := automaton.AtOnce
		if recent && rs.endsWithStar(x) {
			when = automaton.FromThenOn
		}
		v.Starred(automaton.Pattern{Text: x.pattern, InQuery: x.inQuery, Anchor: x.anchor, Once: x.once}, x.key, when)
	}
	v.Add(negated)
}

// mode returns how conflicts of the rules of a ruleset are settled; see Judge.weigh.
func (j *Judge) mode(rs *ruleset) automaton.Mode {
	ties := j.profile.Ties == TiesOpen
	switch {
	case rs.hides:
		return automaton.Highest
	case j.profile.matchEndDecides():
		return automaton.LastToEnd
	case j.profile.Precedence == LongestOpen && ties:
		return automaton.AnyWildTies
	case j.profile.Precedence == LongestOpen:
		return automaton.AnyWild
	case j.profile.Precedence == LongestOrLeast && ties:
		return automaton.OrTheLeastTies
	case j.profile.Precedence == LongestOrLeast:
		return automaton.OrTheLeast
	case ties:
		return automaton.TheLongestTies
	}
	return automaton.TheLongest
}

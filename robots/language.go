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
	for _, rs := range p.sets {
		if rs == nil {
			l.AllowAll(i)
			continue
		}
		for _, view := range p.judge.views(rs) {
			for _, whole := range [...]bool{false, true} {
				if whole && p.judge.profile.BarePrefix == Accept || !whole && p.judge.profile.BarePrefix == Reject {
					continue
				}
				p.judge.tell(l, i, rs, view, whole)
				if l.Full() {
					return false
				}
			}
		}
	}
	return true
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

// tell adds the rules of one reading. With whole, a path covers only itself and those below
// it.
func (j *Judge) tell(l *automaton.Language, i int, rs *ruleset, view automaton.View, whole bool) {
	recent := j.profile.Length == dialect.LengthMatchEnd
	v := l.Voice(i, view, j.mode(rs), len(rs.literals)+len(rs.wilds))
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
	v.Add()
}

// mode returns how conflicts of the rules of a ruleset are settled; see Judge.weigh.
func (j *Judge) mode(rs *ruleset) automaton.Mode {
	ties := j.profile.Ties == TiesOpen
	switch {
	case rs.hides:
		return automaton.Highest
	case j.profile.Length == dialect.LengthMatchEnd:
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

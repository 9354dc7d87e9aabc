package robots

import (
	"slices"

	"github.com/robocensus/robocensus/robots/internal/automaton"
	"github.com/robocensus/robocensus/robots/usage"
)

// stanceWork bounds the searches for the stances of a policy, in the unit of Relate.
const stanceWork = 1 << 20

// A stanceSearch looks for paths that an agent may fetch and on which a use has a
// preference, by a comparison of two policies: one forbids what the agent may not fetch and
// is open elsewhere; the other forbids what has the preference. The second is above the
// first on the paths that are looked for.
type stanceSearch struct {
	*Policy
	lines  *usages // nil if there are none
	tokens []TokenPolicy
	most   int // what is left of the bound on work
}

// searchStances adds preferences that no witness shows, as far as patterns with stars can
// have others where several of them meet. A use for which that takes too long is partial.
func (p *Policy) searchStances(v usage.Vocabulary, tokens []TokenPolicy, seen *[usage.NumUses][3]bool) {
	s := stanceSearch{Policy: p, most: stanceWork}
	starred := p.hasWilds()
	for _, t := range tokens {
		if t.states() && t.Policy.Class() != AllowAll {
			s.tokens = append(s.tokens, t)
			starred = starred || t.Policy.hasWilds()
		}
	}
	if len(p.groups) > 0 && len(p.judge.file.Usages) > 0 {
		s.lines = p.judge.usagesOf(v)
		starred = starred || len(s.lines.paths.wilds) > 0
	}
	if !starred {
		return // a witness lies within all patterns that meet its own
	}
	for use := range usage.Use(usage.NumUses) {
		for _, want := range [...]usage.Preference{usage.Refuses, usage.Allows, usage.Unknown} {
			known := seen[use]
			if known[want] || known[usage.Refuses] && known[usage.Allows] || known[usage.Unknown] &&
				(known[usage.Refuses] || known[usage.Allows]) {
				continue
			}
			found, whole := s.find(use, want)
			if seen[use][want] = found; !found && !whole {
				seen[use][usage.Refuses], seen[use][usage.Unknown] = true, true
			}
		}
	}
}

func (p *Policy) hasWilds() bool {
	return slices.ContainsFunc(p.sets, func(rs *ruleset) bool { return rs != nil && len(rs.wilds) > 0 })
}

// find reports whether a use has a preference on any path that the agent may fetch; whole,
// whether it has searched all.
func (s *stanceSearch) find(use usage.Use, want usage.Preference) (found, whole bool) {
	signal, stated := s.stated(use)
	var tokens []*Policy
	for i := range s.tokens {
		if slices.Contains(s.tokens[i].Uses, use) {
			tokens = append(tokens, s.tokens[i].Policy)
		}
	}
	lines := func(want usage.Preference, negated bool) func(l *automaton.Language) {
		return func(l *automaton.Language) { s.tellLines(l, use, want, negated) }
	}
	switch {
	case signal == usage.Refuses:
		return false, true // everywhere, as every witness shows
	case want == usage.Refuses:
		if stated[usage.Refuses] {
			if found, whole = s.search(lines(want, false)); found || !whole {
				return found, whole
			}
		}
		for _, t := range tokens {
			if found, whole = s.search(func(l *automaton.Language) { t.tellRules(l, 1) }); found || !whole {
				return found, whole
			}
		}
		return false, true
	case want == usage.Allows && signal != usage.Allows && !stated[usage.Allows], want == usage.Unknown &&
		signal != usage.Unknown, stated == [3]bool{} && tokens == nil:
		return false, true
	}
	said := lines(want, false)
	if signal == usage.Allows {
		said = lines(usage.Refuses, true)
	}
	return s.without(tokens, said)
}

// without searches for a path that no token forbids, in any of its readings.
func (s *stanceSearch) without(tokens []*Policy, said func(l *automaton.Language)) (found, whole bool) {
	if len(tokens) == 0 {
		return s.search(said)
	}
	for _, r := range tokens[0].readings() {
		found, whole = s.without(tokens[1:], func(l *automaton.Language) {
			said(l)
			r.tell(l, 1, true)
		})
		if found || !whole {
			return found, whole
		}
	}
	return false, true
}

// search searches for a path that the agent may fetch and that the second policy, which
// tell makes, forbids in all its voices.
func (s *stanceSearch) search(tell func(l *automaton.Language)) (found, whole bool) {
	if s.most <= 0 {
		return false, false
	}
	l := automaton.NewLanguage(0, s.most)
	if !s.tellRules(l, 0) {
		s.most -= l.Work()
		return false, false
	}
	l.ForbidAll(0) // so that it is undefined where the agent may fetch, and forbids elsewhere
	if s.judge.profile.RobotsTxtAllowed {
		l.Exempt(1, s.judge.views(new(ruleset))[0], []byte("/robots.txt"))
	}
	tell(l)
	if l.Full() || !l.Complete() {
		s.most -= l.Work()
		return false, false
	}
	f := l.Search(automaton.Search{Most: s.most, Ways: [2]bool{automaton.Closes: true}})
	s.most -= f.Work + l.Work()
	return f.Paths[automaton.Closes] != nil, f.Whole
}

// stated returns what the content signals say of a use, and which preferences lines of
// Content-Usage have for it.
func (s *stanceSearch) stated(use usage.Use) (signal usage.Preference, lines [3]bool) {
	if s.lines == nil {
		return signal, lines
	}
	for _, g := range s.groups {
		for _, i := range s.lines.byGroup[g] {
			switch s.judge.file.Usages[i].Mechanism {
			case usage.ContentSignal:
				signal = max(signal, s.lines.saying(i, use))
			case usage.ContentUsage:
				lines[s.lines.saying(i, use)] = true
			}
		}
	}
	return signal, lines
}

// saying returns what a line says of a use.
func (u *usages) saying(line int32, use usage.Use) (p usage.Preference) {
	for _, s := range u.statements[line] {
		if s.Use == use {
			p = max(p, s.Preference)
		}
	}
	return p
}

// tellLines adds a voice that forbids the paths on which the agent's lines of Content-Usage
// have a preference for a use; negated, all others. The longest path decides, and of lines
// of one length the most restrictive.
func (s *stanceSearch) tellLines(l *automaton.Language, use usage.Use, want usage.Preference, negated bool) {
	key := func(length int32, p usage.Preference) int32 {
		k := (4*length + int32(p)) << 1
		if p != want {
			k |= int32(Allow)
		}
		return k
	}
	if s.lines == nil {
		s.lines = &usages{paths: new(ruleset)}
	}
	paths := s.lines.paths
	v := l.Voice(1, s.judge.views(paths)[0], automaton.TheLongest, len(paths.literals)+len(paths.wilds)+1)
	none := usage.Unknown
	for _, g := range s.groups {
		for _, i := range s.lines.byGroup[g] {
			line := &s.judge.file.Usages[i]
			if path, _ := line.Path(); path == nil && line.Mechanism == usage.ContentUsage {
				none = max(none, s.lines.saying(i, use))
			}
		}
	}
	v.Plain(nil, key(0, none), automaton.AtOnce, false)
	// keyOf returns the key of a rule; ok is false if the agent does not follow its group.
	keyOf := func(rule int32) (k int32, ok bool) {
		r := &paths.file.Rules[rule]
		_, ok = slices.BinarySearch(s.groups, s.judge.file.Usages[r.Line].Group)
		return key(s.judge.profile.lengthOf(r), s.lines.saying(r.Line, use)), ok
	}
	when := func(anchor bool) automaton.Moment {
		if anchor {
			return automaton.AtEnd
		}
		return automaton.AtOnce
	}
	for i := range paths.literals {
		x := &paths.literals[i]
		if k, ok := keyOf(x.rule); ok {
			v.Plain(paths.text(x)[:x.n], k, when(x.anchor), false)
		}
	}
	for i := range paths.wilds {
		x := &paths.wilds[i]
		if k, ok := keyOf(x.rule); ok && !l.Full() {
			v.Starred(automaton.Pattern{Text: x.pattern, InQuery: x.inQuery, Anchor: x.anchor, Once: x.once}, k,
				automaton.AtOnce)
		}
	}
	v.Add(negated)
}

package robots

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
)

// matchEndDecides reports whether the match of a rule decides that ends last. With
// greatest_only, lengths of patterns decide.
func (p *Profile) matchEndDecides() bool {
	return p.Length == dialect.LengthMatchEnd && !p.GreatestOnly
}

// findOdd reports whether a ruleset matches in a way that reasoning about single patterns
// does not cover: so classes need other means.
func (rs *ruleset) findOdd(p *Profile) bool {
	if p.matchEndDecides() &&
		(len(rs.wilds) > 0 || slices.ContainsFunc(rs.literals,
			func(l literal) bool { return rs.file.Rules[l.rule].Wildcard })) {
		return true
	}
	return slices.ContainsFunc(rs.wilds, func(w wild) bool { return w.once })
}

// findHidden reports whether a plain pattern is tried in place of another of its kind that
// it begins with.
func (rs *ruleset) findHidden() bool {
	texts := [2][]string{}
	for i := range rs.literals {
		l := &rs.literals[i]
		if rs.isPlain(l) {
			texts[l.key&1] = append(texts[l.key&1], string(rs.text(l)[:l.n]))
		}
	}
	for _, of := range texts {
		slices.Sort(of)
		for i := 1; i < len(of); i++ {
			if of[i] != of[i-1] && strings.HasPrefix(of[i], of[i-1]) {
				return true // sorted, a text that another one begins with stands right before one
			}
		}
	}
	return false
}

// setOnce makes the last literal of anchored patterns, from one on, count at its first
// place only.
func (rs *ruleset) setOnce(from int) {
	for i := range rs.wilds[from:] {
		w := &rs.wilds[from+i]
		w.once = w.anchor
	}
}

// dialectVerdict returns the verdict of a ruleset.
func (j *Judge) dialectVerdict(rs *ruleset, t *Target) Verdict {
	switch {
	case rs.file.refusedAt > 0:
		return outcomeVerdict(answer.FullDisallow)
	case j.profile.GreatestOnly || j.profile.matchEndDecides():
		return j.verdict(rs, j.bestOdd(rs, t))
	}
	return j.verdict(rs, rs.best(t))
}

// bestOdd returns the rule that decides, if length depends on the URL or not every plain
// pattern is tried.
func (j *Judge) bestOdd(rs *ruleset, t *Target) match {
	if j.profile.GreatestOnly {
		return rs.bestWild(t, rs.greatest(t))
	}
	best, m := int64(-1), match{-1, -1}
	offer := func(length int, key, rule int32) {
		if k := int64(length)<<1 | int64(key&1); k > best || k == best && rule < m.rule {
			best, m = k, match{key, rule}
		}
	}
	for i := range rs.literals {
		if l := &rs.literals[i]; (t.head^l.head)&l.mask == 0 && l.matches(t, rs.text(l)) {
			n := int(l.n)
			if rs.file.Rules[l.rule].Wildcard {
				n = len(t.path) // stars at the end
			}
			offer(n, l.key, l.rule)
		}
	}
	for i := range rs.wilds {
		if w := &rs.wilds[i]; (t.head^w.head)&w.mask == 0 && w.matches(t) {
			n := len(t.path)
			if !rs.endsWithStar(w) {
				n = w.matchEnd(t)
			}
			offer(n, w.key, w.rule)
		}
	}
	return m
}

// endsWithStar reports whether a pattern has a star at its end, so that its match ends
// where the path does.
func (rs *ruleset) endsWithStar(w *wild) bool {
	return bytes.HasSuffix(bytes.TrimSuffix(rs.file.Rules[w.rule].Normalized, []byte("$")), []byte("*"))
}

// matchEnd returns where the longest match of a pattern ends that matches, and has no
// star at its end.
func (w *wild) matchEnd(t *Target) int {
	last := w.last()
	return bytes.LastIndex(t.path, last) + len(last)
}

// last returns what follows the last star of a pattern.
func (w *wild) last() []byte { return w.pattern[bytes.LastIndexByte(w.pattern, '*')+1:] }

// isPlain reports whether a compiled pattern has neither star nor anchor.
func (rs *ruleset) isPlain(l *literal) bool { return !l.anchor && !rs.file.Rules[l.rule].Wildcard }

// greatest returns the best of the literals: of the plain ones of each kind, only the
// greatest that is not above the path is tried.
func (rs *ruleset) greatest(t *Target) match {
	m := match{-1, -1}
	var top [2][]byte
	var at [2]*literal
	for i := range rs.literals {
		l := &rs.literals[i]
		text := rs.text(l)[:l.n]
		if !rs.isPlain(l) {
			if l.matches(t, text) && (t.head^l.head)&l.mask == 0 {
				m.offer(l.key, l.rule)
			}
			continue
		}
		if k := l.key & 1; bytes.Compare(text, t.path) <= 0 && (at[k] == nil || bytes.Compare(text, top[k]) > 0) {
			top[k], at[k] = text, l
		}
	}
	for k, l := range at {
		if l != nil && bytes.HasPrefix(t.path, top[k]) {
			m.offer(l.key, l.rule)
		}
	}
	return m
}

// introsort ranks the rules of a ruleset as a parser does that sorts them by length with
// the sort of C++'s common library and takes the first that matches.
func (rs *ruleset) introsort() {
	type ranked struct {
		key  *int32
		rule int32
	}
	var all []ranked
	for i := range rs.literals {
		all = append(all, ranked{&rs.literals[i].key, rs.literals[i].rule})
	}
	for i := range rs.wilds {
		all = append(all, ranked{&rs.wilds[i].key, rs.wilds[i].rule})
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Compare(a.rule, b.rule) })
	dialect.Introsort(all, func(x ranked) int32 { return *x.key >> 1 })
	for i, x := range all {
		*x.key = int32(len(all)-i)<<1 | *x.key&1
	}
}

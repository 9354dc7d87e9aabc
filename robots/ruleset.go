package robots

import (
	"bytes"
	"slices"
)

// A ruleset is the compiled rules of one group, or of several merged groups.
// Agents that follow the same groups share it.
type ruleset struct {
	id     uint64  // number among the judge's, from 1
	file   *File   // the reading whose rules these are
	groups []int32 // groups of file
	lead   int     // the first agent that follows only this ruleset, or -1
	letter bool    // compiled for Target.letter
	// twin holds the same rules for Target.letter, where reserved characters in
	// a path equal their escapes, if the profile leaves that open and a rule
	// differs. If none does, these rules are compared with both forms.
	twin *ruleset
	// apart holds copies of the rules that differ from those of the twin, or of
	// the ruleset whose twin this is, so that a verdict may differ where one of
	// them matches.
	apartLiterals []literal
	apartWilds    []wild
	literals      []literal
	wilds         []wild
	// starts is a small Bloom filter of the second and third bytes of the literals; see
	// Target.start. It has all bits if a literal is shorter.
	starts uint64
	// The first empty rules, -1 for none.
	emptyAllow, emptyDisallow int32
	hasForms                  bool  // a wild has inQuery
	odd                       bool  // see findOdd
	hides                     bool  // a plain pattern hides another one (GreatestOnly)
	class                     Class // if hasClass
	hasClass                  bool
	normals                   []normalForm // those that were asked for
	inert                     []inertOn    // the same
}

func (rs *ruleset) reset(f *File, groups []int32) {
	rs.file, rs.groups, rs.lead, rs.letter = f, append(rs.groups[:0], groups...), -1, f.letter
	rs.literals, rs.wilds, rs.starts = rs.literals[:0], rs.wilds[:0], 0
	rs.apartLiterals, rs.apartWilds = rs.apartLiterals[:0], rs.apartWilds[:0]
	rs.emptyAllow, rs.emptyDisallow = -1, -1
	rs.hasForms, rs.hasClass, rs.twin = false, false, nil
	clear(rs.normals)
	rs.normals, rs.inert = rs.normals[:0], rs.inert[:0]
}

// number identifies a ruleset; 0 means no group.
func (rs *ruleset) number() uint64 {
	if rs == nil {
		return 0
	}
	return rs.id
}

// same reports whether two rulesets have the same rules in the same order;
// their lines may differ.
func (rs *ruleset) same(other *ruleset) bool {
	if rs == other {
		return true
	}
	if rs == nil || other == nil || rs.letter != other.letter || (rs.twin == nil) != (other.twin == nil) {
		return false
	}
	return slices.EqualFunc(rs.literals, other.literals, func(a, b literal) bool {
		return a.key == b.key && a.n == b.n && a.anchor == b.anchor && bytes.Equal(rs.text(&a)[:a.n], other.text(&b)[:b.n])
	}) && slices.EqualFunc(rs.wilds, other.wilds, func(a, b wild) bool {
		return a.key == b.key && a.anchor == b.anchor && bytes.Equal(a.pattern, b.pattern) &&
			bytes.Equal(a.inQuery, b.inQuery)
	})
}

// hasTwin reports whether verdicts can differ if reserved characters in a path
// equal their escapes. Lengths matter only between allow and disallow.
func (rs *ruleset) hasTwin(f *File) bool {
	lengths := false
	for _, g := range rs.groups {
		if f.Groups[g].twoPaths {
			return true
		}
		lengths = lengths || f.Groups[g].twoLengths
	}
	return lengths && rs.has(Allow) && rs.has(Disallow)
}

func (rs *ruleset) has(k Kind) bool {
	return slices.ContainsFunc(rs.literals, func(l literal) bool { return l.key&1 == int32(k) }) ||
		slices.ContainsFunc(rs.wilds, func(w wild) bool { return w.key&1 == int32(k) })
}

// setTwin sets the twin, which is compiled from the same groups.
func (rs *ruleset) setTwin(twin *ruleset) {
	rs.twin = twin
	for i := range rs.literals {
		l, m := &rs.literals[i], &twin.literals[i]
		if l.n != m.n || !bytes.Equal(rs.text(l), twin.text(m)) {
			rs.apartLiterals = append(rs.apartLiterals, *l)
			twin.apartLiterals = append(twin.apartLiterals, *m)
		} else if l.key != m.key {
			twin.apartLiterals = append(twin.apartLiterals, *m)
		}
	}
	for i := range rs.wilds {
		w, m := &rs.wilds[i], &twin.wilds[i]
		if !bytes.Equal(w.pattern, m.pattern) || !bytes.Equal(w.inQuery, m.inQuery) {
			rs.apartWilds = append(rs.apartWilds, *w)
			twin.apartWilds = append(twin.apartWilds, *m)
		} else if w.key != m.key {
			twin.apartWilds = append(twin.apartWilds, *m)
		}
	}
}

// agrees reports that the verdict of the twin is the same on this form of a
// path, because no rule matches in which they differ.
func (rs *ruleset) agrees(t *Target) bool { return !rs.parts(t) && !rs.twin.parts(t) }

// parts reports whether a rule that is apart matches.
func (rs *ruleset) parts(t *Target) bool {
	for i := range rs.apartLiterals {
		l := &rs.apartLiterals[i]
		if (t.head^l.head)&l.mask == 0 && l.matches(t, rs.text(l)) {
			return true
		}
	}
	for i := range rs.apartWilds {
		w := &rs.apartWilds[i]
		if (t.head^w.head)&w.mask == 0 && w.matches(t) {
			return true
		}
	}
	return false
}

// linesOf returns a hash of the lines of the rules in groups.
func linesOf(f *File, groups []int32) uint64 {
	sum := uint64(fnvOffset)
	for _, g := range groups {
		for _, r := range f.Rules[f.Groups[g].Rules.From:f.Groups[g].Rules.To] {
			sum = fnv(sum, uint64(r.Line))
		}
	}
	return sum
}

// holds reports whether the ruleset consists of the rules of these groups of a
// reading. It compares lines: a line says the same in each reading in which it
// counts.
func (rs *ruleset) holds(f *File, groups []int32) bool {
	k, mine := 0, Span{}
	for _, g := range groups {
		for _, r := range f.Rules[f.Groups[g].Rules.From:f.Groups[g].Rules.To] {
			for mine.Len() == 0 {
				if k == len(rs.groups) {
					return false
				}
				mine = rs.file.Groups[rs.groups[k]].Rules
				k++
			}
			if rs.file.Rules[mine.From].Line != r.Line {
				return false
			}
			mine.From++
		}
	}
	for ; mine.Len() == 0 && k < len(rs.groups); k++ {
		mine = rs.file.Groups[rs.groups[k]].Rules
	}
	return mine.Len() == 0
}

// A match is a rule that matches a target: its precedence and index, -1 and -1
// for none.
type match struct{ key, rule int32 }

func (m *match) offer(key, rule int32) {
	if key > m.key || key == m.key && rule < m.rule {
		m.key, m.rule = key, rule
	}
}

// worse reports whether a rule would not replace m.
func (m *match) worse(key, rule int32) bool {
	return key < m.key || key == m.key && rule > m.rule
}

// best returns the longest matching rule: allow before disallow, and the first
// among equals.
func (rs *ruleset) best(t *Target) match {
	return rs.bestWild(t, rs.bestLiteral(t))
}

func (rs *ruleset) bestLiteral(t *Target) match {
	m := match{-1, -1}
	if rs.starts&t.start == 0 {
		return m
	}
	if t.whole {
		for i := range rs.literals {
			l := &rs.literals[i]
			if (t.head^l.head)&l.mask == 0 && !m.worse(l.key, l.rule) && l.matches(t, rs.text(l)) && l.ends(t) {
				m = match{l.key, l.rule}
			}
		}
		return m
	}
	// Verdicts spend most of their time here: no call in this loop.
	head, literals := t.head, rs.literals
	for i := range literals {
		if l := &literals[i]; (head^l.head)&l.mask == 0 && !m.worse(l.key, l.rule) && l.matches(t, rs.text(l)) {
			m = match{l.key, l.rule}
		}
	}
	return m
}

// bestWild returns the best of m and the wild rules that match.
func (rs *ruleset) bestWild(t *Target, m match) match {
	head, wilds := t.head, rs.wilds
	for i := range wilds {
		if w := &wilds[i]; (head^w.head)&w.mask == 0 && !m.worse(w.key, w.rule) && w.matches(t) {
			m = match{w.key, w.rule}
		}
	}
	return m
}

// bestBorder returns the best rule if a path also covers what merely begins with
// it, and reports whether it is the best if a path does not.
func (rs *ruleset) bestBorder(t *Target) (match, bool) {
	m, at := match{-1, -1}, -1
	head, literals := t.head, rs.literals
	if rs.starts&t.start == 0 {
		literals = nil
	}
	for i := range literals {
		if l := &literals[i]; (head^l.head)&l.mask == 0 && !m.worse(l.key, l.rule) && l.matches(t, rs.text(l)) {
			m, at = match{l.key, l.rule}, i
		}
	}
	n := rs.bestWild(t, m)
	return n, at < 0 || n != m || endsAt(t.path, int(rs.literals[at].n))
}

func (rs *ruleset) text(l *literal) []byte { return rs.file.Rules[l.rule].Normalized }

// each calls f for all matching rules, in no particular order.
func (rs *ruleset) each(t *Target, f func(m match, isWild bool)) {
	for i := range rs.literals {
		l := &rs.literals[i]
		if (t.head^l.head)&l.mask == 0 && l.matches(t, rs.text(l)) && l.ends(t) {
			f(match{l.key, l.rule}, false)
		}
	}
	for i := range rs.wilds {
		w := &rs.wilds[i]
		if (t.head^w.head)&w.mask == 0 && w.matches(t) {
			f(match{w.key, w.rule}, true)
		}
	}
}

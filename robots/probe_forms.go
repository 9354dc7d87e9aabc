package robots

import (
	"bytes"
	"slices"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// This file asks about paths on which the forms of a path, or the ranks of rules, may part.

// differWork bounds each part of the work of a prober that is to save a search, about a
// millisecond.
const differWork = 1 << 20

// tryAll asks about paths where forms of a path may part, then about those where rules meet.
func (p *prober) tryAll(of ...*Policy) {
	for _, try := range []func(*Policy){p.tryTraits, p.tryMarks, p.tryForms, p.tryPairs} {
		p.most = p.work + differWork
		for _, policy := range of {
			if p.settled() {
				return
			}
			try(policy)
		}
	}
}

// tryTraits asks about paths on which a trait of one dialect shows: in upper case, with the $ of
// a pattern, and with what follows its last star twice.
func (p *prober) tryTraits(of *Policy) {
	any := func(has func(*Profile) bool) bool { return has(p.a.judge.profile) || has(p.b.judge.profile) }
	folds := any(func(p *Profile) bool { return p.FoldCase })
	letter := any(func(p *Profile) bool { return p.Dollar == dialect.DollarLetterToo })
	once := any(func(p *Profile) bool { return p.Stars == dialect.StarsFirstPlace })
	if !folds && !letter && !once {
		return
	}
	for _, rs := range of.sets {
		if rs == nil {
			continue
		}
		for i := range rs.wilds {
			w := &rs.wilds[i]
			if letter && w.anchor && !p.begun(w.pattern, "$", nil) || folds && !p.raised(w.pattern, true) ||
				once && w.anchor && !p.begun(w.pattern, string(w.last()), nil) {
				return
			}
		}
		for i := range rs.literals {
			l := &rs.literals[i]
			text := rs.text(l)[:l.n]
			if letter && l.anchor && !p.begun(text, "$", nil) || folds && !p.raised(text, false) {
				return
			}
		}
	}
}

// raised asks about a path that a pattern matches, with its letters in upper case.
func (p *prober) raised(pattern []byte, starred bool) bool {
	if !p.spend(len(pattern)) {
		return false
	}
	var ok, changed bool
	if p.path, ok = pathOf(p.path[:0], pattern, starred); !ok {
		return true
	}
	for i := 0; i < len(p.path); i++ {
		if c := p.path[i]; rewrite.IsEscape(p.path, i) {
			i += 2
		} else if c >= 'a' && c <= 'z' {
			p.path[i], changed = c-0x20, true
		}
	}
	return !changed || p.ask()
}

// tryMarks asks about paths whose marks a dialect may lose or move: with what follows the first
// star in the query, with an empty query, and with empty parameters.
func (p *prober) tryMarks(of *Policy) {
	if !p.a.judge.profile.transforms() && !p.b.judge.profile.transforms() {
		return
	}
	for _, rs := range of.sets {
		if rs == nil {
			continue
		}
		for i := range rs.literals {
			l := &rs.literals[i]
			if !p.marked(rs.text(l)[:l.n], l.anchor) {
				return
			}
		}
		for i := range rs.wilds {
			w := &rs.wilds[i]
			star := bytes.IndexByte(w.pattern, '*')
			if !p.begun(w.pattern[:star+1], "?", w.pattern[star+1:]) || !p.begun(w.pattern[:star+1], "?x", w.pattern[star+1:]) {
				return
			}
			if w.anchor {
				if !p.begun(w.pattern, string(w.last()), nil) || !p.begun(w.pattern, "?", nil) {
					return
				}
			}
		}
	}
}

// marked asks about the path that a pattern without star matches, with further marks.
func (p *prober) marked(pattern []byte, anchor bool) bool {
	if !p.spend(len(pattern)) {
		return false
	}
	var ok bool
	if p.path, ok = pathOf(p.path[:0], pattern, false); !ok {
		return true
	}
	n := len(p.path)
	if query := bytes.IndexByte(p.path, '?'); query > 0 {
		p.path = slices.Insert(p.path, query, ';')
		return p.ask()
	}
	if !anchor {
		return true
	}
	for _, mark := range "?;" {
		if p.path = append(p.path[:n], byte(mark)); !p.ask() {
			return false
		}
	}
	return true
}

// tryForms asks about paths in whose escapes the forms of a path differ: written with lower
// digits, or begun before a star's end.
func (p *prober) tryForms(of *Policy) {
	for _, rs := range of.sets {
		if rs == nil {
			continue
		}
		for i := range rs.literals {
			if l := &rs.literals[i]; !p.lowered(rs.text(l)[:l.n], false) {
				return
			}
		}
		for i := range rs.wilds {
			if w := &rs.wilds[i]; !p.lowered(w.pattern, true) || !p.within(w.pattern) {
				return
			}
		}
	}
}

// lowered asks about a path that a pattern matches, with the digits of its escapes in lower
// case. Like those that follow, it reports whether to continue.
func (p *prober) lowered(pattern []byte, starred bool) bool {
	if p.needless || bytes.IndexByte(pattern, '%') < 0 {
		return true
	}
	var ok, changed bool
	if p.path, ok = pathOf(p.path[:0], pattern, starred); !ok {
		return true
	}
	for i := range p.path {
		if rewrite.IsEscape(p.path, i) {
			for k := i + 1; k <= i+2; k++ {
				if c := p.path[k]; c >= 'A' && c <= 'F' {
					p.path[k], changed = c|0x20, true
				}
			}
		}
	}
	return !changed || p.ask()
}

// within asks about paths on which the text after a star begins in an escape, as the URL has
// it or as a form makes it.
func (p *prober) within(pattern []byte) bool {
	for i, c := range pattern {
		if c != '*' || i+1 == len(pattern) || !rewrite.IsHex(pattern[i+1]) {
			continue
		}
		text := pattern[i+1:]
		digit, next := text[0], byte('*')
		if len(text) > 1 {
			next = text[1]
		}
		if !p.needless {
			if digit > '9' && (!p.begun(pattern[:i+1], "%3", text) || digit < 'a' &&
				!p.begun(pattern[:i+1], "%3"+string(digit|0x20), text[1:])) {
				return false
			}
			if next >= 'A' && next <= 'F' && !p.begun(pattern[:i+1], "%"+string([]byte{digit, next | 0x20}), text[2:]) {
				return false
			}
		}
		for _, x := range []byte(madeEscapes) {
			high, low := rewrite.HexDigits[x>>4], rewrite.HexDigits[x&15]
			if digit == low && !p.begun(pattern[:i+1], string(x), text[1:]) || digit == high && next == low &&
				!p.begun(pattern[:i+1], string(x), text[2:]) {
				return false
			}
		}
	}
	return true
}

// begun asks about a path that the beginning of a pattern matches, up to a star, then a text,
// then the rest.
func (p *prober) begun(pattern []byte, text string, rest []byte) bool {
	var ok bool
	if !p.spend(len(pattern) + len(rest)) {
		return false
	}
	if p.path, ok = pathOf(p.path[:0], pattern, true); !ok {
		return true
	}
	p.path = append(p.path, text...)
	return !p.appendRest(rest) || p.ask()
}

// appendRest appends what the rest of a pattern matches. It reports false if no URL has it.
func (p *prober) appendRest(rest []byte) bool {
	for _, c := range rest {
		switch {
		case c == '*':
			c = filler
		case c <= ' ' || c > '~' || c == '#':
			return false
		}
		p.path = append(p.path, c)
	}
	return true
}

// tryPairs asks about paths that a pattern with a star and a rule of the other kind match.
func (p *prober) tryPairs(of *Policy) {
	for _, rs := range of.sets {
		if rs == nil {
			continue
		}
		for i := range rs.wilds {
			w := &rs.wilds[i]
			if !p.spend(len(rs.literals) + len(rs.wilds)) {
				return
			}
			for k := range rs.literals {
				if l := &rs.literals[k]; l.key&1 != w.key&1 && !l.anchor && !p.both(rs.text(l)[:l.n], false, w.pattern) {
					return
				}
			}
			for k := range rs.wilds {
				if x := &rs.wilds[k]; x.key&1 != w.key&1 && !x.anchor && !p.both(x.pattern, true, w.pattern) {
					return
				}
			}
		}
	}
}

// both asks about a path that a pattern and then another one, with a star, match.
func (p *prober) both(pattern []byte, starred bool, other []byte) bool {
	var ok bool
	if !p.spend(len(pattern)) {
		return false
	}
	star := bytes.IndexByte(other, '*')
	if p.path, ok = pathOf(p.path[:0], pattern, starred); !ok || !bytes.HasPrefix(p.path, other[:star]) {
		return true
	}
	return !p.appendRest(other[star:]) || p.ask()
}

// isMade reports whether the forms of the RFC write a character of a plain path otherwise.
func isMade(c byte) bool { return made[c] }

var made = func() (set [256]bool) {
	for _, c := range []byte(madeEscapes) {
		set[c] = true
	}
	return set
}()

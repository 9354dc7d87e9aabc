package robots

import (
	"bytes"
	"encoding/binary"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// add compiles the rules of a group.
func (rs *ruleset) add(p *Profile, g *Group) {
	if p.Stars == dialect.StarsFirstPlace {
		defer rs.setOnce(len(rs.wilds))
	}
	for i := g.Rules.From; i < g.Rules.To; i++ {
		r := &rs.file.Rules[i]
		if !r.Effective {
			if len(r.Pattern) == 0 {
				rs.addEmpty(p, r.Kind, i)
			}
			continue
		}
		key := r.Length << 1
		if r.Kind == Allow {
			key |= 1
		}
		core, anchor := r.Normalized, r.Anchor
		if r.Wildcard {
			core, anchor = stripStars(core, anchor)
		} else if anchor {
			core = core[:len(core)-1]
		}
		var inQuery []byte
		if r.Wildcard && len(rs.file.inQuery) > 0 {
			inQuery = rs.formInQuery(i)
		}
		rs.addPattern(core, inQuery, anchor, key, i, r.Wildcard)
		if p.IndexHTML && r.Kind == Allow {
			rs.addIndex(p, r, i)
		}
	}
}

func (rs *ruleset) addEmpty(p *Profile, k Kind, i int32) {
	if !p.ReportEmptyRules {
		return
	}
	if k == Allow && rs.emptyAllow < 0 {
		rs.emptyAllow = i
	}
	if k == Disallow && rs.emptyDisallow < 0 {
		rs.emptyDisallow = i
	}
}

// addIndex adds what allow: /dir/index.htm also allows, /dir/$. That pattern is
// shorter than the rule, so it never overrides it.
func (rs *ruleset) addIndex(p *Profile, r *Rule, i int32) {
	slash := bytes.LastIndexByte(r.Normalized, '/')
	if slash < 0 || !bytes.HasPrefix(r.Normalized[slash:], []byte("/index.htm")) {
		return
	}
	dir := r.Normalized[:slash+1]
	var inQuery []byte
	if r.Wildcard && p.Escapes == EscapesRFC {
		if form := rewrite.AppendRFC(nil, dir, rewrite.OfPattern, true, rs.letter); !bytes.Equal(form, dir) {
			inQuery, rs.hasForms = form, true
		}
	}
	rs.addPattern(dir, inQuery, true, int32(len(dir)+1)<<1|1, i, r.Wildcard)
}

// addPattern compiles one pattern. starred reports whether it may contain a *;
// inQuery is its form in a query, nil if the same.
func (rs *ruleset) addPattern(core, inQuery []byte, anchor bool, key, rule int32, starred bool) {
	star := -1
	if starred {
		star = bytes.IndexByte(core, '*')
	}
	if star < 0 {
		l := literal{key: key, rule: rule, n: int32(len(core)), anchor: anchor}
		l.head, l.mask = headOf(core)
		if len(core) >= 3 {
			rs.starts |= pairBit(core[1], core[2])
		} else {
			rs.starts = ^uint64(0)
		}
		rs.literals = append(rs.literals, l)
		return
	}
	w := wild{pattern: core, inQuery: inQuery, anchor: anchor, key: key, rule: rule}
	w.head, w.mask = headOf(core[:star])
	if w.inQuery == nil {
		w.letters, w.pairs = needs(core)
	}
	rs.wilds = append(rs.wilds, w)
}

// formInQuery returns the form of a pattern in a query, nil if the same.
func (rs *ruleset) formInQuery(rule int32) []byte {
	forms := rs.file.inQuery
	lo, hi := 0, len(forms)
	for lo < hi {
		if m := (lo + hi) / 2; forms[m].rule < rule {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == len(forms) || forms[lo].rule != rule {
		return nil
	}
	rs.hasForms = true
	core, _ := stripStars(forms[lo].form, rs.file.Rules[rule].Anchor)
	return core
}

// headOf returns the first eight bytes of a literal and the mask of those it
// has.
func headOf(b []byte) (head, mask uint64) {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b), ^uint64(0)
	}
	return firstBytes(b), 1<<(8*len(b)) - 1
}

// firstBytes returns fewer than eight bytes, padded with zeros. A pattern usually
// lies within a longer body, so the bytes after it can be loaded with it and
// masked off.
func firstBytes(b []byte) (w uint64) {
	if cap(b) >= 8 {
		return binary.LittleEndian.Uint64(b[:8]) & (1<<(8*len(b)) - 1)
	}
	for i, c := range b {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// needs returns the filters that a path must pass to match a pattern with
// stars.
func needs(pattern []byte) (letters, pairs uint64) {
	prev := byte('*')
	for _, c := range pattern {
		if c != '*' {
			letters |= 1 << (c & 63)
			if prev != '*' {
				pairs |= pairBit(prev, c)
			}
		}
		prev = c
	}
	return letters, pairs
}

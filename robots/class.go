package robots

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// Class summarizes a policy over all URLs.
type Class uint8

const (
	Partial Class = iota
	AllowAll
	DisallowAll
)

func (c Class) String() string {
	return [...]string{"partial", "allow_all", "disallow_all"}[c]
}

// Class reports whether the policy allows every path, disallows every path, or
// neither (partial). It goes by meaning: Disallow: / beside Allow: / is
// allow_all, Disallow: * is disallow_all, and a rule that never decides changes
// nothing.
//
// It asks for the verdict on one path for each rule, its witness: the rule's
// pattern with a foreign byte, one that no pattern contains, in place of each
// star and at the open end. Only a star or an open end of another pattern can
// match that byte. So a rule that covers the witness covers all paths that the
// first rule matches; and if no other rule covers it, the first rule decides on
// the witness. This holds however conflicts are settled: if the verdict on the
// witness is open, it is open or worse wherever the rule matches.
//
// If the form of a pattern in a query differs from that in a path (Escapes
// rfc9309, as in /*%3A), the query may begin in any of its stars, and each has
// a witness. If a path covers only itself and the paths below it (BarePrefix),
// each of these ends has one.
//
// The answer is exact for paths that may hold any byte but NUL, which ends a
// URL. Two cases are partial without further search:
//
//   - a pattern contains the foreign byte, in a profile that does not escape it;
//   - so many rules that asking would take more than some milliseconds.
//
// /robots.txt is ignored where it is always allowed. A policy with several
// readings has the class on which all agree, else partial.
func (p *Policy) Class() Class {
	c := p.judge.classify(p.sets[0])
	for _, rs := range p.sets[1:] {
		if c == Partial || p.judge.classify(rs) != c {
			return Partial
		}
	}
	return c
}

// GroupClass returns the class that an agent's policy has if it follows only
// this group of the file last loaded. A group without a rule is allow_all.
func (j *Judge) GroupClass(f *File, group int) Class {
	// The group is compiled already if an agent follows only this group. With
	// several readings, the last one compiled may not be f.
	var rs *ruleset
	if group < len(j.byGroup) && !j.several {
		rs = j.byGroup[group]
	}
	if rs == nil || rs.file != f {
		rs = j.compile(f, int32(group))
	}
	class := j.classify(rs)
	if rs.twin != nil && j.classify(rs.twin) != class {
		return Partial
	}
	return class
}

// foreign occurs in no normalized pattern, because bytes from 0x80 are escaped,
// unless escapes is literal.
const foreign = 0xFF

// namesForeign reports whether a pattern of the ruleset contains the foreign byte.
func (j *Judge) namesForeign(rs *ruleset) bool {
	if j.profile.Escapes != EscapesLiteral {
		return false
	}
	for i := range rs.literals {
		if l := &rs.literals[i]; bytes.IndexByte(rs.text(l)[:l.n], foreign) >= 0 {
			return true
		}
	}
	for i := range rs.wilds {
		if bytes.IndexByte(rs.wilds[i].pattern, foreign) >= 0 {
			return true
		}
	}
	return false
}

// classBudget bounds the comparisons of rules for one class.
const classBudget = 1 << 20

// cost is what it costs to judge a path, in comparisons of rules: each star beyond the few that
// people write counts as one more.
func (rs *ruleset) cost() int {
	n := len(rs.literals) + len(rs.wilds)
	for i := range rs.wilds {
		n += max(bytes.Count(rs.wilds[i].pattern, []byte{'*'})-3, 0)
	}
	return n
}

func (j *Judge) classify(rs *ruleset) Class {
	if rs == nil {
		return AllowAll
	}
	if !rs.hasClass {
		if rs.hasClass = true; j.dialect {
			rs.class = j.findDialectClass(rs)
		} else {
			rs.class = j.findClass(rs)
		}
	}
	return rs.class
}

func (j *Judge) findClass(rs *ruleset) Class {
	allows, disallows := 0, 0
	count := func(key int32) {
		if key&1 != 0 {
			allows++
		} else {
			disallows++
		}
	}
	for i := range rs.literals {
		count(rs.literals[i].key)
	}
	for i := range rs.wilds {
		count(rs.wilds[i].key)
	}
	if disallows == 0 {
		return AllowAll
	}
	// If all rules are disallows without wildcards, the verdict on "/" decides.
	if (allows > 0 || j.profile.Wildcards) && j.namesForeign(rs) {
		return Partial
	}
	j.path = append(j.path[:0], '/', foreign)
	root, any := j.ask(rs, j.path[:1]), j.ask(rs, j.path)
	switch {
	case root != any || root == Undefined:
		return Partial
	case root == Disallowed && j.all(rs, Allow, Disallowed):
		return DisallowAll
	case root == Permitted && (allows > 0 || j.profile.RobotsTxtAllowed) && j.all(rs, Disallow, Permitted):
		return AllowAll
	}
	return Partial
}

func (j *Judge) ask(rs *ruleset, path []byte) Value {
	t := prepare(path)
	return j.decide(rs, &t).Value
}

// all reports whether the witnesses of all rules of a kind get the verdict
// want.
func (j *Judge) all(rs *ruleset, k Kind, want Value) bool {
	budget, cost := classBudget, rs.cost()
	ask := func(path []byte) bool {
		if budget -= cost + len(path); budget < 0 {
			return false
		}
		ignored := bytes.IndexByte(path, 0) >= 0 && j.profile.Requote != rewrite.RequotePlain ||
			j.profile.RobotsTxtAllowed && string(path) == "/robots.txt"
		return ignored || j.ask(rs, path) == want
	}
	return j.witnesses(rs, k, ask)
}

// witnesses asks about the witnesses of all rules of a kind, until an answer is false.
func (j *Judge) witnesses(rs *ruleset, k Kind, ask func(path []byte) bool) bool {
	for i := range rs.literals {
		l := &rs.literals[i]
		if l.key&1 != int32(k) {
			continue
		}
		path := j.witness(rs.text(l)[:l.n], l.anchor, false)
		if l.n > 0 { // else it is a star, which matches the slash
			path = path[1:]
		}
		if !ask(path) {
			return false
		}
		if j.profile.BarePrefix == Accept || l.anchor {
			continue
		}
		path = path[:len(path)-1]
		for _, end := range [...]string{"", "?\xff", "/\xff"} {
			if !ask(append(path, end...)) {
				return false
			}
		}
	}
	for i := range rs.wilds {
		w := &rs.wilds[i]
		if w.key&1 != int32(k) {
			continue
		}
		if !j.eachStart(j.witness(w.pattern, w.anchor, true), ask) {
			return false
		}
		if !rs.hasForms {
			continue
		}
		for star, n := 0, bytes.Count(w.pattern, []byte{'*'}); star < n; star++ {
			if path := j.queryWitness(w, star); path != nil && !j.eachStart(path, ask) {
				return false
			}
		}
	}
	return true
}

// eachStart asks about a witness, which begins with a slash too many. Stars at
// the start match at least the slash of the path, unless what follows begins
// with one.
func (j *Judge) eachStart(path []byte, ask func([]byte) bool) bool {
	if path[1] == '/' {
		return ask(path[1:])
	}
	n := 1
	for path[n] == foreign { // a pattern does not end with a star
		n++
	}
	if path[n] == '/' && !ask(path[n:]) {
		return false
	}
	return ask(path)
}

// witness returns a slash and the pattern, with a foreign byte wherever the
// pattern matches any bytes. Unless starred, a * is a byte like any other.
func (j *Judge) witness(pattern []byte, anchor, starred bool) []byte {
	path := append(append(j.path[:0], '/'), pattern...)
	for i, c := range path {
		if c == '*' && starred {
			path[i] = foreign
		}
	}
	if !anchor {
		path = append(path, foreign)
	}
	j.path = path
	return path
}

// queryWitness returns the witness of a pattern for a path whose first ? is in
// the given star. It returns nil if a literal before the star contains a ?.
func (j *Judge) queryWitness(w *wild, star int) []byte {
	inQuery := w.inQuery
	if inQuery == nil {
		inQuery = w.pattern
	}
	path := append(j.path[:0], '/')
	rest, pattern := inQuery, w.pattern
	for ; ; star-- {
		i, k := bytes.IndexByte(pattern, '*'), bytes.IndexByte(rest, '*')
		if bytes.IndexByte(pattern[:i], '?') >= 0 {
			return nil
		}
		path = append(append(path, pattern[:i]...), foreign)
		pattern, rest = pattern[i+1:], rest[k+1:]
		if star == 0 {
			break
		}
	}
	path = append(path, '?', foreign)
	for _, c := range rest {
		if c == '*' {
			c = foreign
		}
		path = append(path, c)
	}
	if !w.anchor {
		path = append(path, foreign)
	}
	j.path = path
	return path
}

package robots

import "bytes"

// Class is what a policy comes to over all URLs.
type Class uint8

const (
	Partial Class = iota
	AllowAll
	DisallowAll
)

func (c Class) String() string {
	return [...]string{"partial", "allow_all", "disallow_all"}[c]
}

// Class says whether the policy allows every path, disallows every path, or
// neither. It goes by meaning: Disallow: / beside Allow: / is allow_all,
// Disallow: * is disallow_all, and a rule that never decides changes nothing.
//
// It decides by asking for the verdict on one path for each rule: its own
// pattern with a foreign byte, one that no pattern has, in place of each star
// and at the open end. Only a star or an open end of another pattern can take
// that byte, so a rule that covers this path covers all that the first one
// matches; and if no other covers it, the path itself is the witness that the
// rule decides somewhere. That holds for each way to settle conflicts: what is
// open on the witness is open, or worse, wherever the rule matches.
//
// Where a pattern looks otherwise in a query than in a path (Escapes rfc9309,
// as /*%3A), each star may be the one that the query begins in, and there is a
// witness for each. Where a path covers itself and what lies below it
// (BarePrefix), there is one for each of these ends.
//
// The answer is therefore exact for paths that may hold any byte but NUL,
// which ends a URL. It is partial, without further search, where
//
//   - patterns that together name every byte that a URL may hold would leave
//     nothing to a foreign one;
//   - the rules number so many that asking costs more than some milliseconds.
//
// /robots.txt, where it is always allowed, is left out of account. A policy of
// several readings has the class on which all agree, else partial.
func (p *Policy) Class() Class {
	c := p.judge.classify(p.sets[0])
	for _, rs := range p.sets[1:] {
		if c == Partial || p.judge.classify(rs) != c {
			return Partial
		}
	}
	return c
}

// GroupClass is the class of one group of the file last loaded: that of an
// agent that follows this group alone. A group without a rule is allow_all.
func (j *Judge) GroupClass(f *File, group int) Class {
	// Where an agent follows it alone, it is compiled, and classed, already;
	// the last reading may have been another than f.
	if group < len(j.byGroup) && !j.several {
		if rs := j.byGroup[group]; rs != nil && rs.file == f {
			return j.classify(rs)
		}
	}
	class := j.classify(j.compile(f, int32(group)))
	if f.choices.letter && j.classify(j.compile(j.readings[f.choices.letterReading()-1], int32(group))) != class {
		return Partial
	}
	return class
}

// foreign is in no normalized pattern: bytes from 0x80 are escaped there, and
// where they are not, patterns are plain prefixes, for which "/" is asked too.
const foreign = 0xFF

// classBudget bounds the rules compared for one class.
const classBudget = 1 << 20

func (j *Judge) classify(rs *ruleset) Class {
	if rs == nil {
		return AllowAll
	}
	if !rs.hasClass {
		rs.class, rs.hasClass = j.findClass(rs), true
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
	j.path = append(j.path[:0], '/', foreign)
	root, any := j.ask(rs, j.path[:1]), j.ask(rs, j.path)
	switch {
	case root != any || root == Undefined:
		return Partial
	case root == Disallowed && j.all(rs, Allow, Disallowed):
		return DisallowAll
	case root == Allowed && allows > 0 && j.all(rs, Disallow, Allowed):
		return AllowAll
	}
	return Partial
}

func (j *Judge) ask(rs *ruleset, path []byte) Value {
	t := prepare(path)
	return j.decide(rs, &t).Value
}

// all says whether the paths of all rules of a kind get the verdict want.
func (j *Judge) all(rs *ruleset, k Kind, want Value) bool {
	budget := classBudget
	cost := len(rs.literals) + len(rs.wilds)
	ask := func(path []byte) bool {
		if budget -= cost + len(path); budget < 0 {
			return false
		}
		return bytes.IndexByte(path, 0) >= 0 || j.ask(rs, path) == want
	}
	for i := range rs.literals {
		l := &rs.literals[i]
		if l.key&1 != int32(k) {
			continue
		}
		path := j.witness(rs.text(l)[:l.n], l.anchor, false)
		if l.n > 0 { // else it is a star, which takes the slash
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

// eachStart asks for a witness, which begins with a slash too many. A star at
// the start takes at least the slash of the path, unless what follows begins
// with one.
func (j *Judge) eachStart(path []byte, ask func([]byte) bool) bool {
	if path[1] == '/' {
		return ask(path[1:])
	}
	if len(path) > 2 && path[2] == '/' && !ask(path[2:]) {
		return false
	}
	return ask(path)
}

// witness puts a foreign byte where a pattern lets any bytes be, and a slash
// before it all. Without wildcards a * is a byte like any other.
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

// queryWitness is the witness of a pattern whose star of that number takes the
// first ? of the path, nil where a literal before it does.
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

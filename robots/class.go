package robots

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
// rule decides somewhere. The answer is therefore exact for paths that may
// hold any byte. It is partial, without further search, where
//
//   - patterns that together name every byte that a URL may hold would leave
//     nothing to a foreign one;
//   - a pattern looks otherwise in a query (Escapes rfc9309, as /*%3A) and
//     some rule disallows;
//   - the profile leaves open whether a wildcard disallow or an allow goes
//     first (longest_or_least), and there are both;
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
	if group < len(j.byGroup) {
		if rs := j.byGroup[group]; rs != nil && rs.file == f {
			return j.classify(rs)
		}
	}
	return j.classify(j.compile(f, int32(group)))
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
	allows, disallows, wildDisallow := 0, 0, false
	for i := range rs.literals {
		if rs.literals[i].key&1 != 0 {
			allows++
		} else {
			disallows++
		}
	}
	for i := range rs.wilds {
		if rs.wilds[i].key&1 != 0 {
			allows++
		} else {
			disallows++
			wildDisallow = true
		}
	}
	switch {
	case disallows == 0:
		return AllowAll
	case rs.hasForms || allows > 0 && wildDisallow && j.profile.Precedence == LongestOrLeast:
		return Partial
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
		return j.ask(rs, path) == want
	}
	for i := range rs.literals {
		l := &rs.literals[i]
		if l.key&1 == int32(k) && !ask(j.witness(rs.text(l)[:l.n], l.anchor)[1:]) {
			return false
		}
	}
	for i := range rs.wilds {
		w := &rs.wilds[i]
		if w.key&1 != int32(k) {
			continue
		}
		path := j.witness(w.pattern, w.anchor)
		if path[1] == '/' {
			path = path[1:]
		} else if len(path) > 2 && path[2] == '/' && !ask(path[2:]) {
			// A star at the start takes at least the slash of the path,
			// unless what follows begins with one.
			return false
		}
		if !ask(path) {
			return false
		}
	}
	return true
}

// witness puts a foreign byte where a pattern lets any bytes be, and a slash
// before it all.
func (j *Judge) witness(pattern []byte, anchor bool) []byte {
	path := append(append(j.path[:0], '/'), pattern...)
	for i, c := range path {
		if c == '*' {
			path[i] = foreign
		}
	}
	if !anchor {
		path = append(path, foreign)
	}
	j.path = path
	return path
}

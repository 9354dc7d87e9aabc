package robots

import (
	"bytes"
	"strings"
)

// findDialectClass returns the class of a ruleset of a dialect. What findClass finds of
// all strings holds for paths too. If that is partial, or the ruleset is odd, real paths
// show it: those that the rules name, and if they all have one verdict, a search for
// another. For a rule that no path can follow, because no URL has the form of its pattern,
// decides nowhere.
func (j *Judge) findDialectClass(rs *ruleset) Class {
	class := Partial
	if rs.odd {
		class = j.oddClass(rs)
	} else {
		class = j.findClass(rs)
	}
	if class != Partial || !rs.odd && !j.profile.transforms() {
		return class
	}
	switch class = j.askedClass(rs); class {
	case AllowAll:
		return j.searchedClass(rs, class, nil)
	case DisallowAll:
		return j.searchedClass(rs, class, closedRules())
	}
	return Partial
}

// searchedClass returns a class that ruleset all has, if no path has another verdict under
// rs, else partial.
func (j *Judge) searchedClass(rs *ruleset, class Class, all *ruleset) Class {
	a, b := &Policy{judge: j, sets: []*ruleset{all}}, &Policy{judge: j, sets: []*ruleset{rs}}
	if path, whole, _ := shortest(a, b, classBudget, AllPaths); path != nil || !whole {
		return Partial
	}
	return class
}

// closedRules are the rules that forbid everything.
func closedRules() *ruleset {
	f := refusedFile()
	rs := &ruleset{file: f}
	rs.addPattern([]byte("/"), nil, false, f.Rules[0].Length<<1, 0, false)
	return rs
}

// askedClass returns the class of a ruleset as far as paths that its rules name show it.
func (j *Judge) askedClass(rs *ruleset) Class {
	var seen [3]bool
	isPartial := func() bool { return seen[Undefined] || seen[Permitted] && seen[Disallowed] }
	budget, cost := classBudget, rs.cost()
	ask := func(path []byte) {
		if isPartial() {
			return
		}
		if budget -= cost + len(path); budget < 0 {
			seen = [3]bool{true, true, true}
			return
		}
		t := j.profile.target(path)
		if !t.isRobotsTxt {
			seen[j.decide(rs, &t).Value] = true
		}
	}
	if j.partsSoon(rs) {
		return Partial
	}
	fresh := rs.freshLetter()
	ask([]byte("/"))
	for _, end := range [...]byte{fresh, '!', '~'} {
		ask([]byte{'/', end})
	}
	each := func(pattern []byte, anchor, starred bool) {
		for _, filler := range [...]string{"", "?", string(fresh) + "?"} { // a star may reach into the query
			path := pattern
			if starred {
				path = bytes.ReplaceAll(pattern, []byte("*"), []byte(filler+string(fresh)))
			}
			if len(path) == 0 || path[0] != '/' {
				path = append([]byte("/"), path...)
			}
			for range 2 {
				if ask(path); isPartial() {
					return
				}
				for _, end := range [...]byte{fresh, '!', '~'} { // also below and above other patterns
					if !anchor {
						ask(append(bytes.Clone(path), end))
					}
				}
				if !bytes.HasPrefix(path, []byte("//")) {
					break
				}
				path = append([]byte("/%2F"), path[2:]...) // which may be decoded to it
			}
		}
	}
	for i := 0; i < len(rs.literals) && !isPartial(); i++ {
		l := &rs.literals[i]
		each(rs.text(l)[:l.n], l.anchor, false)
	}
	for i := 0; i < len(rs.wilds) && !isPartial(); i++ {
		each(rs.wilds[i].pattern, rs.wilds[i].anchor, true)
	}
	switch {
	case isPartial():
		return Partial
	case seen[Disallowed]:
		return DisallowAll
	}
	return AllowAll
}

// partsSoon reports whether the path of one of the first rules has another verdict than the root,
// as in nearly all files.
func (j *Judge) partsSoon(rs *ruleset) bool {
	t := j.profile.target([]byte("/"))
	root := j.decide(rs, &t)
	for i := range rs.literals[:min(len(rs.literals), 8)] {
		l := &rs.literals[i]
		path := rs.text(l)[:l.n]
		if (root.Value == Disallowed) != (Kind(l.key&1) == Allow) || !bytes.HasPrefix(path, []byte("/")) {
			continue
		}
		if t = j.profile.target(path); !t.isRobotsTxt && j.decide(rs, &t).Value != root.Value {
			return true
		}
	}
	return false
}

// freshLetter returns a letter that no pattern has, if there is one.
func (rs *ruleset) freshLetter() byte {
	var used [256]bool
	for i := range rs.literals {
		for _, c := range rs.text(&rs.literals[i]) {
			used[c] = true
		}
	}
	for i := range rs.wilds {
		for _, c := range rs.wilds[i].pattern {
			used[c] = true
		}
	}
	const letters = "qxzjkvwyQXZJKVWY0123456789~_-"
	for _, c := range []byte(letters) {
		if !used[c] {
			return c
		}
	}
	return letters[strings.IndexByte(letters, '~')]
}

// oddClass is findClass for an odd ruleset, where a rule of one kind alone decides.
func (j *Judge) oddClass(rs *ruleset) Class {
	var allows, disallows, everything bool
	for i := range rs.literals {
		l := &rs.literals[i]
		allows, disallows = allows || l.key&1 != 0, disallows || l.key&1 == 0
		everything = everything || l.key&1 == 0 && !l.anchor && (l.n == 0 || l.n == 1 && rs.text(l)[0] == '/')
	}
	for i := range rs.wilds {
		k := rs.wilds[i].key & 1
		allows, disallows = allows || k != 0, disallows || k == 0
	}
	switch {
	case !disallows:
		return AllowAll
	case everything && !allows && !j.profile.GreatestOnly:
		return DisallowAll
	}
	return Partial
}

package robots

import (
	"bytes"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// find searches for paths on which two policies differ, whose language is l.
func find(a, b *Policy, l *automaton.Language, how automaton.Search) automaton.Finding {
	how.Most = min(how.Most, automaton.MaxWork)
	f := l.Search(how)
	if a.judge.profile.dots() == b.judge.profile.dots() || !l.Rewrites() || how.Paths != automaton.AllPaths {
		return f // if none rewrites, no rule of the one that resolves dots reads a path
	}
	settled := func() bool {
		c, o := f.Paths[closes] != nil, f.Paths[opens] != nil
		return (c || !how.Ways[closes]) && (o || !how.Ways[opens]) || how.Either && (c || o)
	}
	for way := range f.Paths {
		if settled() || !how.Ways[way] || f.Paths[way] != nil {
			continue
		}
		path, work := dottedPath(a, b, way, how.Most-f.Work)
		if f.Work += work; path != nil {
			f.Paths[way] = path
			if f.First == nil {
				f.First = path
			}
		}
	}
	f.Whole = f.Whole && settled()
	return f
}

// dottedPath returns a path with dot segments on which two policies differ, of which one
// resolves them, or nil. To that one, such a path leads to another place than it names:
// so it tries paths that the rules name, each with a way from one to another.
func dottedPath(a, b *Policy, way, most int) (path []byte, work int) {
	var named [][]byte
	rules := 0
	for _, of := range [...]*Policy{a, b} {
		for _, rs := range of.sets {
			if rs == nil {
				continue
			}
			rules += len(rs.literals) + 8*len(rs.wilds)
			for i := range rs.literals {
				if len(named) == maxNamed {
					break
				}
				l := &rs.literals[i]
				if path, ok := pathOf(nil, rs.text(l)[:l.n], false); ok {
					named = append(named, path)
				}
			}
			for i := range rs.wilds {
				if len(named) == maxNamed {
					break
				}
				if path, ok := pathOf(nil, rs.wilds[i].pattern, true); ok {
					named = append(named, path)
				}
			}
		}
	}
	named = append(named, []byte{'/', filler})
	differs := func(path []byte) bool {
		x, y := rank(a.judgePath(path).Value), rank(b.judgePath(path).Value)
		return way == closes && y > x || way == opens && y < x
	}
	last := named[len(named)-1]
	for _, path := range named {
		for _, ends := range [...][2][]byte{{path, last}, {last, path}} {
			x := overDots(ends[0], ends[1])
			if work += rules + len(x); work > most {
				return nil, work
			}
			if differs(x) {
				return x, work
			}
		}
	}
	return nil, work
}

// maxNamed bounds the paths that dottedPath tries.
const maxNamed = 1 << 10

// overDots returns a path that begins as one and leads to another.
func overDots(from, to []byte) []byte {
	from, _, _ = bytes.Cut(from, []byte{'?'})
	path := bytes.Clone(from)
	for range bytes.Count(from, []byte{'/'}) {
		path = append(path, "/.."...)
	}
	return append(path, to...)
}

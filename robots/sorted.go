package robots

import (
	"bytes"
	"net/url"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// sortQuery returns a path and query as net/url writes them again: the query decoded, its
// parts sorted by name, and encoded. An empty query is lost, and so are parts that do not
// decode.
func sortQuery(path []byte) []byte {
	if bytes.IndexByte(path, '?') < 0 && !bytes.ContainsAny(path, "|\"<>\\^`{} ") {
		return path
	}
	u, err := url.Parse("http://host.example" + string(path))
	if err != nil {
		return path
	}
	out := u.EscapedPath()
	if u.RawQuery != "" {
		out += "?" + u.Query().Encode()
	}
	return []byte(out)
}

// The search for a difference reads a path symbol by symbol, which does not sort. So it
// compares two policies as if neither sorted queries. If both do, they are asked about fewer
// paths than it tries: where it finds no difference there is none, and a counterexample
// counts if they differ on it. If one of them does, that holds for rules that end before a
// query, on paths that a URL can hold: any other is decoded, and escaped anew, so that a needless
// escape is none there. Of those the rules tell some.

// sorts reports whether a query is sorted before one of the policies is asked.
func sorts(a, b *Policy) bool {
	return a.judge.profile.SortedQuery || b.judge.profile.SortedQuery
}

// sortAlike reports whether what holds of all paths holds of what the policies are asked
// about.
func sortAlike(a, b *Policy) bool { return a.judge.profile == b.judge.profile }

// endsBeforeQueries reports whether no rule can tell one query from another, or from none.
func (p *Policy) endsBeforeQueries() bool {
	for _, rs := range p.sets {
		if rs == nil {
			continue
		}
		if len(rs.wilds) > 0 || rs.odd || rs.hides {
			return false
		}
		for i := range rs.literals {
			l := &rs.literals[i]
			if text := rs.text(l)[:l.n]; l.anchor || bytes.IndexByte(text, '?') >= 0 || bytes.ContainsAny(text, "|\"<>\\^`{} ") {
				return false
			}
		}
	}
	return true
}

// compareSorted is [CompareWithin] for policies of which one sorts queries. Where the search
// does not tell, it asks about the paths that rules name.
func compareSorted(a, b *Policy, most int) (c Comparison, work int) {
	if c, ok := compareClasses(a, b); ok {
		return c, 0
	}
	c, may, work := compareFit(a, b, most)
	same := sortAlike(a, b)
	if same && c.Relation != RelationUndecided {
		return c, work
	}
	p := prober{a: a, b: b, ways: [2]bool{may[closes] && c.Closes == nil, may[opens] && c.Opens == nil}, escaping: !same}
	p.try(a, b)
	for way, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if p.paths[way] != nil {
			*w = counterexample(a, b, p.paths[way])
		}
	}
	c.Sorted = c.Sorted || c.Relation != RelationUndecided
	found := [2]bool{closes: c.Closes != nil, opens: c.Opens != nil}
	c.Relation = relationOf(found, same && (found[closes] || !may[closes]) && (found[opens] || !may[opens]))
	c.Sorted = c.Sorted && c.Relation == RelationUndecided
	return c, work + p.work
}

// compareFit is compareSorted on paths that a URL can hold, without asking about those that
// rules name. may are the ways in which the policies may differ.
func compareFit(a, b *Policy, most int) (c Comparison, may [2]bool, work int) {
	c, work = compareWithin(a, b, most)
	searched, alike := c.Relation != RelationUndecided, sortAlike(a, b) || a.endsBeforeQueries() && b.endsBeforeQueries()
	if may = ways(a, b); searched && sortAlike(a, b) {
		may = [2]bool{closes: c.Closes != nil, opens: c.Opens != nil}
	}
	whole := searched && alike
	var found [2]bool
	for way, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if *w == nil {
			continue
		}
		one, two := rank((*w).A.Value), rank((*w).B.Value)
		if found[way] = way == int(closes) && one < two || way == int(opens) && one > two; !found[way] {
			*w, whole = nil, false
		}
	}
	c.Relation = relationOf(found, whole)
	c.Sorted = c.Relation == RelationUndecided && (searched || !alike)
	return c, may, work
}

// differSorted is [Differ] for policies of which one sorts queries.
func differSorted(a, b *Policy, most int) (d Difference, work int) {
	p := prober{a: a, b: b, ways: ways(a, b), either: true, escaping: true, plain: true}
	p.tryAll(a, b)
	if p.found != [2]bool{} {
		return Differs, p.work
	}
	c, _, work := compareFit(a, b, most-p.work)
	switch {
	case c.Relation != Equal:
		return DifferenceUndecided, work + p.work
	case sortAlike(a, b):
		return Same, work + p.work
	}
	if p.try(a, b); p.needless {
		return DifferInEscapes, work + p.work
	}
	return DifferenceUndecided, work + p.work
}

// distinguishSorted is [Distinguish] for policies of which one sorts queries. What it finds
// may not be the shortest.
func distinguishSorted(a, b *Policy, most int, of automaton.Paths) (w *Counterexample, decided bool, work int) {
	p := prober{a: a, b: b, ways: ways(a, b), either: true, escaping: true, plain: of != AllPaths}
	p.tryAll(a, b)
	if p.found != [2]bool{} {
		return counterexample(a, b, p.path), true, p.work
	}
	c, _, work := compareFit(a, b, most-p.work)
	return nil, c.Relation == Equal && (of != AllPaths || sortAlike(a, b)), work + p.work
}

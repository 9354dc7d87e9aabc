package robots

import (
	"slices"

	"github.com/robocensus/robocensus/robots/internal/automaton"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// Probe compares two policies only on paths that their rules name, for pairs
// that [CompareWithin] leaves undecided. Its counterexamples need not be the
// shortest.
func Probe(a, b *Policy) Comparison {
	p := newProber(a, b)
	c := Comparison{Relation: p.relation()}
	for i, w := range [...]**Counterexample{&c.Closes, &c.Opens} {
		if path := p.paths[i]; path != nil {
			*w = counterexample(a, b, path)
		}
	}
	return c
}

// probeWork bounds the work of a prober.
const probeWork = 1 << 16

// A prober asks two policies about paths that their rules name.
type prober struct {
	a, b  *Policy
	ways  [2]bool // how the policies can differ
	found [2]bool
	paths [2][]byte // by way: a path on which they differ
	path  []byte    // last path asked
	work  int
	most  int // bounds the work if it is more than probeWork

	either   bool // stop at the first difference
	escaping bool // also ask with the last letter escaped that a rule names
	plain    bool // only paths without needless escapes count
	needless bool // they differ on another path
}

// newProber asks two policies about the paths of all their rules. At least one
// of the policies must not be allow_all.
func newProber(a, b *Policy) *prober {
	p := &prober{a: a, b: b, ways: ways(a, b)}
	one, two, same := a.Class(), b.Class(), a.judge.profile == b.judge.profile // else /robots.txt may differ
	if one == AllowAll || same && two == DisallowAll {
		p.ways[opens] = false
	}
	if two == AllowAll || same && one == DisallowAll {
		p.ways[closes] = false
	}
	p.try(a, b)
	return p
}

// relation returns the relation that follows from the paths and from the ways
// in which the policies can differ.
func (p *prober) relation() Relation {
	switch {
	case p.found[closes] && p.found[opens]:
		return Mixed
	case !p.ways[closes] && !p.ways[opens]:
		return Equal
	case p.found[closes] && !p.ways[opens]:
		return Stricter
	case p.found[opens] && !p.ways[closes]:
		return Looser
	}
	return RelationUndecided
}

// try asks about the paths of all rules.
func (p *prober) try(of ...*Policy) {
	for _, policy := range of {
		for _, rs := range policy.sets {
			if rs == nil || p.settled() {
				continue
			}
			for i := range rs.literals {
				if l := &rs.literals[i]; !p.rule(rs.text(l)[:l.n], l.anchor, false) {
					return
				}
			}
			for i := range rs.wilds {
				if w := &rs.wilds[i]; !p.rule(w.pattern, w.anchor, true) {
					return
				}
			}
		}
	}
}

// filler stands in for what a pattern matches with a wildcard or an open end.
const filler = '~'

// rule asks about a path that a pattern matches and, if the pattern has an open
// end, about a longer one. It reports whether to continue.
func (p *prober) rule(pattern []byte, anchor, starred bool) bool {
	var ok bool
	if p.path, ok = pathOf(p.path[:0], pattern, starred); !ok {
		return true // never in a normalized URL
	}
	n := len(p.path)
	if !p.ask() {
		return false
	}
	if !anchor {
		if p.path = append(p.path, filler); !p.ask() {
			return false
		}
	}
	if !p.escaping || p.needless {
		return true
	}
	if p.path = p.path[:n]; !p.askUnfit() {
		return false
	}
	for i := n - 1; i > 0; i-- {
		if c := p.path[i]; rewrite.IsUnreserved(c) && c != filler && (i < 2 || p.path[i-1] != '%' && p.path[i-2] != '%') {
			p.path = slices.Replace(p.path, i, i+1, '%', rewrite.HexDigits[c>>4], rewrite.HexDigits[c&15])
			return p.ask() && p.askUnfit()
		}
	}
	return true
}

// askUnfit asks about the path with a character behind it that no URL holds, if a profile
// that sorts queries writes it anew then. It reports whether to continue.
func (p *prober) askUnfit() bool {
	if !sorts(p.a, p.b) {
		return true
	}
	if p.path = append(p.path, '|'); !p.ask() {
		return false
	}
	p.path = p.path[:len(p.path)-1]
	return true
}

// pathOf appends a path that a pattern matches. It is not ok if a URL cannot have it.
func pathOf(dst, pattern []byte, starred bool) (path []byte, ok bool) {
	if len(pattern) == 0 || pattern[0] != '/' && !(len(pattern) > 1 && starred && pattern[0] == '*' && pattern[1] == '/') {
		dst = append(dst, '/')
	}
	for i, c := range pattern {
		switch {
		case c == '*' && starred:
			if i > 0 {
				dst = append(dst, filler)
			}
		case c <= ' ' || c > '~' || c == '#':
			return dst, false
		default:
			dst = append(dst, c)
		}
	}
	return dst, true
}

// isPlain reports whether a difference on the path counts as one on plain paths.
func (p *prober) isPlain() bool {
	if p.a.judge.profile.transforms() || p.b.judge.profile.transforms() {
		return automaton.IsNormal(p.path)
	}
	return automaton.IsPlain(p.path)
}

// spend adds to the work, and reports whether the bound allows that.
func (p *prober) spend(work int) bool {
	p.work += work
	return p.work <= max(p.most, probeWork)
}

// ask asks about the path. It reports whether to continue.
func (p *prober) ask() bool {
	cost := 0
	for _, of := range [...]*Policy{p.a, p.b} {
		for _, rs := range of.sets {
			if rs != nil {
				cost += len(rs.literals) + 8*len(rs.wilds) + len(p.path)
			}
		}
	}
	if !p.spend(cost) {
		return false
	}
	a, b := rank(p.a.judgePath(p.path).Value), rank(p.b.judgePath(p.path).Value)
	if p.plain && a != b && !p.isPlain() {
		p.needless = true
		return true
	}
	for way, shown := range [2]bool{closes: b > a, opens: b < a} {
		if shown && !p.found[way] {
			p.found[way], p.paths[way] = true, slices.Clone(p.path)
		}
	}
	return !p.settled()
}

func (p *prober) settled() bool {
	c, o := p.found[closes], p.found[opens]
	return (c || !p.ways[closes]) && (o || !p.ways[opens]) && (!p.escaping || p.needless) || p.either && (c || o)
}

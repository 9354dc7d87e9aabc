package automaton

import (
	"encoding/binary"
	"slices"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// An item is a pattern of a ruleset with its label.
type item struct {
	plain, star int32 // one of them is -1
	key         int32
	label       label
	when        Moment
	bare        bool // without anchor and star
}

// A Voice takes the rules of one permitted reading of a policy. The verdict of a policy is
// that of all its voices, or undefined if they differ.
type Voice struct {
	l      *Language
	policy int
	view   int32
	mode   Mode
	items  []item
}

// Voice returns a voice for a policy, which compares rules with a path in a form. rules is
// their number.
func (l *Language) Voice(policy int, of View, m Mode, rules int) *Voice {
	return &Voice{l: l, policy: policy, view: l.view(of), mode: m, items: make([]item, 0, rules)}
}

// Plain adds a rule whose pattern has no star. Of the rules that match, the one with the
// highest key decides. Keys are below settled. The last bit tells an allow from a disallow.
// bare says that the pattern has no anchor either.
func (w *Voice) Plain(text []byte, key int32, when Moment, bare bool) {
	l := w.l
	l.key = append(append(l.key[:0], byte(w.view)), text...)
	i, ok := l.plainAt[string(l.key)]
	if !ok {
		v := &l.views[w.view]
		i = int32(len(v.plains))
		l.plainAt[string(l.key)] = i
		v.plains = append(v.plains, plainPattern{text: text})
	}
	w.items = append(w.items, item{plain: i, star: -1, key: key, label: labelOf(key), when: when, bare: bare})
}

// A Pattern is a pattern with a star.
type Pattern struct {
	Text    []byte
	InQuery []byte // its form in a query, nil if the same
	Anchor  bool
	Once    bool // what follows the last star counts at its first place only
}

// Starred adds a rule whose pattern has a star.
func (w *Voice) Starred(p Pattern, key int32, when Moment) {
	l := w.l
	pattern, inQuery := rewrite.OneStar(p.Text), rewrite.OneStar(p.InQuery)
	l.key = append(l.key[:0], byte(w.view), 0)
	for i, is := range [...]bool{p.Anchor, p.Once, w.recent()} {
		if is {
			l.key[1] |= 1 << i
		}
	}
	l.key = binary.LittleEndian.AppendUint32(l.key, uint32(len(pattern)))
	l.key = append(append(l.key, pattern...), inQuery...)
	i, ok := l.starAt[string(l.key)]
	if !ok {
		i = int32(len(l.stars))
		l.starAt[string(l.key)] = i
		s := starred{view: w.view, anchor: p.Anchor, path: l.text.add(pattern), forms: inQuery != nil, recurs: w.recent()}
		if p.Once {
			l.text.miss[s.path.to] = gone
		}
		if s.forms {
			s.query = l.text.add(inQuery)
		}
		l.stars = append(l.stars, s)
		l.views[w.view].stars = append(l.views[w.view].stars, i)
		l.size += len(p.Text)
	}
	w.items = append(w.items, item{plain: -1, star: i, key: key, label: labelOf(key), when: when})
}

// Add adds the voice to its policy, with a ladder for each question that its mode asks.
// Negated, it forbids what its rules do not, and allows what they forbid.
func (w *Voice) Add(negated bool) {
	all := func(x item) (int32, bool) { return x.key, true }
	allTies := func(x item) (int32, bool) { return x.key ^ 1, true }
	plain := func(x item) (int32, bool) { return x.key, x.star < 0 }
	plainTies := func(x item) (int32, bool) { return x.key ^ 1, x.star < 0 }
	wild := func(want label) func(item) (int32, bool) {
		return func(x item) (int32, bool) { return 1, x.star >= 0 && x.label == want }
	}
	only := func(want label) func(item) (int32, bool) {
		return func(x item) (int32, bool) { return x.key, x.bare && x.label == want }
	}
	others := func(x item) (int32, bool) { return x.key, !x.bare }
	v := voice{mode: w.mode, negated: negated}
	switch w.mode {
	case TheLongest:
		v.ladders = [4]int32{w.ladder(labelAllow, all)}
	case TheLongestTies:
		v.ladders = [4]int32{w.ladder(labelAllow, all), w.ladder(labelAllow, allTies)}
	case AnyWild:
		v.ladders = [4]int32{w.ladder(noLabel, plain), w.ladder(noLabel, wild(labelDisallow)),
			w.ladder(noLabel, wild(labelAllow))}
	case AnyWildTies:
		v.ladders = [4]int32{w.ladder(noLabel, plain), w.ladder(noLabel, plainTies), w.ladder(noLabel, wild(labelDisallow)),
			w.ladder(noLabel, wild(labelAllow))}
	case OrTheLeast:
		v.ladders = [4]int32{w.ladder(labelAllow, all), w.ladder(noLabel, plain), w.ladder(noLabel, wild(labelAllow))}
	case OrTheLeastTies:
		v.ladders = [4]int32{w.ladder(labelAllow, all), w.ladder(noLabel, plain), w.ladder(noLabel, wild(labelAllow)),
			w.ladder(labelAllow, allTies)}
	case Highest:
		v.ladders = [4]int32{w.ladder(noLabel, only(labelAllow)), w.ladder(noLabel, only(labelDisallow)),
			w.ladder(noLabel, others)}
	case LastToEnd:
		v.ladders = [4]int32{w.ladder(labelAllow, func(x item) (int32, bool) { return recentKey | x.key&1, true })}
	}
	w.l.of[w.policy].add(v)
}

// recent reports whether the ladders are; see ladder.
func (w *Voice) recent() bool { return w.mode == LastToEnd }

// hides reports whether some rules hide others.
func (w *Voice) hides() bool { return w.mode == Highest }

// ladder builds the ladder of the items that key selects. Both policies share
// equal ladders.
func (w *Voice) ladder(initial label, key func(item) (int32, bool)) int32 {
	l := w.l
	on := make([]item, 0, len(w.items))
	for _, x := range w.items {
		k, ok := key(x)
		if ok {
			x.key = k
			on = append(on, x)
		}
	}
	slices.SortFunc(on, func(a, b item) int {
		for _, d := range [...]int32{a.plain - b.plain, a.star - b.star, int32(a.when) - int32(b.when), b.key - a.key} {
			if d != 0 {
				return int(d)
			}
		}
		return 0
	})
	// Of several rules with one pattern, the one with the highest key counts.
	on = slices.CompactFunc(on, func(a, b item) bool { return a.plain == b.plain && a.star == b.star && a.when == b.when })
	l.key = append(l.key[:0], byte(w.view), byte(initial))
	for i, is := range [...]bool{w.recent(), w.hides()} {
		if is {
			l.key[1] |= 1 << (7 - i)
		}
	}
	for _, x := range on {
		for _, n := range [...]int32{x.plain, x.star, x.key} {
			l.key = binary.LittleEndian.AppendUint32(l.key, uint32(n))
		}
		l.key = append(l.key, byte(x.label), byte(x.when))
	}
	n, ok := l.ladderAt[string(l.key)]
	if ok {
		return n
	}
	n = int32(len(l.ladders))
	l.ladderAt[string(l.key)] = n
	made := ladder{view: w.view, initial: initial, recent: w.recent(), resets: w.hides() && len(on) > 0 && on[0].bare,
		keyed: w.hides()}
	for _, x := range on {
		e := effect{ladder: n, key: x.key, label: x.label, when: x.when}
		if x.star >= 0 {
			made.stars = append(made.stars, rung{x.key, x.star, x.label})
			l.stars[x.star].effects = append(l.stars[x.star].effects, e)
		} else {
			p := &l.views[w.view].plains[x.plain]
			p.effects = append(p.effects, e)
		}
		l.size++
	}
	slices.SortFunc(made.stars, func(a, b rung) int {
		if a.key != b.key {
			return int(a.key - b.key)
		}
		return int(a.star - b.star)
	})
	l.ladders = append(l.ladders, made)
	return n
}

// of returns the pattern's effects on a ladder.
func (p *plainPattern) of(n int32) []effect {
	i, _ := slices.BinarySearchFunc(p.effects, n, func(e effect, n int32) int { return int(e.ladder - n) })
	k := i
	for k < len(p.effects) && p.effects[k].ladder == n {
		k++
	}
	return p.effects[i:k]
}

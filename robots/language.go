package robots

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// This file turns two policies into the structures that the comparison walks:
// patterns as automata, and for each policy the ladders whose labels give a
// verdict.

// A plainPattern is a pattern without a star, shared by all rules that have it.
type plainPattern struct {
	text    []byte
	effects []effect
}

// A view is the path in one form, and the patterns compared with it.
type view struct {
	form   form
	as     rewriter             // if the form is rewritten
	plains []plainPattern       // ascending by text
	slot   int32                // slot of its state: a range of plains, and the bytes read
	stars  []int32              // indices in language.stars
	unders map[[2]int32][]int32 // see under
	recent []int32              // ladders that are
	resets []int32              // the same
}

// A form says how the path of a URL is normalized before it is compared.
type form uint8

const (
	asIs        form = iota
	upperHexed       // EscapesBoth
	normalForm       // EscapesRFC, reserved characters of the path distinct
	reservedToo      // EscapesRFC, reserved characters of the path equal
	rewritten        // by a dialect
)

// A stance is a policy as the voices of its permitted readings.
type stance struct {
	voices []voice
	// exempt is the ladder of /robots.txt if that is always allowed, else -1.
	exempt int32
}

// A language is two policies together.
type language struct {
	views   []view
	ladders []ladder
	stars   []starred
	of      [2]stance
	text    table   // texts of the starred patterns
	symbols *reader // reads symbols in place of bytes, if not nil

	// Used during construction: indices by view and text.
	plainAt  map[string]int32
	starAt   map[string]int32
	ladderAt map[string]int32
	size     int // number of effects
	most     int // bound on size
	key      []byte
}

// maxEffects bounds the size of a language.
const maxEffects = 1 << 21

// newLanguage builds the language of two policies; ok is false if it would be
// too large, or take more work than most, or if a reader cannot read its forms
// of a path. Its size is what was built until then.
func newLanguage(a, b *Policy, most int) (l *language, ok bool) {
	rules := 0
	for _, rs := range a.sets {
		if rs != nil {
			rules = max(rules, len(rs.literals))
		}
	}
	l = &language{most: maxEffects, plainAt: make(map[string]int32, rules), starAt: map[string]int32{}, ladderAt: map[string]int32{}}
	if most < maxWork {
		l.most = min(l.most, most/effectWork)
	}
	for i, p := range [...]*Policy{a, b} {
		if !l.addPolicy(&l.of[i], p) {
			return l, false
		}
	}
	for i := range l.views {
		v := &l.views[i]
		slices.SortFunc(v.plains, func(a, b plainPattern) int { return bytes.Compare(a.text, b.text) })
		l.size += len(l.ladders) * len(v.plains)
	}
	if l.size > l.most {
		return l, false
	}
	for i := range l.ladders {
		d := &l.ladders[i]
		if d.recent {
			l.views[d.view].recent = append(l.views[d.view].recent, int32(i))
		}
		if d.resets {
			l.views[d.view].resets = append(l.views[d.view].resets, int32(i))
		}
		plains := l.views[d.view].plains
		d.before = make([][2]int32, len(plains)+1)
		for k := range plains {
			d.before[k+1] = d.before[k]
			for _, e := range plains[k].of(int32(i)) {
				d.before[k+1][e.label.kind()]++
			}
		}
	}
	if slices.ContainsFunc(l.views, func(v view) bool { return v.form == rewritten }) {
		l.symbols = newReader(l, false)
		return l, l.symbols != nil
	}
	return l, true
}

// forms returns the forms of the path that decideForms compares with a ruleset.
func (j *Judge) forms(rs *ruleset) []form {
	if j.profile.transforms() {
		return []form{rewritten}
	}
	switch j.profile.Escapes {
	case EscapesBoth:
		return []form{upperHexed}
	case EscapesRFC:
		switch {
		case j.profile.Reserved == ReservedEqual || rs.letter:
			return []form{reservedToo}
		case j.profile.Reserved == ReservedOpen && rs.twin == nil:
			return []form{normalForm, reservedToo}
		}
		return []form{normalForm}
	}
	return []form{asIs}
}

func (l *language) addPolicy(s *stance, p *Policy) bool {
	s.exempt = -1
	if p.judge.profile.RobotsTxtAllowed {
		f := p.judge.forms(new(ruleset))[0]
		w := writer{l: l, view: l.view(f, p.judge.profile.rewriter())}
		w.plain([]byte("/robots.txt"), item{key: 1, label: labelAllow, when: atEnd})
		s.exempt = w.ladder(noLabel, func(item) (int32, bool) { return 1, true })
	}
	for _, rs := range p.sets {
		if rs == nil {
			s.add(voice{})
			continue
		}
		for _, f := range p.judge.forms(rs) {
			for _, whole := range [...]bool{false, true} {
				if whole && p.judge.profile.BarePrefix == Accept || !whole && p.judge.profile.BarePrefix == Reject {
					continue
				}
				s.add(l.addVoice(p.judge, rs, f, whole))
				if l.size > l.most {
					return false
				}
			}
		}
	}
	return true
}

func (s *stance) add(v voice) {
	// Search only the last 64, so that ten thousand groups do not take quadratic
	// time.
	if !slices.Contains(s.voices[max(0, len(s.voices)-64):], v) {
		s.voices = append(s.voices, v)
	}
}

func (l *language) view(f form, as rewriter) int32 {
	for i := range l.views {
		if l.views[i].form == f && l.views[i].as == as {
			return int32(i)
		}
	}
	l.views = append(l.views, view{form: f, as: as, unders: map[[2]int32][]int32{}})
	return int32(len(l.views) - 1)
}

// An item is a pattern of a ruleset with its label.
type item struct {
	plain, star int32 // one of them is -1
	key         int32
	label       label
	when        moment
	bare        bool // without anchor and star
}

// A writer builds the ladders of one ruleset.
type writer struct {
	l      *language
	view   int32
	items  []item
	recent bool // see ladder
	hides  bool // some items hide others
}

func (l *language) addVoice(j *Judge, rs *ruleset, f form, whole bool) voice {
	w := writer{l: l, view: l.view(f, j.profile.rewriter()), items: make([]item, 0, len(rs.literals)+len(rs.wilds)), recent: j.profile.Length == LengthMatchEnd, hides: rs.hides}
	for i := range rs.literals {
		x := &rs.literals[i]
		text := rs.text(x)[:x.n]
		when := atOnce
		switch {
		case x.anchor:
			when = atEnd
		case w.recent && rs.file.Rules[x.rule].Wildcard:
			when = fromThenOn
		case whole && x.n > 0 && text[x.n-1] != '/':
			when = atBorder
		}
		w.plain(text, item{key: x.key, label: labelOf(Kind(x.key & 1)), when: when, bare: rs.isPlain(x)})
	}
	for i := range rs.wilds {
		x := &rs.wilds[i]
		if l.size > l.most {
			break // the caller sees that
		}
		when := atOnce
		if w.recent && rs.endsWithStar(x) {
			when = fromThenOn
		}
		w.star(x, item{key: x.key, label: labelOf(Kind(x.key & 1)), when: when})
	}
	all := func(x item) (int32, bool) { return x.key, true }
	allTies := func(x item) (int32, bool) { return x.key ^ 1, true }
	plain := func(x item) (int32, bool) { return x.key, x.star < 0 }
	plainTies := func(x item) (int32, bool) { return x.key ^ 1, x.star < 0 }
	wild := func(want label) func(item) (int32, bool) {
		return func(x item) (int32, bool) { return 1, x.star >= 0 && x.label == want }
	}
	v := voice{}
	ties := j.profile.Ties == TiesOpen
	switch {
	case rs.hides:
		v.mode = highest
		only := func(want label) func(item) (int32, bool) {
			return func(x item) (int32, bool) { return x.key, x.bare && x.label == want }
		}
		others := func(x item) (int32, bool) { return x.key, !x.bare }
		v.ladders = [4]int32{w.ladder(noLabel, only(labelAllow)), w.ladder(noLabel, only(labelDisallow)), w.ladder(noLabel, others)}
	case w.recent:
		v.mode = theLongest
		v.ladders = [4]int32{w.ladder(labelAllow, func(x item) (int32, bool) { return recentKey | x.key&1, true })}
	case j.profile.Precedence == LongestOpen && ties:
		v.mode = anyWildTies
		v.ladders = [4]int32{w.ladder(noLabel, plain), w.ladder(noLabel, plainTies), w.ladder(noLabel, wild(labelDisallow)), w.ladder(noLabel, wild(labelAllow))}
	case j.profile.Precedence == LongestOpen:
		v.mode = anyWild
		v.ladders = [4]int32{w.ladder(noLabel, plain), w.ladder(noLabel, wild(labelDisallow)), w.ladder(noLabel, wild(labelAllow))}
	case j.profile.Precedence == LongestOrLeast && ties:
		v.mode = orTheLeastTies
		v.ladders = [4]int32{w.ladder(labelAllow, all), w.ladder(noLabel, plain), w.ladder(noLabel, wild(labelAllow)), w.ladder(labelAllow, allTies)}
	case j.profile.Precedence == LongestOrLeast:
		v.mode = orTheLeast
		v.ladders = [4]int32{w.ladder(labelAllow, all), w.ladder(noLabel, plain), w.ladder(noLabel, wild(labelAllow))}
	case ties:
		v.mode = theLongestTies
		v.ladders = [4]int32{w.ladder(labelAllow, all), w.ladder(labelAllow, allTies)}
	default:
		v.mode = theLongest
		v.ladders = [4]int32{w.ladder(labelAllow, all)}
	}
	return v
}

// plain adds a pattern without a star.
func (w *writer) plain(text []byte, x item) {
	l := w.l
	l.key = append(append(l.key[:0], byte(w.view)), text...)
	i, ok := l.plainAt[string(l.key)]
	if !ok {
		v := &l.views[w.view]
		i = int32(len(v.plains))
		l.plainAt[string(l.key)] = i
		v.plains = append(v.plains, plainPattern{text: text})
	}
	x.plain, x.star = i, -1
	w.items = append(w.items, x)
}

// star adds a pattern with a star.
func (w *writer) star(p *wild, x item) {
	l := w.l
	pattern, inQuery := oneStar(p.pattern), oneStar(p.inQuery)
	l.key = append(l.key[:0], byte(w.view), 0)
	for i, is := range [...]bool{p.anchor, p.once, w.recent} {
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
		s := starred{view: w.view, anchor: p.anchor, path: l.text.add(pattern), forms: inQuery != nil, recurs: w.recent}
		if p.once {
			l.text.miss[s.path.to] = gone
		}
		if s.forms {
			s.query = l.text.add(inQuery)
		}
		l.stars = append(l.stars, s)
		l.views[w.view].stars = append(l.views[w.view].stars, i)
		l.size += len(p.pattern)
	}
	x.plain, x.star = -1, i
	w.items = append(w.items, x)
}

// ladder builds the ladder of the items that key selects. Both policies share
// equal ladders.
func (w *writer) ladder(initial label, key func(item) (int32, bool)) int32 {
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
	for i, is := range [...]bool{w.recent, w.hides} {
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
	made := ladder{view: w.view, initial: initial, recent: w.recent, resets: w.hides && len(on) > 0 && on[0].bare, keyed: w.hides}
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

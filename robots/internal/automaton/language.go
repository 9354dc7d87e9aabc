package automaton

import (
	"bytes"
	"slices"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A plainPattern is a pattern without a star, shared by all rules that have it.
type plainPattern struct {
	text    []byte
	effects []effect
}

// A View is the path in one form.
type View struct {
	Form Form
	As   rewrite.Rewriter // if the form is Rewritten
}

// A view is the path in one form, and the patterns compared with it.
type view struct {
	View
	plains []plainPattern       // ascending by text
	slot   int32                // slot of its state: a range of plains, and the bytes read
	stars  []int32              // indices in Language.stars
	unders map[[2]int32][]int32 // see under
	recent []int32              // ladders that are
	resets []int32              // the same
}

// A Form says how the path of a URL is normalized before it is compared.
type Form uint8

const (
	AsIs        Form = iota
	UpperHexed       // bytes from 0x80 are escaped, digits of escapes in upper case
	NormalForm       // that of RFC 9309, reserved characters of the path distinct
	ReservedToo      // that of RFC 9309, reserved characters of the path equal
	Rewritten        // by a dialect
)

// A policy is the voices of its permitted readings.
type policy struct {
	voices []voice
	// exempt is the ladder of /robots.txt if that is always allowed, else -1.
	exempt int32
}

// A Language is two policies together.
type Language struct {
	views   []view
	ladders []ladder
	stars   []starred
	of      [2]policy
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

// NewLanguage returns a language without policies. rules is the number of rules that the
// first is expected to have. If it takes more work than most, the language is full before
// it is complete.
func NewLanguage(rules, most int) *Language {
	l := &Language{most: maxEffects, plainAt: make(map[string]int32, rules), starAt: map[string]int32{},
		ladderAt: map[string]int32{}}
	for i := range l.of {
		l.of[i].exempt = -1
	}
	if most < MaxWork {
		l.most = min(l.most, most/effectWork)
	}
	return l
}

// Full reports whether the language is too large to be completed.
func (l *Language) Full() bool { return l.size > l.most }

// Work is the work that the language took until now.
func (l *Language) Work() int { return l.size * effectWork }

// Complete prepares the language for searches. It reports false if that would be too large,
// or if no reader can read its forms of a path.
func (l *Language) Complete() bool {
	for i := range l.views {
		v := &l.views[i]
		slices.SortFunc(v.plains, func(a, b plainPattern) int { return bytes.Compare(a.text, b.text) })
		l.size += len(l.ladders) * len(v.plains)
	}
	if l.Full() {
		return false
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
	if slices.ContainsFunc(l.views, func(v view) bool { return v.Form == Rewritten }) {
		l.symbols = newReader(l, AllPaths)
		return l.symbols != nil
	}
	return true
}

// Rewrites reports whether a policy compares what a dialect makes of a path.
func (l *Language) Rewrites() bool { return l.symbols != nil }

// Exempt makes a policy allow a path, whatever its rules say.
func (l *Language) Exempt(policy int, of View, path []byte) {
	v := l.Voice(policy, of, TheLongest, 1)
	v.Plain(path, 1, AtEnd, false)
	l.of[policy].exempt = v.ladder(noLabel, func(item) (int32, bool) { return 1, true })
}

// AllowAll adds the voice of a reading without rules.
func (l *Language) AllowAll(policy int) { l.of[policy].add(voice{}) }

// ForbidAll adds a voice that forbids everything.
func (l *Language) ForbidAll(policy int) { l.of[policy].add(voice{negated: true}) }

func (s *policy) add(v voice) {
	// Search only the last 64, so that ten thousand groups do not take quadratic
	// time.
	if !slices.Contains(s.voices[max(0, len(s.voices)-64):], v) {
		s.voices = append(s.voices, v)
	}
}

func (l *Language) view(of View) int32 {
	for i := range l.views {
		if l.views[i].View == of {
			return int32(i)
		}
	}
	l.views = append(l.views, view{View: of, unders: map[[2]int32][]int32{}})
	return int32(len(l.views) - 1)
}

package automaton

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A drawn policy is one reading of random rules.
type drawn struct {
	mode  Mode
	form  Form
	as    rewrite.Rewriter // if the form is Rewritten
	rules []string         // patterns, each after + or -

	negated, closed bool // with a reading that forbids everything
}

// letters of patterns and of paths, on which the forms of a path part.
var letters = [][2]string{
	{"a b /", "! / a b"},
	{"a / ?", "! / ? a"},
	{"a $ /", "! $ * / a"},
	{"%4A % 4 J", "! % 4 A J a"},
	{"%3A : ? 3", "% 3 A : ?"},
	{"%2F ? / %2A", "% / 2 ? F A"},
	{"%22 \" 2 |", "! \" % 2 |"},
}

func draw(r *rand.Rand, from string, most int) drawn {
	pieces := strings.Fields(from)
	d := drawn{mode: TheLongest + Mode(r.IntN(int(OrTheLeastTies))), form: Form(r.IntN(int(Rewritten)))}
	for range r.IntN(5) {
		rule := string("+-"[r.IntN(2)]) + []string{"/", "*"}[r.IntN(2)]
		for range r.IntN(most) {
			if r.IntN(3) == 0 {
				rule += "*"
			} else {
				rule += pieces[r.IntN(len(pieces))]
			}
		}
		if r.IntN(5) == 0 {
			rule += "$"
		}
		d.rules = append(d.rules, rule)
	}
	return d
}

// compiled is a rule in the form of its policy.
type compiled struct {
	Pattern
	key     int32
	starred bool
}

func (d drawn) compile() (all []compiled) {
	for _, rule := range d.rules {
		text, anchored := strings.CutSuffix(rule[1:], "$")
		core := strings.TrimRight(text, "*")
		c := compiled{Pattern: Pattern{Text: d.normal(core, rewrite.OfPattern), Anchor: anchored && core == text}}
		c.starred = bytes.IndexByte(c.Text, '*') >= 0
		if c.starred && (d.form == NormalForm || d.form == ReservedToo) {
			if c.InQuery = rewrite.AppendRFC(nil, []byte(core), rewrite.OfPattern, true, d.form == ReservedToo); bytes.Equal(
				c.InQuery, c.Text) {
				c.InQuery = nil
			}
		}
		if c.key = int32(len(rule)) << 1; rule[0] == '+' {
			c.key |= allow
		}
		all = append(all, c)
	}
	return all
}

func (d drawn) normal(text string, side rewrite.Side) []byte {
	switch d.form {
	case UpperHexed:
		return rewrite.AppendUpperHex(nil, []byte(text))
	case NormalForm, ReservedToo:
		return rewrite.AppendRFC(nil, []byte(text), side, false, d.form == ReservedToo)
	case Rewritten:
		if side == rewrite.OfPattern {
			return d.as.Pattern([]byte(text), true)
		}
		return d.as.URL([]byte(text))
	}
	return []byte(text)
}

func (d drawn) tell(l *Language, policy int) {
	v := l.Voice(policy, View{Form: d.form, As: d.as}, d.mode, len(d.rules))
	for _, c := range d.compile() {
		switch {
		case c.starred:
			v.Starred(c.Pattern, c.key, AtOnce)
		case c.Anchor:
			v.Plain(c.Text, c.key, AtEnd, false)
		default:
			v.Plain(c.Text, c.key, AtOnce, true)
		}
	}
	v.Add(d.negated)
	if d.closed {
		l.ForbidAll(policy)
	}
}

func languageOf(t *testing.T, a, b drawn) *Language {
	l := NewLanguage(0, MaxWork)
	a.tell(l, 0)
	b.tell(l, 1)
	if !l.Complete() {
		t.Fatal("the language is too large")
	}
	return l
}

// matches tries every way to match a path in normal form.
func (c *compiled) matches(path []byte) bool {
	query := bytes.IndexByte(path, '?')
	if query < 0 {
		query = len(path)
	}
	inPath := bytes.Split(c.Text, []byte{'*'})
	inQuery := inPath
	if c.InQuery != nil {
		inQuery = bytes.Split(c.InQuery, []byte{'*'})
	}
	var from func(at, piece int) bool
	from = func(at, piece int) bool {
		if piece == len(inPath) {
			return !c.Anchor || at == len(path)
		}
		for i := at; i <= len(path); i++ {
			text := inPath[piece]
			if i > query {
				text = inQuery[piece]
			}
			if bytes.HasPrefix(path[i:], text) && from(i+len(text), piece+1) {
				return true
			}
			if piece == 0 {
				return false
			}
		}
		return false
	}
	return from(0, 0)
}

// judge says what the policy says of a path.
func (d drawn) judge(path string) Verdict {
	says := d.rule(path)
	if d.negated {
		if says == Disallowed {
			says = Allowed
		} else {
			says = Disallowed
		}
	}
	if d.closed && says == Allowed {
		return Undefined
	}
	return says
}

// rule says what the rules say of a path, by the definition of their mode.
func (d drawn) rule(path string) Verdict {
	var may, wild [2]bool
	best, plain := int32(-1), int32(-1)
	var tied, plainTied [2]bool // kinds of the longest, with and without stars
	all := d.compile()
	normal := d.normal(path, rewrite.OfURL)
	all = slices.DeleteFunc(all, func(c compiled) bool { return !c.matches(normal) })
	for _, c := range all {
		best = max(best, c.key)
		if wild[c.key&1] = wild[c.key&1] || c.starred; !c.starred {
			plain = max(plain, c.key)
		}
	}
	for _, c := range all {
		tied[c.key&1] = tied[c.key&1] || c.key>>1 == best>>1
		plainTied[c.key&1] = plainTied[c.key&1] || !c.starred && c.key>>1 == plain>>1
	}
	if best < 0 {
		return Allowed
	}
	switch d.mode {
	case TheLongest:
		may[best&1] = true
	case TheLongestTies:
		may = tied
	case AnyWild, AnyWildTies:
		may = wild
		if plain >= 0 {
			may[plain&1] = true
			if d.mode == AnyWildTies {
				may[disallow] = may[disallow] || plainTied[disallow]
			}
		}
	case OrTheLeast, OrTheLeastTies:
		may[best&1] = true
		if best&1 == disallow {
			may[allow] = wild[allow] || plain >= 0 && plain&1 == allow
		} else if d.mode == OrTheLeastTies {
			may = tied
		}
	}
	switch {
	case may[allow] && may[disallow]:
		return Undefined
	case may[disallow]:
		return Disallowed
	}
	return Allowed
}

// After each byte of a path, the automaton of two policies has the verdicts on the path so
// far.
func TestAutomaton(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	for range 1000 {
		of := letters[r.IntN(len(letters))]
		a, b := draw(r, of[0], 8), draw(r, of[0], 8)
		a.negated, a.closed, b.negated = r.IntN(4) == 0, r.IntN(4) == 0, r.IntN(4) == 0
		m := newAutomaton(languageOf(t, a, b))
		bytes := strings.Fields(of[1])
		for range 5 {
			st := make([]int32, m.size)
			m.begin(st)
			path := "/"
			for m.step(st, '/'); ; m.step(st, path[len(path)-1]) {
				x, y := m.verdicts(st)
				if u, v := a.judge(path), b.judge(path); x != u || y != v {
					t.Fatalf("%+v\n%+v\n%s: %v and %v, want %v and %v", a, b, path, x, y, u, v)
				}
				if len(path) == 14 {
					break
				}
				path += bytes[r.IntN(len(bytes))]
			}
		}
	}
}

// A search finds the paths that one finds which follows every byte of a URL and skips no
// state.
func TestSearchSkipsNoPath(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 1))
	const draws = 500
	left := 0
	for range draws {
		of := letters[r.IntN(len(letters))]
		a, b := draw(r, of[0], 5), draw(r, of[0], 5)
		if r.IntN(2) == 0 {
			b.form = a.form
		} else { // each escape is a separate state
			a.rules, b.rules = a.rules[:min(1, len(a.rules))], b.rules[:min(1, len(b.rules))]
		}
		if r.IntN(2) == 0 {
			b.mode = a.mode
			b.rules = append(b.rules, a.rules...)
		}
		if r.IntN(4) == 0 {
			a.negated, a.closed, b.negated = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
		}
		l := languageOf(t, a, b)
		s := search{automaton: newAutomaton(l)}
		if !s.runAll(500) {
			left++
			continue
		}
		f := l.Search(Search{Most: MaxWork, Ways: [2]bool{true, true}})
		for way, got := range f.Paths {
			var want []byte
			if s.found[way] >= 0 {
				want = s.path(s.found[way])
			}
			if !f.Whole || !bytes.Equal(got, want) {
				t.Fatalf("%+v\n%+v\nthe first path of way %d is %q, want %q", a, b, way, got, want)
			}
		}
	}
	if left > draws/2 {
		t.Errorf("%d of %d pairs have too many states to try", left, draws)
	}
}

// rewritten are letters of patterns and of paths on which what dialects make of them parts.
var rewritten = [][2]string{
	{"a / %61 %2F %2f ; ? = %25 € % 2 6 |", "/ a %61 %2F %2f ; ? = % ! | %E2%82%AC %E2 %25 2 6"},
	{"€ %E2%82%AC %E2 ©", "%E2%82%AC %E2%82%AD %E2 %82 %C2%A9"},
	{"a ? %3A : b", "a ? %3A :"},
	{"a . / ?", "a . / ?"},
	{"/ a", "/ a b"},
	{"2F 2 F", "%2F %22 2 F"},
}

// Where dialects rewrite the path, a search finds each way in which two policies differ on
// a short URL, on a URL that is as short. If only normalized URLs are asked for, it finds
// one of these.
func TestSearchOfRewrittenPaths(t *testing.T) {
	rewriters := []rewrite.Rewriter{
		{Requote: rewrite.RequotePath}, {Requote: rewrite.RequotePath, DoubleSlash: true}, {Requote: rewrite.RequoteQuery,
			DoubleSlash: true},
		{Requote: rewrite.RequoteUnreserved, InvalidIsRoot: true}, {Requote: rewrite.RequoteUnfit, EmptyQueryLost: true},
		{Requote: rewrite.RequoteValid},
		{Requote: rewrite.RequoteHarmless, FoldCase: true}, {Requote: rewrite.RequoteWhole},
	}
	draws := 1500
	if testing.Short() {
		draws = 600
	}
	r := rand.New(rand.NewPCG(19, 1))
	differ := 0
	for n := range draws {
		of := rewritten[n%len(rewritten)]
		a, b := draw(r, of[0], 4), draw(r, of[0], 4)
		a.mode, b.mode, a.form = TheLongest, TheLongest, Rewritten
		a.as = rewriters[r.IntN(len(rewriters))]
		if r.IntN(2) == 0 {
			b.form, b.as = Rewritten, rewriters[r.IntN(len(rewriters))]
		}
		if !a.as.Reconciles(&b.as) {
			b.form, b.as = AsIs, rewrite.Rewriter{}
		}
		if r.IntN(2) == 0 {
			b.rules = a.rules
		}
		letters := strings.Fields(of[1])
		r.Shuffle(len(letters), func(i, k int) { letters[i], letters[k] = letters[k], letters[i] })
		letters = append(letters[:min(4, len(letters))], "?")
		only := Paths(r.IntN(3))
		counts := func(path []byte) bool {
			slash, _, _ := bytes.Cut(path, []byte("?"))
			return only == AllPaths || IsNormal(path) && (only == PlainPaths || !bytes.Contains(slash, []byte("%2F")))
		}
		f := languageOf(t, a, b).Search(Search{Most: MaxWork, Ways: [2]bool{true, true}, Paths: only})
		most := [2]int{99, 99} // bytes of what was found
		for way, path := range f.Paths {
			if path == nil {
				continue
			}
			most[way] = len(path)
			if x, y := a.judge(string(path)), b.judge(string(path)); (way == Closes) != (y > x) || x == y || !counts(path) {
				t.Fatalf("%+v\n%+v\n%s, found for way %d, paths %d: %v and %v", a, b, path, way, only, x, y)
			}
			differ++
		}
		var try func(path string, left int)
		try = func(path string, left int) {
			x, y := a.judge(path), b.judge(path)
			way := Closes
			if y < x {
				way = Opens
			}
			n := len(path)
			before := n < most[way] || n == most[way] && path < string(f.Paths[way])
			if x != y && before && f.Whole && counts([]byte(path)) {
				t.Fatalf("%+v\n%+v\nthey differ on %s, paths %d: %v and %v; the search found %q", a, b, path, only, x, y, f.Paths)
			}
			if left > 0 {
				for _, c := range letters {
					try(path+c, left-1)
				}
			}
		}
		try("/", 4)
	}
	if differ < draws/3 {
		t.Errorf("only %d differences", differ)
	}
}

// A symbol that becomes nothing, as the second of a broken character does, is unlike one that
// becomes a byte, even if patterns distinguish neither escapes nor the byte. Here only such
// symbols show the difference: the other policy names all escapes that become U+FFFD alone.
func TestSearchThroughNothing(t *testing.T) {
	a := drawn{mode: TheLongest, form: Rewritten, as: rewrite.Rewriter{Requote: rewrite.RequotePath},
		rules: []string{"-/%EF%BF%BD/"}}
	b := drawn{mode: TheLongest, form: UpperHexed}
	for c := 0x80; c < 0x100; c++ {
		b.rules = append(b.rules, fmt.Sprintf("-/%%%02X/", c))
	}
	f := languageOf(t, a, b).Search(Search{Most: MaxWork, Ways: [2]bool{true, true}})
	if got := f.Paths[Opens]; string(got) != "/%E0%A0/" {
		t.Errorf("the shortest path that only the first policy forbids is %q", got)
	}
}

// Which character a URL begins makes no difference where patterns distinguish no escapes.
func TestSearchForgetsCharacters(t *testing.T) {
	a := drawn{mode: TheLongest, form: Rewritten, as: rewrite.Rewriter{Requote: rewrite.RequotePath},
		rules: []string{"-/*z"}}
	b := drawn{mode: TheLongest, rules: []string{"-/*%4*z"}}
	l := languageOf(t, a, b)
	if f := l.Search(Search{Most: MaxWork, Ways: [2]bool{true, false}}); !f.Whole || f.States > 50 {
		t.Errorf("%d states, whole %t", f.States, f.Whole)
	}
	if n := len(l.symbols.table(new(readMode)).groups); n > 10 {
		t.Errorf("%d kinds of symbols", n)
	}
}

// runAll is run without its shortcuts; it gives up after too many states.
func (s *search) runAll(most int) bool {
	s.found = [2]int32{-1, -1}
	s.now = make([]int32, s.size)
	s.table = make([]int32, 64)
	s.begin(s.now)
	s.first()
	for n := int32(0); n < int32(len(s.nodes)); n++ {
		for _, x := range allSymbols {
			if c, escaped := x.Char(); !escaped && c != '#' {
				copy(s.now, s.state(n))
				s.enter(x, n)
			}
		}
		if len(s.nodes) > most {
			return false
		}
	}
	return true
}

// An escape that forms read otherwise is tried although no pattern has one.
func TestPlainPathsHaveEscapes(t *testing.T) {
	a, b := drawn{mode: TheLongest, form: NormalForm, rules: []string{"-/$]"}}, drawn{mode: TheLongest, form: ReservedToo,
		rules: []string{"-/$]"}}
	f := languageOf(t, a, b).Search(Search{Most: MaxWork, Ways: [2]bool{true, true}, Paths: PlainPaths})
	if string(f.First) != "/$%5D" {
		t.Errorf("the first path is %q", f.First)
	}
}

// What an escape is needed for, by RFC 3986.
func TestIsPlain(t *testing.T) {
	for path, want := range map[string]bool{
		"/admin": true, "/%61dmin": false, "/%7Euser": false, "/a%20b": true, "/a%2fb": false, "/a%2Fb": true,
		"/?a%2Fb": false, "/?a%3Db": false,
		"/a%3Ab": false, "/%C3%A9": true, "/%c3%A9": false, "/%": false, "/%4": false, "/%zz": false, "/?%5B": true,
		"/%23": true, "/a%3Fb": true, "/?%3F": false,
	} {
		if got := IsPlain([]byte(path)); got != want {
			t.Errorf("%s: %t, want %t", path, got, want)
		}
	}
}

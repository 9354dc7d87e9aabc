package robots

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

var compareDraws = flag.Int("compare.draws", 400, "pairs of policies that each profile is tried with")

// policyOf returns the policy of agent a in a file of one group.
func policyOf(p *Profile, rules string) *Policy {
	f := new(File)
	f.Parse([]byte("user-agent: a\n"+rules), p)
	j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
	j.Load(f)
	return j.Policy(0)
}

// TestCompare covers rules that random draws seldom produce.
func TestCompare(t *testing.T) {
	for _, c := range []struct {
		profiles, a, b string
		want           string // relation, closes, opens
	}{
		{"google", "disallow: /a", "disallow: /a", "equal - -"},
		{"google", "disallow: /private/", "disallow: /private/\ndisallow: /news/", "stricter /news/ -"},
		{"google", "disallow: /a", "disallow: /a\ndisallow: /a", "equal - -"},
		{"google", "disallow: /a\nallow: /b", "allow: /b\ndisallow: /a", "equal - -"},
		{"google", "disallow: /a", "disallow: /a$\ndisallow: /a*", "equal - -"},
		{"google", "disallow: /a", "disallow: /a$\ndisallow: /a/", "looser - /a!"},
		{"google", "disallow: /\nallow: /a", "disallow: /ab", "mixed /ab /"},
		{"google", "disallow: /*?", "disallow: /?\ndisallow: /*a?", "looser - /!?"},
		{"google", "allow: /a/index.html\ndisallow: /a", "allow: /a/index.html\nallow: /a/$\ndisallow: /a", "equal - -"},
		{"google-2019", "allow: /page\ndisallow: /*.htm", "allow: /page\ndisallow: /*.htm\ndisallow: /page.htm",
			"stricter /page.htm -"},
		{"classic-1996", "disallow: /help", "disallow: /help/", "looser - /help"},
		{"rfc9309", "disallow: /%7Ea", "disallow: /~a", "equal - -"},
		{"rfc9309", "disallow: /", "disallow: *\ndisallow: /robots.txt", "equal - -"},
		{"google rfc9309", "disallow: /", "disallow: /", "looser - /robots.txt"},
		// The length of a rule counts if another lies between.
		{"google", "allow: /a\ndisallow: /abc", "allow: /a****\ndisallow: /abc", "looser - /abc"},
		{"google", "disallow: /a****\nallow: /abc", "disallow: /a\nallow: /abc", "looser - /abc"},
		{"google", "allow: /a****\ndisallow: /ab******", "allow: /a****\ndisallow: /ab", "looser - /ab"},
		{"google", "disallow: /a*", "disallow: /a$", "looser - /a!"},
		{"google", "disallow: /*ab\nallow: /*a**", "disallow: /*ab\nallow: /*a", "stricter /ab -"},
		// Several stars at the start leave a rule that decides only where its slash
		// is the first, so the policy is not allow_all.
		{"google", "allow: /*/**\ndisallow: /?*/", "disallow: **/?\nallow: /*/**\ndisallow: /?*/", "stricter /? -"},
		{"google-2019", "disallow: //a*$\nallow: /aa*a$", "allow: /??*/\nallow: /***/\ndisallow: **/a", "mixed /a //a"},
		// Only an escape shows the difference.
		{"google rfc9309", "disallow: /a", "disallow: /a", "stricter /%61 -"},
		{"google rfc9309", "disallow: /*61", "disallow: /*61", "mixed /6%31 /%61"},
		{"google rfc9309", "disallow: /*6a", "disallow: /*6a", "mixed /6%61 /%6a"},
		{"google google-2019", "disallow: /*aa", "disallow: /*aa", "looser - /%aa"},
		{"rfc9309", "disallow: /%%341", "", "looser - /%%341"},
		{"rfc9309", "disallow: /*3A", "disallow: /*3A\nallow: /*:b****", "looser - /3A:b"},
		{"equal", "disallow: /%%341", "", "looser - /%%341"},
		{"rfc9309 equal", "disallow: /*3A", "disallow: /*3A", "looser - /%3A"},
		{"rfc9309", "disallow: /%3A", "disallow: /:", "mixed /: /%3A"},
		{"rfc9309", "disallow: /*%3A", "disallow: /*%3A\ndisallow: /?:", "equal - -"},
		{"rfc9309", "disallow: /*?*%3A", "disallow: /*?*:", "equal - -"},
	} {
		names := strings.Fields(c.profiles)
		profile := func(name string) *Profile {
			if name != "equal" {
				return named(t, name)
			}
			p := named(t, "rfc9309")
			p.Reserved = ReservedEqual
			return p
		}
		a, b := policyOf(profile(names[0]), c.a), policyOf(profile(names[len(names)-1]), c.b)
		x := Compare(a, b)
		got := x.Relation.String()
		for _, w := range []*Counterexample{x.Closes, x.Opens} {
			if w != nil {
				got += " " + w.Path
			} else {
				got += " -"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q and %q: got %s, want %s", c.profiles, c.a, c.b, got, c.want)
		}
		if r, _ := Relate(a, b, automaton.MaxWork); r != x.Relation {
			t.Errorf("%s: %q and %q: Compare gives %v, Relate %v", c.profiles, c.a, c.b, x.Relation, r)
		}
		if d, _ := Differ(a, b, automaton.MaxWork); d == DifferenceUndecided || (d != Same) != (x.Relation != Equal) {
			t.Errorf("%s: %q and %q: Compare gives %v, Differ %v", c.profiles, c.a, c.b, x.Relation, d)
		}
	}
}

// An arena is a set of paths on which a comparison is checked: all paths up to
// a length over a few letters.
type arena struct {
	letters []string // of patterns
	path    string   // letters of paths, ascending
	length  int
}

var arenas = []arena{
	{[]string{"a", "b", "/"}, "!/ab", 6},
	{[]string{"a", "/", "?"}, "!/?a", 6},
	{[]string{"a", "$", "/"}, "!$*/a", 5},
	{[]string{"%", "4", "a"}, "!%14a", 6},
	{[]string{"%4a", "J", "%", "4A"}, "!%4AJa", 5},
	{[]string{"%4A", "%", "4"}, "!%4Ac", 6},
	{[]string{"%3a", ":", "?", "3"}, "%3:?A", 6},
	{[]string{"%3A", "%", "A"}, "!%3A:", 6},
	{[]string{"%2A", "%24", "2", "$"}, "!$%*2A", 5},
	{[]string{"/", "index.html", "a"}, "!/a", 5},
	{[]string{"%2F", "?", "/"}, "%/2?F", 6},
	{[]string{"%3A", "?", "%33A", "%"}, "%3?A", 6},
	{[]string{"robots.txt", "/", "r"}, "!/r", 5},
	{[]string{"%22", "\"", "2", "%"}, "!\"%2A", 5},
	{[]string{"%7c", "|", "7", "C", "?"}, "%7?C|", 5},
	{[]string{"<", "!", "%3C", "\"", "^"}, "!\"%3<C", 5},
	{[]string{"%5", "\\", "a", "%5C", "`"}, "!5\\C`a", 5},
}

// paths returns all paths of an arena, the shortest first and in byte order.
func (a *arena) paths() []string {
	all := []string{"/"}
	for from := 0; len(all[from]) < a.length; from++ {
		for i := range len(a.path) {
			all = append(all, all[from]+a.path[i:i+1])
		}
	}
	return all
}

func (a *arena) pattern(r *rand.Rand, most int) string {
	var b strings.Builder
	if r.IntN(8) > 0 {
		b.WriteByte('/')
	}
	for range r.IntN(most + 1) {
		if r.IntN(1+most/2) == 0 {
			b.WriteByte('*')
		} else {
			b.WriteString(a.letters[r.IntN(len(a.letters))])
		}
	}
	if r.IntN(5) == 0 {
		b.WriteByte('$')
	}
	return b.String()
}

// rules draws a few rules of at most `most` letters and stars.
func (a *arena) rules(r *rand.Rand, most int) []string {
	var rules []string
	kinds := []string{"disallow: ", "disallow: ", "allow: ", "allow: ", "disalow: "}
	for range r.IntN(5) {
		rules = append(rules, kinds[r.IntN(len(kinds))]+a.pattern(r, most))
	}
	return rules
}

// tryAll returns the first path on which b has a higher verdict than a, and the
// first on which it has a lower one; -1 for none.
func tryAll(a, b *Policy, targets, targetsB []Target) (closes, opens int) {
	closes, opens = -1, -1
	for i := range targets {
		switch x, y := rank(a.Judge(&targets[i]).Value), rank(b.Judge(&targetsB[i]).Value); {
		case y > x && closes < 0:
			closes = i
		case y < x && opens < 0:
			opens = i
		}
		if closes >= 0 && opens >= 0 {
			break
		}
	}
	return closes, opens
}

func shorter(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// checkComparison checks a comparison on all paths of an arena.
func checkComparison(c Comparison, a, b *Policy, ar *arena, paths []string, ta, tb []Target) error {
	want := map[[2]bool]Relation{{}: Equal, {true, false}: Stricter, {false, true}: Looser, {true, true}: Mixed}[[2]bool{
		c.Closes != nil, c.Opens != nil}]
	if c.Relation != want {
		return fmt.Errorf("%v with witnesses %v and %v", c.Relation, c.Closes, c.Opens)
	}
	if r, _ := Relate(a, b, automaton.MaxWork); r != c.Relation {
		return fmt.Errorf("Compare gives %v, Relate %v", c.Relation, r)
	}
	if d, _ := Differ(a, b, automaton.MaxWork); d == DifferenceUndecided || (d != Same) != (c.Relation != Equal) {
		return fmt.Errorf("Compare gives %v, Differ %v", c.Relation, d)
	}
	first := c.Closes
	if first == nil || c.Opens != nil && shorter(c.Opens.Path, first.Path) < 0 {
		first = c.Opens
	}
	if w, decided, _ := Distinguish(a, b, automaton.MaxWork, AllPaths); !decided || !reflect.DeepEqual(w, first) {
		return fmt.Errorf("%v, and the first difference is %v (%t), want %v", c.Relation, w, decided, first)
	}
	if err := checkPlain(a, b, ar, paths, ta, tb); err != nil {
		return err
	}
	closes, opens := tryAll(a, b, ta, tb)
	for i, w := range []*Counterexample{c.Closes, c.Opens} {
		found := []int{closes, opens}[i]
		if w == nil {
			if found >= 0 {
				return fmt.Errorf("%v, and witness %d is %s", c.Relation, i, paths[found])
			}
			continue
		}
		if x, y := a.judgePath([]byte(w.Path)), b.judgePath([]byte(w.Path)); x != w.A || y != w.B ||
			rank(y.Value) > rank(x.Value) != (i == 0) || x.Value == y.Value {
			return fmt.Errorf("witness %d, %s: %v and %v, want %v and %v", i, w.Path, w.A, w.B, x, y)
		}
		within := len(w.Path) <= ar.length && strings.Trim(w.Path, ar.path) == "" && w.Path[0] == '/'
		for k := range len(w.Path) {
			if w.Path[k] < '!' || w.Path[k] > '~' || w.Path[k] == '#' {
				return fmt.Errorf("witness %q", w.Path)
			}
			within = within && strings.IndexByte(ar.path, w.Path[k]) >= 0
		}
		switch {
		case found < 0 && within, found >= 0 && shorter(paths[found], w.Path) < 0, found >= 0 && within &&
			paths[found] != w.Path:
			first := "none"
			if found >= 0 {
				first = paths[found]
			}
			return fmt.Errorf("witness %d is %s, want %s", i, w.Path, first)
		}
	}
	return nil
}

// checkPlain checks what is left of a difference on the paths of an arena without needless
// escapes.
func checkPlain(a, b *Policy, ar *arena, paths []string, ta, tb []Target) error {
	d, _ := Differ(a, b, automaton.MaxWork)
	w, decided, _ := Distinguish(a, b, automaton.MaxWork, PlainPaths)
	if !decided || (d == Differs) != (w != nil) {
		return fmt.Errorf("%v, and the first plain difference is %v (%t)", d, w, decided)
	}
	first := ""
	for i, path := range paths {
		if automaton.IsPlain([]byte(path)) && a.Judge(&ta[i]).Value != b.Judge(&tb[i]).Value {
			first = path
			break
		}
	}
	if w == nil {
		if first != "" {
			return fmt.Errorf("%v, and they differ on %s", d, first)
		}
		return nil
	}
	if !automaton.IsPlain([]byte(w.Path)) || w.A.Value == w.B.Value || w.A != a.judgePath([]byte(w.Path)) ||
		w.B != b.judgePath([]byte(w.Path)) {
		return fmt.Errorf("%v, plain counterexample %v", d, w)
	}
	within := len(w.Path) <= ar.length && strings.Trim(w.Path, ar.path) == ""
	if first != "" && shorter(first, w.Path) < 0 || within && first != w.Path {
		return fmt.Errorf("the first plain difference is %s, want %s", w.Path, first)
	}
	return nil
}

// TestCompareModel checks the relation of random pairs of policies, and both
// counterexamples, on all short paths.
func TestCompareModel(t *testing.T) {
	if _, ok := ProfileNamed(drawn); ok {
		t.Fatalf("%s is a profile, so none is drawn", drawn)
	}
	for _, name := range append(documentNames(), drawn) {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(14, uint64(len(name))))
			most := 0
			for i := range *compareDraws {
				p, q := drawProfile(r.IntN, name), drawProfile(r.IntN, name)
				if r.IntN(4) > 0 {
					q = p
				}
				ar := &arenas[i*len(arenas) / *compareDraws]
				paths, ta, tb := ar.targets(p, q)
				rules := ar.rules(r, 4)
				other := ar.rules(r, 4)
				if r.IntN(2) == 0 { // the same rules and a few more
					other = append(other[:min(1, len(other))], rules...)
				}
				a, b := policyOf(p, strings.Join(rules, "\n")), policyOf(q, strings.Join(other, "\n"))
				c := Compare(a, b)
				most = max(most, c.States)
				if err := checkComparison(c, a, b, ar, paths, ta, tb); err != nil {
					t.Fatalf("draw %d: %+v\n%q\n%+v\n%q\n%v", i, *p, rules, *q, other, err)
				}
			}
			t.Logf("%d pairs, at most %d states", *compareDraws, most)
		})
	}
}

var (
	pathsOf   = map[string][]string{}
	targetsOf = map[string][]Target{}
)

// targets returns the paths of an arena, prepared once for each meaning.
func (a *arena) targets(p, q *Profile) (paths []string, ta, tb []Target) {
	key := fmt.Sprint(a.path, a.length)
	if pathsOf[key] == nil {
		pathsOf[key] = a.paths()
	}
	paths = pathsOf[key]
	for i, p := range []*Profile{p, q} {
		key := fmt.Sprint(a.path, a.length, p.Escapes, p.Reserved, p.RobotsTxtAllowed)
		if targetsOf[key] == nil {
			for _, path := range paths {
				targetsOf[key] = append(targetsOf[key], p.target([]byte(path)))
			}
		}
		*[]*[]Target{&ta, &tb}[i] = targetsOf[key]
	}
	return paths, ta, tb
}

// drawn stands for a random profile. No profile may have this name.
const drawn = "drawn"

// drawProfile returns a built-in profile, or a random one that a user could
// write. intN draws a number below another.
func drawProfile(intN func(int) int, name string) *Profile {
	if p, ok := ProfileNamed(name); ok {
		return p
	}
	p, _ := ProfileNamed(documentNames()[intN(5)])
	if intN(2) == 0 {
		return p
	}
	flip := func() bool { return intN(2) == 0 }
	p.Precedence = []Precedence{Longest, LongestOpen, LongestOrLeast}[intN(3)]
	p.Ties = []Ties{TiesAllow, TiesOpen}[intN(2)]
	p.AddSlash, p.CountTrailingStar, p.IndexHTML, p.RobotsTxtAllowed = flip(), flip(), flip(), flip()
	p.Escapes = []Escapes{EscapesLiteral, EscapesPattern, EscapesBoth, EscapesRFC}[intN(4)]
	p.Reserved = []Reserved{ReservedDistinct, ReservedEqual, ReservedOpen}[intN(3)]
	p.BarePrefix = Accept
	if p.Wildcards = intN(3) > 0; !p.Wildcards {
		p.BarePrefix = []Leniency{Accept, Reject, Open}[intN(3)]
	}
	p.Typos = []Leniency{Accept, Reject, Open}[intN(3)]
	return p
}

// TestCompareMetamorphic checks that order, repetition and implied rules change
// no relation, that B against A mirrors A against B, and that a class is a
// relation to everything or nothing.
func TestCompareMetamorphic(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	mirror := map[Relation]Relation{Equal: Equal, Stricter: Looser, Looser: Stricter, Mixed: Mixed}
	path := func(w *Counterexample) string {
		if w == nil {
			return ""
		}
		return w.Path
	}
	for i := range 5 * *compareDraws {
		p := drawProfile(r.IntN, append(documentNames(), drawn)[i%6])
		ar := &arenas[r.IntN(len(arenas))]
		one, two := ar.rules(r, 4), ar.rules(r, 4)
		if r.IntN(2) == 0 {
			two = append(two, one...)
		}
		of := func(rules []string) *Policy { return policyOf(p, strings.Join(rules, "\n")) }
		a, b := of(one), of(two)
		c := Compare(a, b)
		back := Compare(b, a)
		if back.Relation != mirror[c.Relation] || path(c.Closes) != path(back.Opens) || path(c.Opens) != path(back.Closes) {
			t.Fatalf("%+v\n%q\n%q\n%+v, and back %+v", *p, one, two, c, back)
		}
		if self := Compare(b, of(two)); self.Relation != Equal {
			t.Fatalf("%+v\n%q is %v to itself: %+v", *p, two, self.Relation, self)
		}
		more := append([]string{}, two...)
		r.Shuffle(len(more), func(i, k int) { more[i], more[k] = more[k], more[i] })
		if len(more) > 0 {
			more = append(more, more[r.IntN(len(more))], "allow:", "disallow: # nothing")
		}
		if strings.Count(strings.Join(two, " "), "disallow: ") == len(two) && p.BarePrefix == Accept {
			for _, rule := range two {
				if !strings.HasSuffix(rule, "$") && rule != "disallow: " {
					more = append(more, rule+"/x") // implied by rule
				}
			}
		}
		if d := Compare(a, of(more)); d.Relation != c.Relation || path(d.Closes) != path(c.Closes) ||
			path(d.Opens) != path(c.Opens) {
			t.Fatalf("%+v\n%q\n%q and %q\n%+v and %+v", *p, one, two, more, c, d)
		}
		for class, rules := range map[Class]string{AllowAll: "", DisallowAll: "disallow: /"} {
			relation := searchWithoutClass(b, policyOf(p, rules))
			// A random profile may have patterns that match no normalized path;
			// Class does not detect that.
			if b.Class() == class && relation != Equal || i%6 < 5 && relation == Equal && b.Class() != class {
				t.Fatalf("%+v\n%q is of class %v, and %q is %v", *p, two, b.Class(), rules, relation)
			}
		}
	}
}

// searchWithoutClass is Compare without the shortcuts that use classes.
func searchWithoutClass(a, b *Policy) Relation {
	l, ok := newLanguage(a, b, automaton.MaxWork)
	if !ok {
		return RelationUndecided
	}
	f := find(a, b, l, automaton.Search{Most: automaton.MaxWork, Ways: [2]bool{true, true}})
	return relationOf([2]bool{f.Paths[closes] != nil, f.Paths[opens] != nil}, f.Whole)
}

// TestCompareCorpus compares the policies of real files: every group with the
// group for all, under each profile, and every policy under each two profiles.
// Every group is decided, and random URLs contradict no answer: 10,000 for each
// pair; with -short 30, on every hundredth file.
func TestCompareCorpus(t *testing.T) {
	files, urls, every := corpus(t), 10_000, 1
	if testing.Short() {
		urls, every = 30, 100
	}
	var bodies [][]byte
	for i, host := range slices.Sorted(maps.Keys(files)) {
		if i%every == 0 {
			bodies = append(bodies, files[host])
		}
	}
	names := documentNames()
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			r, pairs := rand.New(rand.NewPCG(16, uint64(i))), 0
			corpusPairs(t, bodies, named(t, name), func(star, own *Policy) {
				pairs++
				if c := tryURLs(t, r, urls, star, own); c.Relation == RelationUndecided {
					t.Errorf("pair %d, %s and *: undecided after %d states", pairs, own.GroupAgent, c.States)
				}
			})
			t.Logf("%d pairs, %d URLs", pairs, pairs*urls)
		})
		for k, other := range names[:i] {
			t.Run(other+" and "+name, func(t *testing.T) {
				r, p, q := rand.New(rand.NewPCG(17, uint64(i*len(names)+k))), named(t, other), named(t, name)
				pairs, undecided := 0, 0
				for _, body := range bodies {
					f, g := new(File), new(File)
					f.Parse(body, p)
					g.Parse(body, q)
					agents := namedAgents(f)
					j, k := NewJudge(p, agents), NewJudge(q, agents)
					j.Load(f)
					k.Load(g)
					known := make(map[[2]int]bool)
					for n := range agents {
						a, b := j.Policy(n), k.Policy(n)
						key := [2]int{a.SameAs, b.SameAs}
						if known[key] {
							continue
						}
						known[key] = true
						pairs++
						if c := tryURLs(t, r, urls, a, b); c.Relation == RelationUndecided {
							undecided++
						}
					}
				}
				if undecided*10 > pairs {
					t.Errorf("%d pairs of %d are undecided", undecided, pairs)
				}
				t.Logf("%d pairs, %d URLs, %d undecided", pairs, pairs*urls, undecided)
			})
		}
	}
}

// tryURLs checks a comparison on random URLs that the rules are likely to
// distinguish.
func tryURLs(t *testing.T, r *rand.Rand, urls int, a, b *Policy) Comparison {
	t.Helper()
	c := Compare(a, b)
	if r, _ := Relate(a, b, automaton.MaxWork); r != c.Relation && c.Relation != RelationUndecided &&
		r != RelationUndecided { // each may prove what the other gives up
		t.Fatalf("Compare gives %v, Relate %v", c.Relation, r)
	}
	for range urls {
		path := drawURL(r, a.judge.file)
		x, y := a.judgePath(path), b.judgePath(path)
		higher, lower := rank(y.Value) > rank(x.Value), rank(y.Value) < rank(x.Value)
		for _, w := range []struct {
			differs bool
			*Counterexample
		}{{higher, c.Closes}, {lower, c.Opens}} {
			if w.differs && (w.Counterexample == nil && c.Relation != RelationUndecided || w.Counterexample != nil &&
				shorter(string(path), w.Path) < 0 && !a.judge.profile.transforms() && !b.judge.profile.transforms()) {
				t.Fatalf("%s has %v and %v, and the relation is %v, first %v", path, x.Value, y.Value, c.Relation, w.Counterexample)
			}
		}
	}
	return c
}

// drawURL returns a path that rules of a file match or nearly match.
func drawURL(r *rand.Rand, f *File) []byte {
	path := []byte{'/'}
	for range 1 + r.IntN(2) {
		if len(f.Rules) == 0 {
			break
		}
		for _, c := range f.Rules[r.IntN(len(f.Rules))].Pattern {
			switch {
			case c == '*' && r.IntN(4) > 0:
				for range r.IntN(3) {
					path = append(path, "ab/?=&."[r.IntN(7)])
				}
			case c == '/' && len(path) == 1, c == '$' && r.IntN(2) == 0, r.IntN(60) == 0:
			case c > ' ' && c < 0x7F && c != '#':
				path = append(path, c)
			}
		}
	}
	for range r.IntN(4) {
		path = append(path, "!a/?=%4"[r.IntN(7)])
	}
	return path
}

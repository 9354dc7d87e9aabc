package robots

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

var dialectPairs = flag.Int("dialect-pairs", 0, "pairs of policies that each dialect is asked to compare (0: a few)")

// pathTokens are what random paths and patterns are made of.
var pathTokens = []string{"a", "b", "/", "?", "%2F", "%61", "$", "*", "=", ";", ".", "&", "ab", "index.html", "!",
	"%C3%A9",
	"..", "%2e", "\\", "\"", "^", "[", "%", "4", "1", "%C3", "%a9", "%ef", "%3F", "%25", "%00", "%2f", "Z", "z", "_", "~"}

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	b.WriteByte('/')
	tokens := pathTokens[:len(pathTokens)/2]
	if r.IntN(3) == 0 {
		tokens = pathTokens
	}
	for range r.IntN(most + 1) {
		b.WriteString(tokens[r.IntN(len(tokens))])
	}
	return b.String()
}

// randomFile returns a file of one group with a few rules.
func randomFile(r *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString("User-agent: x\n")
	for range 1 + r.IntN(4) {
		pattern := randomText(r, 3)
		switch r.IntN(8) {
		case 0:
			pattern = pattern[1:]
		case 1:
			pattern = "/"
		case 2:
			pattern += "*"
		case 3:
			pattern += "$"
		}
		fmt.Fprintf(&b, "%s: %s\n", []string{"Allow", "Disallow"}[r.IntN(2)], pattern)
	}
	return []byte(b.String())
}

// asked are two policies and what they say on many paths.
type asked struct {
	profiles       [2]*Profile
	policies       [2]*Policy
	bodies         [2][]byte
	closed, opened string // paths
	normal         string // a path of a normalized URL on which they differ
	seen           [2][3]bool
}

func (x *asked) load(i int, body []byte, p *Profile) {
	var file File
	file.Parse(body, p)
	j := NewJudge(p, []Agent{{Name: "x", Tokens: []string{"x"}}})
	j.Load(&file)
	x.profiles[i], x.bodies[i], x.policies[i] = p, body, j.Policy(0)
}

func (x *asked) ask(path string) {
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) {
		return // no URL has such a path
	}
	var values [2]Value
	for i, p := range x.profiles {
		t := p.target([]byte(path))
		values[i] = x.policies[i].Judge(&t).Value
		x.seen[i][values[i]] = true
	}
	switch a, b := rank(values[0]), rank(values[1]); {
	case b > a:
		x.closed = path
	case b < a:
		x.opened = path
	default:
		return
	}
	if x.isPlain(path) {
		x.normal = path
	}
}

func (x *asked) isPlain(path string) bool {
	p := prober{a: x.policies[0], b: x.policies[1], path: []byte(path)}
	return p.isPlain()
}

// askNamed asks about the paths that the rules name.
func (x *asked) askNamed() {
	for i := range x.policies {
		for _, rule := range x.policies[i].judge.file.Rules {
			for _, end := range []string{"", "q", "?", "/"} {
				for _, core := range []string{strings.TrimSuffix(string(rule.Pattern), "$"), string(rule.Pattern)} {
					for _, star := range []string{"q", "*"} {
						path := strings.ReplaceAll(core, "*", star) + end
						if !strings.HasPrefix(path, "/") {
							path = "/" + path
						}
						x.ask(path)
					}
				}
			}
		}
	}
}

func (x *asked) String() string {
	return fmt.Sprintf("\n%s:\n%s\n%s:\n%s", x.profiles[0].Name, x.bodies[0], x.profiles[1].Name, x.bodies[1])
}

// check checks what the comparison says, and reports what of it is undecided.
func (x *asked) check(t *testing.T) (relation, difference bool) {
	t.Helper()
	c := Compare(x.policies[0], x.policies[1])
	if (c.Relation == Equal || c.Relation == Looser) && x.closed != "" ||
		(c.Relation == Equal || c.Relation == Stricter) && x.opened != "" {
		t.Errorf("the relation is %v, and %q closes, %q opens%s", c.Relation, x.closed, x.opened, x)
	}
	for way, w := range []*Counterexample{c.Closes, c.Opens} {
		if w == nil {
			continue
		}
		a, b := rank(x.policies[0].judgePath([]byte(w.Path)).Value), rank(x.policies[1].judgePath([]byte(w.Path)).Value)
		if way == closes && b <= a || way == opens && b >= a {
			t.Errorf("%q is no counterexample%s", w.Path, x)
		}
	}
	d, _ := Differ(x.policies[0], x.policies[1], automaton.MaxWork)
	switch {
	case d == Same && x.closed+x.opened != "", d == Differs && c.Relation == Equal, d == DifferInEscapes && x.normal != "":
		t.Errorf("Differ says %v; the relation is %v, and %q closes, %q opens, %q is normal%s", d, c.Relation, x.closed,
			x.opened, x.normal, x)
	}
	if w, _, _ := Distinguish(x.policies[0], x.policies[1], automaton.MaxWork, PlainPaths); w != nil && d == Differs &&
		!x.isPlain(w.Path) {
		t.Errorf("%q is no path of a normalized URL%s", w.Path, x)
	}
	return c.Relation == RelationUndecided, d == DifferenceUndecided
}

// A policy without rules reads no path, whatever its profile makes of one.
func TestDialectWithoutRulesIsCompared(t *testing.T) {
	var x asked
	x.load(0, []byte("User-agent: x\nDisallow: /b\nAllow: /b/c\n"), named(t, "google"))
	x.load(1, []byte("User-agent: y\nDisallow: /a\n"), named(t, "robots-parser"))
	x.check(t)
	if c := Compare(x.policies[0], x.policies[1]); c.Relation != Looser {
		t.Errorf("%v, want %v%s", c.Relation, Looser, &x)
	}
}

// Every dialect compares policies, with its own and with those of google and of other
// dialects, and finds their classes, as asking about many paths does: a relation that it
// claims, no path contradicts, and a counterexample shows what it says.
func TestDialectsCompareAsTheyJudge(t *testing.T) {
	var paths []string
	for _, a := range append([]string{""}, pathTokens...) {
		for _, b := range append([]string{""}, pathTokens...) {
			paths = append(paths, "/"+a+b, "/a"+a+b+"q")
		}
	}
	pairs := 150
	if *dialectPairs > 0 {
		pairs = *dialectPairs
	} else if testing.Short() {
		pairs = 60
	}
	var all []*Profile
	for _, f := range append(slices.Clone(builtin), colly) { // other programs read as a dialect does
		p := f()
		all = append(all, &p)
	}
	for _, p := range all[len(documents):] {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(p.Name))))
			undecided, unproved := make(map[string]int), 0
			for n := range pairs {
				var x asked
				with := []*Profile{p, p, all[0], all[r.IntN(len(all))]}[n%4]
				x.load(0, randomFile(r), with)
				if x.load(1, randomFile(r), p); with != p && r.IntN(2) == 0 {
					x.load(1, x.bodies[0], p)
				}
				for range 400 {
					x.ask(paths[r.IntN(len(paths))])
				}
				x.askNamed()
				for range 40 {
					x.ask(randomText(r, 6))
				}
				relation, difference := x.check(t)
				if relation {
					undecided["relation to "+with.Name]++
				}
				if difference {
					undecided["difference from "+with.Name]++
				}
				for i, policy := range x.policies {
					switch class := policy.Class(); {
					case class == AllowAll && x.seen[i][Disallowed], class == DisallowAll && x.seen[i][Permitted]:
						t.Errorf("policy %d is %v, and some path is not%s", i, class, &x)
					case class == Partial && !(x.seen[i][Permitted] && x.seen[i][Disallowed]) && !x.seen[i][Undefined]:
						unproved++
					}
				}
			}
			t.Logf("%d pairs: undecided with %v; %d partial policies with one verdict on all paths asked", pairs, undecided,
				unproved)
			if few := pairs / 50; p.GreatestOnly || p.SortedQuery {
				return // patterns as random as these often hide each other, or read queries
			} else if undecided["relation to "+p.Name]+undecided["difference from "+p.Name]+
				undecided["difference from google"] > few {
				t.Errorf("of %d pairs, %v are undecided", pairs, undecided)
			}
		})
	}
}

// Under heritrix the greatest plain pattern that begins a path, among those up to it, hides
// the others (SPEC 9): /z hides / from /~, which no normalized URL tells from /{. Whoever
// looks for a difference has to look beyond the next byte.
func TestGreatestPatternIsComparedBeyondTheNextByte(t *testing.T) {
	for _, row := range []struct{ rules, path string }{
		{"Disallow: /\nDisallow: /z\n", "/~"},
		{"Disallow: /\nDisallow: /Z\nDisallow: /~\n", "/_"},
		{"Disallow: /\nDisallow: /_\n", "/a"},
	} {
		var x [2]*Policy
		for i, name := range []string{"protego", "heritrix"} {
			p := named(t, name)
			var f File
			f.Parse([]byte("User-agent: x\n"+row.rules), p)
			j := NewJudge(p, []Agent{{Name: "x", Tokens: []string{"x"}}})
			j.Load(&f)
			x[i] = j.Policy(0)
		}
		if x[0].judgePath([]byte(row.path)).Value == x[1].judgePath([]byte(row.path)).Value {
			t.Fatalf("%q: both say the same of %s", row.rules, row.path)
		}
		if d, _ := Differ(x[0], x[1], automaton.MaxWork); d != Differs {
			t.Errorf("%q: %v, and they differ on %s", row.rules, d, row.path)
		}
		if w, decided, _ := Distinguish(x[0], x[1], automaton.MaxWork, PlainPaths); w == nil || !decided {
			t.Errorf("%q: %v %v, and they differ on %s", row.rules, w, decided, row.path)
		}
	}
}

// Under heritrix, of the bytes between two patterns that hide others, one stands for the
// rest. It is neither one that the other policy's form escapes nor one with which another
// pattern continues.
func TestHiddenPatternsBesideOtherForms(t *testing.T) {
	for _, row := range []struct{ a, with, b, path string }{
		{"Disallow: /*\nAllow: /%\n", "rfc9309", "Disallow: /*\nAllow: /\nAllow: /%\nDisallow: /;%61b\n", "/*"},
		{"Disallow: /.&\nDisallow: /*/\nDisallow: /\n", "heritrix", "Disallow: /\nAllow: /.\n", "/0"},
		{"Disallow: /\nDisallow: /0x\nDisallow: /*1\n", "heritrix", "Disallow: /\n", "/2"},
	} {
		var x asked
		x.load(0, []byte("User-agent: x\n"+row.a), named(t, row.with))
		x.load(1, []byte("User-agent: x\n"+row.b), named(t, "heritrix"))
		if x.ask(row.path); x.closed == "" {
			t.Errorf("%s is not closed%s", row.path, &x)
		}
		x.check(t)
	}
}

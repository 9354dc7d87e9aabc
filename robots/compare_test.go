package robots

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var compareDraws = flag.Int("compare.draws", 400, "pairs of policies that each profile is tried with")

// policyOf is the policy of agent a in a file of one group.
func policyOf(p *Profile, rules string) *Policy {
	f := new(File)
	f.Parse([]byte("user-agent: a\n"+rules), p)
	j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
	j.Load(f)
	return j.Policy(0)
}

// An arena is a set of paths that a comparison is held against: all up to a
// length over a few letters.
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
}

// paths are all of an arena, the shortest first and in byte order.
func (a *arena) paths() []string {
	all := []string{"/"}
	for from := 0; len(all[from]) < a.length; from++ {
		for i := range len(a.path) {
			all = append(all, all[from]+a.path[i:i+1])
		}
	}
	return all
}

func (a *arena) pattern(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(8) > 0 {
		b.WriteByte('/')
	}
	for range r.IntN(4) {
		if r.IntN(3) == 0 {
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

func (a *arena) rules(r *rand.Rand) []string {
	var rules []string
	kinds := []string{"disallow: ", "disallow: ", "allow: ", "disalow: "}
	for range r.IntN(4) {
		rules = append(rules, kinds[r.IntN(len(kinds))]+a.pattern(r))
	}
	return rules
}

// tryAll finds the first path of which b has a higher verdict than a, and the
// first of which it has a lower; -1 for none.
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

// checkComparison holds a comparison against all paths of an arena.
func checkComparison(c Comparison, a, b *Policy, ar *arena, paths []string, ta, tb []Target) error {
	want := map[[2]bool]Relation{{}: Equal, {true, false}: Stricter, {false, true}: Looser, {true, true}: Mixed}[[2]bool{c.Closes != nil, c.Opens != nil}]
	if c.Relation != want {
		return fmt.Errorf("%v with witnesses %v and %v", c.Relation, c.Closes, c.Opens)
	}
	closes, opens := tryAll(a, b, ta, tb)
	for i, w := range []*Witness{c.Closes, c.Opens} {
		found := []int{closes, opens}[i]
		if w == nil {
			if found >= 0 {
				return fmt.Errorf("%v, and witness %d is %s", c.Relation, i, paths[found])
			}
			continue
		}
		if x, y := a.judgePath([]byte(w.Path)), b.judgePath([]byte(w.Path)); x != w.A || y != w.B || rank(y.Value) > rank(x.Value) != (i == 0) || x.Value == y.Value {
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
		case found < 0 && within, found >= 0 && shorter(paths[found], w.Path) < 0, found >= 0 && within && paths[found] != w.Path:
			first := "none"
			if found >= 0 {
				first = paths[found]
			}
			return fmt.Errorf("witness %d is %s, want %s", i, w.Path, first)
		}
	}
	return nil
}

// TestCompareModel holds the relation of random pairs of policies, and both
// witnesses, against all short paths.
func TestCompareModel(t *testing.T) {
	for _, name := range append(ProfileNames(), "own") {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(14, uint64(len(name))))
			most := 0
			for i := range *compareDraws {
				p, q := drawProfile(r, name), drawProfile(r, name)
				if r.IntN(4) > 0 {
					q = p
				}
				ar := &arenas[i*len(arenas) / *compareDraws]
				paths, ta, tb := ar.targets(p, q)
				rules := ar.rules(r)
				other := ar.rules(r)
				if r.IntN(2) == 0 { // the same with a little more
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

// targets are the paths of an arena, prepared once for each meaning.
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

// drawProfile is a built-in profile, or any that a user may write.
func drawProfile(r *rand.Rand, name string) *Profile {
	if p, ok := ProfileNamed(name); ok {
		return p
	}
	p, _ := ProfileNamed(ProfileNames()[r.IntN(5)])
	if r.IntN(2) == 0 {
		return p
	}
	flip := func() bool { return r.IntN(2) == 0 }
	p.Precedence = []Precedence{Longest, LongestOpen, LongestOrLeast}[r.IntN(3)]
	p.Ties = []Ties{TiesAllow, TiesOpen}[r.IntN(2)]
	p.AddSlash, p.CountTrailingStar, p.IndexHTML, p.RobotsTxtAllowed = flip(), flip(), flip(), flip()
	p.Escapes = []Escapes{EscapesLiteral, EscapesPattern, EscapesBoth, EscapesRFC}[r.IntN(4)]
	p.Reserved = []Reserved{ReservedDistinct, ReservedEqual, ReservedOpen}[r.IntN(3)]
	p.BarePrefix = Accept
	if p.Wildcards = r.IntN(3) > 0; !p.Wildcards {
		p.BarePrefix = []Leniency{Accept, Reject, Open}[r.IntN(3)]
	}
	p.Typos = []Leniency{Accept, Reject, Open}[r.IntN(3)]
	return p
}

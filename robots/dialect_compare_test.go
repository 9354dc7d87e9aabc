package robots

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var dialectPairs = flag.Int("dialect-pairs", 0, "pairs of policies that each dialect is asked to compare (0: a few)")

// pathTokens are what random paths and patterns are made of.
var pathTokens = []string{"a", "b", "/", "?", "%2F", "%61", "$", "*", "=", ";", ".", "&", "ab", "index.html", "!", "%C3%A9"}

func randomText(r *rand.Rand, most int) string {
	var b strings.Builder
	b.WriteByte('/')
	for range r.IntN(most + 1) {
		b.WriteString(pathTokens[r.IntN(len(pathTokens))])
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

// Every dialect compares policies, and finds their classes, as asking about many paths
// does: a relation that it claims, no path contradicts, and a counterexample shows what
// it says.
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
	for _, f := range dialects {
		p := f()
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, uint64(len(p.Name))))
			targets := make([]Target, len(paths))
			for i, path := range paths {
				targets[i] = p.target([]byte(path))
			}
			var undecided, unproved int
			for range pairs {
				var policies [2]*Policy
				var bodies [2][]byte
				for i := range policies {
					var file File
					bodies[i] = randomFile(r)
					file.Parse(bodies[i], &p)
					j := NewJudge(&p, []Agent{{Name: "x", Tokens: []string{"x"}}})
					j.Load(&file)
					policies[i] = j.Policy(0)
				}
				var closed, opened string
				var seen [2][3]bool
				ask := func(path string, target *Target) {
					if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) {
						return // no URL has such a path
					}
					a, b := policies[0].Judge(target), policies[1].Judge(target)
					seen[0][a.Value], seen[1][b.Value] = true, true
					switch {
					case rank(b.Value) > rank(a.Value):
						closed = path
					case rank(b.Value) < rank(a.Value):
						opened = path
					}
				}
				for i := range targets {
					ask(paths[i], &targets[i])
				}
				for i := range policies { // paths that the rules name
					for _, rule := range policies[i].judge.file.Rules {
						for _, end := range []string{"", "q"} {
							for _, core := range []string{strings.TrimSuffix(string(rule.Pattern), "$"), string(rule.Pattern)} {
								for _, star := range []string{"q", "*"} {
									path := strings.ReplaceAll(core, "*", star) + end
									if !strings.HasPrefix(path, "/") {
										path = "/" + path
									}
									target := p.target([]byte(path))
									ask(path, &target)
								}
							}
						}
					}
				}
				for range 40 {
					path := randomText(r, 6)
					target := p.target([]byte(path))
					ask(path, &target)
				}
				context := func() string { return fmt.Sprintf("\n%s\n%s", bodies[0], bodies[1]) }
				c := Compare(policies[0], policies[1])
				if (c.Relation == Equal || c.Relation == Looser) && closed != "" || (c.Relation == Equal || c.Relation == Stricter) && opened != "" {
					t.Errorf("the relation is %v, and %q closes, %q opens%s", c.Relation, closed, opened, context())
				}
				if c.Relation == RelationUndecided {
					undecided++
				}
				for way, x := range []*Counterexample{c.Closes, c.Opens} {
					if x == nil {
						continue
					}
					target := p.target([]byte(x.Path))
					a, b := rank(policies[0].Judge(&target).Value), rank(policies[1].Judge(&target).Value)
					if way == 0 && b <= a || way == 1 && b >= a {
						t.Errorf("%q is no counterexample%s", x.Path, context())
					}
				}
				if d, _ := Differ(policies[0], policies[1], maxWork); d == Same && closed+opened != "" || d == Differs && c.Relation == Equal || d == DifferInEscapes && (isPlain([]byte(closed)) && closed != "" || isPlain([]byte(opened)) && opened != "") {
					t.Errorf("Differ says %v; the relation is %v, and %q closes, %q opens%s", d, c.Relation, closed, opened, context())
				}
				for i, policy := range policies {
					switch class := policy.Class(); {
					case class == AllowAll && seen[i][Disallowed], class == DisallowAll && seen[i][Allowed]:
						t.Errorf("policy %d is %v, and some path is not%s", i, class, context())
					case class == Partial && !(seen[i][Allowed] && seen[i][Disallowed]):
						unproved++
						if testing.Verbose() {
							t.Logf("policy %d is partial, and every path is the same%s", i, bodies[i])
						}
					}
				}
			}
			t.Logf("%d pairs: %d undecided; %d partial policies with one verdict on all paths asked", pairs, undecided, unproved)
			if undecided > pairs/2 || unproved > pairs/10 {
				t.Errorf("of %d pairs, %d are undecided; %d policies are called partial whose paths are all the same", pairs, undecided, unproved)
			}
		})
	}
}

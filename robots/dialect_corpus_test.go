package robots

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// TestDialectsCompareCorpus compares the policies of real files: under each dialect every
// group with the group for all, and every policy with that of google, which also tells
// whether the two differ on normalized URLs. Hardly any is left undecided, and random URLs
// contradict no answer: 300 for each pair; with -short 30, on every sixtieth file.
func TestDialectsCompareCorpus(t *testing.T) {
	files, urls, every, part := corpus(t), 300, 1, 50 // one in part may be undecided
	if testing.Short() {
		urls, every, part = 30, 60, 20 // of few pairs
	}
	var bodies [][]byte
	for i, host := range slices.Sorted(maps.Keys(files)) {
		if i%every == 0 {
			bodies = append(bodies, files[host])
		}
	}
	google := named(t, "google")
	for i, f := range dialects {
		p := f()
		t.Run(p.Name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(18, uint64(i)))
			stars, pairs := [5]int{}, 0
			relations, differences := [5]int{}, [4]int{}
			corpusPairs(t, bodies, &p, func(star, own *Policy) { stars[tryURLs(t, r, urls, star, own).Relation]++ })
			for _, body := range bodies {
				var f, g File
				f.Parse(body, google)
				g.Parse(body, &p)
				agents := namedAgents(&f)
				j, k := NewJudge(google, agents), NewJudge(&p, agents)
				j.Load(&f)
				k.Load(&g)
				known := make(map[[2]int]bool)
				for n := range agents {
					a, b := j.Policy(n), k.Policy(n)
					key := [2]int{a.SameAs, b.SameAs}
					if known[key] {
						continue
					}
					known[key] = true
					pairs++
					relations[tryURLs(t, r, urls, a, b).Relation]++
					d, _ := Differ(a, b, automaton.MaxWork/8) // as a run does
					differences[d]++
					for range urls {
						if path := drawURL(r, &f); a.judgePath(path).Value != b.judgePath(path).Value &&
							(d == Same || d == DifferInEscapes && automaton.IsNormal(path)) {
							t.Fatalf("they differ on %s, and Differ says %v\n%s", path, d, body)
						}
					}
				}
			}
			n := stars[0] + stars[1] + stars[2] + stars[3] + stars[4]
			t.Logf("groups with *: %d of %d undecided; with google: relation %d, difference %d of %d (equal, escapes_only, "+
				"undecided, different: %d)",
				stars[RelationUndecided], n, relations[RelationUndecided], differences[DifferenceUndecided], pairs, differences)
			if part*stars[RelationUndecided] > n || part*differences[DifferenceUndecided] > pairs {
				t.Errorf("more than one in %d is undecided", part)
			}
		})
	}
}

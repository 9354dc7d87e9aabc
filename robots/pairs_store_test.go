package robots

import (
	"testing"
)

// A pair of another file with the same rules is not compared again, unless the bound
// could change the result; its work counts again.
func TestAStoreServesFilesAlike(t *testing.T) {
	compared := 0
	result, work := "same", 30
	store := &PairStore[string]{Undecided: "undecided"}
	of := func(most int, kinds ...int) (string, int) {
		j := judge(t, "# line\n"+groups(kinds...), 2)
		m := PairMemo[string]{Most: most, Store: store, Compare: func(_, _ *Policy, bound int) (string, int) {
			compared++
			return result, work
		}}
		return m.Of(j.Policy(0), j.Policy(1)), m.work
	}
	for i, c := range []struct {
		most, a, b int
		compared   int
	}{
		{100, 1, 2, 1}, {100, 1, 2, 1}, // known
		{30, 1, 2, 1},                 // within its work
		{29, 1, 2, 2}, {100, 1, 2, 2}, // not within it
		{100, 2, 1, 3}, // the other way round
		{100, 1, 3, 4},
	} {
		if got, took := of(c.most, c.a, c.b); got != "same" || took != 30 || compared != c.compared {
			t.Errorf("%d: %q, work %d, %d comparisons; want %d", i, got, took, compared, c.compared)
		}
	}
	result, work, compared = "undecided", 60, 0
	for i, c := range []struct{ most, compared int }{{50, 1}, {50, 1}, {70, 2}} {
		if got, _ := of(c.most, 7, 8); got != "undecided" || compared != c.compared {
			t.Errorf("undecided %d: %q, %d comparisons, want %d", i, got, compared, c.compared)
		}
	}
}

// Policies that may compare otherwise have other keys.
func TestKeysTellPoliciesApart(t *testing.T) {
	known := make(map[pairKey]*Policy)
	for _, name := range []string{"google", "rfc9309", "heritrix", "urllib-2026"} {
		p, _ := ProfileNamed(name)
		for _, lenient := range []bool{p.RobotsTxtAllowed, true} {
			q := *p
			q.RobotsTxtAllowed = lenient
			for _, rules := range []string{"", "disallow: /a", "allow: /a", "disallow: /a$", "disallow: /a*", "disallow: /*a",
				"disallow: /*a$", "disallow: /ab", "disallow: /a\ndisallow: /b", "disallow: /b\ndisallow: /a", "disallow: /%3Aa"} {
				f := new(File)
				f.Parse([]byte("user-agent: a\n"+rules), &q)
				j := NewJudge(&q, []Agent{{Name: "a", Tokens: []string{"a"}}})
				j.Load(f)
				k := pairKeyOf(j.Policy(0), j.Policy(0))
				if other := known[k]; other != nil && Compare(other, j.Policy(0)).Relation != Equal {
					t.Errorf("%s: %q has the key of other rules", name, rules)
				}
				known[k] = j.Policy(0)
			}
		}
	}
	if len(known) < 60 {
		t.Errorf("%d keys", len(known))
	}
}

// A store forgets.
func TestAStoreIsBounded(t *testing.T) {
	s := new(PairStore[int])
	for i := range 5 * storedPairs {
		s.keep(pairKey{uint64(i)}, pairOutcome[int]{result: i, most: 1})
		s.find(pairKey{7}, 1)
	}
	if n := len(s.young) + len(s.old); n > 2*storedPairs {
		t.Errorf("%d pairs", n)
	}
	if o, ok := s.find(pairKey{7}, 1); !ok || o.result != 7 {
		t.Error("what is asked for is forgotten")
	}
	if _, ok := s.find(pairKey{8}, 1); ok {
		t.Error("nothing is forgotten")
	}
}

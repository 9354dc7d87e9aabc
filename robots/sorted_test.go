package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A query is compared as net/url writes it again.
func TestSortedQueries(t *testing.T) {
	for path, want := range map[string]string{
		"/s": "/s", "/s?": "/s", "/s?q": "/s?q=", "/s?q=1&a=2": "/s?a=2&q=1", "/s?b=2&a=%41&b=1": "/s?a=A&b=2&b=1",
		"/s?a=1;b=2&c": "/s?c=",
		"/s?a=%zz&b=1": "/s?b=1", "/s?a=x%20y": "/s?a=x+y", "/a%62c": "/a%62c", "/a|b": "/a%7Cb", "/%zz?b&a": "/%zz?b&a",
		"/s?a=ü": "/s?a=%C3%BC",
	} {
		if got := string(sortQuery([]byte(path))); got != want {
			t.Errorf("%s becomes %s, want %s", path, got, want)
		}
	}
	j := NewJudge(named(t, "colly"), []Agent{{Name: "a", Tokens: []string{"a"}}})
	var f File
	f.Parse([]byte("User-agent: *\nDisallow: /s?q=1&a=2\nDisallow: /t?a=1&b=2\n"), named(t, "colly"))
	j.Load(&f)
	for path, want := range map[string]Value{"/s?q=1&a=2": Permitted, "/s?a=2&q=1": Permitted, "/t?b=2&a=1": Disallowed,
		"/t?a=1&b=2&c=3": Disallowed} {
		target := named(t, "colly").Target("http://h.example" + path)
		if v := j.Policy(0).Judge(&target).Value; v != want {
			t.Errorf("%s: %v, want %v", path, v, want)
		}
	}
}

// Comparisons with a profile that sorts queries say nothing that a path contradicts: rules
// about few queries, of which all are asked.
func TestSortedQueriesAreCompared(t *testing.T) {
	parts := []string{"a=1", "a=2", "b=1", "b", "a", "c="}
	paths := []string{"/", "/s", "/s?", "/st", "/t?a=1", "/s/", "/s?&", "/%73", "/%73|", "/s|", "/|", "/%7C%73|?a"}
	for _, a := range parts {
		paths = append(paths, "/s?"+a)
		for _, b := range parts {
			paths = append(paths, "/s?"+a+"&"+b, "/s?"+a+"&"+b+"&a=1")
		}
	}
	// Of these, robots-parser alone resolves dot segments too, without which more is undecided.
	all := []string{"google", "temoto", "protego", "robots-parser", "robots-parser", "robots-parser"}
	colly := named(t, "colly")
	r := rand.New(rand.NewPCG(56, 7))
	draw := func() []byte {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for range 1 + r.IntN(3) {
			pattern := []string{"/s", "/", "/s?", "/t", "/s*", "/%73"}[r.IntN(6)]
			if r.IntN(2) == 0 {
				pattern += parts[r.IntN(len(parts))]
				if r.IntN(2) == 0 {
					pattern += "&" + parts[r.IntN(len(parts))]
				}
			}
			if r.IntN(4) == 0 {
				pattern += "$"
			}
			fmt.Fprintf(&b, "%s: %s\n", []string{"Allow", "Disallow"}[r.IntN(2)], pattern)
		}
		return []byte(b.String())
	}
	decided := 0
	for n := range 600 {
		var x asked
		with := colly
		if n%2 == 0 {
			with = named(t, all[r.IntN(len(all))])
		}
		x.load(n%3%2, draw(), with)
		x.load(1-n%3%2, draw(), colly)
		if n%4 < 2 {
			x.load(1, x.bodies[0], x.profiles[1])
		}
		for _, path := range paths {
			x.ask(path)
		}
		if relation, _ := x.check(t); !relation {
			decided++
		}
		if r, _ := Relate(x.policies[0], x.policies[1], 1<<24); (r == Equal || r == Looser) && x.closed != "" ||
			(r == Equal || r == Stricter) && x.opened != "" {
			t.Errorf("the relation is %v, and %q closes, %q opens%s", r, x.closed, x.opened, &x)
		}
	}
	t.Logf("%d of 600 pairs are decided", decided)
	if decided < 200 {
		t.Errorf("%d of 600 pairs are decided", decided)
	}
}

// Where the search finds only a path that is another one once its query is sorted, paths that
// rules name tell.
func TestSortedQueriesAreAskedByTheRules(t *testing.T) {
	colly := named(t, "colly")
	open := policyOf(colly, "disallow: /x")
	closed := policyOf(colly, "disallow: /x\ndisallow: /?b&a\ndisallow: /private")
	other := policyOf(colly, "disallow: /other\ndisallow: /?b&a\ndisallow: /private")
	for _, c := range []struct {
		a, b *Policy
		want Relation
	}{{open, closed, Stricter}, {closed, open, Looser}, {open, other, Mixed}} {
		if got := Compare(c.a, c.b); got.Relation != c.want || got.Sorted {
			t.Errorf("%v, sorted %t; want %v", got.Relation, got.Sorted, c.want)
		}
		if got, _ := Relate(c.a, c.b, 1<<24); got != c.want {
			t.Errorf("Relate: %v, want %v", got, c.want)
		}
	}
}

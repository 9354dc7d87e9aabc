package robots

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// sayTheSame fails if the short way says of two policies what a search contradicts. It
// returns what the short way says.
func sayTheSame(t *testing.T, a, b *Policy, most int, text func() string) Difference {
	t.Helper()
	if _, ok := beforehand(a, b); ok {
		return Same
	}
	short, known, _ := differShortly(a, b)
	if short == DifferenceUndecided && known == (shown{}) {
		return short
	}
	search, _ := differBySearch(a, b, most, shown{})
	switch {
	case search == DifferenceUndecided:
	case short != DifferenceUndecided && short != search,
		known.agree == alike && search != Same,
		known.agree == alikePlainly && search == Differs,
		known.needless && search == Same:
		t.Fatalf("%s and %s: the short way says %v, %+v; a search says %v\n%s", a.judge.profile.Name, b.judge.profile.Name,
			short, known, search, text())
	}
	return short
}

// TestShortWaysOnTheCorpus compares every group of every real file under google and each
// other document and parser of a known crawler, and under two documents in turn. Nearly all
// pairs need no search.
func TestShortWaysOnTheCorpus(t *testing.T) {
	files, every := corpus(t), 1
	if testing.Short() {
		every = 24
	}
	for _, names := range [][2]string{
		{"google", "google-2019"}, {"google", "google-2012"}, {"google", "classic-1996"}, {"google", "rfc9309"},
		{"google-2019", "rfc9309"}, {"rfc9309", "google-2012"},
		{"google", "crawler-commons"}, {"google", "heritrix"}, {"google", "protego"}, {"google", "wget"},
	} {
		one, two := *named(t, names[0]), *named(t, names[1])
		one.RobotsTxtAllowed, two.RobotsTxtAllowed = false, false // as where a run compares them
		pairs, undecided := 0, 0
		for i, host := range slices.Sorted(maps.Keys(files)) {
			if i%every != 0 {
				continue
			}
			var f, g File
			f.Parse(files[host], &one)
			g.Parse(files[host], &two)
			agents := namedAgents(&f)
			j, k := NewJudge(&one, agents), NewJudge(&two, agents)
			j.Load(&f)
			k.Load(&g)
			known := make(map[[2]int]bool)
			for n := range agents {
				a, b := j.Policy(n), k.Policy(n)
				if key := [2]int{a.SameAs, b.SameAs}; !known[key] {
					known[key] = true
					pairs++
					if sayTheSame(t, a, b, automaton.MaxWork/8, func() string {
						return host + " " + agents[n].Name
					}) == DifferenceUndecided {
						undecided++
					}
				}
			}
		}
		t.Logf("%s: %d of %d pairs need a search", names, undecided, pairs)
		part := 50
		if two.isDialect() {
			part = 8
		}
		if part*undecided > pairs {
			t.Errorf("%s: more than one pair in %d needs a search", names, part)
		}
	}
}

// TestShortWaysOnRandomRules compares random rules with themselves, with themselves in
// another order, and with others, under each pair of profiles.
func TestShortWaysOnRandomRules(t *testing.T) {
	draws := 200_000
	if testing.Short() {
		draws = 4000
	}
	words := []string{"admin", "cart", "files", "Data", "a", "B", "3", "4A", "2Cb", "x", "?", "?q=", "&id=", "/", "/",
		"//", ".php", ":", "=", ";", "+", "~", "[", "]", "\"", "|", "$", "%", "%2", "%20", "%22", "%2F", "%2f", "%3A", "%3b",
		"%41", "%5B", "%7C", "%7e", "%C3%A9", "%c3%a9", "%2A", "%24", "é", " ", "index.html", "robots.txt"}
	var profiles []*Profile
	for _, f := range builtin {
		p := f()
		profiles = append(profiles, &p)
	}
	open := *named(t, "rfc9309") // fields that no document combines
	open.Name, open.Precedence, open.Ties, open.Reserved = "mixed", LongestOpen, TiesOpen, ReservedEqual
	profiles = append(profiles, &open)
	rewriters := []string{"crawler-commons", "protego", "wget", "httrack", "scrapy", "robots-parser"}
	r := rand.New(rand.NewPCG(53, 1))
	said := make(map[Difference]int)
	for range draws {
		var rules []string
		if ar := &arenas[r.IntN(len(arenas))]; r.IntN(2) == 0 {
			rules = ar.rules(r, 4)
		} else {
			for range 1 + r.IntN(6) {
				rule := []string{"disallow: ", "disallow: ", "allow: "}[r.IntN(3)]
				rule += []string{"/", "/", "/", "/*", "*"}[r.IntN(5)]
				for range r.IntN(4) {
					rule += words[r.IntN(len(words))] + []string{"", "", "*"}[r.IntN(3)]
				}
				rules = append(rules, rule+[]string{"", "", "", "$"}[r.IntN(4)])
			}
		}
		other := slices.Clone(rules)
		switch r.IntN(4) {
		case 0:
			r.Shuffle(len(other), func(i, k int) { other[i], other[k] = other[k], other[i] })
		case 1:
			if len(other) > 0 {
				other = slices.Delete(other, 0, 1)
			}
		}
		one, two := profiles[r.IntN(5)], profiles[r.IntN(len(profiles))]
		switch r.IntN(4) {
		case 0, 1:
			two = profiles[r.IntN(5)]
		case 2: // with a rewriter that the short ways know
			one, two = profiles[0], named(t, rewriters[r.IntN(3)])
		case 3:
			if r.IntN(2) == 0 {
				one, two = named(t, rewriters[r.IntN(len(rewriters))]), named(t, rewriters[r.IntN(len(rewriters))])
			}
		}
		a, b := policyOf(one, strings.Join(rules, "\n")), policyOf(two, strings.Join(other, "\n"))
		said[sayTheSame(t, a, b, automaton.MaxWork, func() string { return fmt.Sprintf("%q\n%q", rules, other) })]++
	}
	t.Logf("the short ways say %v", said)
	for d := range Differs + 1 {
		if said[d] == 0 {
			t.Errorf("never %v", d)
		}
	}
}

// TestShortWaysOnWhatNoURLHolds compares a pattern with a byte that no URL has, which wget decodes.
func TestShortWaysOnWhatNoURLHolds(t *testing.T) {
	const rules = "disallow: /a b"
	for _, name := range ParserNames() {
		a, b := policyOf(named(t, "google"), rules), policyOf(named(t, name), rules)
		if d := sayTheSame(t, a, b, automaton.MaxWork, func() string { return rules }); name == "wget" && d != Differs {
			t.Errorf("google and wget: %v, want %v", d, Differs)
		}
	}
}

// TestManyRulesNeedNoSearch compares so many rules that not each can be held against each: alike
// as written, in the order of their lengths, and with one that shows a difference.
func TestManyRulesNeedNoSearch(t *testing.T) {
	var rules strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&rules, "disallow: /x%04d\nallow: /%04d\n", i, i)
	}
	for extra, want := range map[string]Difference{"": DifferInEscapes, "disallow: /*x$\n": Differs} {
		a, b := policyOf(named(t, "google"), extra+rules.String()), policyOf(named(t, "protego"), rules.String())
		if d, _, _ := differShortly(a, b); d != want {
			t.Errorf("%q: %v, want %v", extra, d, want)
		}
	}
}

// TestShortWaysAreBounded counts the work on pairs made to be slow.
func TestShortWaysAreBounded(t *testing.T) {
	many := func(n int, f func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(f(i) + "\n")
		}
		return b.String()
	}
	pairs := entangled()
	stars := many(20000, func(i int) string { return []string{"allow", "disallow"}[i%2] + fmt.Sprintf(": /%x*a%x", i, i) })
	pairs["meetings"] = [2]string{stars, stars}
	pairs["one pattern"] = [2]string{"disallow: /" + strings.Repeat("*a", 250_000), "allow: /" + strings.Repeat("*B",
		250_000)}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		a := policyOf(named(t, "google"), pairs[name][0])
		for _, other := range DocumentNames() {
			b := policyOf(named(t, other), pairs[name][1])
			_, _, work := differShortly(a, b)
			if last := a.NumRules() + 8*b.NumRules() + 2<<20; work > apartWork+maxMeetings+4*differWork/16+2*last {
				t.Errorf("%s with google and %s: %d units of work", name, other, work)
			}
		}
	}
}

// TestRulesApart compares single rules under google and protego, which loses an empty query and
// parameters, escapes a comma, and takes a $ for a letter too.
func TestRulesApart(t *testing.T) {
	for rule, want := range map[string]string{
		"/x*y$": "/xy$", "/xy$": "/xy$", "/xy": "", "/x*y": "", "/x?y": "/x;?y", "/*C": "/,",
	} {
		readings, on := readingsOf(policyOf(named(t, "google"), "disallow: "+rule), policyOf(named(t, "protego"),
			"disallow: "+rule))
		a, b := &readings[0], &readings[1]
		one, _ := a.normal(on)
		two, _ := b.normal(on)
		path, whole, _ := shortestApart(a, one, b, two, apartWork)
		if _, wholly, _ := shortestApart(a, one, b, two, 100); string(path) != want || !whole || wholly {
			t.Errorf("%s: %q (%t, %t), want %q", rule, path, whole, wholly, want)
		}
	}
}

// TestRulesApartAreBounded compares a rule so often that the work runs out, and then nothing is
// proven.
func TestRulesApartAreBounded(t *testing.T) {
	one, two := policyOf(named(t, "google"), "disallow: /x*y"), policyOf(named(t, "protego"), "disallow: /x*y")
	readings, on := readingsOf(one, two)
	x := parting{a: &readings[0], b: &readings[1], paired: true, same: true}
	x.one, _ = x.a.normal(on)
	x.two, _ = x.b.normal(on)
	same, work := newProber(one, two).compareApart([]parting{x})
	if !same || work == 0 {
		t.Fatalf("%t for %d, want a proof that costs work", same, work)
	}
	same, more := newProber(one, two).compareApart(slices.Repeat([]parting{x}, apartWork/work+2))
	if same || more > apartWork+work {
		t.Errorf("%t for %d, want no proof for more than %d", same, more, apartWork)
	}
}

// TestRulesOfTwoRewriters compares rules that look alike under parsers that rewrite a path each
// in its own way.
func TestRulesOfTwoRewriters(t *testing.T) {
	stars := new(strings.Builder)
	for i := range 1000 {
		fmt.Fprintf(stars, "disallow: /*%d]\n", i)
	}
	for _, c := range []struct{ one, two, rules string }{
		{"protego", "robots-parser", "disallow: /100%"}, {"protego", "robots-parser", "disallow: /a;b"},
		{"wget", "httrack", "disallow: /a|b"}, {"scrapy", "wget", "disallow: /%2F"}, {"scrapy", "wget", "disallow: /%"},
		{"google", "wget", stars.String() + "disallow: /x?y"},
	} {
		if d, _ := Differ(policyOf(named(t, c.one), c.rules), policyOf(named(t, c.two), c.rules),
			automaton.MaxWork); d != Differs {
			t.Errorf("%s and %s, %.40q: %v", c.one, c.two, c.rules, d)
		}
	}
}

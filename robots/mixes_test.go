package robots

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/robocensus/robocensus/robots/dialect"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

var mixedPairs = flag.Int("mixed-pairs", 0,
	"pairs of policies of profiles with any mix of traits that are compared (0: a few)")

// mixedProfile returns a valid profile with any mix of the traits that decide about a URL.
func mixedProfile(r *rand.Rand) *Profile {
	for {
		p := dialects[r.IntN(len(dialects))]()
		p.Name = "mixed"
		some := func() bool { return r.IntN(4) == 0 }
		p.Wildcards, p.AddSlash, p.RobotsTxtAllowed = r.IntN(4) > 0, some(), some()
		p.Requote = oneIn(r, rewrite.RequotePath, rewrite.RequoteThrough, rewrite.RequoteQuery, rewrite.RequoteUnreserved,
			rewrite.RequoteUnfit, rewrite.RequoteValid, rewrite.RequotePlain, rewrite.RequoteHarmless, rewrite.RequoteWhole)
		p.Compared = oneIn(r, rewrite.ComparedPath, rewrite.ComparedDots, rewrite.ComparedWHATWG)
		p.Order = oneIn(r, dialect.OrderFirst, dialect.OrderLongestFirst, dialect.OrderIntrosort)
		p.Length = oneIn(r, dialect.LengthMatchEnd, dialect.LengthExpression)
		p.Index = oneIn(r, dialect.IndexAllow, dialect.IndexAllowOnly, dialect.IndexBoth)
		p.Stars = oneIn(r, dialect.StarsFirstPlace, dialect.StarsUnanchored)
		p.Dollar = oneIn(r, dialect.DollarLetterToo, dialect.DollarAnywhere, dialect.DollarCuts, dialect.DollarVoids)
		for _, trait := range []*bool{&p.EmptyAllows, &p.GreatestOnly, &p.StripStar, &p.LeadingStar, &p.AbsolutePath,
			&p.Anywhere,
			&p.FoldCase, &p.SortedQuery, &p.EmptyQueryLost, &p.DoubleSlash, &p.InvalidIsRoot, &p.PatternIsURL} {
			*trait = some()
		}
		if p.MaxPattern = 0; some() {
			p.MaxPattern = 3 + r.IntN(9)
		}
		if p.Validate() == nil {
			return &p
		}
	}
}

// oneIn returns one of some values or, as often as all of them together, none.
func oneIn[T ~string](r *rand.Rand, values ...T) T {
	if r.IntN(2) == 0 {
		return ""
	}
	return values[r.IntN(len(values))]
}

// Any mix of traits is compared as it judges: what a comparison says, no path contradicts.
func TestMixedTraitsCompareAsTheyJudge(t *testing.T) {
	pairs := 2000
	if *mixedPairs > 0 {
		pairs = *mixedPairs
	} else if testing.Short() {
		pairs = 500
	}
	r := rand.New(rand.NewPCG(53, 3))
	undecided := 0
	for range pairs {
		p := mixedProfile(r)
		var x asked
		x.load(0, randomFile(r), []*Profile{p, p, named(t, "google"), mixedProfile(r)}[r.IntN(4)])
		x.load(1, randomFile(r), p)
		if x.profiles[0] != p && r.IntN(2) == 0 {
			x.load(1, x.bodies[0], p)
		}
		for range 150 {
			x.ask(randomText(r, 6))
		}
		x.askNamed()
		relation, difference := x.check(t)
		if relation || difference {
			undecided++
		}
		for i, policy := range x.policies {
			if class := policy.Class(); class == AllowAll && x.seen[i][Disallowed] || class == DisallowAll &&
				x.seen[i][Permitted] {
				t.Errorf("policy %d is %v, and some path is not%s", i, class, &x)
			}
		}
		if t.Failed() {
			t.Fatalf("%s\n%s", mixOf(x.profiles[0]), mixOf(x.profiles[1]))
		}
	}
	t.Logf("of %d pairs, %d are undecided", pairs, undecided)
}

// Rewriters that no search reads, as a part of them reads what another one has made of the whole
// path, are compared by paths alone; and lengths decide where only the greatest pattern is tried.
func TestMixesThatNoParserHas(t *testing.T) {
	mix := func(requote rewrite.Requote, compared rewrite.Compared, invalidIsRoot bool) *Profile {
		p := dialectNamed("mixed")
		p.Requote, p.Compared, p.InvalidIsRoot = requote, compared, invalidIsRoot
		return &p
	}
	greatest := dialectNamed("mixed")
	greatest.Length, greatest.GreatestOnly = dialect.LengthMatchEnd, true
	for _, c := range []struct {
		one, two *Profile
		a, b     string // rules
		path     string // on which they differ, or not
	}{
		{mix(rewrite.RequoteThrough, rewrite.ComparedDots, false), nil, "/x/y", "/x/y\ndisallow: /x%5Cy", `/x\y`},
		{mix(rewrite.RequoteWhole, rewrite.ComparedWHATWG, false), nil, "/x/y", "/x/y\ndisallow: /x%5Cy", `/x\y`},
		{named(t, "google"), mix(rewrite.RequoteThrough, "", true), "/$", "/$", "/|"},
		{mix(rewrite.RequoteUnfit, rewrite.ComparedDots, false), mix(rewrite.RequoteUnfit, rewrite.ComparedDots, true),
			"/x/", "/x/", `/x\`},
		{&greatest, nil, "/abcd\nallow: /*z", "/abcd", "/abcdz"},
	} {
		var x asked
		if c.two == nil {
			c.two = c.one
		}
		x.load(0, []byte("user-agent: x\ndisallow: "+c.a+"\n"), c.one)
		x.load(1, []byte("user-agent: x\ndisallow: "+c.b+"\n"), c.two)
		x.ask(c.path)
		x.check(t)
	}
}

func mixOf(p *Profile) string { return fmt.Sprintf("%s: %+v", p.Name, p.Matching) }

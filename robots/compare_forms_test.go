package robots

import (
	"fmt"
	"strings"
	"testing"
)

// Files whose rules have one normal form are equal, though a search of all that their stars
// match would end undecided: the second has the first one's rules in another order, with
// stars at their ends that change nothing, and some of them twice.
func TestRulesOfOneFormAreEqual(t *testing.T) {
	var one, two strings.Builder
	one.WriteString("User-agent: *\n")
	two.WriteString("User-agent: *\n")
	for i := range 40 {
		fmt.Fprintf(&one, "Disallow: /*a%dx*b%dy*c%dz\n", i, i%7, i%5)
	}
	for i := 39; i >= 0; i-- {
		fmt.Fprintf(&two, "Disallow: /*a%dx*b%dy*c%dz*\n", i, i%7, i%5)
	}
	fmt.Fprintf(&two, "Disallow: /*a%dx*b%dy*c%dz**\n", 39, 39%7, 39%5)
	google, _ := ProfileNamed("google")
	load := func(text string) *Policy {
		var f File
		f.Parse([]byte(text), google)
		j := NewJudge(google, []Agent{{Name: "a", Tokens: []string{"a"}}})
		j.Load(&f)
		return j.Policy(0)
	}
	a, b := load(one.String()), load(two.String())
	if c := Compare(a, b); c.Relation != Equal || c.States != 0 {
		t.Errorf("%s after %d states", c.Relation, c.States)
	}
	if c := Compare(a, load(strings.Replace(two.String(), "a7x", "a7w", 1))); c.Relation == Equal {
		t.Error("other rules are equal too")
	}
}

package robots

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawRules draws rule lines of a few letters, so that they often conflict.
func drawRules(t *rapid.T, label string) string {
	line := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"allow: ", "disallow: "}).Draw(t, "kind") +
			rapid.StringMatching(`/?[ab/*?]{0,4}\$?`).Draw(t, "pattern") + "\n"
	})
	return strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, label), "")
}

// TestPrecedenceModel holds each way to settle a conflict, in every
// combination and not only those of the built-in profiles, against the slow
// reading of the clauses.
func TestPrecedenceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := ProfileNamed("google-2019")
		p.Precedence = rapid.SampledFrom([]Precedence{Longest, LongestOpen, LongestOrLeast}).Draw(t, "precedence")
		p.Ties = rapid.SampledFrom([]Ties{TiesAllow, TiesOpen}).Draw(t, "ties")
		p.AddSlash = rapid.Bool().Draw(t, "slash")
		p.CountTrailingStar = rapid.Bool().Draw(t, "trailing star")
		if p.Wildcards = rapid.Bool().Draw(t, "wildcards"); !p.Wildcards {
			p.BarePrefix = rapid.SampledFrom([]Leniency{Accept, Reject, Open}).Draw(t, "bare prefix")
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		body := []byte("user-agent: a\n" + drawRules(t, "rules"))
		path := "/" + rapid.StringMatching(`[ab/?]{0,5}`).Draw(t, "path")
		got, _ := ask(p, body, path, "a")
		if want, _ := slowVerdict(p, body, Agent{Tokens: []string{"a"}}, URLPath(path)); got.Value != want {
			t.Fatalf("%s\n%s: got %v, want %v", body, path, got.Value, want)
		}
	})
}

// TestOneMoreDisallow: one more disallow never makes a verdict less of a
// disallow (SPEC 5), under any built-in profile.
func TestOneMoreDisallow(t *testing.T) {
	rank := map[Value]int{Allowed: 0, Undefined: 1, Disallowed: 2}
	for _, name := range ProfileNames() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p, _ := ProfileNamed(name)
				rules := "user-agent: a\n" + drawRules(t, "rules")
				more := "disallow: " + rapid.StringMatching(`/[ab/*?]{0,4}\$?`).Draw(t, "pattern") + "\n"
				path := "/" + rapid.StringMatching(`[ab/?]{0,5}`).Draw(t, "path")
				before, _ := ask(p, []byte(rules), path, "a")
				after, _ := ask(p, []byte(rules+more), path, "a")
				if rank[after.Value] < rank[before.Value] {
					t.Fatalf("%s\n+ %s%s: from %v to %v", rules, more, path, before.Value, after.Value)
				}
			})
		})
	}
}

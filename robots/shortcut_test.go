package robots

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// The tests in this file check short cuts against the long way.

// TestScan checks the traits of a pattern, and that one without is its own normal form.
func TestScan(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "Z", "z", "0", "9", "/", "*", "$", "%", "%3A", "%2f", "%41", "é", "\xaa",
		"\xbf", "\x00", "\x01", "\x7f",
		" ", "!", "\"", "+", ",", "-", ".", ":", ";", "<", "=", ">", "?", "@", "A", "[", "\\", "]", "^", "_", "`", "{", "|",
		"}", "~"})
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOfN(piece, 1, 20).Draw(t, "pattern"), ""))
		from, to := 0, len(text)
		if to > 1 {
			from = rapid.IntRange(0, to-1).Draw(t, "from")
			to = rapid.IntRange(from+1, to).Draw(t, "to")
		}
		pattern := text[from:to] // bytes follow it in memory
		if rapid.Bool().Draw(t, "alone") {
			pattern = bytes.Clone(pattern)
			pattern = pattern[:len(pattern):len(pattern)]
		}
		has := scan(pattern)
		for _, x := range []struct {
			trait traits
			of    func(c byte) bool
		}{
			{traitForeign, func(c byte) bool { return c == '%' || c >= 0x80 }},
			{traitUnfit, func(c byte) bool { return c < 0x80 && slowUnfit(c) }},
			{traitStar, func(c byte) bool { return c == '*' }},
			{traitDollar, func(c byte) bool { return c == '$' }},
			{traitQuery, func(c byte) bool { return c == '?' }},
		} {
			if want := slices.ContainsFunc(pattern, x.of); has&x.trait != 0 != want {
				t.Fatalf("%q: traits %b, but %b is %v", pattern, has, x.trait, want)
			}
		}
		if has&traitForeign == 0 && rewrite.TwoPaths(pattern) || has&traitReserved == 0 && rewrite.TwoLengths(pattern) {
			t.Fatalf("%q: may differ, but has traits %b", pattern, has)
		}
		if has&^traitStar != 0 {
			return
		}
		for _, letter := range []bool{false, true} {
			if norm := rewrite.AppendRFC(nil, pattern, rewrite.OfPattern, false, letter); !bytes.Equal(norm, pattern) ||
				slowOctets(string(pattern), letter) != len(pattern) {
				t.Fatalf("%q has the form %q and %d octets", pattern, norm, slowOctets(string(pattern), letter))
			}
		}
	})
}

// TestReservedOpen checks that a verdict is that of both readings of reserved
// characters, each asked under a profile that takes it, if they agree.
func TestReservedOpen(t *testing.T) {
	agents := []Agent{{Tokens: []string{"a"}}, {Tokens: []string{"b"}}, {Tokens: []string{"c"}}}
	kind := `(allow|disallow|disalow): `
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"user-agent: a", "user-agent: b", "user-agent: *", "useragent: a"}),
		rapid.StringMatching(kind+`/?([ab/*?:=]|%3A|%3a|%2F|%24|/index\.html){0,4}\$?`),
		// Rules that conflict, and whose order is that of their lengths.
		rapid.StringMatching(kind+`/[a:*]{1,2}[*]{0,3}`),
		rapid.SampledFrom([]string{"disallow: /a%3A", "disallow: /*%3A", "allow: /*%2F", "disallow: /*%3A*",
			"allow: /*%3Aa"}))
	url := rapid.OneOf(rapid.StringMatching(`/([ab/?:=]|%3A|%2F){0,5}`), rapid.StringMatching(`/[a:]{1,2}`),
		rapid.SampledFrom([]string{"/a%%33A", "/a%%33Aa", "/a?/", "/?/:a", "/?:"}))
	for _, several := range []SeveralGroups{MergeGroups, AnyGroup} {
		var judges [3]*Judge
		var profiles [3]*Profile
		for _, kind := range []func(*Profile){
			func(*Profile) {},
			func(p *Profile) { p.IndexHTML, p.CountTrailingStar = true, false },
			func(p *Profile) { p.Typos = Open },
			func(p *Profile) { p.Precedence, p.Ties = LongestOrLeast, TiesOpen },
			func(p *Profile) { p.Wildcards, p.BarePrefix = false, Open },
		} {
			for i, value := range []Reserved{ReservedOpen, ReservedDistinct, ReservedEqual} {
				p := named(t, "rfc9309")
				kind(p)
				p.SeveralGroups, p.Reserved = several, value
				if err := p.Validate(); err != nil {
					t.Fatal(err)
				}
				profiles[i], judges[i] = p, NewJudge(p, agents)
			}
			rapid.Check(t, func(t *rapid.T) {
				body := []byte(strings.Join(append([]string{"user-agent: a"}, rapid.SliceOfN(line, 0, 8).Draw(t, "lines")...),
					"\n"))
				var files [3]File
				for i := range files {
					files[i].Parse(body, profiles[i])
					judges[i].Load(&files[i])
				}
				for range 4 {
					path := url.Draw(t, "url")
					for a := range agents {
						var said [3]Verdict
						for i := range said {
							target := profiles[i].LiteralTarget(path)
							said[i] = judges[i].Policy(a).Judge(&target)
						}
						want := said[1]
						if said[2].Value != want.Value || want.Value == Undefined {
							want = Verdict{Undefined, ReasonUndefined, -1}
						}
						if said[0] != want {
							t.Fatalf("%s\n%s, agent %d: got %+v, want %+v", body, path, a, said[0], want)
						}
					}
				}
			})
		}
	}
}

// TestBarePrefixOpen checks the same of the choice whether a path covers what
// merely begins with it.
func TestBarePrefixOpen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		open, _ := ProfileNamed("google")
		open.Wildcards, open.BarePrefix = false, Open
		accept, reject := *open, *open
		accept.BarePrefix, reject.BarePrefix = Accept, Reject
		body := []byte("user-agent: a\n" + drawRules(t, "rules") + rapid.SampledFrom([]string{"", "allow: /index.html\n",
			"allow: /a/index.html\n"}).Draw(t, "index"))
		path := "/" + rapid.StringMatching(`[ab/?]{0,5}`).Draw(t, "path")
		got, _ := ask(open, body, path, "a")
		want, _ := ask(&reject, body, path, "a")
		if other, _ := ask(&accept, body, path, "a"); other.Value != want.Value {
			want = Verdict{Undefined, ReasonUndefined, -1}
		}
		if got != want {
			t.Fatalf("%s\n%s: got %+v, want %+v", body, path, got, want)
		}
	})
}

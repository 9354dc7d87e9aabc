package robots

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawRules draws rule lines over a few letters, so that they often conflict.
func drawRules(t *rapid.T, label string) string {
	line := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"allow: ", "disallow: "}).Draw(t, "kind") +
			rapid.StringMatching(`/?[ab/*?]{0,4}\$?`).Draw(t, "pattern") + "\n"
	})
	return strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, label), "")
}

// TestPrecedenceModel checks each way to settle a conflict, in every
// combination and not only those of the built-in profiles, against the slow
// implementation of the clauses.
func TestPrecedenceModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }, drawn)
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		for range 50 {
			body := []byte("user-agent: a\n" + drawRules(t, "rules"))
			path := "/" + rapid.StringMatching(`[ab/?]{0,5}`).Draw(t, "path")
			got, _ := ask(p, body, path, "a")
			if want, _ := slowVerdict(p, body, Agent{Tokens: []string{"a"}}, URLPath(path)); got.Value != want {
				t.Fatalf("%+v\n%s\n%s: got %v, want %v", *p, body, path, got.Value, want)
			}
		}
	})
}

// TestOneMoreDisallow checks that one more disallow never lowers a verdict
// (SPEC 5), under any built-in profile.
func TestOneMoreDisallow(t *testing.T) {
	rank := map[Value]int{Permitted: 0, Undefined: 1, Disallowed: 2}
	for _, name := range ProfileNames() {
		if named(t, name).GreatestOnly {
			continue // a rule hides those that it begins with: disallow // opens /? to disallow /
		}
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

// TestClassModel checks that a class other than partial agrees with the verdict
// on every short path.
func TestClassModel(t *testing.T) {
	var paths []string
	letters := []string{"a", "b", "/", "?", ":", "%3A", "x"}
	for level, from := []string{"/"}, 0; from < 4; from++ {
		paths = append(paths, level...)
		var next []string
		for _, p := range level {
			for _, c := range letters {
				next = append(next, p+c)
			}
		}
		level = next
	}
	pattern := rapid.StringMatching(`/?([ab/*?:]|%3A){0,3}\$?`)
	for _, name := range ProfileNames() {
		t.Run(name, func(t *testing.T) {
			p := named(t, name)
			var targets []Target
			for _, path := range paths {
				targets = append(targets, p.target([]byte(path)))
			}
			rapid.Check(t, func(t *rapid.T) {
				body := "user-agent: a\n"
				if rapid.Bool().Draw(t, "closed") {
					body += "disallow: /\n"
				}
				for range rapid.IntRange(0, 3).Draw(t, "rules") {
					body += rapid.SampledFrom([]string{"allow: ", "disallow: ", "disalow: "}).Draw(t, "kind") +
						pattern.Draw(t, "pattern") + "\n"
				}
				var f File
				f.Parse([]byte(body), p)
				j := NewJudge(p, []Agent{{Tokens: []string{"a"}}})
				j.Load(&f)
				class := j.Policy(0).Class()
				if class == Partial {
					return
				}
				want := map[Class]Value{AllowAll: Permitted, DisallowAll: Disallowed}[class]
				for i := range targets {
					if got := j.Policy(0).Judge(&targets[i]); got.Value != want {
						t.Fatalf("%s%s is of class %v, and %s has %v", name+":\n", body, class, paths[i], got.Value)
					}
				}
			})
		})
	}
}

// TestSameAs checks that policies marked as the same give the same verdicts,
// with the same rule.
func TestSameAs(t *testing.T) {
	agents := []Agent{{Tokens: []string{"a"}}, {Tokens: []string{"b"}}, {Tokens: []string{"A"}, FallsBackTo: []string{
		"b"}},
		{Tokens: []string{"c"}}, {Tokens: []string{"d"}, IgnoresStar: true}, {Tokens: []string{"e"}}}
	line := rapid.SampledFrom([]string{"user-agent: a", "user-agent: b", "user-agent: A", "user-agent: *", "useragent: c",
		"crawl-delay: 1",
		"allow: /a", "disallow: /", "disalow: /b", "disallow: /*b", "alow: /b"})
	for _, name := range ProfileNames() {
		t.Run(name, func(t *testing.T) {
			p := named(t, name)
			j := NewJudge(p, agents)
			rapid.Check(t, func(t *rapid.T) {
				var f File
				f.Parse([]byte(strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")), p)
				j.Load(&f)
				for i := range agents {
					lead := j.Policy(i).SameAs
					if lead > i || j.Policy(lead).SameAs != lead {
						t.Fatalf("agent %d is the same as %d", i, lead)
					}
					for _, url := range []string{"/", "/a", "/b", "/ab", "/cb"} {
						target := p.Target(url)
						if got, want := j.Policy(i).Judge(&target), j.Policy(lead).Judge(&target); got != want {
							t.Fatalf("agents %d and %d on %s: %+v and %+v", i, lead, url, got, want)
						}
					}
				}
			})
		})
	}
}

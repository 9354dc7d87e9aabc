package robots

import (
	"fmt"
	"strings"
	"testing"
)

func classOf(p *Profile, rules string) Class {
	var f File
	f.Parse([]byte("user-agent: a\n"+rules), p)
	j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}})
	j.Load(&f)
	return j.Policy(0).Class()
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  Class
	}{
		{"", AllowAll},
		{"disallow:", AllowAll},
		{"allow: /", AllowAll},
		{"disallow: /", DisallowAll},
		{"disallow: *", DisallowAll},
		{"disallow: /*", DisallowAll},
		{"disallow: *$", DisallowAll},
		{"disallow: *//", Partial},
		{"disallow: */", DisallowAll},
		{"disallow: /*/", Partial},
		{"disallow: /$", Partial},
		{"disallow: /a", Partial},
		{"disallow: /\nallow: /", AllowAll},
		{"disallow: /\nallow: /*", AllowAll},
		{"disallow: /*\nallow: /", DisallowAll}, // the longer
		{"disallow: *\nallow: /", AllowAll},     // a tie: every path begins with a slash
		{"disallow: /\nallow: /$", Partial},
		{"disallow: /\nallow: /a", Partial},
		{"disallow: /\ndisallow: /a", DisallowAll},
		{"disallow: /\nallow: a", DisallowAll}, // matches nothing
		{"disallow: /\nallow:", DisallowAll},
		{"disallow: /a\nallow: /a", AllowAll},
		{"disallow: /a/b\nallow: /a/*", AllowAll}, // a tie
		{"disallow: /a/bc\nallow: /a/*", Partial},
		{"disallow: /*a\nallow: /*b", Partial},
		{"disallow: /a*b\nallow: /a*b", AllowAll},
		{"disallow: /x*a\nallow: /*****a", AllowAll},
		{"disallow: *a\nallow: /****a", AllowAll},
		{"disallow: */a\nallow: /*****/a", Partial}, // they differ on "/a"
		{"disallow: */a\nallow: *****/a", AllowAll},
		// Several stars at the start match no more than one: the slash of "/a" too
		// may be that of the pattern.
		{"disallow: **/a\nallow: /*/**", Partial},
		{"disallow: ***/a\nallow: /*/***", Partial},
		{"disallow: *\nallow: **/a*b\ndisallow: /*/***************", Partial},
		{"disallow: **/a\nallow: /***a", AllowAll},
		{"disallow: /*****\nallow: /a", DisallowAll},
		{"disallow: /***************\nallow: /a/index.html", DisallowAll},
		{"disallow: /*\nallow: /index.html", Partial},
		{"disallow: /a\nallow: /a$\nallow: /a*", AllowAll},
	} {
		if got := classOf(named(t, "google"), c.rules); got != c.want {
			t.Errorf("%q: got %v, want %v", c.rules, got, c.want)
		}
	}
}

// TestClassOfTwoRules checks the class of every two short patterns: all paths
// have its verdict, or, if it is partial, two short ones have different verdicts.
func TestClassOfTwoRules(t *testing.T) {
	texts := []string{"/", "*"}
	for from := 0; len(texts[from]) < 4; from++ {
		for _, c := range []string{"*", "/", "a"} {
			texts = append(texts, texts[from]+c)
		}
	}
	for _, name := range []string{"google", "google-2019"} {
		t.Run(name, func(t *testing.T) {
			p := named(t, name)
			var targets []Target
			for _, path := range (&arena{path: "!/a", length: 6}).paths() {
				targets = append(targets, p.target([]byte(path)))
			}
			f, j := new(File), NewJudge(p, []Agent{{Tokens: []string{"a"}}})
			for _, rules := range []string{"allow: %s\ndisallow: %s", "allow: %s$\ndisallow: %s", "allow: %s\ndisallow: %s$",
				"disallow: /\nallow: %s\ndisallow: %s"} {
				for _, one := range texts {
					for _, two := range texts {
						body := fmt.Sprintf("user-agent: a\n"+rules, one, two)
						f.Parse([]byte(body), p)
						j.Load(f)
						class, first := j.Policy(0).Class(), j.Policy(0).Judge(&targets[0]).Value
						want := map[Value]Class{Permitted: AllowAll, Disallowed: DisallowAll, Undefined: Partial}[first]
						path := targets[0].path
						for i := 1; i < len(targets) && want != Partial; i++ {
							if j.Policy(0).Judge(&targets[i]).Value != first {
								want, path = Partial, targets[i].path
							}
						}
						if class != want {
							t.Fatalf("%s\ngot %v, want %v: see %s", body, class, want, path)
						}
					}
				}
			}
		})
	}
}

// Without wildcards a * is a byte like any other.
func TestClassWithoutWildcards(t *testing.T) {
	p := named(t, "google")
	p.Wildcards = false
	if got := classOf(p, "allow: /\ndisallow: /**$"); got != Partial {
		t.Errorf("got %v", got)
	}
}

// A profile that does not escape patterns leaves no byte that none can contain. If
// a pattern contains the byte of the witnesses, no class but partial is proven.
func TestClassOfUnescapedPatterns(t *testing.T) {
	p := named(t, "google")
	p.Escapes = EscapesLiteral
	for rules, want := range map[string]Class{
		"disallow: /\nallow: /a*b\ndisallow: /a\xffb***": Partial, // /axb is allowed
		"allow: /\ndisallow: /a*b\nallow: /a\xffb***":    Partial, // /axb is not
		"disallow: /$\ndisallow: /\xff":                  Partial, // /x is allowed
		"disallow: /\nallow: /\xc3\xa9":                  Partial,
		"disallow: /\ndisallow: /\xc3\xa9":               DisallowAll,
	} {
		if got := classOf(p, rules); got != want {
			t.Errorf("%q: got %v, want %v", rules, got, want)
		}
	}
}

func TestClassOfProfiles(t *testing.T) {
	for _, c := range []struct {
		rules string
		want  by
	}{
		{"disallow: /", all("disallow_all")},
		{"disallow:", all("allow_all")},
		{"disallow: /a", all("partial")},
		{"disallow: /\nallow: /", by{"allow_all", "allow_all", "partial", "disallow_all", "allow_all"}},
		{"disallow: /*", by{"disallow_all", "disallow_all", "disallow_all", "partial", "disallow_all"}},
		// The wildcard may win (2012); an allow beside it may (2019).
		{"disallow: /*a\nallow: /", by{"partial", "partial", "partial", "partial", "partial"}},
		{"disallow: /*a\nallow: /******a", by{"allow_all", "allow_all", "partial", "partial", "allow_all"}},
		{"disallow: /a*b\nallow: /a", by{"partial", "partial", "partial", "partial", "partial"}},
		{"disallow: /\nallow: /b\ndisallow: /b*c\ndisallow: /b", by{"partial", "partial", "partial", "disallow_all",
			"partial"}},
		{"disallow: /\ndisallow: /*a", all("disallow_all")},
		{"disallow: /\nallow: /b\ndisallow: /b*\ndisallow: /bc", by{"disallow_all", "partial", "partial", "disallow_all",
			"disallow_all"}},
		// 2012 adds the slash.
		{"disallow: a\nallow: a", by{"allow_all", "allow_all", "partial", "allow_all", "allow_all"}},
		{"disallow: a\nallow: a$\nallow: a*", by{"allow_all", "allow_all", "partial", "allow_all", "allow_all"}},
		{"disalow: /", by{"disallow_all", "allow_all", "partial", "allow_all", "allow_all"}},
		// A path of 1996 covers itself and the paths below it, which is not
		// all.
		{"disallow: /a /", by{"partial", "partial", "partial", "disallow_all", "partial"}},
		// No URL contains a NUL. Under google it ends the line, so all is
		// allowed.
		{"disallow: /\nallow: /*\x00b", by{"allow_all", "disallow_all", "disallow_all", "disallow_all", "partial"}},
		// RFC 9309, 2.2.2: /robots.txt itself is always allowed.
		{"disallow: /\nallow: /robots.txt$", by{"partial", "partial", "partial", "disallow_all", "disallow_all"}},
		{"disallow: **/robots.txt$", by{"partial", "partial", "partial", "allow_all", "partial"}},
		{"disallow: /robots.txt$", by{"partial", "partial", "partial", "partial", "allow_all"}},
		// Patterns with two forms (rfc9309).
		{"disallow: /\ndisallow: /*%3A", all("disallow_all")},
		{"disallow: /*%3A\nallow: /*%3A", by{"allow_all", "allow_all", "partial", "partial", "allow_all"}},
		{"disallow: /*%3A\nallow: /*:", by{"partial", "partial", "partial", "partial", "partial"}},
		{"disallow: /\nallow: /*%3A", by{"partial", "partial", "partial", "disallow_all", "partial"}},
		{"disallow: /\nallow: /*%3Ab\ndisallow: /***%3Ab", by{"disallow_all", "partial", "partial", "disallow_all",
			"disallow_all"}},
		// Covered in the path, where the escape stays an escape, but not in the
		// query.
		{"disallow: /\nallow: /*%2Fb\ndisallow: /*****2Fb", by{"disallow_all", "partial", "partial", "disallow_all",
			"partial"}},
		{"disallow: /\nallow: /*%2Fb\ndisallow: /****/b", by{"partial", "partial", "partial", "disallow_all", "partial"}},
		{"disallow: /\nallow: /*?%2Fb\ndisallow: /****?/b", by{"partial", "partial", "partial", "disallow_all",
			"disallow_all"}},
	} {
		eachProfile(t, func(t *testing.T, p *Profile) {
			if got := classOf(p, c.rules); got.String() != c.want.of(p.Name) {
				t.Errorf("%q: got %v, want %s", c.rules, got, c.want.of(p.Name))
			}
		})
	}
}

// TestClassGivesUp checks that hostile rules cost no more than the budget.
func TestClassGivesUp(t *testing.T) {
	p := named(t, "google")
	rules := strings.Repeat("disallow: /\n", 5000) + strings.Repeat("allow: /a*a*a*a*a\ndisallow: /*******************\n",
		5000)
	if got := classOf(p, rules); got != Partial {
		t.Errorf("got %v", got)
	}
}

// TestStarsCost bounds what a pattern of many stars may cost: a star is searched for on its own.
func TestStarsCost(t *testing.T) {
	for rules, want := range map[string]int{
		"disallow: /a": 1, "disallow: /*a*b*c\nallow: /b": 2, "disallow: /" + strings.Repeat("a*", 60) + "b": 58,
	} {
		if got := policyOf(named(t, "rfc9309"), rules).sets[0].cost(); got != want {
			t.Errorf("%.30q costs %d, want %d", rules, got, want)
		}
	}
}

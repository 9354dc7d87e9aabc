package robots

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/automaton"
)

// An edit changes a file, with a known effect for an agent that the file names,
// under two profiles.
type edit struct {
	name            string
	of              func(file string, w editWords) string
	google, rfc     Relation
	closes, opens   string // the counterexample under google, "" for none or any
	closesB, opensB int32  // the lines that decide on the counterexamples after the edit; 0 for none
}

// editWords are the words in a file.
type editWords struct{ shut, ajar, asked, new string }

// editedFile returns a file with a crawler's group followed by the group for
// all.
func editedFile(w editWords) string {
	return fmt.Sprintf(`User-agent: ExampleBot
Disallow: /%[1]s/
Allow: /%[1]s/%[2]s
Disallow: /*?%[3]s=
Disallow: /caf%%c3%%a9
Disallow: /%[2]s-old

User-agent: *
Disallow: /%[1]s/
`, w.shut, w.ajar, w.asked)
}

func replaced(old, new string) func(string, editWords) string {
	return func(file string, w editWords) string {
		r := strings.NewReplacer("SHUT", w.shut, "AJAR", w.ajar, "ASKED", w.asked, "NEW", w.new)
		old, new := r.Replace(old), r.Replace(new)
		if !strings.Contains(file, old) {
			panic(fmt.Sprintf("no %q in %s", old, file))
		}
		return strings.Replace(file, old, new, 1)
	}
}

var edits = []edit{
	{name: "an implied rule is added", of: replaced("Allow:", "Disallow: /SHUT/NEW\nAllow:")},
	{name: "an implied rule with a star is added", of: replaced("Allow:", "Disallow: /SHUT/NEW*/x$\nAllow:")},
	{name: "a rule is split at its end", of: replaced("/AJAR-old", "/AJAR-old$\nDisallow: /AJAR-old*")},
	{name: "a rule is split by what follows, and something is lost", of: replaced("/AJAR-old",
		"/AJAR-old$\nDisallow: /AJAR-old/"), google: Looser, rfc: Looser, opens: "/AJAR-old!"},
	{name: "an escape changes its case", of: replaced("%c3%a9", "%C3%A9")},
	{name: "an escape becomes what it stands for", of: replaced("%c3%a9", "é")},
	{name: "a letter is escaped", of: replaced("/AJAR-old", "/AJAR%2Dold"), google: Mixed},
	{name: "the group is copied for another agent", of: replaced("User-agent: *",
		"User-agent: OtherBot\nDisallow: /SHUT/\n\nUser-agent: *")},
	{name: "another agent is named beside it", of: replaced("User-agent: ExampleBot",
		"User-agent: OtherBot\nUser-agent: ExampleBot")},
	{name: "the group is split in two", of: replaced("Disallow: /*", "\nUser-agent: ExampleBot\nDisallow: /*")},
	{name: "the name changes its case", of: replaced("ExampleBot", "EXAMPLEBOT/2.0")},
	{name: "a path is closed that no sample names", of: replaced("Allow:", "Disallow: /NEW\nAllow:"), google: Stricter,
		rfc: Stricter, closes: "/NEW", closesB: 3},
	{name: "a query is closed", of: replaced("?ASKED=", "?ASKED"), google: Stricter, rfc: Stricter, closes: "/?ASKED",
		closesB: 4},
	{name: "the exception goes", of: replaced("Allow: /SHUT/AJAR\n", ""), google: Stricter, rfc: Stricter,
		closes: "/SHUT/AJAR", closesB: 2},
	{name: "an exception comes", of: replaced("Disallow: /*", "Allow: /SHUT/NEW\nDisallow: /*"), google: Looser,
		rfc: Looser, opens: "/SHUT/NEW", opensB: 4},
	{name: "a rule is anchored", of: replaced("/AJAR-old", "/AJAR-old$"), google: Looser, rfc: Looser,
		opens: "/AJAR-old!"},
	{name: "a starred rule changes its kind", of: replaced("Disallow: /*", "Allow: /*"), google: Looser, rfc: Looser,
		opens: "/?ASKED=", opensB: 4},
	{name: "a path moves", of: replaced("/AJAR-old", "/NEW"), google: Mixed, rfc: Mixed, closes: "/NEW", closesB: 6,
		opens: "/AJAR-old"},
	{name: "rules change their order, and one is doubled", of: replaced("Disallow: /SHUT/\nAllow: /SHUT/AJAR\n",
		"Allow: /SHUT/AJAR\nDisallow: /SHUT/\nDisallow: /SHUT/\n")},
	{name: "fields are written otherwise", of: replaced("Disallow: /AJAR", "# NEW\nDISALLOW :  /AJAR")},
	{name: "the whole group goes", of: func(file string, w editWords) string {
		return file[strings.Index(file, "User-agent: *"):]
	}, google: Mixed, rfc: Mixed, closes: "/SHUT/AJAR", closesB: 2},
}

// TestEdits checks that each of some 300 edits of a file is classified by its
// meaning, with the path and the lines that show it.
func TestEdits(t *testing.T) {
	n := 0
	for i := range 16 {
		w := editWords{fmt.Sprintf("private%d", i), fmt.Sprintf("%cjar", 'b'+i), fmt.Sprintf("s%drt", i),
			fmt.Sprintf("%cew%d", 'n'+i%8, i)}
		before := editedFile(w)
		for _, e := range edits {
			after := e.of(before, w)
			for profile, want := range map[string]Relation{"google": e.google, "rfc9309": e.rfc} {
				n++
				a, b := policyOfFile(t, profile, before), policyOfFile(t, profile, after)
				c := Compare(a, b)
				if c.Relation != want {
					t.Errorf("%s, %s: %v, want %v (%v, %v)\n%s", profile, e.name, c.Relation, want, c.Closes, c.Opens, after)
				}
				if r, _ := Relate(a, b, automaton.MaxWork); r != want {
					t.Errorf("%s, %s: Relate gives %v, want %v", profile, e.name, r, want)
				}
				if profile != "google" {
					continue
				}
				for k, x := range []struct {
					got  *Counterexample
					path string
					line int32
				}{{c.Closes, e.closes, e.closesB}, {c.Opens, e.opens, e.opensB}} {
					if x.path == "" {
						continue
					}
					path := strings.NewReplacer("SHUT", w.shut, "AJAR", w.ajar, "ASKED", w.asked, "NEW", w.new).Replace(x.path)
					line := int32(0)
					if x.got != nil && x.got.B.Rule >= 0 {
						line = b.judge.file.Rules[x.got.B.Rule].Line
					}
					if x.got == nil || x.got.Path != path || line != x.line {
						t.Errorf("%s: witness %d is %v, line %d, want %s, line %d", e.name, k, x.got, line, path, x.line)
					}
				}
			}
		}
	}
	if n < 300 {
		t.Errorf("%d edits", n)
	}
}

// TestDistinguishWithinBounds checks that beyond its bound the search falls
// back to paths of the rules. A path that it returns shows a difference;
// without one the result is undecided.
func TestDistinguishWithinBounds(t *testing.T) {
	of := func(profile, rules string) *Policy { return policyOf(named(t, profile), rules) }
	const stars = "disallow: /*a*b*c\nallow: /*b*c*d*e\ndisallow: /*c*d*e*f*g\n"
	for _, c := range []struct {
		name string
		a, b *Policy
		want string // the path
		way  bool   // decided
	}{
		{"a rule's own path", of("google", stars), of("google", stars+"disallow: /news"), "/news", true},
		{"a path with an escape", of("google", stars+"disallow: /news"), of("rfc9309", stars+"disallow: /news"), "/new%73",
			true},
		{"the same", of("google", stars), of("google", "disallow: /*a*b*c*\nallow: /*b*c*d*e\ndisallow: /*c*d*e*f*g\n"), "",
			false},
	} {
		w, decided, work := Distinguish(c.a, c.b, 64, AllPaths)
		path := ""
		if w != nil {
			if path = w.Path; w.A.Value == w.B.Value || c.a.judgePath([]byte(path)) != w.A ||
				c.b.judgePath([]byte(path)) != w.B {
				t.Errorf("%s: %+v", c.name, *w)
			}
		}
		if path != c.want || decided != c.way || work == 0 {
			t.Errorf("%s: %q, decided %v, work %d", c.name, path, decided, work)
		}
	}
}

// policyOfFile returns ExampleBot's policy.
func policyOfFile(t *testing.T, profile, body string) *Policy {
	t.Helper()
	p := named(t, profile)
	f, j := new(File), NewJudge(p, []Agent{{Name: "ExampleBot", Tokens: []string{"ExampleBot"}}})
	f.Parse([]byte(body), p)
	j.Load(f)
	return j.Policy(0)
}

package evaluate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// starReadings reads a body under profiles for agents, as a run does.
func starReadings(t *testing.T, body string, agents []schema.Agent, names ...string) *Evaluator {
	t.Helper()
	var profiles []*robots.Profile
	for _, name := range names {
		p, ok := robots.ProfileNamed(name)
		if !ok {
			t.Fatalf("no profile %s", name)
		}
		profiles = append(profiles, p)
	}
	a := Prepare(Config{Agents: agents, Profiles: profiles}).Evaluator()
	for k := range profiles {
		a.read(k, []byte(body), questions{judging: true})
	}
	return a
}

func TestVersusStar(t *testing.T) {
	agents := []schema.Agent{{Name: "A", Tokens: []string{"a"}}, {Name: "B", Tokens: []string{"b"}, FallsBackTo: []string{
		"a"}}, {Name: "C", Tokens: []string{"c"}}, {Name: "D", Tokens: []string{"d"}, IgnoresStar: true}}
	for _, c := range []struct{ name, body, google, classic string }{
		{"copies", "user-agent: *\ndisallow: /p\ndisallow: /q\nuser-agent: a\ndisallow: /p\ndisallow: /q\n", "equal - - -",
			"equal - - -"},
		{"the same in other words", "user-agent: *\ndisallow: /p\nallow: /p/a\nuser-agent: a\nallow: /p/a*\ndisallow: /p*\n" +
			"disallow: /p/q\nallow: /r\n", "equal - - -", "mixed - - -"},
		{"in the group for all", "user-agent: *\nuser-agent: a\ndisallow: /p\n", "equal - - -", "stricter - - -"},
		{"stricter and looser", "user-agent: *\ndisallow: /p\nuser-agent: a\ndisallow: /\nuser-agent: c\ndisallow: /p/q\n" +
			"user-agent: b\n", "stricter looser looser -", "stricter - looser -"},
		{"mixed, and a copy of that", "user-agent: *\ndisallow: /p\nuser-agent: a\ndisallow: /q\nuser-agent: c\n" +
			"disallow: /q\n", "mixed - mixed -", "mixed - mixed -"},
		{"no group for all allows all", "user-agent: a\ndisallow: /p\nuser-agent: c\ndisallow:\nuser-agent: d\nallow: /\n",
			"stricter - equal equal", "stricter - equal -"},
		{"whom * does not bind is compared all the same", "user-agent: *\ndisallow: /\nuser-agent: d\ndisallow: /p\n",
			"- - - looser", "- - - looser"},
		{"own rules that close what no sample names", "user-agent: *\ndisallow: /*?\nuser-agent: a\ndisallow: /*?\n" +
			"disallow: /deep/*/x$\n", "stricter - - -", "stricter - - -"},
	} {
		a := starReadings(t, c.body, agents, "google", "classic-1996")
		for k, want := range []string{c.google, c.classic} {
			var got []string
			for i := range agents {
				text := "-"
				if p := a.readings[k].found(i); p.match == robots.OwnGroup {
					text = summary.RelationNames[p.versusStar]
				}
				got = append(got, text)
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%s, %s: %s, want %s", c.name, a.readings[k].profile.Name, text, want)
			}
		}
	}
}

// A file in which every group takes a comparison to its bounds costs little more
// than one such comparison, and gives the same answer each time.
func TestVersusStarIsBounded(t *testing.T) {
	var star, body strings.Builder
	for i := range 18 {
		fmt.Fprintf(&star, "%s: /*%c%s%c\n", []string{"allow", "disallow"}[i%2], 'a'+i, strings.Repeat("*", i+1),
			"stuvwxyz0123456789"[i])
	}
	fmt.Fprintf(&body, "user-agent: *\n%s", star.String())
	var agents []schema.Agent
	for i := range 100 {
		name := fmt.Sprintf("bot%c%c", 'a'+i/26, 'a'+i%26)
		agents = append(agents, schema.Agent{Name: name, Tokens: []string{name}})
		fmt.Fprintf(&body, "user-agent: %s\n%sallow: /*aa*bb*cc%d\ndisallow: /*dd*ee***f\n", name, star.String(), i)
	}
	var first string
	for range 2 {
		start := time.Now()
		a := starReadings(t, body.String(), agents, "google")
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("it takes %v", d)
		}
		var got []string
		for i := range agents {
			p := a.readings[0].found(i)
			got = append(got, summary.RelationNames[p.versusStar])
		}
		text := strings.Join(got, " ")
		if !strings.HasSuffix(text, "undecided undecided undecided") {
			t.Errorf("groups beyond the bound are %s", text)
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Errorf("once %s\nand then %s", first, text)
		}
	}
}

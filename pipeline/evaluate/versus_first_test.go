package evaluate

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Profiles are compared with the first on every path, with the lines of each side,
// whether or not the content is cached.
func TestVersusFirst(t *testing.T) {
	agents := []schema.Agent{{Name: "A", Tokens: []string{"a"}}, {Name: "B", Tokens: []string{"b"}},
		{Name: "C", Tokens: []string{"c"}}, {Name: "E", Tokens: []string{"e"}}, {Name: "Copy", Tokens: []string{"copy"}}}
	body := "user-agent: a\ndisallow: /\nuser-agent: b\nallow: /page\ndisallow: /*.htm\nuser-agent: *\ndisallow:\n" +
		"user-agent: copy\nallow: /page\ndisallow: /*.htm\n"
	var profiles []*robots.Profile
	for _, name := range []string{"google", "google-2019", "rfc9309"} {
		p, _ := robots.ProfileNamed(name)
		profiles = append(profiles, p)
	}
	a := Prepare(Config{Agents: agents, Profiles: profiles}).Evaluator()
	for range 3 {
		for k := range profiles {
			a.readings[k].answer = answer.Answer{Outcome: answer.ConditionalAllow}
			a.read(k, []byte(body), questions{judging: true, versusFirst: k > 0})
		}
		var got []string
		for k := range profiles {
			if got := a.hasVersusFirst(k, 0); got != (k > 0) {
				t.Fatalf("profile %d: hasVersusFirst is %v", k, got)
			}
			for i, p := range a.readings[k].content.versusFirst {
				if got = append(got, summary.VersusFirstNames[p]); p == robots.Differs {
					got[len(got)-1] = a.versusFirstText(k, i)
				}
			}
		}
		// rfc9309 always allows /robots.txt itself, and decodes %2E in a path, where nobody needs an escape.
		want := strings.Join([]string{
			"equal", "B, /page.htm; google: disallow (line 5); google-2019: undefined", "equal", "equal",
			"Copy, /page.htm; google: disallow (line 10); google-2019: undefined",
			"equal", "escapes_only", "equal", "equal", "escapes_only",
		}, "; ")
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
}

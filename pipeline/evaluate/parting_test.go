package evaluate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/summary"
)

// Profiles are compared with the first on every path, with the lines of each side,
// whether or not the content is cached.
func TestPartings(t *testing.T) {
	agents := []Agent{{Name: "A", Tokens: []string{"a"}}, {Name: "B", Tokens: []string{"b"}}, {Name: "C", Tokens: []string{"c"}}, {Name: "E", Tokens: []string{"e"}}, {Name: "Copy", Tokens: []string{"copy"}}}
	body := "user-agent: a\ndisallow: /\nuser-agent: b\nallow: /page\ndisallow: /*.htm\nuser-agent: *\ndisallow:\nuser-agent: copy\nallow: /page\ndisallow: /*.htm\n"
	var profiles []*robots.Profile
	for _, name := range []string{"google", "google-2019", "rfc9309"} {
		p, _ := robots.ProfileNamed(name)
		profiles = append(profiles, p)
	}
	a := Prepare(Config{Agents: agents, Profiles: profiles}).Evaluator()
	for range 3 {
		for k := range profiles {
			a.readings[k].answer = robots.Answer{Outcome: robots.ConditionalAllow}
			a.read(k, []byte(body), questions{judging: true, parting: k > 0})
		}
		var got []string
		for k := range profiles {
			if a.parted(k) != (k > 0) {
				t.Fatalf("profile %d: parted is %v", k, a.parted(k))
			}
			for i := range a.readings[k].content.partings {
				p := &a.readings[k].content.partings[i]
				text := summary.PartNames[p.standing]
				if p.witness != nil {
					text += fmt.Sprintf(" %s %v %v %v", p.witness.Path, p.witness.A.Value, p.witness.B.Value, p.lines)
				}
				got = append(got, text)
			}
		}
		// rfc9309 always allows /robots.txt itself, and decodes %2E in a path.
		want := "equal; different /page.htm disallow undefined [5 0]; equal; equal; different; different /robots.txt disallow allow [2 0]; different /%2Ehtm allow disallow [0 5]; equal; equal; different"
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
}

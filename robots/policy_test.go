package robots

import (
	"fmt"
	"testing"
)

// The groups of a policy are those of the file, under a dialect too, whose judge has
// one more for a crawl-delay that forbids everything.
func TestGroupsOfAPolicy(t *testing.T) {
	const file = "User-agent: *\nDisallow: /s\n\nUser-agent: aa\nDisallow: /1\n\nUser-agent: bb\nDisallow: /2\n\n" +
		"User-agent: AA\nDisallow: /1\n"
	const delay = "User-agent: aa\nCrawl-delay: 1000000\nDisallow: /1\n"
	for _, row := range []struct{ profile, text, agent, want string }{
		{"google", file, "aa", "[1 3]"},
		{"google", file, "bb", "[2]"},
		{"google", file, "cc", "[0]"},
		{"google", "User-agent: aa\nDisallow: /\n", "cc", "[]"},
		{"google-2012", file, "aa", "[1 3]"}, // either is valid
		{"google-2019", file, "aa", "[1 3]"}, // whatever the case
		{"classic-1996", file, "aa", "[1 3]"},
		{"protego", file, "aa", "[1 3]"},
		{"urllib-2025", file, "aa", "[1]"},
		{"crawler-commons", delay, "aa", "[0]"},
		{"heritrix", file, "cc", "[0]"},
	} {
		p, _ := ProfileNamed(row.profile)
		var f File
		f.Parse([]byte(row.text), p)
		j := NewJudge(p, []Agent{{Name: row.agent, Tokens: []string{row.agent}}})
		j.Load(&f)
		if got := fmt.Sprint(j.Policy(0).Groups()); got != row.want {
			t.Errorf("%s: agent %s follows %s of %q, want %s", row.profile, row.agent, got, row.text, row.want)
		}
	}
}

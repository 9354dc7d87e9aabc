package robots

import (
	"strings"
	"testing"
)

// The first of an agent's groups with a crawl-delay decides.
func TestCrawlDelayOfSeveralGroups(t *testing.T) {
	body := []byte("user-agent: a\ndisallow: /1\n\nuser-agent: a\ncrawl-delay: 2\ndisallow: /2\n\nuser-agent: a\n" +
		"crawl-delay: 3\ndisallow: /3\n")
	eachProfile(t, func(t *testing.T, p *Profile) {
		var f File
		f.Parse(body, p)
		j := NewJudge(p, []Agent{{Name: "a", Tokens: []string{"a"}}, {Name: "b", Tokens: []string{"b"}}})
		j.Load(&f)
		if a := j.Policy(0); p.AgentMatch != MatchSubstring && (!a.HasCrawlDelay || a.CrawlDelay != 2) {
			t.Errorf("crawl-delay %v, %v", a.CrawlDelay, a.HasCrawlDelay)
		}
		if b := j.Policy(1); b.HasCrawlDelay || b.CrawlDelay != 0 {
			t.Errorf("an agent without a group has a crawl-delay of %v", b.CrawlDelay)
		}
	})
}

// A crawl-delay is for the agents that were listed last before it.
func TestCrawlDelayOfSomeAgents(t *testing.T) {
	const joined = "user-agent: SemrushBot*\ncrawl-delay: 10\n\nuser-agent: Applebot\ncrawl-delay: 5\n\nuser-agent: *\n" +
		"disallow: /x\n"
	const some = "user-agent: xx\nuser-agent: yy/1\ncrawl-delay: 2\ncrawl-delay: 3\nuser-agent: zz9\ndisallow: /\n" +
		"crawl-delay: 4\ncrawl-delay: 5\n\nuser-agent: XX\ncrawl-delay: 1\ndisallow: /"
	agents := []Agent{}
	for _, token := range []string{"SemrushBot", "Applebot", "GPTBot", "xx", "yy", "zz9"} {
		agents = append(agents, Agent{Name: token, Tokens: []string{token}})
	}
	for _, row := range []struct {
		profile string
		scope   DelayScope
		file    string
		want    [6]float64 // -1 for none
	}{
		{"google", DelayListed, joined, [6]float64{10, 5, -1, -1, -1, -1}},
		{"rfc9309", DelayListed, joined, [6]float64{10, 5, -1, -1, -1, -1}},
		{"google", DelayOfGroup, joined, [6]float64{10, 10, 10, 10, 10, 10}},
		{"google", DelayListed, some, [6]float64{-1, -1, -1, 2, 2, 4}},
		{"google", DelayListedLast, some, [6]float64{-1, -1, -1, 1, 3, 5}},
		{"google", DelayListedLeast, some, [6]float64{-1, -1, -1, 1, 2, 4}},
		{"google", DelayOfGroup, some, [6]float64{-1, -1, -1, 2, 2, 2}},
		{"google", DelayListed, "user-agent: *\ncrawl-delay: 7\nuser-agent: XX\ndisallow: /x\n", [6]float64{7, 7, 7, -1, 7,
			7}},
		{"crawler-commons", DelayListedLeast, joined, [6]float64{10, 5, -1, -1, -1, -1}},
		{"crawler-commons", DelayListedLeast, some, [6]float64{-1, -1, -1, 1, 2, 4}},
		{"temoto", DelayListedLast, some, [6]float64{-1, -1, -1, 1, -1, 5}},
		{"urllib-2026", DelayListedLast, strings.ReplaceAll(some, "/1", ""), [6]float64{-1, -1, -1, 1, 3, 5}},
	} {
		p := named(t, row.profile)
		p.DelayScope = row.scope
		var f File
		for range 2 { // a File is used again
			f.Parse([]byte(row.file), p)
		}
		j := NewJudge(p, agents)
		j.Load(&f)
		for i, want := range row.want {
			a, got := j.Policy(i), -1.0
			if a.HasCrawlDelay {
				got = a.CrawlDelay
			}
			if got != want {
				t.Errorf("%s, %q: %s has %v, want %v", row.profile, row.scope, agents[i].Name, got, want)
			}
		}
	}
}

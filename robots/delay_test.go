package robots

import "testing"

// The first of an agent's groups with a crawl-delay decides.
func TestCrawlDelayOfSeveralGroups(t *testing.T) {
	body := []byte("user-agent: a\ndisallow: /1\n\nuser-agent: a\ncrawl-delay: 2\ndisallow: /2\n\nuser-agent: a\ncrawl-delay: 3\ndisallow: /3\n")
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

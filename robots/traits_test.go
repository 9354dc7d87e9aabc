package robots

import "testing"

// Traits of dialects show without a search.
func TestTraitsNeedNoSearch(t *testing.T) {
	for _, c := range []struct{ profile, rules string }{
		{"httrack", "disallow: /search"}, {"httrack", "disallow: /a%2fb/"},
		{"heritrix", "disallow: /misc/\nallow: /misc/*.js$"},
		{"scrapy", "disallow: /core/\nallow: /core/*.js$"}, {"scrapy", "disallow: /\nallow: /page$"},
	} {
		var policies [2]*Policy
		for i, name := range []string{"google", c.profile} {
			p, _ := ProfileNamed(name)
			q := *p
			q.RobotsTxtAllowed = true
			f, j := new(File), NewJudge(&q, []Agent{{Name: "a", Tokens: []string{"a"}}})
			f.Parse([]byte("user-agent: *\n"+c.rules+"\n"), &q)
			j.Load(f)
			policies[i] = j.Policy(0)
		}
		if d, _, _ := differShortly(policies[0], policies[1]); d != Differs {
			t.Errorf("%s, %q: %s, want different", c.profile, c.rules, d)
		}
		if d, _ := differBySearch(policies[0], policies[1], 1<<24, shown{}); d != Differs {
			t.Errorf("%s, %q: the search says %s", c.profile, c.rules, d)
		}
	}
}

package robots_test

import (
	"fmt"

	"github.com/robocensus/robocensus/robots"
)

const file = `User-agent: GPTBot
User-agent: CCBot
Disallow: /

User-agent: *
Disallow: /search
Allow: /search/about
`

func ExampleAllowed() {
	for _, agent := range []string{"GPTBot", "Googlebot"} {
		for _, url := range []string{"https://news.example/search?q=x", "/search/about"} {
			allowed, err := robots.Allowed([]byte(file), agent, url)
			fmt.Println(agent, url, allowed, err)
		}
	}
	_, err := robots.Allowed([]byte(file), "GPTBot/1.2", "/")
	fmt.Println(err)
	// Output:
	// GPTBot https://news.example/search?q=x false <nil>
	// GPTBot /search/about false <nil>
	// Googlebot https://news.example/search?q=x false <nil>
	// Googlebot /search/about true <nil>
	// agent "GPTBot/1.2": token "GPTBot/1.2" has a character outside A-Z a-z 0-9 . _ -; use "GPTBot"
}

// A Judge asks one file for several crawlers, and says which rule decides.
func ExampleJudge() {
	p, _ := robots.ProfileNamed("rfc9309")
	agents := []robots.Agent{{Name: "GPTBot", Tokens: []string{"GPTBot"}}, {Name: "Googlebot-Image",
		Tokens: []string{"Googlebot-Image"}, FallsBackTo: []string{"Googlebot"}}}
	judge := robots.NewJudge(p, agents)
	var f robots.File
	f.Parse([]byte(file), p)
	judge.Load(&f)
	target := p.Target("https://news.example/search?q=x")
	for i, a := range agents {
		policy := judge.Policy(i)
		v := policy.Judge(&target)
		fmt.Printf("%s: %s, %s, line %d: %s\n", a.Name, policy.Class(), v.Value, f.Rules[v.Rule].Line, policy.GroupAgent)
	}
	// Output:
	// GPTBot: disallow_all, disallow, line 3: GPTBot
	// Googlebot-Image: partial, disallow, line 6: *
}

// Two policies are compared by what they mean on every URL.
func ExampleCompare() {
	p, _ := robots.ProfileNamed("google")
	policyOf := func(body string) *robots.Policy {
		var f robots.File
		f.Parse([]byte(body), p)
		j := robots.NewJudge(p, []robots.Agent{{Name: "GPTBot", Tokens: []string{"GPTBot"}}})
		j.Load(&f)
		return j.Policy(0)
	}
	c := robots.Compare(policyOf("User-agent: *\nDisallow: /a"), policyOf("User-agent: *\nDisallow: /a\nDisallow: /b"))
	fmt.Printf("the second is %s: %s is %s, then %s\n", c.Relation, c.Closes.Path, c.Closes.A.Value, c.Closes.B.Value)
	// Output:
	// the second is stricter: /b is allow, then disallow
}

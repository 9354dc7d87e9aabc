package check

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// Of a host behind a wall nobody knows what may be fetched, whatever the status of the wall
// says and though its page has rules.
func TestAWallDecidesNothing(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	for _, status := range []int{200, 403, 503} {
		c := &fetch.Capture{
			Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, Hops: []answer.Hop{
				{URL: "https://a.example/robots.txt", Status: status}}, Challenge: "cloudflare",
		}
		if status == 200 {
			c.Body = []byte("<!--\nUser-agent: *\nDisallow: /\n")
		}
		l := newURLJudge(google, robots.Agent{Name: "GPTBot", Tokens: []string{"GPTBot"}}, c)
		v := l.Verdict("https://a.example/x")
		if d := DecisionOf(&l.File, v); d != (Decision{"undefined", "challenge", 0, ""}) || !strings.HasPrefix(l.Why(v),
			"a wall answered in place of the file") {
			t.Errorf("status %d: %+v, because %s", status, d, l.Why(v))
		}
		var out strings.Builder
		e := newExplainer(&out, WithOthers([]*robots.Profile{google}), robots.Agent{Name: "GPTBot",
			Tokens: []string{"GPTBot"}})
		e.capture(c)
		e.explain("https://a.example/x")
		for _, want := range []string{"answers with a wall in place of the file (Cloudflare, status ",
			"profile google: what may be fetched stays undefined (undefined, challenge)",
			"UNDEFINED  GPTBot may or may not fetch", "the same under: "} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("status %d: it does not say %q:\n%s", status, want, out.String())
			}
		}
		if strings.Contains(out.String(), "has a robots.txt") || strings.Contains(out.String(), "line 3") {
			t.Errorf("status %d: it reads the page of the wall:\n%s", status, out.String())
		}
	}
}

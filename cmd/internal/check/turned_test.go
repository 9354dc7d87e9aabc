package check

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// Who turns us away has not said that there is no file: the reason of a verdict has the words of
// the summary.
func TestAnswersThatTurnAway(t *testing.T) {
	for _, row := range []struct {
		profile    string
		status     int
		retryAfter bool
		want       string
	}{
		{"google", 403, false, "refused (401, 403, 451)"},
		{"google", 402, false, "payment demanded (402)"},
		{"google", 429, false, "throttled (429, or 503 with Retry-After)"},
		{"google-2019", 429, false, "throttled (429, or 503 with Retry-After)"},
		{"google", 503, true, "throttled (429, or 503 with Retry-After)"},
		{"google", 503, false, "server error"},
		{"google", 404, false, "no robots.txt (4xx)"},
		{"urllib-2026", 403, false, "refused (401, 403, 451); closed by a 4xx status"},
	} {
		p, ok := robots.ProfileNamed(row.profile)
		if !ok {
			t.Fatal(row.profile)
		}
		c := &fetch.Capture{Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443},
			Hops: []answer.Hop{{URL: "https://a.example/robots.txt", Status: row.status}}}
		if row.retryAfter {
			c.Headers.RetryAfter = new("60")
		}
		agent := robots.Agent{Name: "GPTBot", Tokens: []string{"GPTBot"}}
		l := newURLJudge(p, agent, c)
		if why := l.Why(l.Verdict("https://a.example/x")); why != row.want {
			t.Errorf("%s, %d: the list says %q, want %q", row.profile, row.status, why, row.want)
		}
		var out strings.Builder
		e := newExplainer(&out, []*robots.Profile{p}, agent)
		e.capture(c)
		e.explain("https://a.example/x")
		if want := "the answer decides, and no rule: " + row.want + "\n"; !strings.Contains(out.String(), want) {
			t.Errorf("%s, %d: want %q in\n%s", row.profile, row.status, want, out.String())
		}
	}
}

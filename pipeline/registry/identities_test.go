package registry

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink/schema"
)

// The contact of our own user agent goes with each identity, unless the file says otherwise.
func TestParseIdentities(t *testing.T) {
	agents := []schema.Agent{{Name: "GPTBot"}}
	for _, row := range []struct{ text, ours, want string }{
		{"- {name: again}", "c/1 (+https://c.example/)", "c/1 (+https://c.example/) control"},
		{"- {name: a, user_agent: x/1}", "c/1 (+https://c.example/)", "x/1 (+https://c.example/)"},
		{"- {name: a, user_agent: x/1}", "c/1 (me@c.example)", "x/1 From: me@c.example"},
		{"- {name: a, user_agent: x/1, headers: {from: you@c.example}}", "c/1 (me@c.example)", "x/1 from: you@c.example"},
		{"- {name: a, user_agent: x/1, contact: false}", "c/1 (+https://c.example/)", "x/1"},
		{"- {name: a, user_agent: x/1, agent: GPTBot}", "c/1", "x/1"},
		{"- {name: a, user_agent: x/1, agent: Nobody}", "c/1", "f:1: identity a: the registry has no agent \"Nobody\""},
		{"- {name: a, user_agent: x/1}\n- {name: a}", "c/1", "f:2: identity \"a\" is already in line 1"},
		{"- {name: a, user-agent: x/1}", "c/1", "f:1: unknown key \"user-agent\""},
		{"- {name: a, user_agent: \"x\\r\\nHost: y\"}", "c/1", "f:1: identity a: the user agent contains byte 0xd"},
	} {
		got, err := ParseIdentities("f", []byte(row.text), row.ours, agents)
		said := ""
		if err != nil {
			said = err.Error()
		} else {
			i := got[0]
			said = i.UserAgent
			for _, h := range i.Headers {
				said += " " + h.Name + ": " + h.Value
			}
			if i.IsControl {
				said += " control"
			}
		}
		if !strings.HasPrefix(said, row.want) || err == nil && said != row.want {
			t.Errorf("%s as %s: %q, want %q", row.text, row.ours, said, row.want)
		}
	}
}

// vendors are the places where those who make walls, or the tests in them, document and
// publish them.
var vendors = map[string][]string{
	"cloudflare": {"https://developers.cloudflare.com/"}, "aws-waf": {"https://docs.aws.amazon.com/"},
	"akamai":   {"https://community.akamai.com/", "https://techdocs.akamai.com/"},
	"datadome": {"https://docs.datadome.co/"}, "imperva": {"https://docs.imperva.com/"},
	"human": {"https://docs.humansecurity.com/", "https://github.com/HumanSecurity/"},
	"generic": {"https://developers.google.com/recaptcha/", "https://docs.hcaptcha.com/",
		"https://developers.cloudflare.com/"},
}

// A mark that its vendor does not document says that others observed it.
func TestMarksSayWhoKnowsThem(t *testing.T) {
	marks, err := ParseChallenges("challenges.yaml", configs.Challenges)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marks {
		page, observed := strings.CutPrefix(m.Source, "observed: ")
		if own := slices.ContainsFunc(vendors[m.Vendor], func(at string) bool {
			return strings.HasPrefix(page, at)
		}); own == observed || !isURL(page) {
			t.Errorf("a mark of %s has the source %q", m.Vendor, m.Source)
		}
	}
}

// A wall is known by header, status and page; no file that is a robots.txt is one.
func TestBuiltInChallenges(t *testing.T) {
	marks, err := ParseChallenges("challenges.yaml", configs.Challenges)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		status             int
		header, body, want string
	}{
		{403, "cf-mitigated: challenge", "", "cloudflare"},
		{202, "X-Amzn-Waf-Action: challenge", "", "aws-waf"},
		{405, "x-amzn-waf-action: captcha", "", "aws-waf"},
		{403, "Server: AkamaiGHost", "<HTML><H1>Access Denied</H1>Reference&#32;&#35;18</HTML>", "akamai"},
		{403, "Server: AkamaiGHost", "User-agent: *\n# Access Denied, Reference", ""},
		{403, "Server: nginx", "<h1>Access Denied</h1> Reference", ""},
		{403, "", "<script src=https://ct.captcha-delivery.com/c.js></script>", "datadome"},
		{200, "", "\ufeff \n<html><iframe src=/_Incapsula_Resource?x></iframe>", "imperva"},
		{200, "", "<div id=\"px-captcha\"></div>", "human"},
		{503, "", "<!doctype html><title>Just a moment...</title>", "generic"},
		{200, "", "# px-captcha\nUser-agent: *\nDisallow: /\n", ""},
		{404, "", "<div id=px-captcha></div>", ""},
		{200, "", "<html>an ordinary page</html>", ""},
	} {
		header := make(http.Header)
		if name, value, ok := strings.Cut(row.header, ": "); ok {
			header.Set(name, value)
		}
		if got := marks.Find(row.status, header.Values, []byte(row.body)); got != row.want {
			t.Errorf("%d %s %q: %q, want %q", row.status, row.header, row.body, got, row.want)
		}
	}
	if _, err := ParseChallenges("c", []byte("- {vendor: nobody, header: x, source: y}")); err == nil {
		t.Error("an unknown vendor passes")
	}
}

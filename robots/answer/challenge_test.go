package answer

import (
	"net/http"
	"strings"
	"testing"
)

// All that a mark has must hold, in any case; the first mark that an answer has decides;
// and only a page that begins with a tag has a body to look into.
func TestChallengesFind(t *testing.T) {
	marks := Challenges{
		{Vendor: "cloudflare", Header: "cf-mitigated", Value: "challenge", Source: "s"},
		{Vendor: "akamai", Statuses: []int{403}, Header: "Server", Value: "AkamaiGHost", Body: []string{"Access Denied",
			"reference"}, Source: "s"},
		{Vendor: "human", Statuses: []int{200, 403}, Body: []string{"px-captcha"}, Source: "s"},
		{Vendor: "imperva", Header: "x-iinfo", Source: "s"},
	}
	page := "<html>ACCESS denied. Reference #1"
	for _, row := range []struct {
		what   string
		status int
		header string
		body   string
		want   string
		body2  bool // a body can show a wall
	}{
		{"a header", 403, "Cf-Mitigated: challenge", "", "cloudflare", false},
		{"in other case", 200, "cf-mitigated: CHALLENGE", "", "cloudflare", true},
		{"of another value", 403, "Cf-Mitigated: block", "", "", true},
		{"header, status and both texts", 403, "Server: akamaighost", page, "akamai", true},
		{"another status", 404, "Server: AkamaiGHost", page, "", false},
		{"one of two texts", 403, "Server: AkamaiGHost", "<html>access denied", "", true},
		{"another server", 403, "Server: nginx", page, "", true},
		{"a body alone", 200, "", "\xef\xbb\xbf \r\n<div id=PX-captcha>", "human", true},
		{"a body in a status of others", 500, "", "<div id=px-captcha>", "", false},
		{"a file that names it", 200, "", "# px-captcha <\n", "", true},
		{"beyond what is looked at", 200, "", "<" + strings.Repeat(" ", ChallengeBytes) + "px-captcha", "", true},
		{"any value", 200, "X-Iinfo: 1", "", "imperva", true},
		{"the first of two", 200, "X-Iinfo: 1", "<px-captcha", "human", true},
		{"no body", 200, "", "", "", true},
	} {
		header := make(http.Header)
		if name, value, ok := strings.Cut(row.header, ": "); ok {
			header.Set(name, value)
		}
		if got := marks.Find(row.status, header.Values, []byte(row.body)); got != row.want {
			t.Errorf("%s: %q, want %q", row.what, got, row.want)
		}
		if wants := marks.WantsBody(row.status, header.Values); row.body != "" && wants != row.body2 {
			t.Errorf("%s: a body is wanted: %v", row.what, wants)
		}
	}
}

func TestChallengeValidate(t *testing.T) {
	for _, row := range []struct {
		mark Challenge
		want string
	}{
		{Challenge{Vendor: "human", Body: []string{"x"}, Source: "s"}, ""},
		{Challenge{Vendor: "nobody", Body: []string{"x"}, Source: "s"}, "no vendor"},
		{Challenge{Vendor: "human", Statuses: []int{403}, Source: "s"}, "needs a header or a body"},
		{Challenge{Vendor: "human", Body: []string{"x"}, Value: "y", Source: "s"}, "without a header"},
		{Challenge{Vendor: "human", Body: []string{""}, Source: "s"}, "empty text"},
		{Challenge{Vendor: "human", Body: []string{"x"}}, "no source"},
	} {
		if err := row.mark.Validate(); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(),
			row.want) {
			t.Errorf("%+v: %v, want %q", row.mark, err, row.want)
		}
	}
}

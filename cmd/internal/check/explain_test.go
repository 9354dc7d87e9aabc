package check

import (
	"errors"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// The description of an answer follows from the facts.
func TestAnswered(t *testing.T) {
	at := func(statuses ...int) *fetch.Capture {
		c := &fetch.Capture{Origin: fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}}
		for i, s := range statuses {
			c.Hops = append(c.Hops, answer.Hop{URL: []string{"http://a.example/robots.txt", "http://b.example/x"}[min(i, 1)],
				Status: s})
		}
		return c
	}
	failed := func(class answer.ErrorClass, statuses ...int) *fetch.Capture {
		c := at(statuses...)
		c.Error, c.Err = class, errors.New("so")
		return c
	}
	broken := at(503)
	broken.Probe = fetch.Probe{Front: 200, Missing: 503}
	page := at(200)
	page.Body = []byte("<html><frame src=x>")
	google, _ := robots.ProfileNamed("google")
	old, _ := robots.ProfileNamed("google-2019")
	strict, _ := robots.ProfileNamed("google-2012")
	for _, row := range []struct {
		capture *fetch.Capture
		profile *robots.Profile
		want    string
	}{
		{at(200), google, "has a robots.txt (200)"},
		{at(301, 200), google, "has a robots.txt (200)"},
		{at(403), google, "turns us away with status 403 (refused): everything is allowed"},
		{at(404), google, "has no robots.txt (404): everything is allowed"},
		{at(429), old, "turns us away with status 429 (throttled): everything is allowed"},
		{at(429), google, "turns us away with status 429 (throttled): nothing may be fetched while that lasts, " +
			"for up to 12 hours"},
		{page, strict, "answers with a web page that redirects (200)"},
		{page, google, "answers with a page of HTML in place of a robots.txt (200)"},
		{at(503), google, "answers with a server error (503)"},
		{at(301, 502), google, "redirects to http://b.example/x, which answers with a server error (502)"},
		{broken, google, "answers with a server error (503), as it does for any page that is missing"},
		{at(304), google, "answers with a status that means nothing here (304)"},
		{failed(answer.ErrorDNSNotFound, 0), google, "could not be reached (DNS: no such name)"},
		{failed(answer.ErrorTimeout, 301, 0), google,
			"redirects to http://b.example/x, which could not be reached (timeout)"},
		{failed(answer.ErrorTruncatedBody, 200), google, "gave no whole answer (answer broke off)"},
		{failed(answer.ErrorRedirectLoop, 301), google, "gave no robots.txt: redirects in a loop (301)"},
		{failed(answer.ErrorRedirectUnsupported, 301), google,
			"gave no robots.txt: redirect to what cannot be crawled (301)"},
		{at(301, 301, 301, 301, 301, 301, 200), google, "redirects too often"},
		{failed(answer.ErrorAddressBlocked, 0), google,
			"was not asked: its address is a special one, and --allow-private is not given"},
	} {
		if got := answered(row.capture, row.profile); got != "http://a.example "+row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

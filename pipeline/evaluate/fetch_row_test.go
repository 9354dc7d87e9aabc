package evaluate

import (
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
)

// The final URL is one that answered: not one that failed, nor the target of a stored
// redirect, which nobody asked.
func TestTheFinalURLHasAnswered(t *testing.T) {
	e := Prepare(Config{Profiles: profilesNamed("google")}).Evaluator()
	for _, row := range []struct {
		name     string
		hops     []robots.Hop
		location string
		want     string
		n        int
	}{
		{"an answer", []robots.Hop{{URL: "a", Status: 404}}, "", "a", 1},
		{"a redirect", []robots.Hop{{URL: "a", Status: 301}, {URL: "b", Status: 200}}, "", "b", 2},
		{"a failure", []robots.Hop{{URL: "a"}}, "", "", 1},
		{"a failure after a redirect", []robots.Hop{{URL: "a", Status: 301}, {URL: "b"}}, "", "", 2},
		{"a stored redirect", []robots.Hop{{URL: "a", Status: 301}}, "b", "", 2},
	} {
		c := &fetch.Capture{Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, Hops: row.hops, Location: row.location}
		got := e.fetchRow(&source.Target{Capture: c}, &robots.Facts{Hops: row.hops})
		if url := got.FinalURL; len(got.Hops) != row.n || (url == nil) != (row.want == "") || url != nil && *url != row.want {
			t.Errorf("%s: %d hops, final URL %v, want %q", row.name, len(got.Hops), url, row.want)
		}
	}
}

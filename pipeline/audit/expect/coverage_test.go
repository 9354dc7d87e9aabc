package expect_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A host that shuts everybody out closes its sitemaps to the census too, and breaks an expectation
// of coverage all the same. Of one that closes them alone nothing is known, nor of one whose
// sitemaps cannot be had or are empty; one without sitemaps lists nothing.
func TestCoverageOfHostsWhoseSitemapsAreNotSeen(t *testing.T) {
	const all, pages = "User-agent: *\nDisallow: /\n", "http://HOST/a\nhttp://HOST/b\n"
	hosts := map[string][2]string{ // robots.txt and sitemap
		"open.example":   {"User-agent: *\nDisallow: /x\n", pages},
		"all.example":    {"# nobody\n" + all, pages},
		"robot.example":  {all + "User-agent: test\nAllow: /\n", pages}, // the census may read what it lists
		"google.example": {"User-agent: Googlebot\nDisallow: /\n", "503"},
		"bare.example":   {"User-agent: Googlebot\nDisallow: /\n", "404"},
		"shy.example":    {"User-agent: *\nDisallow: /sitemap.xml\n", pages},
		"down.example":   {"503", pages},
		"o.example":      {"User-agent: *\nDisallow: /x\n", "503"},
		"empty.example": {"User-agent: *\nDisallow: /x\n",
			`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>`},
		"none.example": {"User-agent: *\nDisallow: /x\n", "404"},
	}
	names := make([]string, 0, len(hosts))
	for name := range hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		text := hosts[r.Host][0]
		if r.URL.Path != "/robots.txt" {
			text = hosts[r.Host][1]
		}
		switch text {
		case "503":
			audittest.Down(w)
		case "404":
			http.NotFound(w, r)
		default:
			fmt.Fprint(w, strings.ReplaceAll(text, "HOST", r.Host))
		}
	}, strings.Join(names, "\n")+"\n")
	c.Evaluate.SitemapSample = 200
	c.Fetch.Further = append(c.Fetch.Further, sitemap.Bounds{Files: 5, Bytes: 1 << 20, Sample: 200,
		Profile: c.Evaluate.Profiles[0]}.Plan())
	_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
	sinktest.Must(t, err)

	const coverage = "coverage: {agent: Googlebot, at_least: 100%}"
	const closed, unread = "1 host closes its sitemaps to this census",
		"1 host has sitemaps that cannot be had, or list nothing"
	const nothing = "it matches nothing of the 1 host that it covers; correct the entry or remove it"
	check := func(e *expect.List) []*expect.Promise {
		promises, err := e.Check(t.Context(), sinktest.Open(t, c.Dir), c.Run, c.Evaluate.Agents)
		sinktest.Must(t, err)
		return promises
	}
	checkPromises(t, map[string]string{
		coverage: "broken true 3/4 an outage hides 1 of 8 policies, on 1 of 10 hosts; " + closed +
			"; 2 hosts have sitemaps that cannot be had, or list nothing",
		coverage + ", at_most: 3, hosts: [open.*, all.*, robot.*, google.*]": "kept false 3/4",
		"coverage: {at_least: 100%}, hosts: [all.example, open.example]":     "broken true 2/4",
		coverage + ", hosts: [all.example, open.example]":                    "broken true 1/2",
		coverage + ", hosts: all.example":                                    "broken true 1/1",
		coverage + ", hosts: google.example":                                 "broken true 1/1",
		"coverage: {agent: GPTBot, at_least: 1%}, hosts: google.example":     "unchecked false 0/0 " + unread,
		coverage + ", hosts: shy.example":                                    "unchecked false 0/0 " + closed,
		coverage + ", hosts: [shy.example, open.example]": "unchecked false 0/1 nothing was " +
			"seen of shy.example; " + closed,
		coverage + ", hosts: '[so][hp]*'": "kept false 0/1 " + closed,
		coverage + ", hosts: down.example": "unchecked false 0/0 an outage hides 1 of 1 " +
			"policy, on 1 of 1 host",
		coverage + ", hosts: o.example": "unchecked false 0/0 " + unread,
		coverage + ", hosts: [o.example, open.example]": "unchecked false 0/1 nothing " +
			"was seen of o.example; " + unread,
		coverage + ", hosts: empty.example": "unchecked false 0/0 " + unread,
		coverage + ", hosts: none.example":  "unchecked true 0/0 " + nothing,
		coverage + ", hosts: bare.example":  "unchecked true 0/0 " + nothing,
	}, check)

	e, err := expect.Parse("e", []byte("- {name: x, hosts: all.example, "+coverage+"}"), nil)
	sinktest.Must(t, err)
	b := check(e)[0].First[0]
	if b.Line == nil || *b.Line != 2 || *b.Agent != "Googlebot" ||
		b.Found != "coverage: the agent is shut out, so nothing that the host lists is open to it" {
		t.Errorf("%+v", b)
	}
}

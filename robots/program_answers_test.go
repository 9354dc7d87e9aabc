package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// Redirects that a program does not follow end a chain for it alone, by status, host and
// origin. A body that is read out of an error has a reason of its own.
func TestReadingsOfPrograms(t *testing.T) {
	at := func(status int, urls ...string) answer.Facts {
		var f answer.Facts
		for i, url := range urls {
			h := answer.Hop{URL: url, Status: status}
			if i == len(urls)-1 {
				h.Status = 200
			}
			f.Hops = append(f.Hops, h)
		}
		return f
	}
	page := func(status int) answer.Facts {
		f := at(status, "http://a.example/robots.txt")
		f.Hops[0].Status, f.HasPage = status, status/100 != 2
		return f
	}
	const reads, open, closes = "conditional_allow success", "full_allow not_read", "full_disallow not_read"
	for _, c := range []struct {
		profile string
		facts   answer.Facts
		want    string
	}{
		{"stormcrawler", at(301, "http://a.example/robots.txt", "https://a.example/robots.txt"), reads},
		{"stormcrawler", at(301, "https://a.example/robots.txt", "http://a.example/robots.txt"), closes},
		{"stormcrawler", at(301, "http://a.example/robots.txt", "http://a.example:80/x"), reads},
		{"stormcrawler", at(301, "http://a.example/robots.txt", "http://a.example:8080/x"), closes},
		{"stormcrawler", at(301, "http://a.example:8080/robots.txt", "https://a.example:8080/x"), reads},
		{"stormcrawler", at(301, "http://a.example:8080/robots.txt", "https://a.example/x"), closes},
		{"stormcrawler", at(301, "http://a.example/robots.txt", "http://www.a.example/robots.txt"), closes},
		{"stormcrawler", at(301, "http://a.example/robots.txt", "http://A.Example/x", "http://b.example/x"), closes},
		{"stormcrawler", at(300, "http://a.example/robots.txt", "http://b.example/x"), open},
		{"simplecrawler", at(301, "http://a.example/robots.txt", "https://a.example:8443/robots.txt"), reads},
		{"simplecrawler", at(301, "http://a.example/robots.txt", "http://b.example/robots.txt"), open},
		{"nutch", at(308, "http://a.example/robots.txt", "http://b.example/robots.txt"), reads},
		{"nutch", at(300, "http://a.example/robots.txt", "http://b.example/robots.txt"), open},
		{"httrack", at(301, "http://a.example/robots.txt", "http://a.example/x"), "full_allow redirect_limit"},
		{"colly", at(301, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4",
			"http://a.example/5", "http://a.example/6", "http://a.example/7",
			"http://a.example/8", "http://a.example/9", "http://a.example/10", "http://a.example/11", "http://a.example/12"),
			"full_disallow redirect_limit"},
		{"scrapy", at(301, "http://a.example/1", "http://a.example/2", "http://a.example/3", "http://a.example/4",
			"http://a.example/5", "http://a.example/6", "http://a.example/7"), reads},
		{"scrapy", page(503), "conditional_allow error_body"},
		{"crawlee", page(404), "conditional_allow error_body"},
		{"scrapy", page(200), reads},
		{"colly", page(503), "full_allow server_error"},
	} {
		a := named(t, c.profile).Answer(c.facts)
		if got := fmt.Sprint(a.Outcome, " ", a.Reason); got != c.want {
			t.Errorf("%s, %v: %s, want %s", c.profile, c.facts.Hops, got, c.want)
		}
	}
}

// A program knows of no answers before this one: an outage means the same at first, after 30
// days, and with a copy at hand.
func TestProgramsHaveNoMemory(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		profile, closed string // the kinds of outages that close
	}{
		{"scrapy", ""}, {"crawlee", "timeout"}, {"colly", "reset timeout"}, {"nutch", "503 429"},
		{"stormcrawler", "503 429"}, {"simplecrawler", ""},
		{"heritrix", ""}, {"wget", ""}, {"httrack", ""},
	} {
		p := named(t, c.profile)
		for kind, f := range map[string]answer.Facts{
			"503": {Hops: chain(503), HasPage: true}, "429": {Hops: chain(429), HasPage: true}, "reset": {Hops: chain(0),
				Error: answer.ErrorReset}, "timeout": {Hops: chain(0), Error: answer.ErrorTimeout},
		} {
			f.Time = now
			alone := p.Answer(f)
			for _, age := range []time.Duration{time.Hour, 20 * 24 * time.Hour, 40 * 24 * time.Hour} {
				m := answer.Memory{}.After(answer.Facts{Hops: chain(200)}.Kind(), now.Add(-age-time.Hour)).After(f.Kind(),
					now.Add(-age)).After(f.Kind(), now)
				m.HasCopy = true
				f.Memory = &m
				if got := p.Answer(f); got != alone {
					t.Errorf("%s takes %s for %v after %v, and for %v without a memory", c.profile, kind, got, age, alone)
				}
			}
			reads := alone.Outcome == answer.ConditionalAllow && (kind == "503" || kind == "429") && len(p.BodyAt) > 0
			want := answer.FullAllow
			if slices.Contains(strings.Fields(c.closed), kind) {
				want = answer.FullDisallow
			}
			if alone.Outcome != want && !reads {
				t.Errorf("%s takes %s for %s, want %s", c.profile, kind, alone.Outcome, want)
			}
		}
	}
}

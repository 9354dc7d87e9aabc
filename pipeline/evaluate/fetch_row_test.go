package evaluate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

// The final URL is one that answered: not one that failed, nor the target of a stored
// redirect, which nobody asked.
func TestTheFinalURLHasAnswered(t *testing.T) {
	e := Prepare(Config{Profiles: profilesNamed("google")}).Evaluator()
	for _, row := range []struct {
		name     string
		hops     []answer.Hop
		location string
		want     string
		n        int
	}{
		{"an answer", []answer.Hop{{URL: "a", Status: 404}}, "", "a", 1},
		{"a redirect", []answer.Hop{{URL: "a", Status: 301}, {URL: "b", Status: 200}}, "", "b", 2},
		{"a failure", []answer.Hop{{URL: "a"}}, "", "", 1},
		{"a failure after a redirect", []answer.Hop{{URL: "a", Status: 301}, {URL: "b"}}, "", "", 2},
		{"a stored redirect", []answer.Hop{{URL: "a", Status: 301}}, "b", "", 2},
	} {
		c := &fetch.Capture{Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, Hops: row.hops,
			Location: row.location}
		got := e.fetchRow(&target.Target{Capture: c}, &answer.Facts{Hops: row.hops})
		if url := got.FinalURL; len(got.Hops) != row.n || (url == nil) != (row.want == "") || url != nil && *url != row.want {
			t.Errorf("%s: %d hops, final URL %v, want %q", row.name, len(got.Hops), url, row.want)
		}
	}
}

// A row has what the memory and the probe hold, whatever the first profile makes of it.
func TestFactsOfARow(t *testing.T) {
	at := time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return at.AddDate(0, 0, n) }
	good, limited, down := answer.Kind{Class: answer.Success},
		answer.Facts{Hops: []answer.Hop{{Status: 301}, {Status: 429}}}.Kind(),
		answer.Facts{Hops: []answer.Hop{{Status: 503}}}.Kind()
	memory := answer.Memory{}.After(good, day(0)).After(limited, day(1)).After(down, day(2))
	asked := func(status int, change func(c *fetch.Capture)) *fetch.Capture {
		c := &fetch.Capture{Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, Start: day(3),
			Hops: []answer.Hop{{URL: "a", Status: status}}}
		change(c)
		return c
	}
	copied := &fetch.WholeCopy{Fetched: day(0), Body: []byte("User-agent: *\n"), Truncated: true}
	seen := []schema.Seen{{Since: day(0), Kind: "success"}, {Since: day(1), Kind: "too_many_requests", Redirects: 1},
		{Since: day(2), Kind: "server_error"}}
	yes, no := true, false
	for _, row := range []struct {
		name    string
		capture *fetch.Capture
		want    schema.Fetch
	}{
		{"no memory", asked(503, func(c *fetch.Capture) {}), schema.Fetch{}},
		{"an answer", asked(404, func(c *fetch.Capture) { c.Memory = &memory }), schema.Fetch{}},
		{"an outage", asked(503, func(c *fetch.Capture) { c.Memory = &memory }), schema.Fetch{AnswersSince: seen}},
		{"its first answer", asked(503, func(c *fetch.Capture) { c.Memory = new(answer.Memory) }),
			schema.Fetch{AnswersSince: []schema.Seen{{Since: day(3), Kind: "server_error"}}}},
		{"a copy", asked(503, func(c *fetch.Capture) { c.Memory, c.Copy = &memory, copied }), schema.Fetch{
			AnswersSince: seen, CopyTime: new(day(0)), CopyDigest: new(schema.ContentDigest(copied.Body)), KeptTruncated: &yes,
		}},
		{"a probe", asked(503, func(c *fetch.Capture) { c.Probe = fetch.Probe{Front: 200, Missing: 503} }),
			schema.Fetch{ProbeFrontStatus: new(int32(200)), ProbeRandomStatus: new(int32(503))}},
		{"half a probe", asked(503, func(c *fetch.Capture) { c.Probe = fetch.Probe{Front: 500} }),
			schema.Fetch{ProbeFrontStatus: new(int32(500))}},
		{"a body", asked(200, func(c *fetch.Capture) { c.Body = []byte("#") }), schema.Fetch{}},
		{"a body that is cut", asked(200, func(c *fetch.Capture) { c.Body, c.Truncated = []byte("#"), true }),
			schema.Fetch{KeptTruncated: &yes}},
		{"a body read in part", asked(200, func(c *fetch.Capture) { c.Body = []byte("#\n#\n") }),
			schema.Fetch{KeptTruncated: &no}},
	} {
		google := *profilesNamed("google")[0]
		google.SizeLimit = 3
		e := Prepare(Config{Profiles: []*robots.Profile{&google}}).Evaluator()
		r, facts := &e.readings[0], row.capture.Facts()
		r.answer = r.profile.Answer(facts)
		e.read(0, row.capture.Whole(), questions{cut: row.capture.Truncated})
		got := e.fetchRow(&target.Target{Capture: row.capture}, &facts)
		got = schema.Fetch{
			AnswersSince: got.AnswersSince, CopyTime: got.CopyTime, CopyDigest: got.CopyDigest, KeptTruncated: got.KeptTruncated,
			ProbeFrontStatus: got.ProbeFrontStatus, ProbeRandomStatus: got.ProbeRandomStatus,
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

package evaluate

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// A wall makes the class of every policy unknown and leaves no row of the file's content,
// whatever its status is and though its page has rules; outcome and reason are those of its
// status. Its verdicts are undefined, but for robots.txt itself, which RFC 9309 always lets
// a crawler fetch.
func TestAWallIsUnread(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	rfc, _ := robots.ProfileNamed("rfc9309")
	samples, err := registry.ParseSamples("urls", []byte("/x\n/robots.txt\n"))
	must(t, err)
	for status, want := range map[int]string{200: "conditional_allow success", 202: "conditional_allow success",
		403: "full_allow client_error", 503: "full_disallow server_error"} {
		for wall, class := range map[string]string{"cloudflare": "unknown", "": map[int]string{200: "disallow_all",
			202: "disallow_all", 403: "allow_all", 503: "unknown"}[status]} {
			dir := t.TempDir()
			run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "policies", "verdicts", "groups",
				"rules", "lines", "answers"}, Profiles: []string{"google", "rfc9309"}})
			must(t, err)
			s, err := run.Segment(0)
			must(t, err)
			o := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
			answered := func(challenge string) *fetch.Capture {
				c := &fetch.Capture{Origin: o, Start: time.Unix(0, 0), Hops: []answer.Hop{{URL: o.RobotsURL(), Status: status}},
					Attempts: 1, Challenge: challenge}
				if status < 300 {
					c.Body = []byte("<!--\nUser-agent: *\nDisallow: /\n")
				}
				return c
			}
			own := answered(wall)
			own.Also = []fetch.Also{{Identity: fetch.Identity{Name: "i"}, Capture: answered("")}}
			targets := iter.Seq2[*target.Target, error](func(yield func(*target.Target, error) bool) {
				yield(&target.Target{Seq: 1, Capture: own}, nil)
			})
			_, err = Prepare(Config{Agents: []schema.Agent{{Name: "A", Tokens: []string{"a"}, Category: "x"}}, Samples: samples,
				Profiles: []*robots.Profile{google, rfc}}).Evaluator().Segment(s, targets)
			must(t, err)
			must(t, s.Commit())
			must(t, run.Close())
			f, p := rowsIn[schema.Fetch](t, dir, "fetches")[0], rowsIn[schema.Policy](t, dir, "policies")[0]
			if got := f.Outcome + " " + f.Reason; got != want || p.Class != class || p.Outcome != f.Outcome {
				t.Errorf("status %d, wall %q: %s, class %s, outcome %s; want %s, %s", status, wall, got, p.Class, p.Outcome, want,
					class)
			}
			for i, v := range rowsIn[schema.Verdict](t, dir, "verdicts") {
				isChallenge := v.Verdict == "undefined" && v.Reason == "challenge"
				if isChallenge != (wall != "" && i < 3) || v.GroupAgent != nil && wall != "" {
					t.Errorf("status %d, wall %q, profile %s: the verdict on %s is %s by %s", status, wall, v.Profile, v.URL,
						v.Verdict, v.Reason)
				}
			}
			groups := len(rowsIn[schema.Group](t, dir, "groups"))
			if (groups > 0) != (wall == "" && status < 300) || int(f.Groups) != groups {
				t.Errorf("status %d, wall %q: %d groups, and %d in fetches", status, wall, groups, f.Groups)
			}
			a := rowsIn[schema.Answer](t, dir, "answers")[0]
			if wall != "" && (a.Treatment != "incomparable" || a.Policy != "unknown" || a.Class != "unknown") {
				t.Errorf("status %d, behind a wall: %+v", status, a)
			}
		}
	}
}

// What an identity meets is told against the host's own answer.
func TestTreatment(t *testing.T) {
	answered := func(status int, challenge string, class answer.ErrorClass) *fetch.Capture {
		c := &fetch.Capture{Hops: []answer.Hop{{URL: "a", Status: status}}, Challenge: challenge, Error: class}
		if status/100 == 2 && class == "" {
			c.Body = []byte("User-agent: *\n")
		}
		return c
	}
	file, none, wall := answered(200, "", ""), answered(404, "", ""), answered(200, "human", "")
	for _, row := range []struct {
		own, c *fetch.Capture
		want   summary.Treatment
	}{
		{file, file, summary.Served}, {none, none, summary.Absent}, {none, answered(410, "", ""), summary.Absent},
		{file, none, summary.OtherAnswer}, {none, file, summary.OtherAnswer},
		{file, wall, summary.Challenged}, {none, wall, summary.Challenged}, {file, answered(403, "", ""), summary.Refused},
		{file, answered(429, "", ""), summary.RateLimited}, {file, answered(402, "", ""), summary.Payment},
		{file, answered(503, "", ""), summary.Failing}, {file, answered(0, "", answer.ErrorTimeout), summary.Unreached},
		{file, answered(200, "", answer.ErrorReset), summary.Unreached},
		{file, answered(301, "", answer.ErrorRedirectLoop), summary.Failing},
		{wall, file, summary.Incomparable}, {answered(403, "", ""), file, summary.Incomparable},
		{answered(503, "", ""), file, summary.Incomparable}, {answered(200, "", answer.ErrorReset), file,
			summary.Incomparable},
	} {
		if got := treatmentOf(row.own, row.c); got != row.want {
			t.Errorf("%d %s %s against %d %s: %s, want %s", row.c.Status(), row.c.Challenge, row.c.Error, row.own.Status(),
				row.own.Challenge, summary.TreatmentNames[got], summary.TreatmentNames[row.want])
		}
	}
}

// The header of a front page makes rows and counters of its own, and changes none of the
// file's.
func TestPagesAreCountedApart(t *testing.T) {
	labels, err := registry.ParseUses("uses.yaml", configs.Uses, nil)
	must(t, err)
	google, _ := robots.ProfileNamed("google")
	noai := "noai, bot: noai"
	said := []usage.HeaderField{{Name: "x-robots-tag", Value: &noai}, {Name: "tdm-reservation"}}
	for _, row := range []struct {
		what, body string
		front      *fetch.Front
		want       string
	}{
		{"not looked at", "User-agent: *\nDisallow:\n", nil, ""},
		{"not asked", "User-agent: *\nDisallow:\n", &fetch.Front{Outcome: usage.PageUnread}, "front_page unread"},
		{"alone", "User-agent: *\nDisallow:\n", &fetch.Front{Outcome: usage.PageRead, Hops: []answer.Hop{
			{URL: "https://a.example/en", Status: 200}}, Header: said},
			"front_page read; page_preference x-robots-tag ai-train disallow; page_refusal alone; page_refusal any"},
		{"with no file", "", &fetch.Front{Outcome: usage.PageRead, Hops: []answer.Hop{
			{URL: "https://a.example/", Status: 200}}, Header: said},
			"front_page read; page_preference x-robots-tag ai-train disallow; page_refusal alone; page_refusal any"},
		{"as the file", "User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n", &fetch.Front{Outcome: usage.PageRead,
			Hops: []answer.Hop{{URL: "https://a.example/", Status: 200}}, Header: said},
			"front_page read; page_preference x-robots-tag ai-train disallow; page_refusal any; preference content-signal " +
				"ai-train disallow; refusal any; refusal content-signal; refusal_set content-signal"},
	} {
		dir := t.TempDir()
		run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "preferences", "summary"},
			Profiles: []string{"google"}})
		must(t, err)
		s, err := run.Segment(0)
		must(t, err)
		c := &fetch.Capture{Origin: fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}, Hops: []answer.Hop{
			{URL: "https://a.example/robots.txt", Status: 404}}, Attempts: 1, Front: row.front}
		if row.body != "" {
			c.Hops[0].Status, c.Body = 200, []byte(row.body)
		}
		counts, err := Prepare(Config{Agents: []schema.Agent{{Name: "A", Tokens: []string{"a"}}}, Labels: labels,
			Profiles: []*robots.Profile{google}}).Evaluator().Segment(s, func(yield func(*target.Target, error) bool) {
			yield(&target.Target{Seq: 1, Capture: c}, nil)
		})
		must(t, err)
		var got []string
		for _, n := range counts.List() {
			if strings.HasPrefix(n.Metric, "page") || strings.HasPrefix(n.Metric, "front") || strings.HasPrefix(n.Metric,
				"pref") || strings.HasPrefix(n.Metric, "refusal") {
				got = append(got, n.Metric+" "+n.Key)
			}
		}
		if slices.Sort(got); strings.Join(got, "; ") != row.want {
			t.Errorf("%s: counted %v, want %s", row.what, got, row.want)
		}
		must(t, s.Commit())
		must(t, run.Close())
		rows := 0
		for _, p := range rowsIn[schema.Preference](t, dir, "preferences") {
			if p.Header == nil {
				continue
			}
			if rows++; p.Line != nil || p.Scope != "page" || *p.Path != map[bool]string{true: "/en",
				false: "/"}[row.what == "alone"] || (p.Remark != nil) != (*p.Header == "tdm-reservation") {
				t.Errorf("%s: %+v", row.what, p)
			}
		}
		if want := map[bool]int{true: 3}[row.front != nil && row.front.Header != nil]; rows != want {
			t.Errorf("%s: %d rows of headers, want %d", row.what, rows, want)
		}
	}
}

func rowsIn[T any](t *testing.T, dir, table string) (all []T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, table, "run=r", "*.parquet"))
	must(t, err)
	for _, file := range files {
		rows, err := parquet.ReadFile[T](file)
		must(t, err)
		all = append(all, rows...)
	}
	return all
}

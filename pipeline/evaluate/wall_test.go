package evaluate

import (
	"iter"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"path/filepath"
)

// A wall makes the class of every policy unknown and leaves no row of the file's content,
// whatever its status is and though its page has rules; outcome and reason are those of its
// status.
func TestAWallIsUnread(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	for status, want := range map[int]string{200: "conditional_allow success", 202: "conditional_allow success", 403: "full_allow client_error", 503: "full_disallow server_error"} {
		for wall, class := range map[string]string{"cloudflare": "unknown", "": map[int]string{200: "disallow_all", 202: "disallow_all", 403: "allow_all", 503: "unknown"}[status]} {
			dir := t.TempDir()
			run, err := sink.Create(dir, sink.Plan{Run: "r", Tables: []string{"fetches", "policies", "groups", "rules", "lines", "answers"}, Profiles: []string{"google"}})
			must(t, err)
			s, err := run.Segment(0)
			must(t, err)
			o := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
			answer := func(challenge string) *fetch.Capture {
				c := &fetch.Capture{Origin: o, Start: time.Unix(0, 0), Hops: []robots.Hop{{URL: o.RobotsURL(), Status: status}}, Attempts: 1, Challenge: challenge}
				if status < 300 {
					c.Body = []byte("<!--\nUser-agent: *\nDisallow: /\n")
				}
				return c
			}
			own := answer(wall)
			own.Also = []fetch.Also{{Identity: fetch.Identity{Name: "i"}, Capture: answer("")}}
			targets := iter.Seq2[*source.Target, error](func(yield func(*source.Target, error) bool) { yield(&source.Target{Seq: 1, Capture: own}, nil) })
			_, err = Prepare(Config{Agents: []sink.Agent{{Name: "A", Tokens: []string{"a"}, Category: "x"}}, Profiles: []*robots.Profile{google}}).Evaluator().Segment(s, targets)
			must(t, err)
			must(t, s.Commit())
			must(t, run.Close())
			f, p := rowsIn[sink.Fetch](t, dir, "fetches")[0], rowsIn[sink.Policy](t, dir, "policies")[0]
			if got := f.Outcome + " " + f.Reason; got != want || p.Class != class || p.Outcome != f.Outcome {
				t.Errorf("status %d, wall %q: %s, class %s, outcome %s; want %s, %s", status, wall, got, p.Class, p.Outcome, want, class)
			}
			groups := len(rowsIn[sink.Group](t, dir, "groups"))
			if (groups > 0) != (wall == "" && status < 300) || int(f.Groups) != groups {
				t.Errorf("status %d, wall %q: %d groups, and %d in fetches", status, wall, groups, f.Groups)
			}
			a := rowsIn[sink.Answer](t, dir, "answers")[0]
			if wall != "" && (a.Treatment != "incomparable" || a.Policy != "unknown" || a.Class != "unknown") {
				t.Errorf("status %d, behind a wall: %+v", status, a)
			}
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

package series

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

// The first run after the autumn of 2025 is marked if more hosts than in the run before it
// have a file of comments alone, which a content delivery network serves from then on for
// sites that have none: more hosts have a robots.txt from there on, and nobody wrote one.
func TestTheAutumnOf2025IsMarked(t *testing.T) {
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		must(t, err)
		return at
	}
	type run struct {
		date     string
		comments int64 // of 200 hosts
	}
	for name, c := range map[string]struct {
		runs []run
		mark string // the run that is marked, and what its text has; "" for none
	}{
		"more": {[]run{{"2025-08-01", 2}, {"2025-11-01", 9}, {"2026-02-01", 20}},
			"b: 4.5% of the hosts have such a file, after 1.0%"},
		"on the day": {[]run{{"2025-09-23", 0}, {"2025-09-24", 1}},
			"b: 0.5% of the hosts have such a file, after 0.0%"},
		"the day before":   {[]run{{"2025-09-22", 0}, {"2025-09-23", 1}}, ""},
		"as many":          {[]run{{"2025-08-01", 9}, {"2025-11-01", 9}, {"2026-02-01", 20}}, ""},
		"fewer":            {[]run{{"2025-08-01", 9}, {"2025-11-01", 2}}, ""},
		"later runs alone": {[]run{{"2025-11-01", 2}, {"2026-02-01", 9}}, ""},
		"a run of long before": {[]run{{"2021-08-01", 0}, {"2022-01-01", 2}, {"2026-02-01", 20}},
			"c: 10.0% of the hosts have such a file, after 1.0%"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var ids []string
			for i, r := range c.runs {
				id := string(rune('a' + i))
				counts := summary.New(agentsOfTest[:1], []string{"google"})
				counts.AddN("targets", summary.Unranked, "", 200)
				counts.AddN("source", summary.Unranked, "network", 200)
				for range 200 {
					counts.AddProfile("outcome", summary.Unranked, 0, "conditional_allow")
				}
				counts.AddN("body", summary.Unranked, "only_comments", r.comments)
				w, err := sink.Create(dir, journal.Plan{Run: id, Started: day(r.date), Tables: []string{"summary"},
					Profiles: []string{"google"}})
				must(t, err)
				must(t, w.Complete(sink.Completion{Finished: day(r.date), Totals: sink.Totals{Counts: counts.Rows()}}))
				w.Close()
				ids = append(ids, id)
			}
			s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: ids})
			must(t, err)
			got := ""
			for _, m := range s.Marks {
				if m.Kind == "meaning_changed" {
					_, share, _ := strings.Cut(m.Text, "their rules decide: ")
					got += m.Run + ": " + share
				}
			}
			if got != c.mark {
				t.Errorf("marked is %q, want %q", got, c.mark)
			}
		})
	}
}

// Where walls turn hosts unread, their rules decide no longer, though the status says so:
// the shares of the others stay, and the run is marked. Walls are no outage, and an outage is
// no wall; both together have a mark each.
func TestWallsAreMarked(t *testing.T) {
	for _, c := range []struct {
		walls, down int // of 100 hosts in the second run
		marks       []string
	}{
		{50, 0, []string{"walls: they hide the policies of 50.0% of the hosts, of 0.0% in a neighbouring run"}},
		{0, 50, []string{"an outage: the policies of 50.0% of the hosts are unknown, of 0.0% in a neighbouring run"}},
		{40, 10, []string{"walls: they hide the policies of 40.0% of the hosts, of 0.0% in a neighbouring run",
			"an outage: the policies of 10.0% of the hosts are unknown, of 0.0% in a neighbouring run"}},
		{1, 49, []string{"an outage: the policies of 49.0% of the hosts are unknown, of 0.0% in a neighbouring run"}},
		{1, 1, []string{"walls: they hide the policies of 1.0% of the hosts, of 0.0% in a neighbouring run"}},
	} {
		dir := t.TempDir()
		for i := range 2 {
			counts := summary.New(agentsOfTest[:1], []string{"google"})
			counts.AddN("targets", summary.Unranked, "", 100)
			counts.AddN("source", summary.Unranked, "network", 100)
			for k := range 100 {
				outcome, reason, class := "conditional_allow", "success", "disallow_all"
				switch {
				case i == 0:
				case k < c.walls:
					class = "unknown"
					if k%2 == 1 {
						outcome, reason = "full_disallow", "server_error"
					}
					counts.AddProfile("challenge", summary.Unranked, 0, "generic "+reason)
					counts.AddProfile("challenge_outcome", summary.Unranked, 0, outcome)
				case k < c.walls+c.down:
					outcome, reason, class = "full_disallow", "server_error", "unknown"
				}
				counts.AddProfile("outcome", summary.Unranked, 0, outcome)
				counts.AddProfile("reason", summary.Unranked, 0, reason)
				counts.AddAgent("policy", summary.Unranked, 0, 0, class)
			}
			at := time.Date(2027, 1, 1+i, 0, 0, 0, 0, time.UTC)
			w, err := sink.Create(dir, journal.Plan{Run: string(rune('a' + i)), Started: at, Tables: []string{"summary"},
				Profiles: []string{"google"}})
			must(t, err)
			must(t, w.Complete(sink.Completion{Finished: at, Totals: sink.Totals{Counts: counts.Rows()}}))
			must(t, w.Close())
		}
		s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"a", "b"}})
		must(t, err)
		left := int64(100 - c.walls - c.down)
		if n := s.Runs[1].Files; n == nil || *n != left {
			t.Errorf("%+v: run b has %v files, want %d", c, n, left)
		}
		got := make(map[string]int64)
		for _, p := range s.Points {
			if p.Metric == "policy" && schema.OrZero(p.Key) == "disallow_all" && p.Base == baseFiles && p.Stratum == All &&
				p.Count != p.Denominator {
				t.Errorf("%+v: run %s: %d of %d files", c, p.Run, p.Count, p.Denominator)
			}
			if p.Run == "b" && p.Stratum == All && p.Base == baseHosts && p.Count > 0 {
				got[p.Metric+" "+schema.OrZero(p.Key)] = p.Count
			}
		}
		for key, want := range map[string]int64{
			"reason success": left, "reason server_error": int64(c.down), "reason challenge": int64(c.walls),
			"outcome conditional_allow": left, "outcome full_disallow": int64(c.down), "outcome undefined": int64(c.walls),
		} {
			if got[key] != want {
				t.Errorf("%+v: %s of %d hosts, want %d", c, key, got[key], want)
			}
		}
		var marks []string
		for _, m := range s.Marks {
			if m.Kind != "walls" && m.Kind != "outage" {
				continue
			}
			if (m.Kind == "walls") != strings.HasPrefix(m.Text, "walls: ") || m.Run != "b" {
				t.Errorf("%+v: mark %+v", c, m)
			}
			marks = append(marks, m.Text)
		}
		if !slices.Equal(marks, c.marks) || !strings.Contains(strings.Join(s.Warnings, "\n"),
			fmt.Sprintf("the policies of %d.0%% of the hosts are unknown in run b", c.walls+c.down)) {
			t.Errorf("%+v: marks %q, warnings %q", c, marks, s.Warnings)
		}
	}
}

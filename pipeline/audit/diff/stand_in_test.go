package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A run stands in for the first one only if it shows of a host what that one shows, read
// and asked in the same way. Agents come and go.
func TestRunsThatStandIn(t *testing.T) {
	google := func(change func(*robots.Profile)) []*robots.Profile {
		p, _ := robots.ProfileNamed("google")
		own := *p
		change(&own)
		return []*robots.Profile{&own}
	}
	agents := func(text string) []schema.Agent {
		out, _, err := registry.ParseAgents("agents", []byte(text))
		sinktest.Must(t, err)
		return out
	}
	asking := func(c *pipeline.Config, agent string) { c.Settings = map[string]any{"user-agent": agent} }
	whole := []string{"GPTBot", "Googlebot"}
	for _, row := range []struct {
		name    string
		change  func(week int, c *pipeline.Config)
		closed  []string // agents whose policy closed since the first week
		without []string
		promise string // of Googlebot
	}{
		{"alike", nil, whole, nil, "broken 1 0"},
		{"another first profile", func(week int, c *pipeline.Config) {
			if week == 1 {
				c.Evaluate.Profiles = google(func(p *robots.Profile) { p.Name = "other" })
			}
		}, nil, nil, "unchecked 0 1"},
		{"another definition of the profile", func(week int, c *pipeline.Config) {
			if week == 1 {
				c.Evaluate.Profiles = google(func(p *robots.Profile) { p.SizeLimit = 1000 })
			}
		}, nil, nil, "unchecked 0 1"},
		{"another definition of the second profile", func(week int, c *pipeline.Config) {
			c.Evaluate.Profiles = slices.Concat(c.Evaluate.Profiles, google(func(p *robots.Profile) {
				if p.Name = "second"; week == 1 {
					p.SizeLimit = 1000
				}
			}))
		}, nil, nil, "unchecked 0 1"},
		{"without the table policies", func(week int, c *pipeline.Config) {
			if week == 1 {
				c.Tables = []string{"fetches", "verdicts", "groups", "rules", "agents", "signals", "sitemaps", "summary"}
			}
		}, nil, nil, "unchecked 0 1"},
		{"without a table that the first run does not have either", func(week int, c *pipeline.Config) {
			if week < 3 {
				c.Tables = []string{"fetches", "policies", "agents", "summary"}
			}
		}, whole, nil, "broken 1 0"},
		{"another user agent", func(week int, c *pipeline.Config) {
			asking(c, map[bool]string{true: "other", false: "robocensus"}[week == 1])
		}, nil, nil, "unchecked 0 1"},
		{"another user agent of the first run", func(week int, c *pipeline.Config) {
			asking(c, map[bool]string{true: "other", false: "robocensus"}[week == 2])
		}, whole, nil, "broken 1 0"},
		{"an agent is new", func(week int, c *pipeline.Config) {
			if week == 1 {
				c.Evaluate.Agents = agents("- {name: GPTBot}\n- {name: Gone}\n")
			}
		}, []string{"GPTBot"}, []string{"Googlebot"}, "unchecked 0 1"},
		{"an agent has another token", func(week int, c *pipeline.Config) {
			if week == 1 {
				c.Evaluate.Agents = agents("- {name: GPTBot}\n- {name: Googlebot, tokens: [Other]}\n")
			}
		}, whole, nil, "broken 1 0"},
		{"other hosts", func(week int, c *pipeline.Config) {
			if week == 1 {
				c.Source.Hosts = sinktest.WriteFile(t, "others", []byte("h.example\nelsewhere.example\n"))
			}
		}, whole, nil, "broken 1 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := weeks(t, map[string]string{"h.example": "oxc"}, row.change)
			r, _ := compared(t, dir, 3, "- {name: p, no_change: policy_class, agents: [Googlebot]}")
			var closed []string
			for _, c := range changesOf(t, dir, "w3", "w2") {
				if c.Kind == "policy_class" && *c.After == "disallow_all" && *c.BeforeRun == "w1" {
					closed = append(closed, *c.Agent)
				}
			}
			if diff := cmp.Diff(row.closed, closed); diff != "" {
				t.Errorf("closed (-want +got):\n%s", diff)
			}
			want := []journal.EarlierRun{}
			if row.closed != nil {
				want = append(want, journal.EarlierRun{Run: "w1", Hosts: 1, Without: row.without})
			}
			if diff := cmp.Diff(want, r.Earlier); diff != "" || r.Unread != int64(1-len(want)) {
				t.Errorf("%d unread, earlier runs (-want +got):\n%s", r.Unread, diff)
			}
			if p := r.Expectations[0]; fmt.Sprintf("%s %d %d", p.State, p.Checked, p.Unknown) != row.promise {
				t.Errorf("%+v, want %s", p, row.promise)
			}
		})
	}
}

// Meaning under a second profile needs the bodies of the runs that are compared, and not
// those of the run that could not read the host.
func TestBodiesOfEarlierRuns(t *testing.T) {
	dir := weeks(t, map[string]string{"h.example": "sxn"}, func(week int, c *pipeline.Config) {
		rfc, _ := robots.ProfileNamed("rfc9309")
		c.Evaluate.Profiles = append(slices.Clip(c.Evaluate.Profiles), rfc)
		if week == 2 {
			c.Tables = slices.DeleteFunc(slices.Clone(c.Tables), func(table string) bool { return table == "bodies" })
		}
	})
	_, rows := compared(t, dir, 3, "")
	want := []string{
		"h.example rules GPTBot closes since w1", "h.example rules Googlebot closes since w1",
		"h.example rules GPTBot closes since w1", "h.example rules Googlebot closes since w1",
		"h.example reachability  success since w2",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only complete runs before the first one stand in for it, and only so many are opened.
func TestRunsThatAreSearched(t *testing.T) {
	made := func(digests ...string) string {
		dir := t.TempDir()
		for k, digest := range digests {
			reasons := [2]string{"server_error", "server_error"}
			if digest != "" {
				reasons[0] = "success"
			}
			if k == len(digests)-1 {
				reasons[1] = "success" // for the first time
			}
			audittest.Run(t, dir, fmt.Sprintf("w%02d", k+1), []string{"fetches"},
				[]schema.Fetch{audittest.Fetch("https://h.example", reasons[0], digest, 0),
					audittest.Fetch("https://never.example", reasons[1], "", 0)})
		}
		return dir
	}
	down := make([]string, mostEarlier)
	for _, row := range []struct {
		name          string
		dir           string
		before, after int
		earlier       []journal.EarlierRun
	}{
		{"as many as are opened", made(append(append([]string{"A"}, down...), "B")...), mostEarlier + 1, mostEarlier + 2,
			[]journal.EarlierRun{{Run: "w01", Hosts: 1}}},
		{"one more", made(append(append([]string{"A", ""}, down...), "B")...), mostEarlier + 2, mostEarlier + 3,
			[]journal.EarlierRun{}},
		{"later ones", made("", "B", "A"), 1, 2, []journal.EarlierRun{}},
		{"the first run is the later one", made("A", "B", ""), 3, 2, []journal.EarlierRun{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := Runs(t.Context(), Config{In: sinktest.Open(t, row.dir), Before: fmt.Sprintf("w%02d", row.before),
				After: fmt.Sprintf("w%02d", row.after)})
			sinktest.Must(t, err)
			if diff := cmp.Diff(row.earlier, r.Earlier); diff != "" || r.Unread != int64(2-len(row.earlier)) {
				t.Errorf("%d unread (-want +got):\n%s", r.Unread, diff)
			}
		})
	}
	// A run that is gone or incomplete is none to stand in, and one that is damaged is said.
	dir := made("A", "B", "", "C")
	against := func(want string) {
		t.Helper()
		r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "w03", After: "w04"})
		sinktest.Must(t, err)
		if len(r.Earlier) != 1 || r.Earlier[0].Run != want {
			t.Errorf("earlier runs %v, want %s", r.Earlier, want)
		}
	}
	against("w02")
	sinktest.Must(t, os.Remove(filepath.Join(dir, "_runs", "w02", "manifest.json")))
	against("w01")
	sinktest.Must(t, os.Remove(filepath.Join(dir, "fetches", "run=w01", "part-0000000000.parquet")))
	if _, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "w03", After: "w04"}); err == nil ||
		!strings.Contains(err.Error(), "look in run w01 for hosts that run w03 could not read: ") {
		t.Errorf("a part that is gone: %v", err)
	}
}

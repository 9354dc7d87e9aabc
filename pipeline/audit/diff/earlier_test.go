package diff

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/internal/pipelinetest"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// weeks makes a run each week, w1 and so on, of hosts that answer as states say: a
// letter per week, o open, c closed, s closed in part, n a little
// more, x down, - not in the list.
func weeks(t *testing.T, states map[string]string, change func(week int, c *pipeline.Config)) (dir string) {
	t.Helper()
	week, last := 0, 0
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		switch (states[r.Host] + "xxxxxx")[week] {
		case 'o':
			fmt.Fprint(w, "User-agent: *\nDisallow:\n")
		case 's':
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		case 'n':
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\nDisallow: /new\n")
		case 'c':
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		default:
			audittest.Down(w)
		}
	}, "")
	for _, s := range states {
		last = len(s)
	}
	for ; week < last; week++ {
		var hosts strings.Builder
		for host, s := range states {
			if s[week] != '-' {
				hosts.WriteString(host + "\n")
			}
		}
		r, now := c, audittest.FirstDay.AddDate(0, 0, 7*week)
		r.Run, r.Fetch.Now = fmt.Sprint("w", week+1), func() time.Time { return now }
		r.Source.Hosts = pipelinetest.WriteFile(t, "hosts", []byte(hosts.String()))
		if change != nil {
			change(week+1, &r)
		}
		_, err := pipeline.Run(t.Context(), r, new(pipeline.Progress))
		pipelinetest.Must(t, err)
	}
	return c.Dir
}

// compared compares week k with the week before and returns the rows, each with the run
// of the state before.
func compared(t *testing.T, dir string, k int, promises string) (*Result, []string) {
	t.Helper()
	c := Config{Dir: dir, Before: fmt.Sprint("w", k-1), After: fmt.Sprint("w", k)}
	if promises != "" {
		var err error
		c.Expect, err = expect.Parse("promises", []byte(promises), nil)
		pipelinetest.Must(t, err)
	}
	r, err := Runs(t.Context(), c)
	pipelinetest.Must(t, err)
	var rows []string
	for _, row := range changesOf(t, dir, c.After, c.Before) {
		before := "-"
		if row.BeforeRun != nil {
			before = *row.BeforeRun
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %s since %s", row.Host, row.Kind, sink.OrZero(row.Agent), sink.OrZero(row.After), before))
	}
	return r, rows
}

// Open, down, closed: the promise that nothing closes breaks in the third week, and is
// unchecked in the second.
func TestAnOutageHidesNoChange(t *testing.T) {
	dir := weeks(t, map[string]string{"h.example": "oxc"}, nil)
	const promises = `
- {name: nothing closes, no_change: policy_class, after: disallow_all}
- {name: nothing changes, no_change: all}
- {name: hosts stay, no_change: [host_new, host_gone]}
- {name: hosts answer, no_change: reachability, severity: major}
`
	states := func(r *Result) (out []string) {
		for _, p := range r.Expectations {
			out = append(out, fmt.Sprintf("%s: %s %v, %d checked, %d broken, %d unknown", p.Name, p.State, p.Fails, p.Checked, p.Broken, p.Unknown))
		}
		return out
	}
	r, rows := compared(t, dir, 2, promises)
	if diff := cmp.Diff([]string{"h.example reachability  server_error since w1"}, rows); diff != "" {
		t.Errorf("week 2 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"nothing closes: unchecked false, 0 checked, 0 broken, 1 unknown",
		"nothing changes: broken true, 0 checked, 1 broken, 1 unknown",
		"hosts stay: kept false, 1 checked, 0 broken, 0 unknown",
		"hosts answer: broken true, 1 checked, 1 broken, 0 unknown",
	}, states(r)); diff != "" {
		t.Errorf("week 2 (-want +got):\n%s", diff)
	}
	if r.Unread != 1 || len(r.Earlier) != 0 {
		t.Errorf("week 2: %d unread, earlier runs %v", r.Unread, r.Earlier)
	}
	r, rows = compared(t, dir, 3, promises)
	if diff := cmp.Diff([]string{
		"h.example policy_class GPTBot disallow_all since w1",
		"h.example policy_class Googlebot disallow_all since w1",
		"h.example reachability  success since w2",
	}, rows); diff != "" {
		t.Errorf("week 3 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"nothing closes: broken true, 1 checked, 2 broken, 0 unknown",
		"nothing changes: broken true, 1 checked, 3 broken, 0 unknown",
		"hosts stay: kept false, 1 checked, 0 broken, 0 unknown",
		"hosts answer: kept false, 1 checked, 0 broken, 0 unknown",
	}, states(r)); diff != "" {
		t.Errorf("week 3 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sink.EarlierRun{{Run: "w1", Hosts: 1}}, r.Earlier); diff != "" || r.Unread != 0 {
		t.Errorf("week 3: %d unread, earlier runs (-want +got):\n%s", r.Unread, diff)
	}
	record, err := sink.ReadComparison(t.Context(), dir, "w3", "w2")
	pipelinetest.Must(t, err)
	if diff := cmp.Diff(r.Earlier, record.Earlier); diff != "" || record.Hosts != 1 || record.Unread != 0 {
		t.Errorf("the record says %d hosts, %d unread, earlier runs (-want +got):\n%s", record.Hosts, record.Unread, diff)
	}
}

// Outages of several weeks and hosts: the state before of each host is that of the
// latest earlier run that read it.
func TestOutagesOfManyWeeks(t *testing.T) {
	dir := weeks(t, map[string]string{
		"always.example":  "oooooc",
		"back.example":    "sxxxxs", // the same as before
		"closed.example":  "oxxxxc",
		"dead.example":    "xxxxxc", // never read before
		"down.example":    "oooocx",
		"gone.example":    "ox-xxc", // in no list for a week
		"later.example":   "ocxxxo",
		"listed.example":  "osxx-c", // new, as the run before does not have it
		"still.example":   "oxxxxx",
		"twice.example":   "oxcxxo",
		"written.example": "oxxxxo",
	}, nil)
	r, rows := compared(t, dir, 6, "- {name: p, no_change: policy_class, agents: [GPTBot]}")
	var want []string
	for _, line := range []string{
		"always.example policy_class {agent} disallow_all since w5", "back.example reachability  success since w5",
		"closed.example policy_class {agent} disallow_all since w1", "closed.example reachability  success since w5",
		"dead.example reachability  success since w5", "down.example reachability  server_error since w5",
		"gone.example policy_class {agent} disallow_all since w1", "gone.example reachability  success since w5",
		"later.example policy_class {agent} allow_all since w2", "later.example reachability  success since w5",
		"listed.example host_new  conditional_allow since -",
		"twice.example policy_class {agent} allow_all since w3", "twice.example reachability  success since w5",
		"written.example reachability  success since w5",
	} {
		for _, agent := range []string{"GPTBot", "Googlebot"} {
			if row := strings.ReplaceAll(line, "{agent}", agent); row != line || agent == "GPTBot" {
				want = append(want, row)
			}
		}
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]sink.EarlierRun{{Run: "w3", Hosts: 1}, {Run: "w2", Hosts: 1}, {Run: "w1", Hosts: 4}}, r.Earlier); diff != "" {
		t.Errorf("earlier runs (-want +got):\n%s", diff)
	}
	if r.Compared != 10 || r.Unread != 3 || r.New != 1 {
		t.Errorf("%d compared, %d unread, %d new; want 10, 3, 1", r.Compared, r.Unread, r.New)
	}
	if p := r.Expectations[0]; p.Checked != 7 || p.Unknown != 4 || p.Broken != 5 {
		t.Errorf("%+v", p)
	}
}

// A run stands in for the first one only if it shows of a host what that one shows, read
// and asked in the same way. Agents come and go.
func TestRunsThatStandIn(t *testing.T) {
	google := func(change func(*robots.Profile)) []*robots.Profile {
		p, _ := robots.ProfileNamed("google")
		own := *p
		change(&own)
		return []*robots.Profile{&own}
	}
	agents := func(text string) []evaluate.Agent {
		out, err := evaluate.ParseAgents("agents", []byte(text))
		pipelinetest.Must(t, err)
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
				c.Source.Hosts = pipelinetest.WriteFile(t, "others", []byte("h.example\nelsewhere.example\n"))
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
			want := []sink.EarlierRun{}
			if row.closed != nil {
				want = append(want, sink.EarlierRun{Run: "w1", Hosts: 1, Without: row.without})
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
		"h.example rules GPTBot closes since w1", "h.example rules Googlebot closes since w1", "h.example reachability  success since w2",
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
				[]sink.Fetch{audittest.Fetch("https://h.example", reasons[0], digest, 0), audittest.Fetch("https://never.example", reasons[1], "", 0)})
		}
		return dir
	}
	down := make([]string, mostEarlier)
	for _, row := range []struct {
		name          string
		dir           string
		before, after int
		earlier       []sink.EarlierRun
	}{
		{"as many as are opened", made(append(append([]string{"A"}, down...), "B")...), mostEarlier + 1, mostEarlier + 2, []sink.EarlierRun{{Run: "w01", Hosts: 1}}},
		{"one more", made(append(append([]string{"A", ""}, down...), "B")...), mostEarlier + 2, mostEarlier + 3, []sink.EarlierRun{}},
		{"later ones", made("", "B", "A"), 1, 2, []sink.EarlierRun{}},
		{"the first run is the later one", made("A", "B", ""), 3, 2, []sink.EarlierRun{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := Runs(t.Context(), Config{Dir: row.dir, Before: fmt.Sprintf("w%02d", row.before), After: fmt.Sprintf("w%02d", row.after)})
			pipelinetest.Must(t, err)
			if diff := cmp.Diff(row.earlier, r.Earlier); diff != "" || r.Unread != int64(2-len(row.earlier)) {
				t.Errorf("%d unread (-want +got):\n%s", r.Unread, diff)
			}
		})
	}
	// A run that is gone or incomplete is none to stand in, and one that is damaged is said.
	dir := made("A", "B", "", "C")
	against := func(want string) {
		t.Helper()
		r, err := Runs(t.Context(), Config{Dir: dir, Before: "w03", After: "w04"})
		pipelinetest.Must(t, err)
		if len(r.Earlier) != 1 || r.Earlier[0].Run != want {
			t.Errorf("earlier runs %v, want %s", r.Earlier, want)
		}
	}
	against("w02")
	pipelinetest.Must(t, os.Remove(filepath.Join(dir, "_runs", "w02", "manifest.json")))
	against("w01")
	pipelinetest.Must(t, os.Remove(filepath.Join(dir, "fetches", "run=w01", "part-0000000000.parquet")))
	if _, err := Runs(t.Context(), Config{Dir: dir, Before: "w03", After: "w04"}); err == nil || !strings.Contains(err.Error(), "look in run w01 for hosts that run w03 could not read: ") {
		t.Errorf("a part that is gone: %v", err)
	}
}

// Where the first run gave up https, the state before is that of an earlier run that did
// not, and the other way round; where the second gave it up, https is unread.
func TestOutagesOfAScheme(t *testing.T) {
	fellBack := func(f sink.Fetch) sink.Fetch {
		f.FallbackErrorClass = sink.Some("timeout")
		return f
	}
	https := func(digest string) sink.Fetch { return audittest.Fetch("https://h.example", "success", digest, 0) }
	http := func(digest string) sink.Fetch {
		return fellBack(audittest.Fetch("http://h.example", "success", digest, 0))
	}
	other := func(digest string) sink.Fetch {
		f := audittest.Fetch("https://h.example:8443", "success", digest, 0)
		f.Host = "h.example"
		return f
	}
	lost, lostHTTP := audittest.Fetch("https://h.example", "network_failure", "", 0), fellBack(audittest.Fetch("http://h.example", "network_failure", "", 0))
	const moved = "reachability https://h.example http://h.example since "
	for _, row := range []struct {
		name   string
		runs   [][]sink.Fetch
		want   []string
		unread int64
	}{
		{"https, http, https", [][]sink.Fetch{{https("A")}, {http("B")}, {https("C")}},
			[]string{"reachability http://h.example https://h.example since w2", "text A C since w1"}, 0},
		{"https, http", [][]sink.Fetch{{https("A")}, {http("B")}}, []string{moved + "w1"}, 1},
		{"http, https, http", [][]sink.Fetch{{http("A")}, {https("B")}, {http("C")}}, []string{moved + "w2"}, 1},
		{"http, nothing, http", [][]sink.Fetch{{http("A")}, {lost}, {http("C")}}, []string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"http, nothing by http, http", [][]sink.Fetch{{http("A")}, {lostHTTP}, {http("C")}}, []string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"http, nothing, https", [][]sink.Fetch{{http("A")}, {lost}, {https("C")}}, []string{"reachability network_failure success since w2"}, 1},
		{"https, http, nothing, https", [][]sink.Fetch{{https("A")}, {http("B")}, {lost}, {https("C")}}, []string{"reachability network_failure success since w3", "text A C since w1"}, 0},
		{"http, https, nothing, http", [][]sink.Fetch{{http("A")}, {https("B")}, {lost}, {http("C")}}, []string{"reachability network_failure success since w3"}, 1},
		{"another port, nothing, https", [][]sink.Fetch{{other("A")}, {lost}, {https("C")}}, []string{"reachability network_failure success since w2"}, 1},
		{"two ports", [][]sink.Fetch{{https("A"), other("B")}, {lost, other("B")}, {http("C"), other("D")}},
			[]string{"reachability network_failure success since w2", "text B D since w2"}, 1},
		{"two ports, and http long ago", [][]sink.Fetch{{http("Z"), other("Z")}, {https("A"), other("B")}, {lost, other("B")}, {http("C"), other("D")}},
			[]string{"reachability network_failure success since w3", "text B D since w3"}, 1},
		{"two ports, https", [][]sink.Fetch{{https("A"), other("B")}, {lost, other("B")}, {https("C"), other("B")}},
			[]string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"other hosts", [][]sink.Fetch{{audittest.Fetch("https://g.example", "success", "G", 0), https("A"), audittest.Fetch("https://i.example", "success", "I", 0)}, {lost}, {https("C")}},
			[]string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"several captures", [][]sink.Fetch{{https("A"), audittest.Fetch("https://h.example", "success", "B", 3)}, {lost}, {https("B")}},
			[]string{"reachability network_failure success since w2"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for k, rows := range row.runs {
				audittest.Run(t, dir, fmt.Sprint("w", k+1), []string{"fetches"}, rows)
			}
			last := len(row.runs)
			r, err := Runs(t.Context(), Config{Dir: dir, Before: fmt.Sprint("w", last-1), After: fmt.Sprint("w", last)})
			pipelinetest.Must(t, err)
			var got []string
			for _, c := range changesOf(t, dir, r.After, r.Before) {
				got = append(got, fmt.Sprintf("%s %s %s since %s", c.Kind, *c.Before, *c.After, *c.BeforeRun))
			}
			if diff := cmp.Diff(row.want, got); diff != "" || r.Unread != row.unread {
				t.Errorf("%d unread, want %d (-want +got):\n%s", r.Unread, row.unread, diff)
			}
		})
	}
}

package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
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
		r.Source.Hosts = sinktest.WriteFile(t, "hosts", []byte(hosts.String()))
		if change != nil {
			change(week+1, &r)
		}
		_, err := pipeline.Run(t.Context(), r, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	return c.Dir
}

// compared compares week k with the week before and returns the rows, each with the run
// of the state before.
func compared(t *testing.T, dir string, k int, promises string) (*Result, []string) {
	t.Helper()
	c := Config{In: sinktest.Open(t, dir), Before: fmt.Sprint("w", k-1), After: fmt.Sprint("w", k)}
	if promises != "" {
		var err error
		c.Expect, err = expect.Parse("promises", []byte(promises), nil)
		sinktest.Must(t, err)
	}
	r, err := Runs(t.Context(), c)
	sinktest.Must(t, err)
	var rows []string
	for _, row := range changesOf(t, dir, c.After, c.Before) {
		before := "-"
		if row.BeforeRun != nil {
			before = *row.BeforeRun
		}
		rows = append(rows, fmt.Sprintf("%s %s %s %s since %s", row.Host, row.Kind, schema.OrZero(row.Agent),
			schema.OrZero(row.After), before))
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
			out = append(out, fmt.Sprintf("%s: %s %v, %d checked, %d broken, %d unknown", p.Name, p.State, p.Fails, p.Checked,
				p.Broken, p.Unknown))
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
	if diff := cmp.Diff([]journal.EarlierRun{{Run: "w1", Hosts: 1}}, r.Earlier); diff != "" || r.Unread != 0 {
		t.Errorf("week 3: %d unread, earlier runs (-want +got):\n%s", r.Unread, diff)
	}
	record, err := journal.ReadComparison(sinktest.Open(t, dir), "w3", "w2")
	sinktest.Must(t, err)
	if diff := cmp.Diff(r.Earlier, record.Earlier); diff != "" || record.Hosts != 1 || record.Unread != 0 {
		t.Errorf("the record says %d hosts, %d unread, earlier runs (-want +got):\n%s", record.Hosts, record.Unread, diff)
	}
}

// A comparison is shown as it was made, also when the run that stands in is gone, by which it
// could not be made again.
func TestAComparisonIsMadeOnce(t *testing.T) {
	dir := weeks(t, map[string]string{"h.example": "oxc", "i.example": "ooo"}, nil)
	const promises = "- {name: nothing closes, no_change: policy_class, after: disallow_all}\n"
	in := sinktest.Open(t, dir)
	c := Config{In: in, Before: "w2", After: "w3"}
	if r, err := Stored(c); r != nil || err != nil {
		t.Fatalf("before it is made: %v, %v", r, err)
	}
	made, _ := compared(t, dir, 3, promises)
	stored := func(when, promises string) *Result {
		t.Helper()
		c.Expect = nil
		if promises != "" {
			var err error
			c.Expect, err = expect.Parse("promises", []byte(promises), nil)
			sinktest.Must(t, err)
		}
		r, err := Stored(c)
		if promises == "" || promises[0] == '-' {
			sinktest.Must(t, err)
		} else if !errors.Is(err, ErrWouldLose) || r != nil {
			t.Errorf("%s: %v, %v, want that it would lose the run w1", when, r, err)
		}
		return r
	}
	asJSON := func(r *Result) string {
		text, err := json.Marshal(r)
		sinktest.Must(t, err)
		return string(text)
	}
	for _, with := range []string{"", promises} {
		if diff := cmp.Diff(asJSON(made), asJSON(stored("made", with))); diff != "" {
			t.Errorf("stored (-made +stored):\n%s", diff)
		}
	}
	if r := stored("other promises", "- {name: others, reachable: true}\n"); r != nil {
		t.Errorf("the comparison answers for other promises")
	}
	sinktest.Must(t, sink.Remove(in, "w1"))
	if diff := cmp.Diff(asJSON(made), asJSON(stored("w1 is gone", ""))); diff != "" {
		t.Errorf("w1 is gone (-made +stored):\n%s", diff)
	}
	stored("w1 is gone", " "+"- {name: others, reachable: true}\n")
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
	if diff := cmp.Diff([]journal.EarlierRun{{Run: "w3", Hosts: 1}, {Run: "w2", Hosts: 1}, {Run: "w1", Hosts: 4}},
		r.Earlier); diff != "" {
		t.Errorf("earlier runs (-want +got):\n%s", diff)
	}
	if r.Compared != 10 || r.Unread != 3 || r.New != 1 {
		t.Errorf("%d compared, %d unread, %d new; want 10, 3, 1", r.Compared, r.Unread, r.New)
	}
	if p := r.Expectations[0]; p.Checked != 7 || p.Unknown != 4 || p.Broken != 5 {
		t.Errorf("%+v", p)
	}
}

// Where the first run gave up https, the state before is that of an earlier run that did
// not, and the other way round; where the second gave it up, https is unread.
func TestOutagesOfAScheme(t *testing.T) {
	fellBack := func(f schema.Fetch) schema.Fetch {
		f.FallbackErrorClass = new("timeout")
		return f
	}
	https := func(digest string) schema.Fetch { return audittest.Fetch("https://h.example", "success", digest, 0) }
	http := func(digest string) schema.Fetch {
		return fellBack(audittest.Fetch("http://h.example", "success", digest, 0))
	}
	other := func(digest string) schema.Fetch {
		f := audittest.Fetch("https://h.example:8443", "success", digest, 0)
		f.Host = "h.example"
		return f
	}
	lost, lostHTTP := audittest.Fetch("https://h.example", "network_failure", "", 0),
		fellBack(audittest.Fetch("http://h.example", "network_failure", "", 0))
	const moved = "reachability https://h.example http://h.example since "
	for _, row := range []struct {
		name   string
		runs   [][]schema.Fetch
		want   []string
		unread int64
	}{
		{"https, http, https", [][]schema.Fetch{{https("A")}, {http("B")}, {https("C")}},
			[]string{"reachability http://h.example https://h.example since w2", "text A C since w1"}, 0},
		{"https, http", [][]schema.Fetch{{https("A")}, {http("B")}}, []string{moved + "w1"}, 1},
		{"http, https, http", [][]schema.Fetch{{http("A")}, {https("B")}, {http("C")}}, []string{moved + "w2"}, 1},
		{"http, nothing, http", [][]schema.Fetch{{http("A")}, {lost}, {http("C")}},
			[]string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"http, nothing by http, http", [][]schema.Fetch{{http("A")}, {lostHTTP}, {http("C")}},
			[]string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"http, nothing, https", [][]schema.Fetch{{http("A")}, {lost}, {https("C")}},
			[]string{"reachability network_failure success since w2"}, 1},
		{"https, http, nothing, https", [][]schema.Fetch{{https("A")}, {http("B")}, {lost}, {https("C")}},
			[]string{"reachability network_failure success since w3", "text A C since w1"}, 0},
		{"http, https, nothing, http", [][]schema.Fetch{{http("A")}, {https("B")}, {lost}, {http("C")}},
			[]string{"reachability network_failure success since w3"}, 1},
		{"another port, nothing, https", [][]schema.Fetch{{other("A")}, {lost}, {https("C")}},
			[]string{"reachability network_failure success since w2"}, 1},
		{"two ports", [][]schema.Fetch{{https("A"), other("B")}, {lost, other("B")}, {http("C"), other("D")}},
			[]string{"reachability network_failure success since w2", "text B D since w2"}, 1},
		{"two ports, and http long ago", [][]schema.Fetch{{http("Z"), other("Z")}, {https("A"), other("B")},
			{lost, other("B")}, {http("C"), other("D")}},
			[]string{"reachability network_failure success since w3", "text B D since w3"}, 1},
		{"two ports, https", [][]schema.Fetch{{https("A"), other("B")}, {lost, other("B")}, {https("C"), other("B")}},
			[]string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"other hosts", [][]schema.Fetch{{audittest.Fetch("https://g.example", "success", "G", 0), https("A"),
			audittest.Fetch("https://i.example", "success", "I", 0)}, {lost}, {https("C")}},
			[]string{"reachability network_failure success since w2", "text A C since w1"}, 0},
		{"several captures", [][]schema.Fetch{{https("A"), audittest.Fetch("https://h.example", "success", "B", 3)}, {lost},
			{https("B")}},
			[]string{"reachability network_failure success since w2"}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			for k, rows := range row.runs {
				audittest.Run(t, dir, fmt.Sprint("w", k+1), []string{"fetches"}, rows)
			}
			last := len(row.runs)
			r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: fmt.Sprint("w", last-1),
				After: fmt.Sprint("w", last)})
			sinktest.Must(t, err)
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

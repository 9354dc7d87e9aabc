package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// closedSQL finds, without the table changes, the policies that closed between two runs,
// w2 and w3 for example: where the first could not read a host, since the latest run
// before it that could.
const closedSQL = `WITH answered AS (
    SELECT run, host, reason NOT IN ('server_error', 'network_failure', 'invalid_response', 'incomplete_body', 'unreachable_too_long',
                                     'stale_copy', 'address_blocked', 'no_route', 'redirect_unresolved', 'revisit_unresolved') AS whole
    FROM history.fetches),
  since AS (
    SELECT s.host, max(e.run) AS run FROM answered f JOIN answered s USING (host) JOIN answered e USING (host)
    WHERE f.run = '%[1]s' AND s.run = '%[2]s' AND s.whole AND e.run <= f.run AND e.whole GROUP BY ALL)
  SELECT host, agent, a.class AS was, s.run AS since FROM since s
  JOIN history.policies a USING (host, run) JOIN history.policies b USING (host, agent, profile)
  WHERE b.run = '%[2]s' AND b.class = 'disallow_all' AND a.class IN ('allow_all', 'partial') ORDER BY ALL`

// Hosts close, open and fail in turn. The table changes, its view, diff, the report and
// the series count what closed as SQL over the policies of all runs does, and a promise
// breaks in the week when it shows.
func TestOutagesHideNothing(t *testing.T) {
	t.Parallel()
	states := map[string]string{ // a letter per week: open, closed, down
		"always.example": "oooooo", "closed.example": "oxcccc", "later.example": "ooxxcc", "long.example": "oxxxxc",
		"again.example":    "oxcxoc",
		"reopened.example": "cxooxc", "dead.example": "xxxxcc", "still.example": "oooxxx", "moved.example": "ccxcxc",
	}
	week := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch states[r.Host][week] {
		case 'o':
			fmt.Fprint(w, "User-agent: *\nDisallow: /private\n")
		case 'c':
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	agents := write(t, filepath.Join(dir, "agents.yaml"),
		"- {name: GPTBot, category: ai-training}\n- {name: Googlebot, category: search}\n")
	promises := write(t, filepath.Join(dir, "promises.yaml"),
		"- {name: nothing closes, no_change: policy_class, after: disallow_all}\n")
	list := ""
	for host := range states {
		list += host + "\n"
	}
	list = write(t, filepath.Join(dir, "hosts"), list)
	var closes, compared, since [6]int // hosts by week
	for week := 1; week < 6; week++ {
		for _, s := range states {
			if last := strings.LastIndexAny(s[:week], "oc"); last >= 0 && s[week] != 'x' {
				compared[week]++
				if last < week-1 {
					since[week]++
				}
				if s[last] == 'o' && s[week] == 'c' {
					closes[week]++
				}
			}
		}
	}
	for ; week < 6; week++ {
		run, before := fmt.Sprint("w", week+1), fmt.Sprint("w", week)
		robocensus(t, 0, "run", "--hosts", list, "--out", out, "--run", run, "--as-of", fmt.Sprintf("2024-01-%02d",
			1+7*week/2), "--schemes", "http",
			"--connect-to", strings.TrimPrefix(server.URL, "http://"), "--retries", "0", "--agents", agents, "--progress",
			"none")
		if week == 0 {
			continue
		}
		code := 0
		if closes[week] > 0 {
			code = 1
		}
		text, _ := robocensus(t, code, "diff", "--out", out, "--expect", promises, "--format", "json", before, run)
		var said struct {
			Compared, Unread int64
			Earlier          []struct{ Hosts int }
			Expectations     []struct {
				State                    string
				Checked, Broken, Unknown int
			}
		}
		must(t, json.Unmarshal([]byte(text), &said))
		earlier := 0
		for _, e := range said.Earlier {
			earlier += e.Hosts
		}
		const policies = 2 // of a host, one for each agent
		if p := said.Expectations[0]; earlier != since[week] || p.Broken != policies*closes[week] ||
			p.Checked != compared[week] || p.Checked+p.Unknown != len(states) || said.Unread != int64(p.Unknown) {
			t.Errorf("%s: %+v, want %d hosts closed of %d, %d since an earlier run", run, said, closes[week], compared[week],
				since[week])
		}
		db := quick(t, out)
		_, want, err := ask(db, fmt.Sprintf(closedSQL, before, run))
		must(t, err)
		_, got, err := ask(db, "SELECT host, agent, before, before_run FROM changes WHERE kind = 'policy_class' AND after "+
			"= 'disallow_all' ORDER BY ALL")
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" || len(got) != policies*closes[week] {
			t.Errorf("%s: %d rows (-policies of all runs +changes):\n%s", run, len(got), diff)
		}
		// The report: hosts that shut an agent out.
		page := filepath.Join(dir, "report.html")
		robocensus(t, 0, "report", "--out", out, run, "--against", before, "--html", page)
		text2, err := os.ReadFile(page)
		must(t, err)
		html := string(text2)
		if n := closes[week]; n > 0 &&
			!strings.Contains(html, fmt.Sprintf("%[1]d closed a path to an agent (%[1]d shut one out entirely)", n)) {
			t.Errorf("%s: the report does not say that %d hosts shut out an agent", run, n)
		}
		if n := since[week]; n > 0 && !strings.Contains(html, fmt.Sprintf("which could not read them: %d host", n)) {
			t.Errorf("%s: the report does not say that %d hosts are compared with an earlier run", run, n)
		}
		robocensus(t, 0, "verify", "--out", out, run)
	}
	csv, _ := robocensus(t, 0, "series", "--out", out, "--csv", "-")
	for week := 1; week < 6; week++ {
		if want := fmt.Sprintf("\nchange,all,all,GPTBot,ai-training,google,closed,w%d,2024-01-%02dT00:00:00Z,both,%d,%d,",
			week+1, 1+7*week/2, closes[week], compared[week]); !strings.Contains(csv, want) {
			t.Errorf("the series has no line %q", want)
		}
	}
}

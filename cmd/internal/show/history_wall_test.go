package show

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A history has a line for each run that could not read the host, and tells walls from
// outages.
func TestEachBadWeekIsTold(t *testing.T) {
	dir := t.TempDir()
	for i, week := range []struct{ outcome, reason, wall string }{
		{"full_allow", "client_error", ""}, {"full_disallow", "server_error", ""}, {"full_disallow", "server_error", ""},
		{"full_allow", "client_error", "cloudflare"},
		{"full_disallow", "server_error", "akamai"}, {"conditional_allow", "success", "generic"},
		{"full_allow", "client_error", ""},
	} {
		at := time.Date(2027, 1, 1+7*i, 0, 0, 0, 0, time.UTC)
		run, err := sink.Create(dir, journal.Plan{Run: fmt.Sprint("w", i+1), Started: at, Tables: []string{"fetches"},
			Profiles: []string{"google"}})
		must(t, err)
		s, err := run.Segment(0)
		must(t, err)
		must(t, s.Fetches.Write(schema.Fetch{
			Host: "a.example", Origin: "https://a.example", Outcome: week.outcome, Reason: week.reason,
			Status:    new(map[string]int32{"success": 200, "client_error": 403, "server_error": 503}[week.reason]),
			Challenge: schema.NonZero(week.wall), FetchTime: at,
		}))
		s.Targets = 1
		must(t, s.Commit())
		must(t, run.Complete(sink.Completion{Finished: at, Tally: journal.Tally{Targets: 1}}))
		must(t, run.Close())
	}
	var out strings.Builder
	must(t, (&historyFlags{out: dir}).history(t.Context(), []string{"a.example"}, &out))
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		if fields := strings.SplitN(strings.TrimSpace(line), "  ", 3); !strings.HasPrefix(fields[2], "note: ") {
			got = append(got, fields[1]+": "+fields[2])
		}
	}
	want := []string{
		"w1: refused (401, 403, 451), status 403; the run lacks the table policies", "w2: outage: server error, status 503",
		"w3: outage: server error, status 503",
		"w4: a wall in place of the file, status 403: Cloudflare", "w5: a wall in place of the file, status 503: Akamai",
		"w6: a wall in place of the file, status 200: vendor not known",
	}
	for i, line := range want {
		if i >= len(got) || got[i][:4] != line[:4] || i > 0 && got[i] != line {
			t.Fatalf("it says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

package diff

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Seven scheduled runs under a clock that is set, with the memory kept, hosts
// that fail and come back, the comparison of each with the one before, and
// old runs removed.
func TestScheduledRuns(t *testing.T) {
	var day int
	file := func(w http.ResponseWriter, path string) { fmt.Fprintf(w, "User-agent: *\nDisallow: %s\n", path) }
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		switch host := r.Host; {
		case host == "flaky.example" && day == 2, host == "long.example" && day >= 1 && day < 35:
			audittest.Down(w)
		case host == "closing.example" && day >= 4, host == "long.example" && day == 35:
			file(w, "/")
		default:
			file(w, "/private")
		}
	}, "steady.example\nflaky.example\nlong.example\nclosing.example\n")
	c.State = filepath.Join(t.TempDir(), "state")
	before := ""
	for _, d := range []struct {
		day     int
		long    string   // why long.example is as it is
		changes []string // against the day before: host, kind, severity
	}{
		{0, "success", nil},
		{1, "server_error", []string{"long.example reachability major"}},
		// the twelve hours are over
		{2, "stale_copy", []string{"flaky.example reachability major", "long.example reachability minor"}},
		{3, "stale_copy", []string{"flaky.example reachability minor"}},
		{4, "stale_copy", []string{"closing.example policy_class critical", "closing.example policy_class critical"}},
		// the thirty days are over
		{34, "unreachable_too_long", []string{"long.example reachability minor"}},
		// since the first day
		{35, "success", []string{"long.example policy_class critical", "long.example policy_class critical",
			"long.example reachability minor"}},
	} {
		day = d.day
		now := audittest.FirstDay.AddDate(0, 0, day)
		c.Run, c.Fetch.Now = fmt.Sprintf("day-%02d", day), func() time.Time { return now }
		if _, err := pipeline.Run(context.Background(), c, new(pipeline.Progress)); err != nil {
			t.Fatal(err)
		}
		for _, row := range sinktest.Rows[schema.Fetch](t, c.Dir, c.Run, "fetches") {
			if row.Host == "long.example" && row.Reason != d.long {
				t.Errorf("day %d: %s, want %s", day, row.Reason, d.long)
			}
		}
		if before != "" {
			if _, err := Runs(context.Background(), Config{In: sinktest.Open(t, c.Dir), Before: before,
				After: c.Run}); err != nil {
				t.Fatal(err)
			}
			changed := c
			changed.Run = c.Run + "/against=" + before
			var got []string
			for _, row := range sinktest.Rows[schema.Change](t, changed.Dir, changed.Run, "changes") {
				got = append(got, row.Host+" "+row.Kind+" "+row.Severity)
			}
			if diff := cmp.Diff(d.changes, got); diff != "" {
				t.Errorf("day %d against %s (-want +got):\n%s", day, before, diff)
			}
		}
		before = c.Run
	}
	if err := sink.Prune(context.Background(), sinktest.Open(t, c.Dir), 3, false, func(sink.Pruned) {}); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, pattern := range []string{"_runs/*", "fetches/*", "changes/*/*"} {
		paths, err := filepath.Glob(filepath.Join(c.Dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			left = append(left, strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, c.Dir)), "/"))
		}
	}
	want := []string{
		"_runs/day-04", "_runs/day-34", "_runs/day-35", "fetches/run=day-04", "fetches/run=day-34", "fetches/run=day-35",
		"changes/run=day-34/against=day-04", "changes/run=day-35/against=day-34",
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("after pruning (-want +left):\n%s", diff)
	}
	if _, err := os.Stat(c.State); err != nil {
		t.Error(err)
	}
}

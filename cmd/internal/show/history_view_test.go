package show

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
)

// A note that is true of each pair of runs is told once; another one is told too.
func TestNotesOfAHistoryAreToldOnce(t *testing.T) {
	h := &historian{historyFlags: &historyFlags{profile: "google"}, asked: fetch.Origin{Host: "a.example"}, found: 4}
	add := func(run, before, note string) {
		h.events = append(h.events, event{Event: "note", Run: run, Note: &note, before: before})
	}
	for i := range 3 {
		before, run := fmt.Sprint("w", i), fmt.Sprint("w", i+1)
		add(run, before, "verdicts are not compared: "+before+" and "+run+" have no such table")
	}
	add("w3", "w2", "the runs' agents differ: those that both have are compared")
	var out strings.Builder
	h.print(&cli.Text{Out: &out})
	want := `a.example in 4 complete runs, profile google
  0001-01-01  w1  note: verdicts are not compared: w0 and w1 have no such table (and so of 2 later runs)
  0001-01-01  w3  note: the runs' agents differ: those that both have are compared
`
	if out.String() != want {
		t.Errorf("it says\n%s\nwant\n%s", &out, want)
	}
}

// A gap is half as long again as the usual time between runs, or longer.
func TestGapsOfAHistory(t *testing.T) {
	first := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	on := func(days int) *past.Run {
		return &past.Run{Manifest: &journal.Manifest{Date: first.AddDate(0, 0, days)}}
	}
	h := &historian{usual: usualGap([]*journal.Manifest{on(0).Manifest, on(7).Manifest, on(14).Manifest,
		on(40).Manifest}), last: on(0)}
	for days, want := range map[int]int{1: 0, 7: 0, 10: 0, 11: 11, 30: 30} {
		if got := h.gap(on(days)); got != want {
			t.Errorf("%d days after the last run: a gap of %d, want %d", days, got, want)
		}
	}
}

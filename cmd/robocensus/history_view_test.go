package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
)

// A note that is true of each pair of runs is told once; another one is told too.
func TestNotesOfAHistoryAreToldOnce(t *testing.T) {
	h := &historian{historyFlags: &historyFlags{profile: "google"}, asked: fetch.Origin{Host: "a.example"}}
	add := func(run, before, note string) {
		h.events = append(h.events, event{Event: "note", Run: run, Note: &note, before: before})
	}
	for i := range 3 {
		before, run := fmt.Sprint("w", i), fmt.Sprint("w", i+1)
		add(run, before, "verdicts are not compared: "+before+" and "+run+" have no such table")
	}
	add("w3", "w2", "the runs' agents differ: those that both have are compared")
	var out strings.Builder
	h.print(&textPage{&out}, 4)
	want := `a.example in 4 complete runs, profile google
  0001-01-01  w1  note: verdicts are not compared: w0 and w1 have no such table (and so of 2 later runs)
  0001-01-01  w3  note: the runs' agents differ: those that both have are compared
`
	if out.String() != want {
		t.Errorf("it says\n%s\nwant\n%s", &out, want)
	}
}

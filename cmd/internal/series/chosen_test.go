package series

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Runs that cannot be followed are warned of, and are an error where they are all there is.
func TestChosenRuns(t *testing.T) {
	dir := t.TempDir()
	for i, r := range []struct {
		name       string
		tables     []string
		isComplete bool
	}{{"a", []string{"summary"}, true}, {"bare", []string{"fetches"}, true}, {"c", []string{"summary"}, false}} {
		began := time.Date(2020+i, 1, 1, 0, 0, 0, 0, time.UTC)
		run, err := sink.Create(dir, journal.Plan{Run: r.name, Started: began, Tables: r.tables, Profiles: []string{
			"google"}})
		sinktest.Must(t, err)
		if r.isComplete {
			segment, err := run.Segment(0)
			sinktest.Must(t, err)
			sinktest.Must(t, segment.Commit())
			sinktest.Must(t, run.Complete(sink.Completion{Finished: began}))
		}
		sinktest.Must(t, run.Close())
	}
	const bare, unfinished = "run bare has no table summary and is left out", "run c is unfinished and left out"
	for _, row := range []struct {
		runs, since   string
		ids, warnings []string
		err           string
	}{
		{"", "", []string{"a"}, []string{bare, unfinished}, ""},
		{"a", "", []string{"a"}, nil, ""},
		{"[ac]", "", []string{"a"}, []string{unfinished}, ""},
		{"[bc]*", "", nil, nil, "no run in DIR can be followed: " + bare + "; " + unfinished},
		{"", "2022", nil, nil, "no run in DIR can be followed: " + unfinished},
		{"", "2023", nil, nil, "no complete run in DIR since 2023 (there are a, bare, c)"},
		{"x*", "", nil, nil, `no complete run in DIR matches "x*" (there are a, bare, c)`},
	} {
		f := seriesFlags{out: "DIR", runs: row.runs, since: row.since}
		since, err := f.from()
		sinktest.Must(t, err)
		ids, warnings, err := f.chosen(sinktest.Open(t, dir), since)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if !slices.Equal(ids, row.ids) || !slices.Equal(warnings, row.warnings) || !strings.HasPrefix(said, row.err) ||
			(said == "") != (row.err == "") {
			t.Errorf("--runs %q --since %q: %q, warnings %q, error %q", row.runs, row.since, ids, warnings, said)
		}
	}
}

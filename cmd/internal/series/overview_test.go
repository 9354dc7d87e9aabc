package series

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/schema"
)

// Of four agents that enter the registry at once, or leave it, a line names three.
func TestMarksOfManyAgents(t *testing.T) {
	var marks []series.Mark
	add := func(run, kind, of string) {
		marks = append(marks, series.Mark{Run: run, Kind: kind, Of: of, Text: of + " did"})
	}
	add("b", "break", "")
	for _, agent := range []string{"A", "B", "C"} {
		add("b", "agent_new", agent)
	}
	for _, agent := range []string{"A", "B", "C", "D"} {
		add("c", "agent_new", agent)
		add("c", "agent_changed", agent+"2")
		add("d", "agent_gone", agent)
	}
	want := []string{
		"b:  did", "b: A did", "b: B did", "b: C did",
		"c: 4 agents (A, B, C and 1 more) enter the registry",
		"c: the entries of 4 agents (A2, B2, C2 and 1 more) changed",
		"d: 4 agents (A, B, C and 1 more) leave the registry",
	}
	if diff := cmp.Diff(want, markLines(marks)); diff != "" {
		t.Error(diff)
	}
}

// Beside the share of a stratum stand the hosts of that stratum, not those of the run,
// which for a run without the category are not known.
func TestOverviewOfAStratum(t *testing.T) {
	files, share, no := int64(5), 0.5, false
	text := func(s string) *string { return &s }
	point := func(run, base string, denominator int64) schema.Point {
		return schema.Point{
			Run: run, Metric: "category", Key: text("any"), Category: text("ai-training"), Profile: text("google"),
			Population: series.All,
			Stratum:    "1-1000", Base: base, Count: denominator / 2, Denominator: denominator, Share: &share, Comparable: &no,
		}
	}
	r := &series.Result{
		Profiles: []string{"google"}, Runs: []series.Run{{Run: "a", Hosts: 7, Files: &files},
			{Run: "b", Hosts: 8, Files: &files}},
		Points: []schema.Point{point("b", "hosts", 40), point("b", "files", 2)},
	}
	var out bytes.Buffer
	showSeries(&out, r, nil)
	want := []string{
		"Hosts that shut out an agent for AI training, of the stratum 1-1000",
		"run  date        hosts  with rules  of hosts  of the latter  comparable",
		"a    0001-01-01",
		"b    0001-01-01     40           2     50.0%         1 of 2          no",
	}
	if diff := cmp.Diff(want, strings.Split(out.String(), "\n")[:4]); diff != "" {
		t.Error(diff)
	}
}

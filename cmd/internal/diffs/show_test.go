package diffs

import (
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/schema"
)

// What is left out counts as agents, and as rows where an agent has one under each profile.
func TestRestOfAgents(t *testing.T) {
	var rows []diff.Agent
	for _, name := range []string{"A", "B", "C"} {
		a := diff.Agent{}
		a.Agent = name
		rows = append(rows, a)
	}
	for want, rows := range map[string][]diff.Agent{
		"1 more agent": rows,
		"4 more rows, for 3 agents under several profiles": append(rows[:3:3], rows...),
		"1 more row, for 1 agent under several profiles":   {rows[0], rows[0], rows[0]},
	} {
		if got := restOf(2, rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Those that most hosts opened to have a place beside those that most closed to.
func TestMostMovedAgents(t *testing.T) {
	var all []diff.Agent
	for i := range 2 * shownAgents {
		a := diff.Agent{OfAgent: change.OfAgent{Agent: string(rune('a' + i))}}
		a.Closed = int64(100 - i)
		if i == 2*shownAgents-1 {
			a.Closed, a.Opened = 0, 99
		}
		all = append(all, a)
	}
	got := mostMoved(all)
	if len(got) != shownAgents || got[0].Agent != "a" || got[shownAgents-1].Opened != 99 {
		t.Errorf("%+v", got)
	}
}

// Coverage is told as shares of the sample, with the rules that close most.
func TestToldCoverage(t *testing.T) {
	e := &diff.Example{Change: schema.Change{Kind: "coverage", Agent: new("GPTBot"), Before: new("196/200"),
		After: new("6/200"), LineAfter: new(int32(12))}}
	want := "coverage GPTBot: 98.0% of 200 listed pages → 3.0% of 200 listed pages (line 12)"
	if got := ToldOfHost(&cli.Text{}, e); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The number of hosts that are compared is that of --format json, whether or not all could be read.
func TestHeadlineCountsAsJSON(t *testing.T) {
	for want, r := range map[string]*diff.Result{
		"18 hosts compared, 5 with a change (27.8% of the hosts in both runs); 0 new, 1 gone":                                                                         {Compared: 18, Changed: 5},
		"19 hosts compared, 1 of them only by whether they answer (not read in one run or in both), 5 with a change (26.3% of the hosts in both runs); 0 new, 1 gone": {Compared: 19, Unread: 1, Changed: 5},
		"no policy is compared: 3 hosts in both runs, and none could be read in both; 0 new, 1 gone":                                                                  {Compared: 3, Unread: 3},
	} {
		if r.Policies, r.Gone = true, 1; headline(r) != want {
			t.Errorf("%q, want %q", headline(r), want)
		}
	}
}

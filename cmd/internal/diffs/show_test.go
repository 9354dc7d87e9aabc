package diffs

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/diff"
)

// A title counts agents, and rows where an agent has one under each profile.
func TestFirstOfAgents(t *testing.T) {
	var rows []diff.Agent
	for _, name := range []string{"A", "B", "C"} {
		a := diff.Agent{}
		a.Agent = name
		rows = append(rows, a)
	}
	for want, rows := range map[string][]diff.Agent{
		"2 of 3 agents": rows,
		"2 of 6 rows, for 3 agents under several profiles": append(rows[:3:3], rows...),
		"2 of 3 rows, for 1 agent under several profiles":  {rows[0], rows[0], rows[0]},
	} {
		if got := firstOf(2, rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package report

import (
	"testing"

	"github.com/robocensus/robocensus/sink/summary"
)

// The title of medians tells of the agent whose median differs most, or that none does.
func TestTitleOfMedians(t *testing.T) {
	for want, medians := range map[string]map[string][2]int64{
		"Of it, each agent may fetch the same median share in all groups: 100%": {"A": {100, 100},
			"B": {100, 100}},
		"Of it, each agent may fetch the same median share in all groups: 74% to 100%, by agent": {"A": {100, 100},
			"B": {74, 74}},
		"Of it, B may fetch a median of 60% at two, and 74% at one": {"A": {100, 100},
			"B": {74, 60}},
	} {
		got := spreadTitle("Of it", []string{"A", "B"}, []string{"one", "two"}, func(s string) string {
			return s
		}, func(group string) map[string]summary.Percents {
			out := make(map[string]summary.Percents)
			for agent, m := range medians {
				at := m[0]
				if group == "two" {
					at = m[1]
				}
				out[agent] = summary.Percents{at: 10}
			}
			return out
		})
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

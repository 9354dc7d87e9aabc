package report

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// compared writes two runs that have been compared, and returns the text of the page.
func compared(t *testing.T, before, after []schema.Count, rows ...schema.Change) string {
	t.Helper()
	dir := t.TempDir()
	earlier := plan("a")
	earlier.Started = earlier.Started.AddDate(0, 0, -7)
	writeRun(t, dir, earlier, 1, before, nil)
	writeRun(t, dir, plan("b"), 1, after, nil)
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "b")
	must(t, err)
	c, err := sink.CreateChanges(sinktest.Open(t, dir), m, "a", "v1", "another list of hosts")
	must(t, err)
	must(t, c.Write(rows...))
	c.Compared(900, 0)
	must(t, c.Commit())
	return text1(t, drawn(t, dir, "b", "a"))
}

// ofRun counts a run of 1,000 hosts: those with rules, those that an outage hides, those
// that shut out GPTBot and AhrefsBot, or the only one of an agent of this run alone.
func ofRun(files, down, gptbot, ahrefs int64, alone string) []schema.Count {
	category := func(name string, n int64) schema.Count {
		c := agentCount("category", "", name, "some", n)
		c.Agent = nil
		return c
	}
	return []schema.Count{
		count1("targets", "", 1000), profiled("outcome", "conditional_allow", "google", files),
		profiled("outcome", "full_disallow", "google", down), profiled("outcome", "full_allow", "google", 1000-files-down),
		profiled("reason", "success", "google", files), profiled("reason", "server_error", "google", down),
		profiled("reason", "client_error", "google", 1000-files-down),
		agentCount("policy", "GPTBot", counters.Headline, "disallow_all", gptbot), agentCount("policy", "GPTBot",
			counters.Headline, "partial", files-gptbot),
		agentCount("policy", "AhrefsBot", "seo", "disallow_all", ahrefs), agentCount("policy", "AhrefsBot", "seo", "partial",
			files-ahrefs),
		agentCount("policy", alone, "other", "disallow_all", 1), category(counters.Headline, gptbot),
		category("seo", ahrefs), category(alone, 1),
	}
}

// The page of changes begins with the shares of both runs: of all hosts or, if an outage
// hides some, of those with rules.
func TestBeforeAndAfter(t *testing.T) {
	for _, row := range []struct {
		name          string
		before, after []schema.Count
		want, not     []string
	}{
		{
			"of hosts", ofRun(800, 10, 205, 100, "Old"), ofRun(800, 19, 268, 90, "New"),
			[]string{"20.5 → 26.8% of hosts shut out an agent for AI training",
				"GPTBot moved most: 20.5 → 26.8% of hosts shut it out",
				"Shares of the 1,000 hosts of 8 January 2027 and the 1,000 hosts of 15 January 2027.",
				"The average host shuts out 0.4 → 0.4 of 2 agents; at 100% of 900 hosts whose policies were compared every agent " +
					"that was compared may fetch the same as before"},
			[]string{"hosts with rules of 8"},
		},
		{
			"an outage", ofRun(600, 250, 150, 60, "Old"), ofRun(800, 20, 240, 80, "New"),
			[]string{"25.0 → 30.0% of hosts with rules shut out an agent for AI training",
				"GPTBot moved most: 25.0 → 30.0% of hosts with rules shut it out",
				"an outage in one of the runs lowers shares of all hosts", "The average host shuts out 0.3 → 0.4 of 2 agents",
				"on average, of the 600 hosts whose policy is known of 8 January 2027"},
			[]string{"15.0 → 24.0%"},
		},
		{
			"as many down, perhaps others", ofRun(600, 250, 150, 60, "Old"), ofRun(600, 250, 180, 80, "New"),
			[]string{"25.0 → 30.0% of hosts with rules shut out an agent for AI training"}, []string{"15.0 → 18.0%"},
		},
		{
			"walls", ofRun(800, 0, 400, 100, "Old"), append(ofRun(800, 0, 200, 50, "New"),
				profiled("challenge", "generic success", "google", 400), profiled("challenge_outcome", "conditional_allow",
					"google", 400)),
			[]string{"50.0 → 50.0% of hosts with rules shut out an agent for AI training",
				"Shares of the 800 hosts with rules of 8 January 2027 and the 400 hosts with rules of 15 January 2027."},
			[]string{"40.0 → 20.0%"},
		},
		{"nothing moved", ofRun(800, 0, 100, 50, "Old"), ofRun(800, 0, 100, 50, "New"),
			[]string{"No agent is shut out by another share of hosts than before"}, []string{"moved most"}},
		{"as far", ofRun(800, 0, 100, 200, "Old"), ofRun(800, 0, 200, 100, "New"),
			[]string{"2 agents moved most, such as AhrefsBot: 20.0 → 10.0% of hosts shut it out"}, nil},
		{"alike", ofRun(800, 0, 100, 100, "Old"), ofRun(800, 0, 200, 200, "New"),
			[]string{"AhrefsBot and GPTBot moved most: 10.0 → 20.0% of hosts shut each of them out"},
			[]string{"2 agents moved"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			out := compared(t, row.before, row.after)
			figures := out[:strings.Index(out, "Do hosts shut out AI crawlers?")]
			for _, want := range append(row.want, "Notes on the comparison: another list of hosts.") {
				if !strings.Contains(figures, want) {
					t.Errorf("the page does not say %q first:\n%s", want, figures)
				}
			}
			for _, not := range append(row.not, "Old", "New") {
				if strings.Contains(figures, not) {
					t.Errorf("the page says %q", not)
				}
			}
		})
	}
}

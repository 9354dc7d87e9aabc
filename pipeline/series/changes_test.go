package series

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func class(agent string) schema.Change {
	return schema.Change{Host: "h.a.com", Origin: "https://h.a.com", Kind: "policy_class", Severity: "critical",
		Agent: &agent, Category: new("search"), Profile: new("google"), Before: new("partial"), After: new("disallow_all")}
}

// Hosts that could not be read in one of two runs are not a base of changes.
func TestUnreadHostsAreNoBase(t *testing.T) {
	dir := t.TempDir()
	m := madeUp{"h.a.com": {"A": "partial", "B": "partial", "C": "partial"}}
	m.write(t, dir, "r0", 0)
	m.write(t, dir, "r1", 1)
	before, err := journal.ReadManifest(sinktest.Open(t, dir), "r0")
	must(t, err)
	after, err := journal.ReadManifest(sinktest.Open(t, dir), "r1")
	must(t, err)
	c := Config{In: sinktest.Open(t, dir), Profiles: []string{"google"}}
	if got, err := readChanges(t.Context(), c, before, after); got != nil || err != nil {
		t.Errorf("runs that are not compared: %+v, %v", got, err)
	}
	out, err := sink.CreateChanges(sinktest.Open(t, dir), after, "r0", "test", "a note")
	must(t, err)
	defer out.Abort()
	out.Compared(10, 3, journal.EarlierRun{Run: "q", Hosts: 2, Without: []string{"B"}}, journal.EarlierRun{Run: "p",
		Hosts: 1, Without: []string{"B", "C"}})
	must(t, out.Write(class("A"), class("B"), class("C")))
	must(t, out.Commit())
	got, err := readChanges(t.Context(), c, before, after)
	must(t, err)
	if got.hosts != 7 || len(got.notes) != 1 {
		t.Errorf("%d hosts were read in both of 10, 3 of them unread; notes %q", got.hosts, got.notes)
	}
	// Nor are those whose state before is from a run that does not judge the agent.
	r, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"r0", "r1"}})
	must(t, err)
	of := make(map[string]int64)
	for _, p := range r.Points {
		if p.Metric == "change" && p.Key != nil && *p.Key == "closed" {
			agent := ""
			if p.Agent != nil {
				agent = *p.Agent
			}
			of[agent] = p.Denominator
		}
	}
	if diff := cmp.Diff(map[string]int64{"": 7, "A": 7, "B": 4, "C": 6}, of); diff != "" {
		t.Errorf("denominators (-want +got):\n%s", diff)
	}
}

// Of each pair of neighbours every policy counts, under the profiles that are followed.
// What happened to any agent has no profile under the first of them.
func TestChangesOfNeighbours(t *testing.T) {
	dir := t.TempDir()
	for at, run := range []string{"r0", "r1"} {
		madeUp{"h.a.com": {"A": "partial", "B": "partial", "C": "partial"}, "h.b.com": {"A": "partial", "B": "partial",
			"C": "partial"}}.writeUnder(t, dir, run, at, "google", "rfc9309")
	}
	after, err := journal.ReadManifest(sinktest.Open(t, dir), "r1")
	must(t, err)
	out, err := sink.CreateChanges(sinktest.Open(t, dir), after, "r0", "test")
	must(t, err)
	defer out.Abort()
	row := func(origin, kind, agent, profile, before, after string) schema.Change {
		return schema.Change{Origin: origin, Kind: kind, Severity: "major", Agent: &agent, Category: new("x"),
			Profile: &profile, Before: schema.NonZero(before), After: &after}
	}
	must(t, out.Write(
		row("a", "rules", "A", "google", "", "both"), row("a", "policy_class", "B", "google", "partial", "disallow_all"),
		row("b", "rules", "A", "google", "", "closes"), row("b", "rules", "A", "rfc9309", "", "closes"),
		schema.Change{Origin: "c", Kind: "text", Severity: "cosmetic"},
	))
	out.Compared(4, 0)
	must(t, out.Commit())
	google := map[string]int64{
		"A google closed": 2, "A google opened": 1, "A google both": 1, "B google closed": 1, "B google shut_out": 1,
		"  closed": 2, "  opened": 1, "  both": 1, "  shut_out": 1, "  reworded": 1,
	}
	both := map[string]int64{"A rfc9309 closed": 1, " rfc9309 closed": 1, " rfc9309 reworded": 1}
	maps.Copy(both, google)
	for _, c := range []struct {
		profiles []string
		want     map[string]int64
	}{{nil, google}, {[]string{"google", "rfc9309"}, both}} {
		s, err := Read(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []string{"r0", "r1"}, Profiles: c.profiles})
		must(t, err)
		got := make(map[string]int64)
		for _, p := range s.Points {
			if p.Metric == "change" && p.Count > 0 {
				got[schema.OrZero(p.Agent)+" "+schema.OrZero(p.Profile)+" "+schema.OrZero(p.Key)] = p.Count
				if p.Denominator != 4 {
					t.Errorf("of %d hosts", p.Denominator)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("under %v (-want +got):\n%s", c.profiles, diff)
		}
	}
}

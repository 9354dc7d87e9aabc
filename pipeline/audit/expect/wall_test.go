package expect

import (
	"fmt"
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A host behind a wall is unread, whatever the status of the wall says: it is not reachable,
// and what it may say keeps no promise and breaks none. The notes tell walls from outages.
func TestAWallIsNoPolicy(t *testing.T) {
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "policies", "verdicts", "groups",
		"rules", "agents"}, Profiles: []string{"google"}})
	sinktest.Must(t, err)
	s, err := run.Segment(0)
	sinktest.Must(t, err)
	agents := []schema.Agent{{Name: "A", Tokens: []string{"A"}, Category: "x"}}
	sinktest.Must(t, s.Agents.Write(agents...))
	for i, host := range []struct{ name, reason, wall string }{
		{"file", "success", ""}, {"none", "client_error", ""}, {"down", "server_error", ""},
		{"wall200", "success", "cloudflare"}, {"wall403", "client_error", "akamai"}, {"wall503", "server_error", "generic"},
	} {
		row := audittest.Fetch("https://"+host.name+".example", host.reason,
			map[bool]string{true: "D"}[host.reason == "success"], 0)
		row.Seq, row.Challenge = int64(i), schema.NonZero(host.wall)
		class := map[string]string{"success": "partial", "client_error": "allow_all"}[host.reason]
		if class == "" || host.wall != "" {
			class = "unknown"
		}
		sinktest.Must(t, s.Fetches.Write(row))
		sinktest.Must(t, s.Policies.Write(schema.Policy{Seq: row.Seq, Host: row.Host, Origin: row.Origin, Agent: "A",
			Category: "x", Profile: "google", JudgedBy: "google", Outcome: row.Outcome, Class: class}))
		// The verdicts of an earlier version, which judged walls by their status.
		sinktest.Must(t, s.Verdicts.Write(schema.Verdict{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, Agent: "A", Profile: "google", JudgedBy: "google", URL: "/",
			Verdict: "allow", Reason: "full_allow",
		}))
		if host.name == "file" {
			sinktest.Must(t, s.Groups.Write(schema.Group{Seq: row.Seq, Host: row.Host, Origin: row.Origin,
				Agents: []string{"*"}, AgentLines: []int32{1}, Tokens: []string{"*"}, Line: 1}))
			sinktest.Must(t, s.Rules.Write(schema.Rule{Seq: row.Seq, Host: row.Host, Origin: row.Origin,
				GroupIndex: new(int32(0)), Line: 2, Kind: "disallow", Pattern: "/x", Normalized: "/x", Effective: true}))
		}
	}
	s.Targets = 6
	sinktest.Must(t, s.Commit())
	sinktest.Must(t, run.Complete(sink.Completion{Tally: journal.Tally{Targets: 6}}))
	const hidden = "an outage hides 1 of 6 %[1]s, on 1 of 6 hosts; a wall hides 3 of 6 %[1]s, on 3 of 6 hosts"
	policies, verdicts := fmt.Sprintf(hidden, "policies"), "a wall hides 3 of 6 verdicts, on 3 of 6 hosts"
	for text, want := range map[string]string{
		"reachable: true":                 "broken 4 of 6, 0 unknown ",
		"reachable: true, hosts: 'wall*'": "broken 3 of 3, 0 unknown ",
		"class: [partial, allow_all]":     "kept 0 of 2, 4 unknown " + policies,
		"class: disallow_all, hosts: 'wall*'": "unchecked 0 of 0, 3 unknown a wall hides 3 of 3 policies, " +
			"on 3 of 3 hosts",
		"verdict: allow, urls: /": "kept 0 of 3, 3 unknown " + verdicts,
		"verdict: disallow, urls: /, hosts: 'wall*'": "unchecked 0 of 0, 3 unknown a wall hides 3 of 3 verdicts, " +
			"on 3 of 3 hosts",
		"at_least_as_strict_as: m, hosts: ['wall*', 'file*']": "unchecked 0 of 1, 3 unknown nothing was seen of wall*; a " +
			"wall hides 3 of 4 policies, on 3 of 4 hosts",
		"at_most_as_strict_as: m, hosts: ['wall*', 'file*']": "unchecked 0 of 1, 3 unknown nothing was seen of wall*; a " +
			"wall hides 3 of 4 policies, on 3 of 4 hosts",
		"at_most_as_strict_as: m": "kept 0 of 2, 4 unknown " + policies,
	} {
		e, err := Parse("e", []byte("- {name: x, "+text+"}"), func(string) ([]byte, error) {
			return []byte("User-agent: *\nDisallow: /x"), nil
		})
		sinktest.Must(t, err)
		promises, err := e.Check(t.Context(), sinktest.Open(t, dir), "r", agents)
		sinktest.Must(t, err)
		p := promises[0]
		if got := fmt.Sprintf("%s %d of %d, %d unknown %s", p.State, p.Broken, p.Checked, p.Unknown, p.Note); got != want {
			t.Errorf("%s:\n%s, want\n%s", text, got, want)
		}
		for _, b := range p.First {
			if b.Host[:4] == "wall" && b.Found != "challenge" {
				t.Errorf("%s: %+v", text, b)
			}
		}
	}
}

// A verdict is known of a host that refuses, where a profile takes a 401 or 403 for a prohibition; of
// one that is down it is not.
func TestARefusalIsAVerdict(t *testing.T) {
	dir := t.TempDir()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "verdicts", "agents"},
		Profiles: []string{"urllib-2025"}})
	sinktest.Must(t, err)
	s, err := run.Segment(0)
	sinktest.Must(t, err)
	agents := []schema.Agent{{Name: "A", Tokens: []string{"A"}, Category: "x"}}
	sinktest.Must(t, s.Agents.Write(agents...))
	for i, status := range []int32{401, 403, 503, 0} {
		row := audittest.Fetch(fmt.Sprintf("https://h%d.example", status), "network_failure", "", 0)
		row.Seq, row.Status = int64(i), schema.NonZero(status)
		sinktest.Must(t, s.Fetches.Write(row))
		sinktest.Must(t, s.Verdicts.Write(schema.Verdict{Seq: row.Seq, Host: row.Host, Origin: row.Origin, Agent: "A",
			Profile: "urllib-2025", JudgedBy: "urllib-2025", URL: "/", Verdict: "disallow", Reason: "full_disallow"}))
	}
	s.Targets = 4
	sinktest.Must(t, s.Commit())
	sinktest.Must(t, run.Complete(sink.Completion{Tally: journal.Tally{Targets: 4}}))
	for verdict, want := range map[string]string{"disallow": "kept 0 of 2, 2 unknown",
		"allow": "broken 2 of 2, 2 unknown"} {
		e, err := Parse("e", []byte("- {name: x, urls: /, verdict: "+verdict+"}"), nil)
		sinktest.Must(t, err)
		promises, err := e.Check(t.Context(), sinktest.Open(t, dir), "r", agents)
		sinktest.Must(t, err)
		p := promises[0]
		if got := fmt.Sprintf("%s %d of %d, %d unknown", p.State, p.Broken, p.Checked, p.Unknown); got != want {
			t.Errorf("%s: %s, want %s", verdict, got, want)
		}
	}
}

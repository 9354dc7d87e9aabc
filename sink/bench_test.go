package sink

import (
	"fmt"
	"os"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// BenchmarkCommit times a segment of 2,048 targets with 20 agents and 10 URLs each,
// from its first row to its record, on the disk of the temporary folder. It also
// reports the ratio to the same in memory, where syncing costs nothing.
func BenchmarkCommit(b *testing.B) {
	inMemory := 0.0
	for _, on := range []string{"memory", "disk"} {
		b.Run(on, func(b *testing.B) {
			dir := b.TempDir()
			if on == "memory" {
				var err error
				if dir, err = os.MkdirTemp("/dev/shm", "robocensus-"); err != nil {
					b.Skip("there is no /dev/shm")
				}
				defer os.RemoveAll(dir)
			}
			run, err := Create(dir, described())
			if err != nil {
				b.Fatal(err)
			}
			defer run.Close()
			index := 0
			for b.Loop() {
				s, err := run.Segment(index)
				if err == nil {
					err = typical(s, index)
				}
				if err == nil {
					err = s.Commit()
				}
				if err != nil {
					b.Fatal(err)
				}
				index++
			}
			each := b.Elapsed().Seconds() / float64(b.N)
			if on == "memory" {
				inMemory = each
			} else if inMemory > 0 {
				b.ReportMetric(each/inMemory, "times-in-memory")
			}
			b.ReportMetric(2048*200/each, "verdicts/s")
		})
	}
}

// typical fills a segment with 200 verdicts a target.
func typical(s *Segment, index int) error {
	const origin = "https://"
	policies, verdicts := make([]schema.Policy, 20), make([]schema.Verdict, 200)
	for i := range 2048 {
		seq := int64(index*2048 + i + 1)
		host := fmt.Sprintf("h%d.example", seq)
		at := origin + host
		for a := range policies {
			agent := fmt.Sprintf("Agent%c", 'A'+a)
			policies[a] = schema.Policy{Seq: seq, Host: host, Rank: &seq, Agent: agent, Category: "other", Profile: "google",
				Outcome: "conditional_allow", Class: "partial"}
			for u := range 10 {
				verdicts[10*a+u] = schema.Verdict{
					Seq: seq, Host: host, Rank: &seq, Origin: at, Agent: agent, Profile: "google",
					URL:     fmt.Sprintf("/section-%d/page.html", u),
					Verdict: "disallow", Reason: "rule", GroupAgent: new("*"), RuleKind: new("disallow"),
					RulePattern: new("/section"), RuleLine: new(int32(2 + u)),
				}
			}
		}
		if err := s.Fetches.Write(schema.Fetch{Seq: seq, Input: host, Host: host, Rank: &seq, Origin: at, Scheme: "https",
			Port: 443, RobotsURL: at + "/robots.txt", Source: "network", Outcome: "conditional_allow", Reason: "success",
			Status: new(int32(200))}); err != nil {
			return err
		}
		for line := range int32(10) {
			if err := s.Rules.Write(schema.Rule{Seq: seq, Host: host, Origin: at, GroupIndex: new(int32(0)), Line: 2 + line,
				Kind: "disallow", Pattern: "/section", Normalized: "/section", Effective: true}); err != nil {
				return err
			}
		}
		if err := s.Policies.Write(policies...); err != nil {
			return err
		}
		if err := s.Verdicts.Write(verdicts...); err != nil {
			return err
		}
	}
	return nil
}

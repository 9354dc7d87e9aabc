//go:build unix

package main

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

var diffHosts = flag.Int("diff-hosts", 20_000, "hosts of the runs that BenchmarkDiff compares")

// BenchmarkDiff compares two runs of -diff-hosts hosts in different orders, with 20
// agents and 10 paths, so 200 verdicts each. Some hosts have a new text, which
// changes one verdict in half of them and closes an agent in a tenth.
func BenchmarkDiff(b *testing.B) {
	for _, percent := range []int{10, 100} {
		b.Run(fmt.Sprintf("hosts=%d/other-text=%d%%", *diffHosts, percent), func(b *testing.B) {
			dir := b.TempDir()
			writeBenchRun(b, dir, "a", func(i int) (host, version int) { return i, 0 })
			writeBenchRun(b, dir, "b", func(i int) (host, version int) {
				host = (i * 7919) % *diffHosts
				if host%100 < percent {
					version = 1
				}
				return host, version
			})
			var wall, cpu time.Duration
			var rss int64
			runs := 0
			for b.Loop() {
				diff := command("diff", "--out", dir, "a", "b")
				began := time.Now()
				text, err := diff.CombinedOutput()
				if err != nil {
					b.Fatalf("%v\n%s", err, text)
				}
				wall += time.Since(began)
				cpu += diff.ProcessState.UserTime() + diff.ProcessState.SystemTime()
				rss = max(rss, diff.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
				if runs++; runs == 1 {
					b.Logf("%s", text)
				}
			}
			b.ReportMetric(wall.Seconds()/float64(runs), "s/diff")
			b.ReportMetric(cpu.Seconds()/float64(runs), "cpu-s/diff")
			b.ReportMetric(float64(rss)/1024, "peak-MiB")
		})
	}
}

func writeBenchRun(b *testing.B, dir, id string, at func(i int) (host, version int)) {
	b.Helper()
	tables := []string{"fetches", "groups", "sitemaps", "signals", "policies", "verdicts"}
	run, err := sink.Create(dir, journal.Plan{Run: id, Tables: tables, Profiles: []string{"google"}})
	if err != nil {
		b.Fatal(err)
	}
	const size = 2048
	var g errgroup.Group
	g.SetLimit(2)
	for from := 0; from < *diffHosts; from += size {
		g.Go(func() error {
			s, err := run.Segment(from / size)
			if err != nil {
				return err
			}
			defer s.Abort()
			for i := from; i < min(from+size, *diffHosts); i++ {
				host, version := at(i)
				if err := writeBenchHost(s, int64(i), host, version); err != nil {
					return err
				}
			}
			s.Targets = int64(min(from+size, *diffHosts) - from)
			return s.Commit()
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	if err := run.Complete(sink.Completion{Finished: time.Now(), Tally: journal.Tally{
		Targets: int64(*diffHosts)}}); err != nil {
		b.Fatal(err)
	}
}

func writeBenchHost(s *sink.Segment, seq int64, host, version int) error {
	name := fmt.Sprintf("h%07d.example", host)
	origin, rank := "https://"+name, new(int64(host+1))
	err := s.Fetches.Write(schema.Fetch{
		Seq: seq, Host: name, Origin: origin, Rank: rank, Outcome: "conditional_allow", Reason: "success",
		FetchTime: time.Unix(1_700_000_000, 0),
		FinalURL:  new(origin + "/robots.txt"), ContentDigest: new(fmt.Sprintf("%024d%08d", host, version)),
	})
	if err != nil {
		return err
	}
	if err := s.Groups.Write(schema.Group{Seq: seq, Host: name, Origin: origin, Line: 1, Tokens: []string{"*"},
		Class: "partial"}); err != nil {
		return err
	}
	if err := s.Sitemaps.Write(schema.Sitemap{Seq: seq, Host: name, Origin: origin, Line: 9, URL: origin +
		"/sitemap.xml"}); err != nil {
		return err
	}
	star := "*"
	for a := range 20 {
		agent, class := fmt.Sprintf("Agent%02d", a), "partial"
		if version == 1 && host%10 == 0 && a == 3 {
			class = "disallow_all"
		}
		err := s.Policies.Write(schema.Policy{Seq: seq, Host: name, Rank: rank, Agent: agent, Category: "other",
			Profile: "google", Outcome: "conditional_allow", GroupAgent: &star, Class: class})
		if err != nil {
			return err
		}
		for u := range 10 {
			v := schema.Verdict{
				Seq: seq, Host: name, Rank: rank, Origin: origin, Agent: agent, Profile: "google",
				URL:     fmt.Sprintf("/section-%d/page.html", u),
				Verdict: "allow", Reason: "no_rule", GroupAgent: &star,
			}
			if (host+u)%4 == 0 || class != "partial" || version == 1 && host%2 == 0 && a == 5 && u == 7 {
				v.Verdict, v.Reason, v.RuleKind, v.RulePattern, v.RuleLine = "disallow", "rule", new("disallow"), new("/section"),
					new(int32(u+2))
			}
			if err := s.Verdicts.Write(v); err != nil {
				return err
			}
		}
	}
	return nil
}

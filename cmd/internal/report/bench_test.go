package report

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

var reportParts = flag.Int("report-parts", 500, "segments of the run that BenchmarkPage draws, of 2,048 hosts each")

// BenchmarkPage renders a run with segments like those of a census: about 2,500
// counters and 150 examples per 2,048 hosts, and a manifest that lists parts of
// all tables. For a hundred million hosts use -report-parts 50000.
func BenchmarkPage(b *testing.B) {
	dir := b.TempDir()
	benchRun(b, dir)
	b.Run(fmt.Sprintf("parts=%d", *reportParts), func(b *testing.B) {
		for b.Loop() {
			in := sinktest.Open(b, dir)
			m, err := journal.ReadManifestHead(in, "r")
			must(b, err)
			if _, err := Page(context.Background(), in, m, ""); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(*reportParts), "µs/part")
	})
}

func benchRun(b *testing.B, dir string) {
	p := plan("r")
	p.Tables = schema.TableNames // whose parts no report opens
	run, err := sink.Create(dir, p)
	must(b, err)
	var g errgroup.Group
	g.SetLimit(4)
	for i := range *reportParts {
		g.Go(func() error {
			s, err := run.Segment(i)
			if err != nil {
				return err
			}
			defer s.Abort()
			counts, examples := benchRows(i)
			if err := s.Summary.Write(counts...); err != nil {
				return err
			}
			if err := s.Examples.Write(examples...); err != nil {
				return err
			}
			s.Targets = 2048
			return s.Commit()
		})
	}
	must(b, g.Wait())
	began := time.Now()
	sums, err := summary.SumUp(context.Background(), run)
	must(b, err)
	must(b, run.Complete(sink.Completion{Totals: sums, Finished: time.Unix(1_800_000_100, 0), Tally: journal.Tally{
		Targets: 2048 * int64(*reportParts)}}))
	must(b, run.Close())
	b.Logf("a run of %d segments completed in %v", *reportParts, time.Since(began).Round(time.Millisecond))
}

func benchRows(segment int) (counts []schema.Count, examples []schema.Example) {
	for _, stratum := range []string{"100001-1000000", "1000001-10000000"} {
		counts = append(counts, schema.Count{Metric: "targets", Stratum: stratum, Count: 1024})
		for agent := range 178 {
			for _, of := range [][2]string{
				{"policy", "disallow_all"}, {"policy", "partial"}, {"policy", "allow_all"}, {"policy", "unknown"},
				{"policy_explicit", "disallow_all"}, {"verdict", "allow"}, {"verdict", "disallow"},
			} {
				counts = append(counts, schema.Count{
					Metric: of[0], Stratum: stratum, Agent: new(fmt.Sprint("agent-", agent)), Category: new("seo"),
					Profile: new("google"), Key: &of[1],
					Count: int64(100 + (segment*31+agent*7)%97),
				})
			}
		}
	}
	for i := range 150 {
		examples = append(examples, schema.Example{Metric: "line_class", Key: fmt.Sprint("class-", i%20),
			Host: fmt.Sprintf("www.example-%d-%d.com", segment, i), Text: "Disallow: /"})
	}
	return counts, examples
}

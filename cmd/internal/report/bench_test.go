package report

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink"
)

var reportParts = flag.Int("report-parts", 500, "segments of the run that BenchmarkPage draws, of 2,048 hosts each")

// BenchmarkPage draws a run whose parts are like those of a census: some 2,500
// counters and 150 examples for each 2,048 hosts, and a manifest that names parts
// of all tables. First with the totals of the run, then without, from the parts.
// A hundred million hosts are -report-parts 50000.
func BenchmarkPage(b *testing.B) {
	dir := b.TempDir()
	benchRun(b, dir)
	for _, totals := range []bool{true, false} {
		b.Run(fmt.Sprintf("parts=%d/totals=%v", *reportParts, totals), func(b *testing.B) {
			for b.Loop() {
				m, err := sink.ReadManifestHead(dir, "r")
				if !totals {
					m, err = sink.ReadManifest(dir, "r")
					m.Totals = nil
				}
				must(b, err)
				if _, err := Page(context.Background(), dir, m, ""); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(*reportParts), "µs/part")
		})
	}
}

func benchRun(b *testing.B, dir string) {
	run, err := sink.Create(dir, manifest("r"))
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
			return s.Commit()
		})
	}
	must(b, g.Wait())
	began := time.Now()
	must(b, run.SumUp(context.Background()))
	b.Logf("%d parts summed up in %v", *reportParts, time.Since(began).Round(time.Millisecond))
	must(b, run.Complete(time.Unix(1_800_000_100, 0), sink.Tally{Targets: 2048 * int64(*reportParts)}, nil))
	nameOtherTables(b, dir)
}

// nameOtherTables has the manifest name parts of all tables, which no report
// opens.
func nameOtherTables(b *testing.B, dir string) {
	path := filepath.Join(dir, "_runs", "r", "manifest.json")
	m, err := sink.ReadManifest(dir, "r")
	must(b, err)
	var parts []sink.Part
	for _, p := range m.Parts {
		for _, table := range sink.TableNames {
			switch {
			case table == p.Table:
				parts = append(parts, p)
			case p.Table == "summary" && table != "examples":
				other := p
				other.Table, other.Path = table, fmt.Sprintf("%s/run=r/part-%06d.parquet", table, p.Segment)
				parts = append(parts, other)
			}
		}
	}
	m.Parts = parts
	text, err := json.MarshalIndent(m, "", " ")
	must(b, err)
	must(b, os.WriteFile(path, text, 0o666))
	b.Logf("a manifest of %d parts, %d bytes", len(parts), len(text))
}

// benchRows are those of a segment; some of them tell segments apart.
func benchRows(segment int) (counts []sink.Count, examples []sink.Example) {
	for _, stratum := range []string{"100001-1000000", "1000001-10000000"} {
		counts = append(counts, sink.Count{Metric: "targets", Stratum: stratum, Count: 1024})
		for agent := range 178 {
			for _, of := range [][2]string{
				{"policy", "disallow_all"}, {"policy", "partial"}, {"policy", "allow_all"}, {"policy", "unknown"},
				{"policy_explicit", "disallow_all"}, {"verdict", "allow"}, {"verdict", "disallow"},
			} {
				counts = append(counts, sink.Count{
					Metric: of[0], Stratum: stratum, Agent: sink.Some(fmt.Sprint("agent-", agent)), Category: sink.Some("seo"), Profile: sink.Some("google"), Key: &of[1],
					Count: int64(100 + (segment*31+agent*7)%97),
				})
			}
		}
	}
	for i := range 150 {
		examples = append(examples, sink.Example{Metric: "line_class", Key: fmt.Sprint("class-", i%20), Host: fmt.Sprintf("www.example-%d-%d.com", segment, i), Text: "Disallow: /"})
	}
	return counts, examples
}

package report

import (
	"context"
	"fmt"
	"testing"

	"github.com/robocensus/robocensus/sink"
)

// BenchmarkPage draws runs whose parts are like those of a census: some 2,500
// counters and 150 examples for each 2,048 hosts.
func BenchmarkPage(b *testing.B) {
	const parts = 500
	var counts []sink.Count
	var examples []sink.Example
	for _, stratum := range []string{"100001-1000000", "1000001-10000000"} {
		counts = append(counts, sink.Count{Metric: "targets", Stratum: stratum, Count: 1024})
		for agent := range 178 {
			for _, metric := range []string{"policy disallow_all", "policy partial", "policy allow_all", "policy unknown", "policy_explicit disallow_all", "verdict allow", "verdict disallow"} {
				var name, key string
				fmt.Sscan(metric, &name, &key)
				counts = append(counts, sink.Count{
					Metric: name, Stratum: stratum, Agent: sink.Some(fmt.Sprint("agent-", agent)), Category: sink.Some("seo"), Profile: sink.Some("google"), Key: &key, Count: 100,
				})
			}
		}
	}
	for i := range 150 {
		examples = append(examples, sink.Example{Metric: "line_class", Key: fmt.Sprint("class-", i%20), Host: "www.example.com", Text: "Disallow: /"})
	}
	dir := b.TempDir()
	writeRun(b, dir, manifest("r"), parts, counts, examples)
	m, err := sink.ReadManifest(dir, "r")
	must(b, err)
	for b.Loop() {
		if _, err := Page(context.Background(), dir, m, ""); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/parts, "µs/part")
}

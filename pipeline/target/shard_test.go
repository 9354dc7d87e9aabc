package target

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The hash is part of the contract: a plan and its workers may have different
// versions, and users compute it in SQL.
func TestShardOfIsAHashOfTheDomain(t *testing.T) {
	for host, want := range map[string]int{
		"www.example.com": 5, "example.com": 5, "a.b.example.com": 5,
		"example.co.uk": 2, "192.0.2.1": 3, "localhost": 0,
	} {
		if got := ShardOf(host, 8); got != want {
			t.Errorf("%s: shard %d, want %d", host, got, want)
		}
	}
}

// Each archive belongs to one shard, in order, no shard is empty, and none has much
// more than its share.
func TestArchivesAreGroupedBySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 1<<30), 1, 40).Draw(t, "sizes")
		count := rapid.IntRange(1, len(sizes)).Draw(t, "shards")
		next, all, largest := 0, int64(0), slices.Max(sizes)
		for _, size := range sizes {
			all += size
		}
		for i := range count {
			from, to := Shard{i, count}.GroupOf(sizes)
			if from != next || to <= from {
				t.Fatalf("shard %d of %d: from %d to %d, the one before ends at %d", i, count, from, to, next)
			}
			var bytes int64
			for _, size := range sizes[from:to] {
				bytes += size
			}
			if share := all / int64(count); bytes > share+2*largest {
				t.Fatalf("shard %d of %d: %d bytes of %d", i, count, bytes, all)
			}
			next = to
		}
		if next != len(sizes) {
			t.Fatalf("%d of %d archives belong to shards", next, len(sizes))
		}
	})
}

// A smaller sample is a part of a larger one, and the shards of a sample are even.
func TestTheSampleIsEven_NoRace(t *testing.T) {
	const hosts, shards = 100_000, 16
	var of [shards]int
	n := 0
	for i := range hosts {
		host := fmt.Sprintf("host-%d.example", i)
		if InSample(host, 0.01) && !InSample(host, 0.1) {
			t.Fatalf("%s is in the sample of 0.01 and not in that of 0.1", host)
		}
		if InSample(host, 0.1) {
			n++
			of[ShardOf(host, shards)]++
		}
		if !InSample(host, 0) || !InSample(host, 1) {
			t.Fatalf("%s is not in the whole", host)
		}
	}
	for shard, got := range of {
		want := float64(n) / shards
		if math.Abs(float64(got)-want) > 5*math.Sqrt(want) {
			t.Errorf("shard %d has %d of %d hosts of the sample", shard, got, n)
		}
	}
	if math.Abs(float64(n)-hosts/10) > 5*math.Sqrt(hosts*0.09) {
		t.Errorf("the sample has %d hosts of %d", n, hosts)
	}
}

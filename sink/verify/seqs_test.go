package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Seqs that no two shards share are taken in any order of shards, few and many, near
// each other and far; the first one that comes again is found.
func TestSeqsOfShards_NoRace(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var all []int64
		for range 1 + random.IntN(4) { // runs of neighbours
			from, n := random.Int64N(1<<40), 1+random.IntN(9000)
			for k := range n {
				all = append(all, from+int64(k*(1+random.IntN(3))))
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
		shards := make([][]int64, 1+random.IntN(5))
		for _, seq := range all {
			i := random.IntN(len(shards))
			shards[i] = append(shards[i], seq)
		}
		var s Seqs
		for _, shard := range shards {
			for len(shard) > 0 { // a batch at a time
				n := min(len(shard), 1+random.IntN(2048))
				if err := s.Add(shard[:n]); err != nil {
					t.Fatal(err)
				}
				shard = shard[n:]
			}
		}
		seq := all[random.IntN(len(all))]
		if err := s.Add([]int64{seq}); err == nil || err.Error() != "seq "+fmt.Sprint(seq)+
			" comes in two shards: a target is counted twice" {
			t.Fatalf("%d again: %v", seq, err)
		}
	}
}

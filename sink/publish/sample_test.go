package publish

import (
	"slices"
	"testing"

	"github.com/robocensus/robocensus/sink/sinktest"
)

// The targets of a sample are wanted, and what is of no target. What is remembered of a
// segment is not that of another.
func TestTargetsOfASample_NoRace(t *testing.T) {
	dir := t.TempDir()
	seqs := [2][3]int64{{1, 2, 4}, {101, 103, 104}}
	isSampled := [2]string{"--+", "-+-"}
	run := aRun(t, dir, "r", func(segment int, r *rowsOfSegment) {
		for i := range r.fetches {
			r.fetches[i].Seq, r.fetches[i].Host = seqs[segment][i], string(isSampled[segment][i])
		}
	})
	s := &sample{published: held{sinktest.Open(t, dir), run}, has: func(host string) bool { return host == "+" },
		hash: newRowHash(), known: make(map[int]*sampledHosts)}
	for range 2 {
		for segment, wanted := range [2][]int64{{0, 3, 4, 5}, {100, 102, 103, 105}} {
			h, err := s.hosts(t.Context(), segment)
			must(t, err)
			for seq := wanted[0]; seq <= wanted[3]; seq++ {
				if h.wants(seq) != slices.Contains(wanted, seq) {
					t.Errorf("seq %d is wanted: %v", seq, h.wants(seq))
				}
			}
		}
	}
	if len(s.known) != 2 || s.words != 3*2+2*2 { // three ranges, and two names of hosts in each segment
		t.Errorf("%d segments are remembered in %d words", len(s.known), s.words)
	}
}

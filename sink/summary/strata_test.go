package summary

import "testing"

// Strata are bands that share no rank and leave none out.
func TestStrata(t *testing.T) {
	if got := StratumOf(nil); got != "unranked" {
		t.Errorf("without a rank: %s", got)
	}
	for rank, want := range map[int64]string{
		1: "1-1000", 1_000: "1-1000", 1_001: "1001-10000", 10_000: "1001-10000", 10_001: "10001-100000",
		100_000: "10001-100000",
		100_001: "100001-1000000", 1_000_000: "100001-1000000", 1_000_001: "1000001-10000000", 10_000_000: "1000001-10000000",
		10_000_001: "10000001-", 1<<63 - 1: "10000001-",
	} {
		if got := StratumOf(&rank); got != want {
			t.Errorf("rank %d is in %s, want %s", rank, got, want)
		}
	}
}

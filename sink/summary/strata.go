package summary

import "cmp"

// Strata are exclusive bands of rank, so that counts over them add up.
var Strata = []struct {
	last int64
	Name string
}{
	{1_000, "1-1000"}, {10_000, "1001-10000"}, {100_000, "10001-100000"},
	{1_000_000, "100001-1000000"}, {10_000_000, "1000001-10000000"},
	{1<<63 - 1, "10000001-"},
}

// Unranked is the stratum of hosts without a rank.
const Unranked = "unranked"

// StratumNames returns the names of all strata.
func StratumNames() []string {
	names := []string{Unranked}
	for _, s := range Strata {
		names = append(names, s.Name)
	}
	return names
}

// StratumOf returns the stratum of a rank; nil means unranked.
func StratumOf(rank *int64) string {
	if rank == nil {
		return Unranked
	}
	for _, s := range Strata {
		if *rank <= s.last {
			return s.Name
		}
	}
	return Unranked
}

// CompareRanks compares ranks like [cmp.Compare]; nil, no rank, is the greatest.
func CompareRanks(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

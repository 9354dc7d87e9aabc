package summary

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The error of each host's share, which is that of a sample of 200 pages, moves the median of
// hosts by no more than reports say, in 95 % of samples, however the shares lie.
func TestSamplesOfPagesMoveMedians(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 0))
	hump := func(at, width float64) float64 { return min(1, max(0, at+width*r.NormFloat64())) }
	orOpen := func(open float64) float64 {
		if r.Float64() < open {
			return 1
		}
		return r.Float64()
	}
	median := func(all []float64) float64 { return slices.Sorted(slices.Values(all))[(len(all)-1)/2] }
	shapes := map[string]func() float64{
		"even": r.Float64, "most are open": func() float64 { return orOpen(0.7) }, "half are open": func() float64 {
			return orOpen(0.5)
		},
		"about half": func() float64 { return hump(0.5, 0.1) }, "nearly open": func() float64 {
			return 1 - min(1, r.ExpFloat64()/20)
		},
		"two humps": func() float64 { return hump([]float64{0.3, 0.9}[r.IntN(2)], 0.05) },
	}
	for _, name := range slices.Sorted(maps.Keys(shapes)) { // in an order, so that r draws the same each time
		for _, of := range []struct {
			hosts int
			most  float64
		}{{50, 5}, {500, 4}} {
			share, hosts := shapes[name], of.hosts
			var moves []float64
			for range 200 {
				whole, sampled := make([]float64, hosts), make([]float64, hosts)
				for i := range whole {
					whole[i] = share()
					for range 200 {
						if r.Float64() < whole[i] {
							sampled[i] += 1. / 200
						}
					}
				}
				moves = append(moves, 100*max(median(whole)-median(sampled), median(sampled)-median(whole)))
			}
			slices.Sort(moves)
			if got := moves[len(moves)*95/100]; got > of.most {
				t.Errorf("%s: of %d hosts by %.1f points", name, hosts, got)
			}
		}
	}
}

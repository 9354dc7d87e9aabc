package summary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestBinKeys(t *testing.T) {
	for n, want := range map[int64]string{
		-5: "0", 0: "0", 1: "1", 57: "57", 99: "99", 100: "100-103", 103: "100-103", 104: "104-107", 199: "196-199",
		200: "200-205", 205: "200-205", 206: "206-211", 499: "494-499", 500: "500-519", 999: "980-999", 1000: "1000-1039",
		545: "540-559", 512000: "500000-519999", 1_999_999: "1960000-1999999",
		math.MaxInt64: "9200000000000000000-9223372036854775807",
	} {
		b := BinOf(n)
		if b.String() != want {
			t.Errorf("the bin of %d is %s, want %s", n, b, want)
		}
		if back, err := ParseBin(want); err != nil || back != b {
			t.Errorf("%s is read as %v, %v", want, back, err)
		}
	}
	for _, key := range []string{"", "other", "2-3", "512-1023", "104-108", "100", "0100-103", "+5", "-1",
		"9223372036854775808", "57-57"} {
		if b, err := ParseBin(key); err == nil {
			t.Errorf("%q is read as %v, and is no bin", key, b)
		}
	}
}

// Bins have no gaps, each lies within one display bin, and the middle of each is
// within 2 % of its ends.
func TestBinsAreWhole(t *testing.T) {
	perDecade := make(map[int64]int)
	for n := int64(0); ; {
		b := BinOf(n)
		if b.First != n || BinOf(b.Last) != b {
			t.Fatalf("%d is in bin %v, whose last value is in %v", n, b, BinOf(b.Last))
		}
		if g := groupOf(b.First); g != groupOf(b.Last) || g.First > b.First || g.Last < b.Last {
			t.Fatalf("bin %v is in groups %v and %v", b, g, groupOf(b.Last))
		}
		for _, end := range []int64{b.First, b.Last} {
			if off := math.Abs(float64(b.middle() - end)); off > 0.02*float64(end) || n < 100 && off != 0 {
				t.Fatalf("the middle of %v is off by %v", b, off)
			}
		}
		if n >= 100 {
			perDecade[decadeOf(n)]++
		}
		if b.Last == math.MaxInt64 {
			break
		}
		n = b.Last + 1
	}
	for decade, bins := range perDecade {
		if bins != 100 && decade != 1e18 {
			t.Errorf("the decade of %d has %d bins", decade, bins)
		}
	}
}

func TestGroupsCanBeRead(t *testing.T) {
	var got []string
	for n := int64(0); n < 6000; n = groupOf(n).Last + 1 {
		got = append(got, groupOf(n).String())
	}
	want := []string{"0", "1", "2-4", "5-9", "10-19", "20-49", "50-99", "100-199", "200-499", "500-999", "1000-1999",
		"2000-4999", "5000-9999"}
	if !slices.Equal(got, want) {
		t.Errorf("groups are %v", got)
	}
	h, err := NewHistogram(map[string]int64{"1": 2, "0": 1, "104-107": 3, "100-103": 4})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, b := range h.Grouped() {
		shown = append(shown, b.String())
		if want := map[string]int64{"0": 1, "1": 2, "100-199": 7}[b.String()]; b.Count != want {
			t.Errorf("group %s has %d, want %d", b, b.Count, want)
		}
	}
	if want := want[:8]; !slices.Equal(shown, want) {
		t.Errorf("a histogram is shown in %v, want %v", shown, want)
	}
	if Histogram(nil).Grouped() != nil || Histogram(nil).Quantile(0.5) != 0 {
		t.Error("of nothing there is something")
	}
	if _, err := NewHistogram(map[string]int64{"1": 1, "512-1023": 1}); err == nil {
		t.Error("a key of other bins counts")
	}
}

// A quantile is within 2 % of the true one, and exact below 100, whatever the
// values are.
func TestQuantilesOfAnyDistribution(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edges := []int64{0, 1, 99, 100, 101, 103, 104, 199, 200, 205, 206, 499, 500, 519, 520, 999, 1000, 1023, 512_000,
		math.MaxInt64, math.MaxInt64 - 1}
	distributions := map[string]func() int64{
		"small":       func() int64 { return random.Int64N(120) },
		"exponential": func() int64 { return int64(random.ExpFloat64() * 2000) },
		"log-normal":  func() int64 { return int64(math.Exp(random.NormFloat64()*3 + 7)) },
		"any size":    func() int64 { return random.Int64() >> random.IntN(63) },
		"edges":       func() int64 { return edges[random.IntN(len(edges))] },
		"two heaps":   func() int64 { return []int64{3, 123_456_789}[random.IntN(2)] },
		"one value":   func() int64 { return 103 },
		"first of wide bins": func() int64 {
			return []int64{1, 2, 5}[random.IntN(3)] * int64(math.Pow10(random.IntN(18)))
		},
		"last of wide bins": func() int64 { return BinOf(random.Int64() >> random.IntN(63)).Last },
	}
	for name, value := range distributions {
		for _, size := range []int{1, 2, 3, 10, 999, 5000} {
			values, counts := make([]int64, size), make(map[string]int64)
			for i := range values {
				values[i] = value()
				counts[BinOf(values[i]).String()]++
			}
			slices.Sort(values)
			h, err := NewHistogram(counts)
			if err != nil {
				t.Fatal(err)
			}
			if h.Total() != int64(size) {
				t.Fatalf("%s: %d values of %d", name, h.Total(), size)
			}
			for _, q := range []float64{0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1} {
				rank := max(1, int(math.Ceil(q*float64(size))))
				truth, got := values[rank-1], h.Quantile(q)
				if off := math.Abs(float64(got - truth)); off > 0.02*float64(truth) || truth < 100 && off != 0 {
					t.Errorf("%s, %d values, quantile %v: %d, want %d", name, size, q, got, truth)
				}
			}
		}
	}
}

// The documentation of summary names the threshold of slow fetches.
func TestSlowIsDocumented(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("those that took %d s or more", SlowMicros/1_000_000); !strings.Contains(string(readme), want) {
		t.Errorf("sink/README.md does not say %q", want)
	}
}

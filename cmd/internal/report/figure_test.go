package report

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/sink/summary"
)

// The rectangles of a bar are side by side within it, each as wide as its share.
func TestPartsAreSideBySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 5).Draw(t, "counts")
		whole, most := rapid.Int64Range(0, 1<<40).Draw(t, "rest"), int64(0)
		var shares []share
		for i, n := range counts {
			whole, most = whole+n, most+n
			shares = append(shares, share{"c", strconv.Itoa(i), n})
		}
		scale := scaleFor(most, whole)
		end, i := 0.0, 0
		for _, p := range parts(scale, whole, shares...) {
			for counts[i] == 0 {
				i++
			}
			want := 100 * float64(counts[i]) / float64(whole) * 100 / float64(scale)
			if d := p.X - end; d > 1e-6 || d < -1e-6 {
				t.Fatalf("a part begins at %g, and the one before ends at %g", p.X, end)
			}
			if d := p.Width - want; d > 1e-6 || d < -1e-6 {
				t.Fatalf("%d of %d is %g wide, want %g", counts[i], whole, p.Width, want)
			}
			end, i = end+want, i+1
		}
		if end > 100.01 {
			t.Fatalf("the bar ends at %g %%", end)
		}
		if full := roundUp(most); full < most || full > max(1, most*5/2) {
			t.Fatalf("an axis ends at %d for %d", full, most)
		}
	})
}

// Columns are 1-2-5 bins, including empty ones in between.
func TestHistogramHasEveryBinBetween(t *testing.T) {
	h, err := summary.NewHistogram(map[string]int64{"0": 1, "4": 4, "16": 2})
	if err != nil {
		t.Fatal(err)
	}
	c := histogram(h, 7, short, count, "file", "bytes")
	var got [][4]string
	for _, col := range c.Columns {
		got = append(got, [4]string{col.Label, col.Height(), col.Top, col.Tip})
	}
	want := [][4]string{
		{"0", "32.50", "1 of 7", "0: 1 file, 1 of 7"},
		{"1", "0.00", "", "1: 0 files, 0 of 7"},
		{"2–", "130.00", "4 of 7", "2 to 4: 4 files, 4 of 7"},
		{"5–", "0.00", "", "5 to 9: 0 files, 0 of 7"},
		{"10–", "65.00", "2 of 7", "10 to 19: 2 files, 2 of 7"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if histogram(nil, 0, short, count, "file", "bytes") != nil {
		t.Error("a histogram of nothing")
	}
}

func TestLabels(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 500: "500", 1000: "1k", 20_000: "20k", 500_000: "500k", 1_000_000: "1M", 5_000_000_000: "5G"} {
		if got := short(n); got != want {
			t.Errorf("%d is labelled %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0\u00a0µs", 999: "999\u00a0µs", 4300: "4.3\u00a0ms", 2000: "2\u00a0ms", 93_000: "93\u00a0ms", 1_000_000: "1\u00a0s", 1_540_000: "1.5\u00a0s"} {
		if got := microsName(n); got != want {
			t.Errorf("%d is labelled %s, want %s", n, got, want)
		}
	}
	for stratum, want := range map[string]string{"1-1000": "rank 1 to 1,000", "10000001-": "rank 10,000,001 and beyond", "unranked": "unranked"} {
		if got := rankName(stratum); got != want {
			t.Errorf("%s is called %s, want %s", stratum, got, want)
		}
	}
}

// If several keys tie for the greatest count, leading names all or counts them.
func TestLeading(t *testing.T) {
	same := func(s string) string { return s }
	for _, row := range []struct {
		counts      map[string]int64
		names, most string
	}{
		{map[string]int64{"a": 1, "b": 2}, "b", "2"},
		{map[string]int64{"a": 2, "b": 2, "c": 1}, "a and b", "2 each"},
		{map[string]int64{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2}, "a, b, c and 2 more", "2 each"},
	} {
		if names, most := leading(row.counts, same); names != row.names || most != row.most {
			t.Errorf("%v: %s, %s", row.counts, names, most)
		}
	}
}

// A bar shows the shares of both bases, each under its head; if the rules of all hosts
// decide, it shows one.
func TestSharesOfBothBases(t *testing.T) {
	d := &data{hosts: 1000, files: 400}
	if diff := cmp.Diff([][]string{{"of hosts", "with rules"}, {"3.0%", "7.5%"}, {"3.0% of hosts", "7.5% of those with rules"}}, [][]string{d.heads(), d.shares(30), d.of(30)}); diff != "" {
		t.Error(diff)
	}
	d.files = 1000
	if diff := cmp.Diff([][]string{nil, {"3.0%"}, {"3.0% of hosts"}}, [][]string{d.heads(), d.shares(30), d.of(30)}); diff != "" {
		t.Error(diff)
	}
}

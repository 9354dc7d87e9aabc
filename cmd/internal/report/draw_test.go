package report

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
	"pgregory.net/rapid"
)

func TestPercent(t *testing.T) {
	for _, row := range []struct {
		n, of int64
		want  string
	}{{0, 0, "0\u00a0%"}, {0, 5, "0\u00a0%"}, {5, 5, "100\u00a0%"}, {1, 100000, "<0.1\u00a0%"}, {99999, 100000, ">99.9\u00a0%"}, {18, 132, "13.6\u00a0%"}} {
		if got := percent(row.n, row.of); got != row.want {
			t.Errorf("%d of %d is %s, want %s", row.n, row.of, got, row.want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1234: "-1,234"} {
		if got := count(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// The rectangles of a bar lie side by side within it, each as wide as its share.
func TestPartsLieSideBySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 5).Draw(t, "counts")
		whole, most := rapid.Int64Range(0, 1<<40).Draw(t, "rest"), int64(0)
		var shares []share
		for i, n := range counts {
			whole, most = whole+n, most+n
			shares = append(shares, share{"c", strconv.Itoa(i), n})
		}
		scale, _ := scaleFor(most, whole)
		end, i := 0.0, 0
		for _, p := range parts(scale, whole, shares...) {
			for counts[i] == 0 {
				i++
			}
			x, _ := strconv.ParseFloat(p.X, 64)
			width, _ := strconv.ParseFloat(p.Width, 64)
			want := 100 * float64(counts[i]) / float64(whole) * 100 / float64(scale)
			if d := x - end; d > 0.011 || d < -0.011 {
				t.Fatalf("a part begins at %g, and the one before ends at %g", x, end)
			}
			if d := width - want; d > 0.006 || d < -0.006 {
				t.Fatalf("%d of %d is %g wide, want %g", counts[i], whole, width, want)
			}
			end, i = end+want, i+1
		}
		if end > 100.01 {
			t.Fatalf("the bar ends at %g %%", end)
		}
	})
}

func TestHistogramHasEveryBinBetween(t *testing.T) {
	h, err := sink.NewHistogram(map[string]int64{"0": 1, "5": 3, "9": 1, "20": 2})
	if err != nil {
		t.Fatal(err)
	}
	c := histogram(h, 7, count, "files")
	var got [][4]string
	for _, col := range c.Columns {
		got = append(got, [4]string{col.Label, col.Height, col.Top, col.Tip})
	}
	want := [][4]string{
		{"0", "32.50", "14.3\u00a0%", "0: 1 file, 14.3\u00a0%"},
		{"1", "0.00", "", "1: 0 files, 0\u00a0%"},
		{"2", "0.00", "", "from 2 to below 5: 0 files, 0\u00a0%"},
		{"5", "130.00", "57.1\u00a0%", "from 5 to below 10: 4 files, 57.1\u00a0%"},
		{"10", "0.00", "", "from 10 to below 20: 0 files, 0\u00a0%"},
		{"20", "65.00", "28.6\u00a0%", "from 20 to below 50: 2 files, 28.6\u00a0%"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if histogram(nil, 0, count, "files") != nil {
		t.Error("a histogram of nothing")
	}
}

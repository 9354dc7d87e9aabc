package draw

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// The rectangles of a bar are side by side within it, each as wide as its share.
func TestPartsAreSideBySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 5).Draw(t, "counts")
		whole, most := rapid.Int64Range(0, 1<<40).Draw(t, "rest"), int64(0)
		var shares []Share
		for i, n := range counts {
			whole, most = whole+n, most+n
			shares = append(shares, Share{"c", strconv.Itoa(i), n})
		}
		scale := ScaleFor(most, whole)
		f := new(Figure)
		f.AddBar("host", "", Track{Whole: whole, Shares: shares})
		f.drawShares(scale, false)
		end, i := 0.0, 0
		for _, p := range f.Bars[0].Tracks[0].Parts {
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
	c := Histogram(h, 7, words.Number, words.Number, "file", "bytes")
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
	if Histogram(nil, 0, words.Number, words.Number, "file", "bytes") != nil {
		t.Error("a histogram of nothing")
	}
}

// A downloaded table has the shades of the page.
func TestShadesOfTheStyleSheet(t *testing.T) {
	for level, shade := range heatShades {
		if want := fmt.Sprintf(".h%d { background: color-mix(in srgb, var(--closed) %.0f%%, var(--panel)); }", level,
			100*shade); !strings.Contains(pageText, want) {
			t.Errorf("the style sheet does not say %s", want)
		}
		if light := strings.Contains(pageText, fmt.Sprintf(".h%d, .h8, .h9 { color: var(--on-closed); }", level)); light &&
			level != heatDark+1 {
			t.Errorf("text on level %d is light on the page alone", level)
		}
	}
}

// The columns of numbers are found once for a figure: for each cell anew, a figure of many
// agents would not end.
func TestAFigureOfManyRows(t *testing.T) {
	f := &Figure{ID: "many", Title: "Many", Head: []string{"agent", "category", "hosts"}}
	for i := range 60000 {
		f.AddRow([]string{strconv.Itoa(i), "other"}, int64(i))
	}
	p := new(Page)
	p.Add("Which?", f)
	page, err := p.Render()
	if err != nil {
		t.Fatal(err)
	}
	want := `<th scope="row"><bdi>59999</bdi></th><td><bdi>other</bdi></td><td class="number"><bdi>59,999</bdi></td>`
	if !strings.Contains(string(page), want) {
		t.Errorf("the page has no row %s", want)
	}
}

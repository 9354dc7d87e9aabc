package draw

import (
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// columns is a histogram. X, Width and Middle of a column are percentages of its
// width.
type columns struct {
	Columns []column
	Axis    string
}

type column struct {
	X, Width, Middle float64
	Share            float64 // share of the highest column
	Tip, Label, Top  string
	Sparse           bool // hide the label on a narrow page
}

// Heights of a histogram in pixels, on the page and in its SVG.
const (
	plotTop    = 20
	plotHeight = 130
	plotFoot   = 24
)

// Y and Height leave room for a label above the column.
func (c column) Y() string { return Decimal(plotTop + plotHeight*(1-c.Share)) }

func (c column) Height() string { return Decimal(plotHeight * c.Share) }

// Histogram draws a distribution in grouped bins, or returns nil if there is
// nothing to draw. label and name format a value; noun names what is counted.
func Histogram(h summary.Histogram, whole int64, label, name func(int64) string, noun, axis string) *columns {
	if len(h) == 0 || whole <= 0 {
		return nil
	}
	bins, most := h.Grouped(), int64(1)
	for _, b := range bins {
		most = max(most, b.Count)
	}
	c := &columns{Axis: axis}
	width := 100 / float64(max(len(bins), 6))
	every := (len(bins) + 4) / 5
	for i, b := range bins {
		col := column{
			X: float64(i)*width + width*0.08, Width: width * 0.84, Middle: (float64(i) + 0.5) * width,
			Share: float64(b.Count) / float64(most),
			Label: binLabel(b.Bin, label), Sparse: i%every != 0,
			Tip: fmt.Sprintf("%s: %s, %s", Span(b.Bin, name), words.Count(b.Count, noun), words.Percent(b.Count, whole)),
		}
		if b.Count > 0 {
			col.Top = words.Percent(b.Count, whole)
		}
		c.Columns = append(c.Columns, col)
	}
	return c
}

// binLabel returns the label of a column: its value, or the first of several.
func binLabel(b summary.Bin, name func(int64) string) string {
	if b.First == b.Last {
		return name(b.First)
	}
	return name(b.First) + "–"
}

// Span names the values of a bin.
func Span(b summary.Bin, name func(int64) string) string {
	switch {
	case b.First == b.Last:
		return name(b.First)
	case b.Last == 1<<63-1:
		return name(b.First) + " or more"
	}
	return name(b.First) + " to " + name(b.Last)
}

// BinName returns the display name of a bin's key.
func BinName(key string) string {
	b, err := summary.ParseBin(key)
	if err != nil {
		return key
	}
	return Span(b, words.Number)
}

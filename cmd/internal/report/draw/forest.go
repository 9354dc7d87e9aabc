package draw

import (
	"fmt"
	"math"
)

// Spread is a share, or a difference of shares, with its interval.
type Spread struct {
	Name, Sub     string
	At, Low, High float64
	Class         string // of the mark
	Value         string // beside it
}

// Forest draws each share or difference as a mark on its interval, one below the other. The
// track is wide enough for all of them; that of differences has zero in its middle.
func (f *Figure) Forest(all []Spread, isDifference bool) {
	most := 0.0
	for _, s := range all {
		most = max(most, math.Abs(s.Low), math.Abs(s.High))
	}
	scale := float64(ScaleFor(int64(math.Ceil(most*1e6)), 1e6)) / 100
	least := 0.0
	f.Axis = fmt.Sprintf("%.0f%%", 100*scale)
	if isDifference {
		least, f.Axis = -scale, ""
		f.Of += fmt.Sprintf(" The width is from -%.0f to +%.0f percentage points, with zero in the middle.", 100*scale,
			100*scale)
	}
	f.Cut = max(0, len(all)-MostBars)
	x := func(v float64) float64 { return 100 * (v - least) / (scale - least) }
	for _, s := range all[:len(all)-f.Cut] {
		tip := fmt.Sprintf("%s: %s", s.Name, s.Value)
		var parts []rectangle
		if isDifference {
			parts = append(parts, rectangle{Class: "unknown", X: x(0) - 0.15, Width: 0.3, Tip: "no difference"})
		}
		parts = append(parts, rectangle{Class: "open", X: x(s.Low), Width: max(0.3, x(s.High)-x(s.Low)), Tip: tip},
			rectangle{Class: s.Class, X: max(0, min(99, x(s.At)-0.5)), Width: 1, Tip: tip})
		f.AddBar(s.Name, s.Sub, Track{Values: []string{s.Value}, Parts: parts})
	}
}

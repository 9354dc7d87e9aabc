package draw

import "testing"

// A mark stands on its interval, and zero in the middle of differences.
func TestForest(t *testing.T) {
	f := new(Figure)
	f.Forest([]Spread{{Name: "a", At: -0.01, Low: -0.03, High: 0.01, Class: "closed"}}, true)
	parts := f.Bars[0].Tracks[0].Parts
	zero, interval, mark := parts[0], parts[1], parts[2]
	if zero.Middle() != 50 || interval.X >= mark.X || interval.X+interval.Width <= 50 || mark.Middle() >= 50 ||
		mark.X+mark.Width > interval.X+interval.Width || interval.X < 0 {
		t.Errorf("%+v", parts)
	}
	f = new(Figure)
	f.Forest(make([]Spread, MostBars+3), false)
	if len(f.Bars) != MostBars || f.Cut != 3 || len(f.Bars[0].Tracks[0].Parts) != 2 {
		t.Errorf("%d bars, %d cut, %d parts", len(f.Bars), f.Cut, len(f.Bars[0].Tracks[0].Parts))
	}
}

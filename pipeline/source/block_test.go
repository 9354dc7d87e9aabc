package source

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/source/cdx"
)

// Captures that lie together are read together, but not what lies far apart, overlaps, has
// no length or is in another archive.
func TestCapturesAreJoined(t *testing.T) {
	at := func(file string, offset, length int64) cdx.Capture {
		return cdx.Capture{Place: cdx.Place{File: file, Offset: offset, Length: length}}
	}
	first := at("a", 1000, 100)
	for name, row := range map[string]struct {
		next cdx.Capture
		want int
	}{
		"next to it": {at("a", 1100, 5), 2}, "a gap": {at("a", 1100+mostGap, 5), 2}, "too large a gap": {
			at("a", 1101+mostGap, 5), 1},
		"overlapping": {at("a", 1099, 5), 1}, "no length": {at("a", 1100, 0), 1}, "another archive": {at("b", 1100, 5), 1},
		"as long as a range may be": {at("a", 1100, mostRange-100), 2}, "longer": {at("a", 1100, mostRange-99), 1},
	} {
		if got := joined([]cdx.Capture{first, row.next}); got != row.want {
			t.Errorf("%s: %d are joined, want %d", name, got, row.want)
		}
	}
	if got := joined([]cdx.Capture{at("a", 0, 0), at("a", 10, 5)}); got != 1 {
		t.Errorf("after one without length: %d", got)
	}
}

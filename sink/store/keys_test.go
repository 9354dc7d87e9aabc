package store

import (
	"testing"
	"time"
)

// Dates sort, also those that no archive should have.
func TestDatesSort(t *testing.T) {
	before := uint64(0)
	for _, year := range []int{1, 1969, 1970, 2026, 9999} {
		if at := KeyDate(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)); at <= before {
			t.Errorf("%d is not after the year before", year)
		} else {
			before = at
		}
	}
}

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/pipeline"
)

func TestDatesOfRuns(t *testing.T) {
	for text, want := range map[string]string{
		"2024": "2024-01-01T00:00:00Z", "2024-05": "2024-05-01T00:00:00Z", "2024-05-14T08:00:00+02:00": "2024-05-14T06:00:00Z",
		// Weeks of ISO 8601, as date(1) numbers them.
		"2020-W53": "2020-12-28T00:00:00Z", "2021-W01": "2021-01-04T00:00:00Z", "2025-W01": "2024-12-30T00:00:00Z", "2026-W47": "2026-11-16T00:00:00Z",
		"2026-W53": "2026-12-28T00:00:00Z", "2027-W01": "2027-01-04T00:00:00Z",
		"2025-W53": "", "2026-W54": "", "2026-W60": "", "2026-W00": "", "2026-W1": "", "2026-W+1": "", "26-W01": "", "2026W47": "", "2026-w47": "", "W47": "", "": "", "1993-W10": "",
	} {
		got, err := parseDate(text)
		if want == "" && err == nil || want != "" && (err != nil || got.Format(time.RFC3339) != want) {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

// A date in the future is refused, but for what clocks may differ.
func TestADateInTheFuture(t *testing.T) {
	for after, refused := range map[time.Duration]bool{-time.Hour: false, 0: false, clockSkew - time.Minute: false, clockSkew + time.Minute: true, 24 * time.Hour: true} {
		for _, future := range []bool{false, true} {
			f := &runFlags{asOf: time.Now().Add(after).Format(time.RFC3339), future: future}
			c := new(pipeline.Config)
			err := f.setDate(t.Context(), c)
			if want := refused && !future; want != (err != nil) || want != (c.AsOf == nil) || want && (codeOf(err) != exitUsage || !strings.Contains(err.Error(), "--future")) {
				t.Errorf("in %v, --future %v: %v", after, future, err)
			}
		}
	}
}

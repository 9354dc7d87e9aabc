package cli

import (
	"testing"
	"time"
)

func TestDatesOfRuns(t *testing.T) {
	for text, want := range map[string]string{
		"2024": "2024-01-01T00:00:00Z", "2024-05": "2024-05-01T00:00:00Z",
		"2024-05-14T08:00:00+02:00": "2024-05-14T06:00:00Z",
		// Weeks of ISO 8601, as date(1) numbers them.
		"2020-W53": "2020-12-28T00:00:00Z", "2021-W01": "2021-01-04T00:00:00Z", "2025-W01": "2024-12-30T00:00:00Z",
		"2026-W47": "2026-11-16T00:00:00Z",
		"2026-W53": "2026-12-28T00:00:00Z", "2027-W01": "2027-01-04T00:00:00Z",
		"2025-W53": "", "2026-W54": "", "2026-W60": "", "2026-W00": "", "2026-W1": "", "2026-W+1": "", "26-W01": "",
		"2026W47": "", "2026-w47": "", "W47": "", "": "", "1993-W10": "",
	} {
		got, err := ParseDate(text)
		if want == "" && err == nil || want != "" && (err != nil || got.Format(time.RFC3339) != want) {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

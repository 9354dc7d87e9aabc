package summary

import "testing"

// How a host answers an identity, by the columns of answers; "" where they do not show it.
func TestAnswerState(t *testing.T) {
	for columns, want := range map[[2]string]string{
		{"served", "equal"}: "alike", {"absent", "unknown"}: "alike", {"served", "stricter"}: "stricter",
		{"served", "mixed"}: "mixed", {"served", "undecided"}: "undecided",
		{"served", "unknown"}: "", {"incomparable", "unknown"}: "", {"other", "unknown"}: "other",
		{"challenged", "unknown"}: "challenged", {"unreached", "unknown"}: "unreached",
	} {
		if got := AnswerState(columns[0], columns[1]); got != want {
			t.Errorf("%v is %q, want %q", columns, got, want)
		}
	}
}

// configs/schedule/README.md says which kinds do not need the same first profile.

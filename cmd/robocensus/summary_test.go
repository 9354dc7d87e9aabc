package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// A reason that is in no group of answers would be left out of the summary, one
// in two counted twice.
func TestEveryReasonIsOneAnswer(t *testing.T) {
	var got []string
	for _, a := range answers {
		got = append(got, a.reasons...)
	}
	slices.Sort(got)
	if want := slices.Sorted(maps.Keys(words.Reason)); !slices.Equal(got, want) {
		t.Errorf("the groups of answers have\n%v, and the reasons are\n%v", got, want)
	}
}

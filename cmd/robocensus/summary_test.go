package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// Every reason belongs to exactly one group of answers: otherwise the summary would
// omit it or count it twice.
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

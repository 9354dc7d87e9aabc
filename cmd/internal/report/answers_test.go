package report

import (
	"slices"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
)

// Every answer is of exactly one kind: otherwise a figure would omit it or count it twice.
func TestEveryReasonIsOneKindOfAnswer(t *testing.T) {
	for _, r := range append(slices.Clone(answer.Reasons), "of_another_version") {
		var kinds []string
		for _, k := range answerKinds {
			if slices.Contains(k.evidence, r.Evidence()) {
				kinds = append(kinds, k.key)
			}
		}
		if len(kinds) != 1 {
			t.Errorf("%s is counted as %v", r, kinds)
		}
	}
	if got := answerKinds[kindOf("of_another_version")].key; got != "not_seen" {
		t.Errorf("an unknown reason is counted as %s", got)
	}
}

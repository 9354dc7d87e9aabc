package check

import (
	"testing"

	"github.com/robocensus/robocensus/robots"
)

// The size limit qualifies what was not found in a file, and nothing else.
func TestWithinTheSizeLimit(t *testing.T) {
	for reason, want := range map[robots.Reason]string{
		robots.ReasonNoRule:    "no rule matches within the size limit",
		robots.ReasonNoGroup:   "no group is for this agent within the size limit",
		robots.ReasonRobotsTxt: "robots.txt itself may always be fetched",
		robots.ReasonUndefined: "the document leaves a choice open",
		robots.ReasonFullAllow: "",
		robots.ReasonRule:      "",
	} {
		if got := noLine(reason, &robots.File{Truncated: true}); got != want {
			t.Errorf("%v: %q, want %q", reason, got, want)
		}
	}
}

package cli

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
)

// An expectation that fails makes the exit code 1, even if it failed because it
// could not be checked.
func TestAFailedExpectationExitsWithOne(t *testing.T) {
	kept, failed := &expect.Promise{State: expect.Kept}, &expect.Promise{State: expect.Unchecked, Fails: true}
	for _, row := range []struct {
		promises []*expect.Promise
		want     error
	}{{nil, nil}, {[]*expect.Promise{kept}, nil}, {[]*expect.Promise{kept, failed}, ExitBroken},
		{[]*expect.Promise{failed, kept}, ExitBroken}} {
		if got := ExitOfPromises(row.promises); got != row.want {
			t.Errorf("%d promises: %v, want %v", len(row.promises), got, row.want)
		}
	}
}

// What was found is told in the words of the report, of whatever kind it is.
func TestFoundInWords(t *testing.T) {
	for found, want := range map[string]string{
		"partial": "partly closed", "disallow_all": "shut out", "disallow by rule": "disallowed by rule",
		"allow by no_group":                 "allowed by no group",
		"policy_class: allow_all → partial": "policy class: open → partly closed",
		"host_gone: none → x":               "host gone: none → x",
		"coverage: 89/100":                  "coverage: 89.0% of 100 listed pages",
		"coverage: 180/200, 85.2% to 93.4% of the 9000 that are listed": "coverage: 90.0% of 200 listed pages, 85.2% to " +
			"93.4% of the 9000 that are listed",
		"coverage: 9/10 → 1/10": "coverage: 90.0% of 10 listed pages → 10.0% of 10 listed pages",
		"ai-train: none":        "AI training: none", "network_failure": "could not be reached",
		"anything else": "anything else",
	} {
		if got := foundWords(found); got != want {
			t.Errorf("%q is told as %q, want %q", found, got, want)
		}
	}
}

package promises

import (
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/exit"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
)

// An expectation that fails makes the exit code 1, even if it failed because it
// could not be checked.
func TestAFailedExpectationExitsWithOne(t *testing.T) {
	kept, failed := &expect.Promise{State: expect.Kept}, &expect.Promise{State: expect.Unchecked, Fails: true}
	for _, row := range []struct {
		promises []*expect.Promise
		want     error
	}{{nil, nil}, {[]*expect.Promise{kept}, nil}, {[]*expect.Promise{kept, failed}, exit.Broken}, {[]*expect.Promise{failed, kept}, exit.Broken}} {
		if got := Code(row.promises); got != row.want {
			t.Errorf("%d promises: %v, want %v", len(row.promises), got, row.want)
		}
	}
}

package cli

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/memory"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Exit codes are a contract with schedulers: 64 and 65 are not worth
// a retry, the others are.
func TestExitCodes(t *testing.T) {
	for _, row := range []struct {
		err  error
		want int
	}{
		{Usagef("no flag"), 64}, {journal.ErrRunExists, 64}, {sink.ErrRunBusy, 64}, {journal.ErrNotResumable, 64},
		{diff.ErrNotComparable, 64},
		{&userfile.Error{Path: "hosts", Err: errors.New("holds no host")}, 65},
		{outage.ErrNeverReached, 69}, {outage.ErrCutOff, 75}, {ErrInterrupted, 130},
		{memory.ErrInUse, 75}, {journal.ErrDamaged, 65}, {&rowio.PartError{Err: errors.New("it is gone")}, 65},
		{publish.ErrDamaged, 65},
		{store.ErrUnconditional, 65}, {remote.ErrNoCondition, 65}, {remote.ErrRefused, 64},
		{&userfile.Error{Path: "s3://b/hosts", Err: remote.ErrRefused}, 64}, {remote.ErrTransfer, 74},
		{&rowio.PartError{Err: remote.ErrTransfer}, 74},
		{&userfile.Error{Path: "hosts", Err: syscall.ENOENT}, 65}, {&userfile.Error{Path: "hosts", Err: syscall.EACCES}, 65},
		{&userfile.Error{Path: "hosts", Err: syscall.EMFILE}, 74},
		{&pipeline.LocalError{Err: errors.New("no file descriptor is left")}, 74}, {errors.New("no space left on device"),
			74},
	} {
		for _, err := range []error{row.err, fmt.Errorf("while it ran: %w", row.err)} {
			if got := ExitCodeOf(err); got != row.want {
				t.Errorf("%v: exit code %d, want %d", err, got, row.want)
			}
		}
	}
}

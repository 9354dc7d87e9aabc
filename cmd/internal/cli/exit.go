package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch/memory"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// ExitCode ends the command with a code and no message.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Codes that answer the question of a command.
const (
	ExitDisallowed ExitCode = 1
	ExitDifferent  ExitCode = 1
	ExitBroken     ExitCode = 1 // an expectation
	ExitUndefined  ExitCode = 2
)

// Exit codes of commands that ended otherwise, after sysexits.h where it has one.
const (
	ExitOK          = 0
	ExitUsage       = 64
	ExitInput       = 65
	ExitUnreached   = 69
	ExitIO          = 74
	ExitTemporary   = 75 // ended by SIGTERM, this machine is cut off, or another run has the --state
	ExitInterrupted = 130
)

// ErrInterrupted is the error of a run that a signal has ended.
var ErrInterrupted = errors.New("interrupted")

// UsageError is an error in the arguments of a command.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }
func (e UsageError) Unwrap() error { return e.Err }

// Usagef returns an error in the arguments of a command.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Signalled is the cause of a context that a signal has ended.
type Signalled struct{ os.Signal }

func (s Signalled) Error() string { return s.String() }
func (s Signalled) Unwrap() error { return context.Canceled }

// Code returns the exit code of a command that the signal has ended.
func (s Signalled) Code() int {
	if s.Signal == syscall.SIGTERM {
		return ExitTemporary
	}
	return ExitInterrupted
}

// EndBySignal lets a signal end the process at once: for commands that read standard
// input, because a context cannot end such a read.
func EndBySignal(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		var by Signalled
		if errors.As(context.Cause(ctx), &by) {
			os.Exit(by.Code())
		}
	})
}

// UntilSignal returns a context that the first signal ends, so that the command can
// finish its work. The second signal ends the process.
func UntilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(Signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// ExitCodeOf returns the exit code for an error.
func ExitCodeOf(err error) int {
	var usage UsageError
	var input *userfile.Error
	var part *rowio.PartError
	var lost *sink.LostError
	switch {
	case errors.As(err, &usage), errors.Is(err, journal.ErrRunExists), errors.Is(err, sink.ErrRunBusy),
		errors.Is(err, journal.ErrNotResumable),
		errors.Is(err, diff.ErrNotComparable), errors.Is(err, series.ErrNoTable):
		return ExitUsage
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.Is(err, store.ErrUnconditional), errors.Is(err, remote.ErrNoCondition):
		return ExitInput
	case errors.Is(err, outage.ErrNeverReached):
		return ExitUnreached
	case errors.Is(err, outage.ErrCutOff), errors.Is(err, memory.ErrInUse):
		return ExitTemporary
	}
	isInput := errors.As(err, &input)
	switch fault := store.FaultOf(err); {
	case fault == store.OfSettings:
		return ExitUsage
	// an input that may not be read stays so
	case fault == store.OfStore && !(isInput && errors.Is(err, fs.ErrPermission)):
		return ExitIO
	case isInput, errors.As(err, &part), errors.As(err, &lost), errors.Is(err, journal.ErrDamaged),
		errors.Is(err, sink.ErrOtherPlan), errors.Is(err, memory.ErrOtherShare),
		errors.Is(err, publish.ErrDamaged):
		return ExitInput
	}
	return ExitIO
}

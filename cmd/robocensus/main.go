// Command robocensus makes a census of crawl policies: out of a list of hosts
// it makes Parquet tables that say what each host's robots.txt answered, what
// it contains, and what each agent may fetch.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/visible"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink"
)

// version is set at link time by make build.
var version string

// Exit codes, after sysexits.h where it has one.
const (
	exitOK          = 0
	exitUsage       = 64
	exitInput       = 65
	exitUnreached   = 69
	exitIO          = 74
	exitTemporary   = 75 // ended by SIGTERM, or this machine is cut off
	exitInterrupted = 130
)

const help = `robocensus makes a census of crawl policies: out of a list of hosts it makes
Parquet tables that say what each host's robots.txt answered, what it
contains, and what each agent may fetch. Query them with DuckDB.

  robocensus demo                             a census of a small web on this machine
  robocensus run --hosts FILE --out DIR       a census of the hosts in FILE
  robocensus check ROBOTS_FILE AGENT URL...   may AGENT fetch URL, and why
  robocensus compare FILE FILE --agent AGENT  do two policies mean the same
  robocensus report --out DIR RUN --html FILE a page of pictures about a run
  robocensus diff --out DIR RUN_A RUN_B       what changed between two runs
  robocensus verify --out DIR RUN             is what a run has written whole
  robocensus export --out DIR RUN TABLE       a table as an Arrow stream
  robocensus prune --out DIR --keep N         remove all runs but the last

  robocensus COMMAND --help                   what a command takes
  robocensus --version

Start with the demo; it needs no network and no configuration.
`

// errInterrupted is a run that a signal has ended.
var errInterrupted = errors.New("interrupted")

// usageError is a mistake in how the command was called.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	os.Exit(mainCode(os.Args[1:], os.Stdout, os.Stderr))
}

func mainCode(args []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal()
	defer stop()
	out := &checked{Writer: stdout}
	err := dispatch(ctx, args, out, stderr)
	if errors.Is(err, pflag.ErrHelp) {
		err = nil // it was asked for
	}
	var code exitError
	if out.err != nil && (err == nil || errors.As(err, &code)) {
		// An answer that nobody has got is none, whatever it was.
		err = fmt.Errorf("write to standard output: %w", out.err)
	}
	if err == nil {
		return exitOK
	}
	if errors.As(err, &code) {
		return int(code)
	}
	fmt.Fprintln(stderr, "robocensus:", plain(err.Error()))
	var by signalled
	if errors.As(context.Cause(ctx), &by) && by.Signal == syscall.SIGTERM && codeOf(err) == exitInterrupted {
		return exitTemporary
	}
	return codeOf(err)
}

// signalled is why the command ends, the cause of its context.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }
func (s signalled) Unwrap() error { return context.Canceled }

// untilSignal ends its context with the first signal, so that the command ends
// in order. The second ends the process.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// checked keeps the first error of writing, which those who print do not look
// at one by one.
type checked struct {
	io.Writer
	err error
}

func (c *checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if err != nil && c.err == nil {
		c.err = err
	}
	return n, err
}

// codeOf is the exit code for an error.
func codeOf(err error) int {
	var usage usageError
	var input *pipeline.InputError
	switch {
	case errors.As(err, &usage), errors.Is(err, sink.ErrRunExists), errors.Is(err, sink.ErrRunBusy), errors.Is(err, sink.ErrNotResumable),
		errors.Is(err, pipeline.ErrNotComparable), errors.Is(err, sink.ErrNotThere):
		return exitUsage
	case errors.As(err, &input):
		return exitInput
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, fetch.ErrNeverReached):
		return exitUnreached
	case errors.Is(err, fetch.ErrCutOff):
		return exitTemporary
	}
	return exitIO
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		fmt.Fprint(stderr, help)
		return usagef("no command given")
	}
	switch args[0] {
	case "run":
		return runCommand(ctx, args[1:], stdout, stderr)
	case "check":
		return checkCommand(ctx, args[1:], os.Stdin, stdout)
	case "compare":
		return compareCommand(ctx, args[1:], os.Stdin, stdout)
	case "report":
		return reportCommand(ctx, args[1:], stdout)
	case "diff":
		return diffCommand(ctx, args[1:], stdout)
	case "verify":
		return verifyCommand(ctx, args[1:], stdout, stderr)
	case "export":
		return exportCommand(ctx, args[1:], stdout, stderr)
	case "prune":
		return pruneCommand(ctx, args[1:], stdout)
	case "demo":
		return demoCommand(ctx, args[1:], stdout, stderr)
	case "help", "--help", "-h":
		fmt.Fprint(stdout, help)
		return nil
	case "version", "--version":
		fmt.Fprintln(stdout, "robocensus", sink.ToolVersion(version))
		return nil
	}
	return usagef("no command %q; see robocensus --help", args[0])
}

// plain is how everything that came from a file or the network is printed.
var plain = visible.Text

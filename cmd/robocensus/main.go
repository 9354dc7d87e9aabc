// Command robocensus takes a census of crawl policies: from a list of hosts it
// makes Parquet tables that say what each host's robots.txt answered, what
// it contains, and what each agent may fetch.
//
// Each command is a file of this package, listed in [commands]. It turns flags into
// the configuration of a package below, and that package's errors into exit codes.
// Package pipeline runs a census: see its comment for the way from a list of hosts to
// the tables. robots/README.md has a glossary.
//
// Where changes start:
//
//   - a profile, or a field of profiles: the list above type Profile in
//     robots/profile.go
//   - a field of agents: a column of sink.Agent, with its key in YAML; the key, and what
//     its values may be, in pipeline/registry/agents.go; pipeline/past/registry.go, if it
//     decides about policies
//   - a column: the list above SchemaVersion in sink/rows.go
//   - a counter: pipeline/evaluate/count.go, and the table of metrics in
//     sink/README.md
//   - a source: pipeline/source/source.go (Config, Open, Empty); its flag in run.go
//     and run_config.go here
//   - a command: a file here, and [commands]
//   - a flag of run: runFlags in run.go; its row in sink/settings.go or, if no plan holds
//     it, in run_scopes.go; what it needs or excludes in run_relations.go; the check of its
//     value in run_checks.go
//   - a figure of the report: a file in cmd/internal/report, and the sections of a page
//     in its report.go
//   - a figure over several runs: metrics in pipeline/series/series.go, its drawing in
//     cmd/internal/report/trends/figures.go, its view in configs/series.sql
//   - a kind of change between runs: pipeline/audit/change and pipeline/audit/diff; its
//     words in cmd/internal/words
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/memory"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/export"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
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
	exitTemporary   = 75 // ended by SIGTERM, this machine is cut off, or another run has the --state
	exitInterrupted = 130
)

// errInterrupted is the error of a run that a signal has ended.
var errInterrupted = errors.New("interrupted")

// usageError is an error in the arguments of a command.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() {
	os.Exit(mainCode(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// commands returns the tree of commands.
func commands() *cobra.Command {
	root := &cobra.Command{
		Use:     "robocensus COMMAND",
		Short:   "A census of crawl policies",
		Long:    rootHelp,
		Version: sink.ToolVersion(version),
		Args:    noCommand,
		RunE:    func(*cobra.Command, []string) error { return nil }, // not called: Args refuses everything
	}
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Make a census", []*cobra.Command{runCommand(), planCommand(), demoCommand()}},
		{"Ask about one policy", []*cobra.Command{checkCommand(), compareCommand()}},
		{"Read what a census has found", []*cobra.Command{runsCommand(), reportCommand(), showCommand(), historyCommand(), diffCommand(), seriesCommand(), verifyCommand(), exportCommand(), publishCommand(), reproduceCommand(), pruneCommand()}},
		{"Other", []*cobra.Command{completionCommand(root), helpCommand(root)}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.title
			root.AddCommand(c)
		}
	}
	return prepared(root)
}

const rootHelp = `robocensus takes a census of crawl policies. From a list of hosts it makes
Parquet tables that say what each host's robots.txt answered, what it
contains, and what each agent may fetch. Query them with DuckDB.

Start with robocensus demo: it needs no network and no configuration.`

// noCommand returns the error for a call without a known command.
func noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		root.SetOut(root.ErrOrStderr())
		root.HelpFunc()(root, nil)
		return usagef("no command given")
	}
	return usagef("no command %q%s; see robocensus --help", args[0], suggest.Remark(args[0], names(root)))
}

// execute runs the command that args name.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := commands()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if c, rest, err := root.Find(args); err == nil {
		if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && rest[0] != cobra.ShellCompRequestCmd && rest[0] != cobra.ShellCompNoDescRequestCmd {
			return noCommand(root, rest) // before its flags, which are of no command
		}
		c.InitDefaultHelpFlag()
		if err := flags.CheckDashes(c.Flags(), rest); err != nil {
			return usageError{err}
		}
	}
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

func mainCode(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal()
	defer stop()
	out := &checked{Writer: stdout}
	err := execute(remote.Guarded(ctx, fetch.IsSpecial), args, stdin, out, stderr)
	var code exitError
	if out.err != nil && (err == nil || errors.As(err, &code)) {
		// Output that could not be written is an error, whatever the result.
		err = fmt.Errorf("write to standard output: %w", out.err)
	}
	if err == nil {
		return exitOK
	}
	if errors.As(err, &code) {
		return int(code)
	}
	var by signalled
	if errors.As(context.Cause(ctx), &by) && errors.Is(err, context.Canceled) && !errors.Is(err, errInterrupted) {
		err = errInterrupted // whatever was under way
	}
	fmt.Fprintln(stderr, "robocensus:", plain(err.Error()))
	if errors.As(context.Cause(ctx), &by) && codeOf(err) == exitInterrupted {
		return by.code()
	}
	return codeOf(err)
}

// signalled is the cause of a context that a signal has ended.
type signalled struct{ os.Signal }

func (s signalled) Error() string { return s.String() }
func (s signalled) Unwrap() error { return context.Canceled }

// code returns the exit code of a command that the signal has ended.
func (s signalled) code() int {
	if s.Signal == syscall.SIGTERM {
		return exitTemporary
	}
	return exitInterrupted
}

// endBySignal lets a signal end the process at once: for commands that read standard
// input, because a context cannot end such a read.
func endBySignal(ctx context.Context) {
	context.AfterFunc(ctx, func() {
		var by signalled
		if errors.As(context.Cause(ctx), &by) {
			os.Exit(by.code())
		}
	})
}

// untilSignal returns a context that the first signal ends, so that the command can
// finish its work. The second signal ends the process.
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

// checked is a writer that keeps the first error, so that callers need not check
// each write.
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

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	var usage usageError
	var input *userfile.Error
	var part *scan.PartError
	var lost *sink.LostError
	switch {
	case errors.As(err, &usage), errors.Is(err, sink.ErrRunExists), errors.Is(err, sink.ErrRunBusy), errors.Is(err, sink.ErrNotResumable),
		errors.Is(err, diff.ErrNotComparable), errors.Is(err, export.ErrNotThere), errors.Is(err, series.ErrNoTable):
		return exitUsage
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.Is(err, fetch.ErrNeverReached):
		return exitUnreached
	case errors.Is(err, fetch.ErrCutOff), errors.Is(err, memory.ErrInUse):
		return exitTemporary
	}
	isInput := errors.As(err, &input)
	switch fault := store.FaultOf(err); {
	case fault == store.OfSettings:
		return exitUsage
	case fault == store.OfStore && !(isInput && errors.Is(err, fs.ErrPermission)): // an input that may not be read stays so
		return exitIO
	case isInput, errors.As(err, &part), errors.As(err, &lost), errors.Is(err, sink.ErrDamaged), errors.Is(err, sink.ErrOtherPlan), errors.Is(err, memory.ErrOtherShare),
		errors.Is(err, publish.ErrDamaged), errors.Is(err, publish.ErrNoBody):
		return exitInput
	}
	return exitIO
}

// plain escapes text from a file or the network for a terminal.
var plain = visible.Text

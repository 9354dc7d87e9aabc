// Command robocensus takes a census of crawl policies: from a list of hosts it
// makes Parquet tables that say what each host's robots.txt answered, what
// it contains, and what each agent may fetch.
//
// Each command is a file of this package, or a package in cmd/internal (run, check,
// show, series, diffs), and is listed in [commands]. It turns flags into the configuration
// of a package below, and package exit turns that package's errors into exit codes.
// Package pipeline runs a census: see its comment for the way from a list of hosts to
// the tables. robots/README.md has a glossary.
//
// Where changes start:
//
//   - a profile, or a field of profiles: the list above type Profile in
//     robots/profile.go
//   - a field of agents: a column of schema.Agent, with its key in YAML; the key, and what
//     its values may be, in pipeline/registry/agents.go; pipeline/past/registry.go, if it
//     decides about policies
//   - a column: the list above SchemaVersion in sink/schema/schema.go
//   - a table: the list above type TableInfo in sink/schema/tables.go
//   - a counter: pipeline/evaluate/count.go, and the table of metrics in
//     sink/README.md
//   - a source: the list in pipeline/source/doc.go
//   - a command: a file here, and [commands]
//   - a flag of run: Flags in cmd/internal/run/run.go, or in cmd/internal/settings if check
//     has it too; its row in sink/journal/settings.go or, if no plan holds it, in
//     cmd/internal/settings/unplanned.go; in cmd/internal/run, what it needs or excludes in
//     relations.go, and the check of its value in checks.go
//   - a figure of the report: a file in cmd/internal/report, and the sections of a page
//     in its report.go
//   - a figure over several runs: metrics in pipeline/series/series.go, its drawing in
//     cmd/internal/series/figures.go, its view in configs/series.sql
//   - a kind of change between runs: pipeline/audit/change and pipeline/audit/diff; its
//     words in cmd/internal/words
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/diffs"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/run"
	"github.com/robocensus/robocensus/cmd/internal/series"
	"github.com/robocensus/robocensus/cmd/internal/show"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

func main() {
	os.Exit(mainCode(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// commands returns the tree of commands.
func commands() *cobra.Command {
	root := &cobra.Command{
		Use:     "robocensus COMMAND",
		Short:   "A census of crawl policies",
		Long:    rootHelp,
		Version: sink.ToolVersion(cli.ToolVersion),
		Args:    noCommand,
		RunE:    func(*cobra.Command, []string) error { return nil }, // not called: Args refuses everything
	}
	reads := []*cobra.Command{runsCommand(), reportCommand(), show.Command(), show.HistoryCommand(), diffs.Command(),
		series.Command(), verifyCommand(), exportCommand(), publishCommand(), reproduceCommand(), pruneCommand()}
	for _, c := range reads {
		if c.Name() != "verify" { // which shows parts
			c.RunE = telling(c.RunE)
		}
		c.RunE = interruptible(c.RunE)
	}
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Make a census", []*cobra.Command{run.Command(), run.PlanCommand(), demoCommand()}},
		{"Ask about one policy", []*cobra.Command{check.Command(), check.CompareCommand()}},
		{"Read what a census has found", reads},
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

// interruptible makes the error of a command that was interrupted say so, whatever it
// failed with.
func interruptible(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if err != nil && c.Context().Err() != nil {
			return cli.ErrInterrupted
		}
		return err
	}
}

// telling makes a command that takes long say every few seconds how much it has read, unless
// what it prints goes to a terminal meanwhile.
func telling(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		if c.Name() != "export" || !cli.IsTerminal(c.OutOrStdout()) {
			var read atomic.Int64
			c.SetContext(store.Counted(c.Context(), &read))
			defer cli.ShowCount(c.ErrOrStderr(), "bytes_read", read.Load)()
		}
		return run(c, args)
	}
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
		return cli.Usagef("no command given")
	}
	return cli.Usagef("no command %q%s; see robocensus --help", args[0], flags.Suggest(args[0], names(root)))
}

// execute runs the command that args name.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root := commands()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if c, rest, err := root.Find(args); err == nil {
		if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && rest[0] != cobra.ShellCompRequestCmd &&
			rest[0] != cobra.ShellCompNoDescRequestCmd {
			return noCommand(root, rest) // before its flags, which are of no command
		}
		c.InitDefaultHelpFlag()
		if err := flags.CheckDashes(c.Flags(), rest); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

func mainCode(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := cli.UntilSignal()
	defer stop()
	out := &cli.Checked{Writer: stdout}
	err := execute(remote.Guarded(ctx, client.IsSpecial), args, stdin, out, stderr)
	var code cli.ExitCode
	if out.Err != nil && (err == nil || errors.As(err, &code)) {
		// Output that could not be written is an error, whatever the result.
		err = fmt.Errorf("write to standard output: %w", out.Err)
	}
	if err == nil {
		return cli.ExitOK
	}
	if errors.As(err, &code) {
		return int(code)
	}
	var by cli.Signalled
	if errors.As(context.Cause(ctx), &by) && errors.Is(err, context.Canceled) && !errors.Is(err, cli.ErrInterrupted) {
		err = cli.ErrInterrupted // whatever was under way
	}
	fmt.Fprintln(stderr, "robocensus:", visible.Text(err.Error()))
	if errors.As(context.Cause(ctx), &by) && cli.ExitCodeOf(err) == cli.ExitInterrupted {
		return by.Code()
	}
	return cli.ExitCodeOf(err)
}

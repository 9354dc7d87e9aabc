package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/exit"
	"github.com/robocensus/robocensus/cmd/internal/screen"
	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/sink/export"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

const exportHelp = `Writes a table of RUN to standard output as an Arrow IPC stream, which pandas,
Polars, R and others can read. Rows are in the order of the input.

TABLE is one of the run's tables, or changes if the run was compared with another.
An unfinished run needs --incomplete; export then writes what is committed. A stream
that ends with an error does not read as a complete one.

Exit codes: 0 done, 64 usage, 65 damaged run, 74 I/O, 130 interrupted.`

const exportExamples = `  robocensus export --out out 20261120T101500Z fetches > fetches.arrows
  robocensus export --out out 20261120T101500Z verdicts --columns host,agent,verdict |
    python3 -c 'import sys, pyarrow; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_pandas())'`

func exportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "export --out DIR [--columns NAME,...] RUN TABLE", Short: "Write a table as an Arrow stream", Long: exportHelp, Example: exportExamples,
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return exportable, cli.NoFiles
			}
			return cli.CompleteRuns(1)(c, args, typed)
		},
	}
	out := cli.Out(c)
	columns := c.Flags().StringSlice("columns", nil, "`NAMES` of the columns to write (default all)")
	against := c.Flags().String("against", "", "for the table changes: the `RUN` it was compared with, if there are several")
	c.RegisterFlagCompletionFunc("against", cli.CompleteRuns(3))
	incomplete := cli.Incomplete(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := cli.CheckArguments(c.Context(), *out, args, cli.Argument{Name: "RUN", Give: "the run to export"}, cli.Argument{Name: "TABLE", Give: "the table to export, such as fetches"}); err != nil {
			return err
		}
		switch {
		case c.Flags().Changed("columns") && len(*columns) == 0:
			return exit.Usagef("--columns is empty: name columns, or omit it for all")
		case !slices.Contains(exportable, args[1]):
			return exit.Usagef("no table %q%s: the tables are %s", args[1], suggest.Remark(args[1], exportable), strings.Join(exportable, ", "))
		}
		run := args[0]
		in, err := cli.OpenOut(c.Context(), *out, &run, against)
		if err != nil {
			return err
		}
		defer in.Close()
		return exportTable(c.Context(), in, run, export.Selection{Table: args[1], Against: *against, Columns: *columns}, *incomplete, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// exportable are the tables that can be exported.
var exportable = append(slices.Clone(schema.TableNames), "changes")

func exportTable(ctx context.Context, in store.Store, run string, what export.Selection, incomplete bool, stdout, stderr io.Writer) error {
	if screen.IsTerminal(stdout) {
		return exit.Usagef("the output is binary: redirect it to a file or a program")
	}
	if c, ok := stdout.(*screen.Checked); ok {
		stdout = c.Writer // export reports write errors itself
	}
	m, err := cli.RunOf(in, run, incomplete, journal.ReadManifest)
	if err != nil {
		return err
	}
	// If the reader closes the pipe, SIGPIPE ends the process, as it ends cat.
	if err := export.Table(ctx, stdout, in, m, what); err != nil {
		return err
	}
	if m.Finished == nil {
		fmt.Fprintf(stderr, "robocensus: run %s is unfinished: these are the rows that are committed\n", run)
	}
	return nil
}

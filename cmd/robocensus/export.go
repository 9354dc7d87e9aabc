package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/robocensus/robocensus/sink"
)

const exportHelp = `Usage: robocensus export --out DIR [--columns NAME,...] RUN TABLE

Writes a table of RUN to standard output as an Arrow IPC stream, which pandas,
Polars, R and others read without files. Rows stand in the order of the input.

  robocensus export --out out 20261120T101500Z fetches > fetches.arrows
  robocensus export --out out 20261120T101500Z verdicts --columns host,agent,verdict |
    python3 -c 'import sys, pyarrow; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_pandas())'

TABLE is one of the run's tables, or changes, where it was compared with
another run. Of a run that is under way, or was interrupted, it writes what is
committed. A stream that an error has ended does not read as a whole one.
Exit codes: 0 done, 64 usage, 74 I/O, 130 interrupted.

Flags:
`

func exportCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	set := newFlagSet("export")
	out := set.String("out", "", "`DIR` of the tables")
	columns := set.StringSlice("columns", nil, "`NAMES` of the columns to write (default all)")
	against := set.String("against", "", "of the table changes: the `RUN` that it was compared with, where there are several")
	if err := parseFlags(set, args, exportHelp, stdout); err != nil {
		return err
	}
	switch {
	case *out == "":
		return usagef("--out is missing: give the folder of the tables")
	case set.NArg() == 0:
		return usagef("RUN is missing: give the run to export%s", runsIn(*out))
	case set.NArg() == 1:
		return usagef("TABLE is missing: give the table to export, such as fetches")
	case set.NArg() > 2:
		return usagef("unexpected argument %q", set.Arg(2))
	case set.Changed("columns") && len(*columns) == 0:
		return usagef("--columns is empty: name some, or leave it out for all")
	}
	if c, ok := stdout.(*checked); ok {
		stdout = c.Writer // what exporting it tells is enough
	}
	if f, ok := stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return usagef("standard output is a terminal, and this is binary: redirect it to a file or a program")
	}
	run := set.Arg(0)
	if err := sink.CheckRunID(run); err != nil {
		return usageError{err}
	}
	m, err := sink.ReadManifest(*out, run)
	if errors.Is(err, fs.ErrNotExist) {
		return noRun(*out, run)
	}
	if err != nil {
		return err
	}
	// Where who reads has had enough, SIGPIPE ends us as it ends cat.
	err = sink.Export(ctx, stdout, *out, m, sink.Selection{Table: set.Arg(1), Against: *against, Columns: *columns})
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return err
	}
	if m.Finished == nil {
		fmt.Fprintf(stderr, "robocensus: run %s is unfinished: these are the rows that are committed\n", run)
	}
	return nil
}

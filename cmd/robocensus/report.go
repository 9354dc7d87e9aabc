package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/robocensus/robocensus/cmd/internal/output"
	"github.com/robocensus/robocensus/cmd/internal/report"
	"github.com/robocensus/robocensus/sink"
)

const reportHelp = `Usage: robocensus report --out DIR RUN [--against RUN_A] [--html FILE]

Draws RUN as one page of HTML that opens from disk and needs nothing from
elsewhere: who shuts out AI crawlers and other agents, what hosts answer, what
the files hold and what is wrong with them, and how the network fares, each with
the numbers and the SQL behind it. It reads the tables summary and examples,
which have one part for the whole run, so that the number of hosts hardly
matters; of a run that is under way or was interrupted it reads what each
segment has counted.

  robocensus report --out out 20261120T101500Z --html report.html

With --against it also says what has changed since RUN_A, which robocensus diff
must have compared with RUN before. Without --html the page goes to standard
output.

Exit codes: 0 done, 64 usage, 74 I/O, 130 interrupted.

Flags:
`

func reportCommand(ctx context.Context, args []string, stdout io.Writer) error {
	set := newFlagSet("report")
	out := set.String("out", "", "`DIR` of the tables")
	html := set.String("html", "", "`FILE` to write, replaced if it is there; - is standard output")
	against := set.String("against", "", "`RUN_A` before it, for what has changed")
	if err := parseFlags(set, args, reportHelp, stdout); err != nil {
		return err
	}
	switch {
	case *out == "":
		return usagef("--out is missing: give the folder of the tables")
	case set.NArg() == 0:
		return usagef("RUN is missing: give the run to report on%s", runsIn(*out))
	case set.NArg() > 1:
		return usagef("unexpected argument %q", set.Arg(1))
	}
	run := set.Arg(0)
	for _, id := range []string{run, *against} {
		if id == "" && set.Changed("against") || id != "" {
			if err := sink.CheckRunID(id); err != nil {
				return usageError{err}
			}
		}
	}
	m, err := sink.ReadManifestHead(*out, run)
	if errors.Is(err, fs.ErrNotExist) {
		return noRun(*out, run)
	}
	if err != nil {
		return err
	}
	page, err := report.Page(ctx, *out, m, *against)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, report.ErrNoChanges):
		return usageError{err}
	case err != nil:
		return err
	}
	if *html != "" && *html != "-" {
		err := output.Write(ctx, *html, func(w io.Writer) error { _, err := w.Write(page); return err })
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	if _, err := stdout.Write(page); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/output"
	"github.com/robocensus/robocensus/cmd/internal/report"
	"github.com/robocensus/robocensus/sink"
)

const reportHelp = `Draws RUN as one page of HTML that opens from disk and needs nothing from
elsewhere: who shuts out AI crawlers and other agents, what hosts answer, what
the files hold and what is wrong with them, and how the network fares, each with
the numbers and the SQL behind it. It reads the tables summary and examples,
which have one part for the whole run, so that the number of hosts hardly
matters; of a run that is under way or was interrupted it reads what each
segment has counted.

With --against it also says what has changed since RUN_A, which robocensus diff
must have compared with RUN before. Without --html the page goes to standard
output.

Exit codes: 0 done, 64 usage, 74 I/O, 130 interrupted.`

const reportExamples = `  robocensus report --out out 20261120T101500Z --html report.html`

func reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "report --out DIR RUN [--against RUN_A] [--html FILE]", Short: "A page of pictures about a run", Long: reportHelp, Example: reportExamples,
		ValidArgsFunction: completeRuns(1),
	}
	out := outFlag(c)
	html := c.Flags().String("html", "", "`FILE` to write, replaced if it exists; - is standard output")
	against := c.Flags().String("against", "", "earlier `RUN_A`, to show what changed")
	c.MarkFlagFilename("html", "html")
	c.RegisterFlagCompletionFunc("against", completeRuns(2))
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case *out == "":
			return errNoOut
		case len(args) == 0:
			return usagef("RUN is missing: give the run to report on%s", runsIn(*out))
		case len(args) > 1:
			return usagef("unexpected argument %q", args[1])
		case *against == "" && c.Flags().Changed("against"):
			return usagef("--against is empty: give a run%s", runsIn(*out))
		}
		run := args[0]
		if err := findRuns(*out, &run, against); err != nil {
			return err
		}
		return writeReport(c.Context(), *out, run, *against, *html, c.OutOrStdout())
	}
	return c
}

func writeReport(ctx context.Context, out, run, against, html string, stdout io.Writer) error {
	m, err := sink.ReadManifestHead(out, run)
	if errors.Is(err, fs.ErrNotExist) {
		return noRun(out, run)
	}
	if err != nil {
		return err
	}
	page, err := report.Page(ctx, out, m, against)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, report.ErrNoChanges):
		return usageError{err}
	case err != nil:
		return err
	}
	if html != "" && html != "-" {
		err := output.Write(ctx, html, func(w io.Writer) error { _, err := w.Write(page); return err })
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

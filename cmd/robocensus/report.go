package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/recap"
	"github.com/robocensus/robocensus/cmd/internal/report"
	"github.com/robocensus/robocensus/cmd/internal/report/changes"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

const reportHelp = `Writes a report of RUN as one self-contained HTML page: who shuts out AI crawlers
and other agents, what hosts answer, what the files contain and what is wrong with
them, and how the network performs. Each figure comes with its numbers and SQL. The
report reads the tables summary and examples only, so that it takes about as long for
any number of hosts. An unfinished run needs --incomplete; the report then covers what
is committed.

With --against, the page also shows the changes since RUN_A; run robocensus diff
first. Without --html, the page goes to standard output, unless that is a terminal.

With --text, the output is the summary that robocensus run prints at its end. With --by
LABEL it is what share of the hosts with each value of a label (run --label, --labels)
shut out AI crawlers, of those whose policies are known, with intervals, and which values
differ from the rest by more than chance. The page shows the same of every label.

Exit codes: 0 done, 64 usage, 65 damaged run, 74 I/O, 130 interrupted.`

const reportExamples = `  robocensus report --out out 20261120T101500Z --html report.html
  robocensus report --out out --text
  robocensus report --out out --by sector`

func reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use: `report --out DIR RUN [--against RUN_A] [--html FILE]
       robocensus report --out DIR [RUN] --text [--by LABEL]`,
		Short: "Write an HTML report of a run, or print its summary", Long: reportHelp, Example: reportExamples,
		ValidArgsFunction: cli.CompleteRuns(1),
	}
	out := cli.Out(c)
	html := c.Flags().String("html", "", "`FILE` to write, replaced if it exists; - is standard output")
	against := c.Flags().String("against", "", "earlier `RUN_A`, to show what changed")
	c.MarkFlagFilename("html", "html")
	c.RegisterFlagCompletionFunc("against", cli.CompleteRuns(2))
	text := c.Flags().Bool("text", false, "print the summary that the run has printed, without RUN that of the latest")
	by := c.Flags().String("by", "", "print the shares by value of a `LABEL`, such as sector or tld; implies --text")
	incomplete := cli.Incomplete(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if *by != "" {
			*text = true
		}
		if *text && len(args) == 0 {
			args = []string{cli.Latest}
		}
		if err := cli.CheckArguments(c.Context(), *out, args,
			cli.Argument{Name: "RUN", Give: "the run to report on"}); err != nil {
			return err
		}
		switch {
		case *text && (*html != "" || *against != ""):
			return cli.Usagef("--text prints to standard output and is about one run: leave --html and --against out")
		case *html == "" && !*text && cli.IsTerminal(c.OutOrStdout()):
			return cli.Usagef("a page is not for a terminal: give --html FILE, or --html - for standard output all the same")
		case *against == "" && c.Flags().Changed("against"):
			return cli.Usagef("--against is empty: give a run%s", cli.ThereAre(c.Context(), *out))
		}
		run := args[0]
		in, err := cli.OpenOut(c.Context(), *out, &run, against)
		if err != nil {
			return err
		}
		defer in.Close()
		if *by != "" {
			return recap.WriteByLabel(c.Context(), in, run, *by, *incomplete, c.OutOrStdout())
		}
		if *text {
			return recap.WriteText(c.Context(), in, run, *incomplete, c.OutOrStdout())
		}
		return writeReport(c.Context(), in, run, *against, *html, *incomplete, c.OutOrStdout())
	}
	return c
}

func writeReport(ctx context.Context, in store.Store, run, against, html string, incomplete bool,
	stdout io.Writer) error {
	m, err := cli.RunOf(in, run, incomplete, journal.ReadManifestHead)
	if err != nil {
		return err
	}
	page, err := report.Page(ctx, in, m, against)
	switch {
	case errors.Is(err, changes.ErrNoChanges), errors.Is(err, report.ErrNoSummary):
		return cli.UsageError{Err: err}
	case err != nil:
		return err
	}
	if html != "" && html != "-" {
		return flags.WriteFile(ctx, html, func(w io.Writer) error { _, err := w.Write(page); return err })
	}
	if _, err := stdout.Write(page); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/pipeline/audit"
	"github.com/robocensus/robocensus/sink"
)

const diffHelp = `Compares two runs of DIR host by host and writes what changed from RUN_A to RUN_B
to the table changes, one row for each change, with a severity:

  critical  an agent, or all, were shut out
  major     a part was closed, or what was shut is open; other terms of use; no answer
  minor     whatever else has a meaning
  cosmetic  another text that says the same to every agent, on every path

Rules are compared by what they mean (kind rules), under the first profile by the tables
groups and rules; other profiles, and google-2012, need runs made with --keep-bodies.
A host that was not reached in one of the runs has one row, and no other: an outage
is no policy. What cannot be compared, since the runs were made otherwise, is noted.

With --expect it says which expectations are kept and which broken, of RUN_B and of
what may change. One that these runs cannot show is unchecked, which counts as broken
unless an outage is all that stands in the way.
Exit codes: 0 done, 1 done and an expectation is broken (or counts as broken), 64
usage, or runs that cannot be compared, 65 bad input, 74 I/O, 130 interrupted.`

const diffExamples = `  robocensus diff --out out 20261113T101500Z 20261120T101500Z`

func diffCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "diff --out DIR RUN_A RUN_B", Short: "What changed between two runs", Long: diffHelp, Example: diffExamples,
		ValidArgsFunction: completeRuns(2),
	}
	out := outFlag(c)
	format := c.Flags().String("format", "text", "output format: text, json or markdown")
	expect := c.Flags().String("expect", "", "YAML `FILE` of expectations about the hosts and changes")
	completeFlag(c, "format", formats...)
	c.MarkFlagFilename("expect", "yaml", "yml")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case *out == "":
			return errNoOut
		case len(args) < 2:
			return usagef("give two runs, the earlier one first%s", runsIn(*out))
		case len(args) > 2:
			return usagef("unexpected argument %q", args[2])
		case !slices.Contains(formats, *format):
			return usagef("--format %q: use text, json or markdown", *format)
		}
		config := audit.DiffConfig{Dir: *out, Before: args[0], After: args[1], ToolVersion: sink.ToolVersion(version)}
		err := findRuns(*out, &config.Before, &config.After)
		if err != nil {
			return err
		}
		if config.Expect, err = readExpectations(c.Context(), *expect); err != nil {
			return err
		}
		return diff(c.Context(), config, *format, c.OutOrStdout())
	}
	return c
}

var formats = []string{"text", "json", "markdown"}

func diff(ctx context.Context, c audit.DiffConfig, format string, stdout io.Writer) error {
	result, err := audit.Diff(ctx, c)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, fs.ErrNotExist):
		for _, run := range []string{c.Before, c.After} {
			if !slices.Contains(runNames(c.Dir), run) {
				return noRun(c.Dir, run)
			}
		}
		return err
	case err != nil:
		return err
	}
	switch format {
	case "json":
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		err = e.Encode(result)
	case "markdown":
		showDiff(&markdownPage{stdout}, result)
	default:
		showDiff(&textPage{stdout}, result)
	}
	if err != nil {
		return fmt.Errorf("print the comparison: %w", err)
	}
	return broken(result.Expectations)
}

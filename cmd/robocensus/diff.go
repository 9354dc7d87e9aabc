package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink"
)

const diffHelp = `Usage: robocensus diff --out DIR RUN_A RUN_B

Compares two runs of DIR host by host and writes what changed from RUN_A to RUN_B
to the table changes, one row for each change, with a severity:

  critical  an agent, or all, were shut out
  major     a part was closed, or what was shut is open; other terms of use; no answer
  minor     whatever else has a meaning
  cosmetic  another text that says the same

A host that was not reached in one of the runs has one row, and no other: an outage
is no policy. What cannot be compared, since the runs were made otherwise, is noted.

  robocensus diff --out out 20261113T101500Z 20261120T101500Z

With --expect it says which expectations are kept and which broken, of RUN_B and of
what may change. One that these runs cannot show is unchecked, which counts as broken
unless an outage is all that stands in the way.
Exit codes: 0 done, 1 done and an expectation is broken (or counts as broken), 64
usage, or runs that cannot be compared, 65 bad input, 74 I/O, 130 interrupted.

Flags:
`

func diffCommand(ctx context.Context, args []string, stdout io.Writer) error {
	set := newFlagSet("diff")
	out := set.String("out", "", "`DIR` of the tables")
	format := set.String("format", "text", "of what is printed: text, json or markdown")
	expect := set.String("expect", "", "YAML `FILE` of what is expected of the hosts and of changes")
	if err := parseFlags(set, args, diffHelp, stdout); err != nil {
		return err
	}
	switch {
	case *out == "":
		return usagef("--out is missing: give the folder of the tables")
	case set.NArg() < 2:
		return usagef("give two runs, the earlier one first%s", runsIn(*out))
	case set.NArg() > 2:
		return usagef("unexpected argument %q", set.Arg(2))
	case !slices.Contains([]string{"text", "json", "markdown"}, *format):
		return usagef("--format %q: use text, json or markdown", *format)
	}
	c := pipeline.DiffConfig{Dir: *out, Before: set.Arg(0), After: set.Arg(1), ToolVersion: sink.ToolVersion(version)}
	for _, run := range []string{c.Before, c.After} {
		if err := sink.CheckRunID(run); err != nil {
			return usageError{err}
		}
	}
	var err error
	if c.Expect, err = readExpectations(ctx, *expect); err != nil {
		return err
	}
	result, err := pipeline.Diff(ctx, c)
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case errors.Is(err, fs.ErrNotExist):
		return usagef("%w%s", err, runsIn(*out))
	case err != nil:
		return err
	}
	switch *format {
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

// Package diffs has the command diff, which compares two runs.
//
//   - diff.go: the command
//   - show.go: the result in words
//   - told.go: a change in words
//   - list.go: every change
package diffs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
)

const diffHelp = `Compares two runs in DIR host by host and writes the changes from RUN_A to RUN_B to
the table changes, one row per change, with a severity:

  critical  an agent, or every agent, was shut out
  major     a part was closed, or a closed host opened; terms of use; no answer;
            an identity was turned away, let in or served a stricter file
  minor     any other change of meaning
  cosmetic  another text with the same meaning for every agent on every path

Rules are compared by meaning (kind rules): under the first profile from the tables
groups and rules; under other profiles, and under google-2012, from the bodies of
runs made with --keep-bodies. What files state about use is compared by meaning too
(kind preference, column use). If both runs asked hosts under further identities
(--also-as), other answers to these are changes too (kind answer, column identity). A
host that answered our own second request, the control, otherwise than the first has no
such change. If both asked for a page too (--pages), so is what identities meet there
(kind page), and if both asked for documents of consent (--documents), which of these a
host has (kind document) and what they state about use (kind preference, column
document). If both runs read sitemaps (--sitemaps), so is another share of what a host
lists that an agent may fetch (kind coverage): by a percentage point or more, and by more
than chance where the pages are a sample. Changes say whose words they are (template):
they tell a host whose template changed from one that decided for itself. If the runs
differ in their settings, notes name what differs and what is not compared, as robocensus
series does: profiles and agents are those that the runs record.

An outage is not a policy, and hides none: a host that RUN_A could not read is
compared with the latest of up to 16 comparable runs before it that could (column
before_run). Of a host that RUN_B could not read, or no run before it, only whether it
answers is compared.

A comparison is made once. Where DIR has that of RUN_A and RUN_B and both runs are as
they were, diff shows it, with the expectations of that time. --again makes it anew.
Without --again, nothing is made anew that would lose what DIR has: broken expectations,
or hosts compared with a run that is gone.

--list prints every change instead of figures: severity, origin, and what changed with
its lines and whose words they are. --format csv and ndjson print the columns of the
table. --agent and --kind, each repeatable, choose.

With --expect, diff checks the expectations of RUN_B and of the changes. An
expectation that these runs cannot decide is unchecked; it counts as broken unless
only an outage is the reason.

Exit codes: 0 done, 1 done and an expectation is broken or cannot be checked, 64
usage or runs that cannot be compared, 65 bad input, 74 I/O, 130 interrupted.`

const diffExamples = `  robocensus diff --out out 20261113T101500Z 20261120T101500Z
  robocensus diff --out out 20261113T101500Z 20261120T101500Z --list --agent GPTBot
  robocensus diff --out out 20261113T101500Z 20261120T101500Z --format csv > changes.csv`

func Command() *cobra.Command {
	c := &cobra.Command{
		Use: "diff --out DIR RUN_A RUN_B", Short: "Show what changed between two runs", Long: diffHelp, Example: diffExamples,
		ValidArgsFunction: cli.CompleteRuns(2),
	}
	out := cli.Out(c)
	format := c.Flags().String("format", "text", "output format: text, json or markdown; csv or ndjson for a list")
	again := c.Flags().Bool("again", false, "make the comparison anew, whatever DIR has of it")
	list := c.Flags().Bool("list", false, "list every change")
	var l listing
	c.Flags().StringArrayVar(&l.agents, "agent", nil, "list the changes about this `AGENT` or token alone (repeatable)")
	c.Flags().StringArrayVar(&l.kinds, "kind", nil, "list the changes of this `KIND` alone (repeatable)")
	expect := c.Flags().String("expect", "", "YAML `FILE` of expectations about the hosts and changes")
	cli.CompleteFlag(c, "format", formats...)
	c.MarkFlagFilename("expect", "yaml", "yml")
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case *out == "":
			return cli.ErrNoOut
		case len(args) < 2:
			return cli.Usagef("give two runs, the earlier one first%s", cli.ThereAre(c.Context(), *out))
		}
		if err := cli.CheckNoMore(args, 2); err != nil {
			return err
		}
		l.format = *format
		isList := *list || *format == "csv" || *format == "ndjson"
		switch unknown := l.unknownKind(); {
		case !slices.Contains(formats, *format):
			return cli.Usagef("--format %q: use text, json, markdown, csv or ndjson", *format)
		case *list && (*format == "json" || *format == "markdown"):
			return cli.Usagef("--list with --format %s: use text, csv or ndjson", *format)
		case !isList && len(l.agents)+len(l.kinds) > 0:
			return cli.Usagef("--agent and --kind choose from a list: add --list, or --format csv or ndjson")
		case unknown != "":
			return cli.Usagef("--kind %q: use %s", unknown, strings.Join(change.Kinds, ", "))
		}
		config := diff.Config{Before: args[0], After: args[1], ToolVersion: sink.ToolVersion(cli.ToolVersion)}
		var err error
		if config.In, err = cli.OpenOut(c.Context(), *out, &config.Before, &config.After); err != nil {
			return err
		}
		defer config.In.Close()
		if config.Expect, err = cli.ReadExpectations(c.Context(), *expect); err != nil {
			return err
		}
		result, err := resultOf(c.Context(), config, *out, *again, c.ErrOrStderr())
		if err != nil {
			return err
		}
		if !isList {
			err = show(c.Context(), config, result, *format, c.OutOrStdout())
		} else if n, e := l.list(c.Context(), config, c.OutOrStdout()); e != nil {
			err = e
		} else if n == 0 {
			fmt.Fprintln(c.ErrOrStderr(), "no change is one of these")
		}
		return cmp.Or(err, cli.ExitOfPromises(result.Expectations))
	}
	return c
}

var formats = []string{"text", "json", "markdown", "csv", "ndjson"}

// showNext says where the rest of a comparison is.
func showNext(p *cli.Text, c diff.Config, r *diff.Result) {
	if r.Changes > 0 {
		p.Line(fmt.Sprintf("\nThe table changes has %s of this (views.sql). All of them, a page of figures, or one host:\n"+
			"  robocensus diff --out %s %s %s --list\n  robocensus report --out %[2]s %[4]s --against %[3]s --html "+
			"changes.html\n  robocensus history HOST --out %[2]s",
			words.Count(r.Changes, "row"), cli.ShellWord(c.In.Path(".")), cli.ShellWord(r.Before),
			cli.ShellWord(r.After)))
	}
	if slices.ContainsFunc(r.Expectations, func(x *expect.Promise) bool { return x.State == expect.Broken }) {
		p.Line("What breaks a promise is in " + p.Foreign(store.Join(c.In.Path("."), "changes", "run="+r.After,
			"against="+r.Before, "expectations.csv")))
	}
}

// resultOf returns the result of the comparison that the folder has, or makes it.
func resultOf(ctx context.Context, c diff.Config, out string, again bool, stderr io.Writer) (*diff.Result, error) {
	if !again {
		result, err := diff.Stored(c)
		if errors.Is(err, diff.ErrWouldLose) {
			return nil, cli.Usagef("%w; --again makes it anew all the same", err)
		}
		if err != nil {
			return nil, err
		}
		if result != nil {
			fmt.Fprintln(stderr, "shown as it was compared before; --again compares anew")
			return result, nil
		}
	}
	if err := cli.Writable(out); err != nil {
		return nil, err
	}
	result, err := diff.Runs(ctx, c)
	if errors.Is(err, fs.ErrNotExist) {
		for _, run := range []string{c.Before, c.After} {
			if !slices.Contains(cli.RunNames(c.In), run) {
				return nil, cli.NoRun(c.In, run)
			}
		}
	}
	return result, err
}

// show prints a result.
func show(ctx context.Context, c diff.Config, result *diff.Result, format string, stdout io.Writer) error {
	groups, err := groupsMoved(ctx, c)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		return cli.JSON(stdout, struct {
			*diff.Result
			Labels []groupMoved `json:"labels,omitempty"` // as the text has them, all of them
		}{result, groups})
	case "markdown":
		showDiff(&cli.Markdown{Out: stdout}, result, groups)
	default:
		p := &cli.Text{Out: stdout}
		showDiff(p, result, groups)
		showNext(p, c, result)
	}
	return nil
}

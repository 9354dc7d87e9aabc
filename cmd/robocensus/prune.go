package main

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/views"
	"github.com/robocensus/robocensus/sink/visible"
)

const pruneHelp = `Keeps the last N complete runs in DIR by date (--as-of, or the median day of the
captures, or the start), in the order of robocensus runs: the run that latest names
always stays. It removes the other complete runs, older unfinished runs, comparisons
(table changes) of removed runs, and the remains of an interrupted removal. Then it
rewrites views.sql. It keeps runs that are under way and runs whose manifest is
damaged. With fewer than N complete runs it removes no complete run.

If prune is interrupted, start it again.

Exit codes: 0 done, 64 usage, 65 DIR is a published data set, 74 I/O, 130 interrupted.`

const pruneExamples = `  robocensus prune --out out --keep 26 --dry-run`

func pruneCommand() *cobra.Command {
	c := &cobra.Command{Use: "prune --out DIR --keep N [--dry-run]", Short: "Remove all complete runs but the last N",
		Long: pruneHelp, Example: pruneExamples}
	out := cli.Out(c)
	keep := c.Flags().Int("keep", 0, "keep `N` complete runs, 1 or more")
	dryRun := c.Flags().Bool("dry-run", false, "say what would be removed, and remove nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := cli.CheckArguments(c.Context(), *out, args); err != nil {
			return err
		}
		switch {
		case !c.Flags().Changed("keep"):
			return cli.Usagef("--keep is missing: give the number of complete runs to keep")
		case *keep < 1:
			return cli.Usagef("--keep %d: must be 1 or more", *keep)
		}
		in, err := cli.OpenRuns(c.Context(), *out)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := cli.Writable(*out); err != nil {
			return err
		}
		return prune(c.Context(), in, *keep, *dryRun, c.OutOrStdout())
	}
	return c
}

func prune(ctx context.Context, in store.Store, keep int, dryRun bool, stdout io.Writer) error {
	removed, would := "removed", ""
	if dryRun {
		removed, would = "would remove", " would be"
	}
	var runs, stay int
	var bytes int64
	err := sink.Prune(ctx, in, keep, dryRun, func(p sink.Pruned) {
		name := visible.Text(strings.TrimPrefix(p.Path, "_runs/"))
		about := p.State
		if !p.Started.IsZero() {
			about += ", began " + p.Started.UTC().Format(time.RFC3339)
		}
		if !p.Date.Equal(p.Started) {
			about += ", dated " + p.Date.UTC().Format(time.DateOnly)
		}
		if !p.Removed {
			stay++
			fmt.Fprintf(stdout, "kept %s: %s\n", name, about)
			return
		}
		if path.Dir(p.Path) == "_runs" {
			runs++
		}
		bytes += p.Bytes
		fmt.Fprintf(stdout, "%s %s: %s, %s\n", removed, name, about, count(p.Bytes, "byte"))
	})
	if err != nil {
		return err
	}
	if !dryRun {
		if err := views.Write(in); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%s%s removed, %s freed; %s kept\n", count(runs, "run"), would, count(bytes, "byte"),
		count(stay, "run"))
	return nil
}

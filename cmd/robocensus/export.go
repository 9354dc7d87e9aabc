package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/export"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/visible"
)

const exportHelp = `Writes a table of RUN, by default the latest, to standard output: as an Arrow IPC
stream, which pandas, Polars, R and others can read, as CSV, as lines of JSON, or as a
workbook of Excel. Rows are in the order of the input.

TABLE is one of the run's tables, changes if the run was compared with another, or
access: a row for each site, with a column for each agent, which is open to it, partly
open, shut out or unread (an outage, or a wall). --agent chooses the columns of access,
and --profile the profile, by default the run's first. It is also a view of views.sql,
without the columns run and against, that can be made host by host or has few rows:
fetches_latest, turned_away, pages_met, paper_and_practice, policy_changes and the other
views of changes. DuckDB makes the rest: redirects and what is named _resolved, families
and newly_turned_away join hosts with other hosts or runs, so that memory would grow with
the list; directives, named_classes and classifications read files as other studies did.
robocensus series gives the figures of views named series_.

--where, repeatable, chooses rows: those whose cell is VALUE; of a list, those that have
it. VALUE may be empty, for null. Two for one column take either value. --columns and
--where know the columns that the views add, too: rank of groups and rules, category of
verdicts. In CSV, JSON and workbooks, lists are JSON, bytes base64, and null is empty;
of fetches, what only a file that was read has is null where none was. In CSV and
workbooks an apostrophe guards text that a spreadsheet would take for a formula.

A workbook has 1,000,000 rows at most, and cells of 32,767 characters; export says so
where the table has more.

An unfinished run needs --incomplete; export then writes what is committed. An Arrow
stream that ends with an error does not read as a complete one, and a workbook is not
written; of CSV and JSON only the exit code says so.

Exit codes: 0 done, 64 usage, 65 damaged run, 74 I/O, 130 interrupted.`

const exportExamples = `  robocensus export --out out latest access --format xlsx > access.xlsx
  robocensus export --out out latest access --format csv --agent GPTBot --where 'GPTBot=shut out'
  robocensus export --out out latest policies --format csv --agent GPTBot --columns host,class,group_line
  robocensus export --out out 20261120T101500Z fetches > fetches.arrows
  robocensus export --out out 20261120T101500Z verdicts --columns host,agent,verdict |
    python3 -c 'import sys, pyarrow; print(pyarrow.ipc.open_stream(sys.stdin.buffer).read_pandas())'`

// exportFlags are the flags of export.
type exportFlags struct {
	out, against, format, profile string
	columns, where, agents        []string
	incomplete                    *bool
}

func exportCommand() *cobra.Command {
	f := new(exportFlags)
	c := &cobra.Command{
		Use:   "export --out DIR [RUN] TABLE [--format FORMAT] [--where COLUMN=VALUE] [flags]",
		Short: "Write a table as CSV, JSON, a workbook or an Arrow stream",
		Long:  exportHelp, Example: exportExamples,
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return exportable, cli.NoFiles
			}
			return cli.CompleteRuns(1)(c, args, typed)
		},
	}
	s := c.Flags()
	cli.OutVar(c, &f.out)
	s.StringVar(&f.format, "format", "arrow", "output format: arrow, csv, ndjson or xlsx")
	s.StringArrayVar(&f.where, "where", nil, "rows whose `COLUMN=VALUE` (repeatable)")
	s.StringSliceVar(&f.columns, "columns", nil, "`NAMES` of the columns to write (default all)")
	s.StringArrayVar(&f.agents, "agent", nil, "rows about this `AGENT` alone; of access its column (repeatable)")
	s.StringVar(&f.profile, "profile", "", "rows under the profile `NAME` alone")
	s.StringVar(&f.against, "against", "",
		"for changes and the views of it: the `RUN` it was compared with, if there are several")
	c.RegisterFlagCompletionFunc("against", cli.CompleteRuns(3))
	cli.CompleteFlag(c, "format", export.Formats...)
	f.incomplete = cli.Incomplete(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && (slices.Contains(exportable, args[0]) || slices.Contains(ofDatabase(), args[0])) {
			args = []string{cli.Latest, args[0]}
		}
		if err := cli.CheckArguments(c.Context(), f.out, args, cli.Argument{Name: "RUN", Give: "the run to export"},
			cli.Argument{Name: "TABLE", Give: "the table to export, such as fetches"}); err != nil {
			return err
		}
		what, err := f.selection(args[1], c.Flags().Changed("columns"))
		if err != nil {
			return err
		}
		run := args[0]
		in, err := cli.OpenOut(c.Context(), f.out, &run, &f.against)
		if err != nil {
			return err
		}
		defer in.Close()
		what.Against = f.against
		return f.export(c.Context(), in, run, what, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// exportable are the tables that can be exported.
var exportable = slices.Concat(schema.TableNames, []string{"changes", export.Access}, export.Derived())

// repeated returns the first name that stands twice, "" for none.
func repeated(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

// selection returns what the flags choose of a table.
func (f *exportFlags) selection(table string, someColumns bool) (s export.Selection, err error) {
	switch {
	case someColumns && len(f.columns) == 0:
		return s, cli.Usagef("--columns is empty: name columns, or omit it for all")
	case repeated(f.columns) != "":
		return s, cli.Usagef("--columns names %q twice; name each column once", repeated(f.columns))
	case !slices.Contains(export.Formats, f.format):
		return s, cli.Usagef("--format %q: use arrow, csv, ndjson or xlsx", f.format)
	case strings.HasPrefix(table, "series_") && slices.Contains(ofDatabase(), table):
		return s, cli.Usagef("%s is of all runs: robocensus series --out %s --csv - gives these figures; the tables are %s",
			table,
			cli.ShellWord(f.out), strings.Join(exportable, ", "))
	case slices.Contains(ofDatabase(), table):
		return s, cli.Usagef("%s is a view that a database makes: cd %s && duckdb -init views.sql -csv -c 'FROM %[1]s'; "+
			"the tables are %[3]s", table, cli.ShellWord(f.out), strings.Join(exportable, ", "))
	case !slices.Contains(exportable, table):
		return s, cli.Usagef("no table %q%s: the tables are %s", table, flags.Suggest(table, exportable),
			strings.Join(exportable, ", "))
	}
	s = export.Selection{Table: table, Columns: f.columns}
	for _, text := range f.where {
		column, value, ok := strings.Cut(text, "=")
		if !ok || column == "" {
			return s, cli.Usagef("--where %q: give COLUMN=VALUE", text)
		}
		add(&s, column, value)
	}
	if f.profile != "" {
		add(&s, "profile", f.profile)
	}
	return s, nil
}

// add lets a selection take rows that have a value, beside others that it takes of the column.
func add(s *export.Selection, column, value string) {
	if i := slices.IndexFunc(s.Where, func(c export.Condition) bool { return c.Column == column }); i >= 0 {
		s.Where[i].Values = append(s.Where[i].Values, value)
		return
	}
	s.Where = append(s.Where, export.Condition{Column: column, Values: []string{value}})
}

// ofDatabase returns the names of the views that only a database makes; sink/README.md says why.
func ofDatabase() (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^CREATE OR REPLACE VIEW (\w+)`).FindAllStringSubmatch(
		configs.DerivedViews+configs.SeriesViews, -1) {
		if !slices.Contains(exportable, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

func (f *exportFlags) export(ctx context.Context, in store.Store, run string, what export.Selection, stdout,
	stderr io.Writer) error {
	if export.IsBinary(f.format) && cli.IsTerminal(stdout) {
		return cli.Usagef("the output is binary: redirect it to a file or a program, or give --format csv")
	}
	if c, ok := stdout.(*cli.Checked); ok {
		stdout = c.Writer // export reports write errors itself
	}
	m, err := cli.RunOf(in, run, *f.incomplete, journal.ReadManifest)
	if err != nil {
		return err
	}
	if f.profile != "" && !slices.Contains(m.Profiles, f.profile) {
		return cli.Usagef("--profile: run %s has no profile %q%s: it has %s", run, f.profile,
			flags.Suggest(f.profile, m.Profiles), strings.Join(m.Profiles, ", "))
	}
	if err := f.addAgents(ctx, in, m, &what); err != nil {
		return err
	}
	// If the reader closes the pipe, SIGPIPE ends the process, as it ends cat.
	written, err := export.Table(ctx, stdout, in, m, what, f.format)
	if errors.Is(err, export.ErrNotThere) {
		return cli.UsageError{Err: err}
	}
	if err != nil {
		return err
	}
	f.remark(m, &what, written, func(format string, args ...any) {
		fmt.Fprintf(stderr, "robocensus: "+format+"\n", args...)
	})
	return nil
}

// addAgents lets a selection take the rows of --agent. Names are those of the run's
// registry, and in changes those of any token, too.
func (f *exportFlags) addAgents(ctx context.Context, in store.Store, m *journal.Manifest,
	what *export.Selection) error {
	if len(f.agents) == 0 {
		return nil
	}
	r, err := past.Read(ctx, in, m.Run)
	if err != nil {
		return err
	}
	known := slices.Sorted(maps.Keys(r.Category))
	for _, name := range f.agents {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		switch {
		case i >= 0:
			name = known[i]
		case what.Table != "changes":
			return cli.Usagef("--agent: run %s has no agent %q%s", m.Run, name, flags.Suggest(name, known))
		}
		add(what, "agent", name)
	}
	return nil
}

// remark says what a reader of the rows has to know, and the rows do not say.
func (f *exportFlags) remark(m *journal.Manifest, what *export.Selection, written export.Written,
	say func(format string, args ...any)) {
	if m.Finished == nil {
		say("run %s is unfinished: these are the rows that are committed", m.Run)
	}
	if chosen := chosenRows(what); written.Rows == 0 && chosen != "" {
		say("no row of %s has %s", what.Table, chosen)
	}
	if written.More {
		say("a workbook has no more than %s, and %s has more: choose rows with --where, or give --format csv",
			words.Count(written.Rows, "row"), what.Table)
	}
	if written.Cut > 0 {
		say("a cell of a workbook has no more than 32,767 characters: %s",
			words.Verbed(written.Cut, "cell is cut", "cells are cut"))
	}
	if ofProfiles := what.Table == "policies" || what.Table == "verdicts"; ofProfiles && f.profile == "" &&
		len(m.Profiles) > 1 && !chooses(what, "profile") {
		say("each row stands there once for every profile of the run (%s): --profile %s takes one",
			strings.Join(m.Profiles, ", "), m.Profiles[0])
	}
}

// chosenRows says which rows a selection takes, "" for all.
func chosenRows(s *export.Selection) string {
	var chosen []string
	for _, c := range s.Where {
		if s.Table != export.Access || c.Column != "agent" { // which is a column of access
			chosen = append(chosen, visible.Text(c.Column+"="+strings.Join(c.Values, " or ")))
		}
	}
	return strings.Join(chosen, " and ")
}

// chooses reports whether a selection has a condition on a column.
func chooses(s *export.Selection, column string) bool {
	return slices.ContainsFunc(s.Where, func(c export.Condition) bool { return c.Column == column })
}

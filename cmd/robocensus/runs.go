package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/journal"
)

const runsHelp = `Lists the runs in DIR by date, the newest last: ID, state, date, start, profiles and
hosts: those in the tables and, of an interrupted run, those whose answers are kept.
The date is that of --as-of, else the median day of the captures for WARC files, else the
start. A run is complete, unfinished (under way or interrupted; run --resume continues it)
or damaged (robocensus verify shows the problems).

Where other commands take a RUN, latest is the last complete run of this list and
previous the one before it.

With --json, the output is one array with an object for each run

    {"run", "state", "date", "started", "finished", "hosts", "rejected", "profiles",
     "tables"}

A damaged run also has "damage"; one that was interrupted "kept", hosts whose answers
are kept and not in the tables ("hosts"); a run made of shards also has

    "shards": {"of", "committed", "under_way", "missing"}

with the last two as lists of shards. A shard is under way if its process gave a sign
of life in the last two minutes. Unknown values are null.

Exit codes: 0 done, 64 usage, 74 I/O, 130 interrupted.`

const runsExamples = `  robocensus runs --out out
  robocensus verify --out out latest
  robocensus diff --out out previous latest`

func runsCommand() *cobra.Command {
	c := &cobra.Command{Use: "runs --out DIR [--json]", Short: "List the runs of a folder", Long: runsHelp,
		Example: runsExamples}
	out := cli.Out(c)
	var asJSON bool
	cli.JSONVar(c.Flags(), &asJSON, "one array, an object for each run")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := cli.CheckArguments(c.Context(), *out, args); err != nil {
			return err
		}
		in, err := cli.OpenRuns(c.Context(), *out)
		if err != nil {
			return err
		}
		defer in.Close()
		runs, err := journal.Runs(in)
		if err != nil {
			return err
		}
		if asJSON {
			return cli.JSON(c.OutOrStdout(), append([]journal.RunInfo{}, runs...)) // [] for none
		}
		showRuns(c.OutOrStdout(), runs)
		return nil
	}
	return c
}

func showRuns(out io.Writer, runs []journal.RunInfo) {
	p := &cli.Text{Out: out}
	var rows [][]string
	for _, r := range runs {
		row := []string{r.Run, r.State, "", "", "", ""}
		if r.Started != nil {
			row = []string{r.Run, r.State, cli.Date(*r.Date), r.Started.UTC().Format(time.RFC3339),
				p.Foreign(strings.Join(r.Profiles, ",")), words.Number(*r.Hosts + r.Kept)}
		}
		rows = append(rows, row)
	}
	p.Rows([]string{"run", "state", "date", "started", "profiles", "hosts"}, 5, rows)
	for _, r := range runs {
		if s := r.Shards; s != nil && s.Committed == s.Of && r.Finished == nil {
			p.Line(fmt.Sprintf("%s: all %d shards are committed; start any of them again to complete the run", r.Run, s.Of))
		}
		if s := r.Shards; s != nil && s.Committed < s.Of {
			p.Line(fmt.Sprintf("%s: %d of %d shards are committed%s%s", r.Run, s.Committed, s.Of,
				listed("under way", s.UnderWay), listed("missing", s.Missing)))
		}
		if r.Kept > 0 {
			p.Line(fmt.Sprintf("%s: the answers of %s are kept and not yet in tables; --resume asks none of these again",
				r.Run, words.Count(r.Kept, "host")))
		}
		if r.Damage != "" {
			p.Line(p.Foreign(fmt.Sprintf("%s: %s; robocensus verify says what to do", r.Run, r.Damage)))
		}
	}
}

// listed lists shards, as in "; missing: 3, 7-9".
func listed(what string, shards []int) string {
	if len(shards) == 0 {
		return ""
	}
	var ranges []string
	for i := 0; i < len(shards); {
		j := i + 1
		for j < len(shards) && shards[j] == shards[j-1]+1 {
			j++
		}
		text := strconv.Itoa(shards[i])
		if j > i+1 {
			text += "-" + strconv.Itoa(shards[j-1])
		}
		ranges, i = append(ranges, text), j
	}
	const most = 20
	if n := len(ranges); n > most {
		ranges = append(ranges[:most], "…")
	}
	return "; " + what + ": " + strings.Join(ranges, ", ")
}

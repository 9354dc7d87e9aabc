package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink"
)

// execute makes the run and prints what came of it.
func (f *runFlags) execute(ctx context.Context, c pipeline.Config, stdout, stderr io.Writer) error {
	remarkTokens(c, stderr)
	var progress pipeline.Progress
	stop := show(f.progress, &progress, stderr)
	result, err := pipeline.Run(ctx, c, &progress)
	stop()
	if errors.Is(err, sink.ErrRunComplete) {
		fmt.Fprintf(stdout, "nothing to do: %s\n", plain(err.Error()))
		return f.check(ctx, c, stdout)
	}
	if err != nil {
		if s := progress.Snapshot(); errors.Is(err, context.Canceled) && ctx.Err() != nil {
			how := "; the same command with --resume goes on with it"
			if c.Hosts == "-" || slices.Contains(c.WARC, "-") {
				how = "" // what was read is gone
			}
			return fmt.Errorf("%w: %d of %d fetched hosts are in the tables of %s%s",
				errInterrupted, s.Committed, s.Fetched, filepath.Join(c.Dir, "_runs", c.Run), how)
		}
		if isBegun(c) && codeOf(err) == exitIO && c.Hosts != "-" {
			return fmt.Errorf("%w; once that is mended, the same command with --resume goes on with the run", err)
		}
		return err
	}
	summarize(stdout, c, result)
	return f.check(ctx, c, stdout)
}

// isBegun tells whether the run is there to be gone on with.
func isBegun(c pipeline.Config) bool {
	_, err := sink.ReadManifest(c.Dir, c.Run)
	return err == nil
}

// remarkTokens says once what a reader who compares with Google's parser must
// know (SPEC section 4): it cuts such names, and so never finds their groups.
func remarkTokens(c pipeline.Config, stderr io.Writer) {
	var names []string
	for _, a := range c.Agents {
		if a.Robots().BeyondToken() != "" {
			names = append(names, plain(a.Name))
		}
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if len(names) > 3 {
		more = fmt.Sprintf(" and %d more", len(names)-3)
		names = names[:3]
	}
	fmt.Fprintf(stderr, "note: %s%s have a digit or dot in their token, which no product token has (RFC 9309, 2.2.1); their groups are found all the same\n", strings.Join(names, ", "), more)
}

// tableRow is a count with its name.
type tableRow struct {
	name  string
	count int64
}

func sorted(counts map[string]int64) []tableRow {
	var out []tableRow
	for name, count := range counts {
		out = append(out, tableRow{name, count})
	}
	slices.SortFunc(out, func(a, b tableRow) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	return out
}

// closed is how an agent fares.
type closed struct {
	agent, category  string
	all, own, partly int64
}

const topAgents = 10

func summarize(out io.Writer, c pipeline.Config, r *pipeline.Result) {
	first := c.Profiles[0].Name
	outcomes, reasons := make(map[string]int64), make(map[string]int64)
	agents := make(map[string]*closed)
	for _, row := range r.Counts.List() {
		if row.Profile != first {
			continue
		}
		switch row.Metric {
		case "outcome":
			outcomes[row.Key] += row.Count
		case "reason":
			reasons[row.Key] += row.Count
		case "policy", "policy_explicit":
			a := agents[row.Agent]
			if a == nil {
				a = &closed{agent: row.Agent, category: row.Category}
				agents[row.Agent] = a
			}
			switch {
			case row.Metric == "policy_explicit" && row.Key == "disallow_all":
				a.own += row.Count
			case row.Metric == "policy" && row.Key == "disallow_all":
				a.all += row.Count
			case row.Metric == "policy" && row.Key == "partial":
				a.partly += row.Count
			}
		}
	}
	share := func(n int64) string { return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(max(r.Targets, 1))) }

	what, lines := "hosts asked", "input lines were no new host"
	if c.IsStored() {
		what, lines = "stored answers judged", "places or lines could not be used"
	}
	fmt.Fprintf(out, "\n%d %s in %s", r.Targets, what, r.Elapsed.Round(100*time.Millisecond))
	if r.Rejected > 0 {
		fmt.Fprintf(out, "; %d %s: %s", r.Rejected, lines, filepath.Join(r.Folder, "rejected.csv"))
	}
	if s := r.Skipped; s.OtherURLs+s.OtherRecords+s.OtherHosts > 0 {
		fmt.Fprintf(out, "\nskipped: %d captures of other URLs, %d of other hosts, %d records of other kinds", s.OtherURLs, s.OtherHosts, s.OtherRecords)
	}
	fmt.Fprintf(out, "\n\n")
	if len(outcomes) > 0 { // else the table summary was not wanted
		table(out, "outcome", "hosts", "share", func(line func(name string, cells ...string)) {
			for _, row := range sorted(outcomes) {
				line(row.name, fmt.Sprint(row.count), share(row.count))
			}
		})
		table(out, "why", "hosts", "share", func(line func(name string, cells ...string)) {
			for _, row := range sorted(reasons) {
				line(row.name, fmt.Sprint(row.count), share(row.count))
			}
		})
	}

	var list []*closed
	for _, a := range agents {
		if a.all > 0 {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *closed) int {
		return cmp.Or(cmp.Compare(b.all, a.all), cmp.Compare(b.own, a.own), cmp.Compare(a.agent, b.agent))
	})
	if len(list) > 0 {
		fmt.Fprintf(out, "most blocked agents (profile %s)\n", first)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "\thosts\tshare\tby name\tby *\tin part\t  category and agent")
		for _, a := range list[:min(len(list), topAgents)] {
			fmt.Fprintf(w, "\t%d\t%s\t%d\t%d\t%d\t  %s %s\n", a.all, share(a.all), a.own, a.all-a.own, a.partly, a.category, plain(a.agent))
		}
		w.Flush()
		fmt.Fprintln(out)
	}

	var names []string
	for _, t := range c.Tables {
		names = append(names, fmt.Sprintf("%s %d", t, r.Rows[t]))
	}
	fmt.Fprintf(out, "rows written to %s: %s\n\n", c.Dir, strings.Join(names, ", "))
	if slices.Contains(c.Tables, "policies") {
		fmt.Fprintf(out, "ask DuckDB about the last complete run, for example who is kept out of most sites:\n  cd %s && duckdb -init views.sql -c \"%s\"\n", shellWord(c.Dir), firstQuery)
	}
}

const firstQuery = "SELECT agent, category, count(*) FILTER (class = 'disallow_all') AS closed, count(*) AS hosts FROM policies GROUP BY ALL ORDER BY closed DESC, agent LIMIT 10"

func shellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+:,@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// table prints a heading and rows whose numbers are set right.
func table(out io.Writer, head, second, third string, rows func(line func(name string, cells ...string))) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t%8s\t%7s\n", head, second, third)
	rows(func(name string, cells ...string) { fmt.Fprintf(w, "%s\t%8s\t%7s\n", name, cells[0], cells[1]) })
	w.Flush()
	fmt.Fprintln(out)
}

// Package series has the command series, which compares many runs.
//
//   - series.go, chosen.go: the command and its files, and the runs that it follows
//   - overview.go, movers.go: what it prints
//   - page.go: one page of HTML, and the lines of the series by what they follow
//   - lines.go: lines as a small drawing
//   - sentences.go: what titles say about lines
//   - figures.go, uses.go, strips.go, differences.go: the figures of the page
package series

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/visible"
)

const seriesHelp = `Follows the figures of the complete runs in DIR over time: for agents, categories,
signals, statuses and features the share at each run, with its denominator and an
interval of 95 %, by stratum of rank. It reads the table summary, so it takes about as
long for any number of hosts.

Runs are ordered by date (robocensus runs). Two neighbours are comparable if they
counted the same in the same way: the same entry of the registry of agents, the same
fields of the profile, and the same kind of list, by its name without numbers, with the
same --limit and --sample, asked with the same --user-agent, --schemes and
--max-redirects, and not one from a few archives and the other from a crawl. A run that
re-evaluates another has that run's list. The column why_not says what differs. Marks say
where an agent entered the registry, where a profile, the --timeout, the number of
archives, the number in the user agent or this program changed, and which run an outage
or walls hit. Changes of policies are counted for neighbours that robocensus diff has compared.

With --panel, hosts that all runs have are counted apart from the others, and so are
those that come and go. With --clustered, intervals allow for several hosts of one
registered domain. Both count every figure but walls, answers to further identities,
front pages and sitemaps host by host, and read nearly all tables of every run.

--weights is a CSV file of the hosts that each stratum has in the population, such as
"1-1000,1000"; the figures of the stratum "weighted" then count each stratum by these.

With --movers, the output is what moved most between the first and the last of
comparable runs: shares of the hosts whose rules decide that shut an agent or a category
out, and of files with a signal: a host that is down does not count as open. A figure
that may have moved by chance is left out. With --panel, the same hosts are compared pair
by pair, those whose rules decide in both runs (McNemar's exact test, and the interval of
paired shares), without clusters; else runs count as samples that differ, and hosts that
are down in one of them as any others that it lacks. All figures together hold in 95 % of
samples (Bonferroni).

With --agent, the output is the share of the hosts whose rules decide that shut the agent
out, with its interval, by run and stratum, and the difference from the first run,
compared likewise.
Where a run read sitemaps (--sitemaps), so is the median share of what hosts list that
the agent may fetch, with quartiles, by run and stratum, of all hosts also with --panel.

Without --html, --parquet, --csv or --json, the output is an overview of the hosts that
shut out an agent for AI training, weighted if there are weights; comparable says
whether a run is comparable with the one above it. The columns of the table series are
in the data dictionary.

Exit codes: 0 done, 64 usage, 65 bad input, 74 I/O, 130 interrupted.`

const seriesExamples = `  robocensus series --out out
  robocensus series --out out --runs 'CC-MAIN-*' --html series.html --parquet series.parquet
  robocensus series --out out --since 2024 --movers --panel
  robocensus series --out out --agent GPTBot --stratum all,1-1000
  robocensus series --out out --since 2024-01 --panel --clustered --csv series.csv`

// seriesFlags are the flags of series.
type seriesFlags struct {
	out, runs, since, weights string
	html, parquet, csv        string
	profiles, strata, agents  []string
	panel, clustered, json    bool
	movers                    bool
}

func Command() *cobra.Command {
	f := new(seriesFlags)
	c := &cobra.Command{
		Use: "series --out DIR [--runs GLOB] [--since DATE] [flags]", Short: "Follow figures over several runs",
		Long: seriesHelp, Example: seriesExamples,
	}
	s := c.Flags()
	cli.OutVar(c, &f.out)
	s.StringVar(&f.runs, "runs", "",
		"runs whose IDs match a quoted `GLOB`, such as 'CC-MAIN-*' (default all complete runs)")
	s.StringVar(&f.since, "since", "", "runs from a `DATE` on, such as 2024, 2024-01 or 2024-01-15")
	s.StringSliceVar(&f.profiles, "profile", nil, "`NAMES` of profiles to follow (default the first of the last run)")
	s.StringSliceVar(&f.strata, "stratum", nil,
		"`NAMES` of strata: all, weighted, 1-1000 and so on, unranked (default all of them); LABEL=VALUE is the hosts "+
			"with a value of a label, such as sector=news")
	s.BoolVar(&f.panel, "panel", false, "also count apart the hosts that all runs have")
	s.BoolVar(&f.clustered, "clustered", false, "intervals that allow for several hosts of one registered domain")
	s.StringVar(&f.weights, "weights", "", "CSV `FILE` of strata and their hosts in the population")
	s.StringVar(&f.html, "html", "", "draw the series as an HTML `FILE`, replaced if it exists; - is standard output")
	s.StringVar(&f.parquet, "parquet", "", "write the table series to a Parquet `FILE`")
	s.StringVar(&f.csv, "csv", "", "write it to a CSV `FILE`; - is standard output")
	s.StringArrayVar(&f.agents, "agent", nil,
		"print the shares of hosts that shut this `AGENT` out, by run and stratum, and how they differ from the first "+
			"run (repeatable)")
	cli.JSONVar(s, &f.json, "one object")
	s.BoolVar(&f.movers, "movers", false,
		"print the agents, categories and signals that moved most, of those that moved by more than chance")
	c.MarkFlagFilename("html", "html")
	c.MarkFlagFilename("parquet", "parquet")
	for _, name := range []string{"csv", "weights"} {
		c.MarkFlagFilename(name, "csv")
	}
	cli.CompleteList(c, "profile", slices.Concat(robots.ProfileNames(), robots.ProgramNames()))
	cli.CompleteList(c, "stratum", strataNames())
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := cli.CheckNoMore(args, 0); err != nil {
			return err
		}
		config, err := f.config(c.Context())
		if config.In != nil {
			defer config.In.Close()
		}
		if err != nil {
			return err
		}
		return f.write(c.Context(), config, c.OutOrStdout(), c.ErrOrStderr())
	}
	return c
}

// mostValues is the most values of labels that a series is about.
const mostValues = 200

func strataNames() []string {
	names := []string{series.All, series.Weighted}
	for _, s := range summary.Strata {
		names = append(names, s.Name)
	}
	return append(names, summary.Unranked)
}

// config checks the flags and finds the runs.
func (f *seriesFlags) config(ctx context.Context) (c series.Config, err error) {
	switch {
	case f.out == "":
		return c, cli.ErrNoOut
	case f.parquet == "-":
		return c, cli.Usagef("--parquet -: give a file, because Parquet is binary; --csv - and --json write to standard " +
			"output")
	case f.movers && len(f.agents) > 0:
		return c, cli.Usagef("--movers and --agent exclude each other: give one of them")
	case (f.movers || len(f.agents) > 0) && (f.csv == "-" || f.html == "-"):
		return c, cli.Usagef("--movers and --agent write to standard output: give --csv and --html a file")
	case f.json && f.csv == "-", f.json && f.html == "-", f.csv == "-" && f.html == "-":
		return c, cli.Usagef("only one of --json, --csv - and --html - can write to standard output: give the others a file")
	}
	labels, ofLabels := make(map[string]bool), 0
	for _, name := range f.strata {
		if v, isLabel := summary.ParseLabelValue(name); isLabel {
			labels[v.Label] = true
			ofLabels++
			continue
		}
		if !slices.Contains(strataNames(), name) {
			return c, cli.Usagef("--stratum: no stratum %q%s: the strata are %s, or LABEL=VALUE of a label", name,
				flags.Suggest(name, strataNames()), strings.Join(strataNames(), ", "))
		}
	}
	byHost := f.panel || f.clustered
	switch {
	case byHost && (len(labels) > 1 || len(labels) == 1 &&
		slices.ContainsFunc(f.strata, func(s string) bool { return slices.Contains(strataNames()[1:], s) })):
		return c, cli.Usagef("--stratum: with --panel or --clustered, give values of one label, or bands of rank")
	case ofLabels > mostValues:
		return c, cli.Usagef("--stratum: give at most %d values of labels", mostValues)
	}
	if slices.Contains(f.strata, series.Weighted) && f.weights == "" {
		return c, cli.Usagef("--stratum weighted needs --weights FILE")
	}
	c = series.Config{Profiles: f.profiles, Strata: f.distinctStrata(), Panel: f.panel, Paired: f.movers ||
		len(f.agents) > 0 || f.html != "", Clustered: f.clustered}
	since, err := f.from()
	if err != nil {
		return c, err
	}
	if c.In, err = cli.OpenOut(ctx, f.out); err != nil {
		return c, err
	}
	if c.Runs, c.Warnings, err = f.chosen(c.In, since); err != nil {
		return c, err
	}
	for name, asked := range map[string]bool{"panel": f.panel, "movers": f.movers} {
		if asked && len(c.Runs) < 2 {
			return c, cli.Usagef("--%s needs at least two runs, and there is only %s", name, c.Runs[0])
		}
	}
	if f.weights != "" {
		c.Weights, err = readWeights(ctx, f.weights)
	}
	return c, err
}

// distinctStrata returns each stratum once, as they were given.
func (f *seriesFlags) distinctStrata() (names []string) {
	for _, name := range f.strata {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// readWeights reads the hosts of strata in the population.
func readWeights(ctx context.Context, file string) (map[string]float64, error) {
	content, err := cli.ReadInput(ctx, file)
	if err != nil {
		return nil, err
	}
	file = remote.Name(file)
	in := csv.NewReader(strings.NewReader(string(content)))
	in.FieldsPerRecord, in.Comment, in.TrimLeadingSpace = 2, '#', true
	rows, err := in.ReadAll()
	if err != nil {
		return nil, &userfile.Error{Path: file, Err: err}
	}
	weights, sum := make(map[string]float64), 0.0
	for i, row := range rows {
		n, err := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
		if i == 0 && err != nil && !slices.Contains(strataNames(), row[0]) {
			continue // the head
		}
		bad := ""
		switch _, twice := weights[row[0]]; {
		case err != nil || !(n >= 0) || n > 1e15:
			bad = fmt.Sprintf("%q is not a number of hosts", row[1])
		case twice:
			bad = fmt.Sprintf("stratum %q comes twice", row[0])
		case !slices.Contains(strataNames()[2:], row[0]):
			bad = fmt.Sprintf("no stratum %q%s; the strata are %s", row[0], flags.Suggest(row[0], strataNames()[2:]),
				strings.Join(strataNames()[2:], ", "))
		}
		if bad != "" {
			return nil, &userfile.Error{Path: file, Err: fmt.Errorf("row %d: %s", i+1, bad)}
		}
		weights[row[0]] = n
		sum += n
	}
	if sum == 0 {
		return nil, &userfile.Error{Path: file, Err: errors.New("has no hosts; give lines such as 1-1000,1000")}
	}
	return weights, nil
}

// write reads the series and writes it in every form that is asked for.
func (f *seriesFlags) write(ctx context.Context, c series.Config, stdout, stderr io.Writer) error {
	r, err := series.Read(ctx, c)
	var unknown *series.UnknownStratum
	if errors.As(err, &unknown) {
		return unknownStratum(unknown)
	}
	if err != nil {
		return err
	}
	if f.html != "" && len(r.Profiles) > 0 && fewSites(r) {
		if r.Strips, err = series.ReadStrips(ctx, c.In, c.Runs, r.Profiles[0], counters.Headline); err != nil {
			return err
		}
	}
	for _, file := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.parquet, func(w io.Writer) error { return sink.WriteSeries(w, r.Points, sink.ToolVersion(cli.ToolVersion)) }},
		{f.html, func(w io.Writer) error {
			page, err := Page(r)
			if err == nil {
				_, err = w.Write(page)
			}
			return err
		}},
		{f.csv, func(w io.Writer) error { return series.WriteCSV(w, r.Points) }},
	} {
		switch {
		case file.path == "-":
			err = file.write(stdout)
		case file.path != "":
			err = flags.WriteFile(ctx, file.path, file.write)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(f.agents) > 0:
		return f.showAgents(stdout, r)
	case f.json && f.movers:
		return cli.JSON(stdout, movers(r))
	case f.movers:
		showMovers(stdout, r)
	case f.json:
		return cli.JSON(stdout, r)
	case f.parquet != "" || f.csv != "" || f.html != "":
		for _, text := range r.Warnings {
			fmt.Fprintf(stderr, "robocensus: %s\n", visible.Text(text))
		}
	default:
		showSeries(stdout, r, c.Strata)
	}
	return nil
}

// mostNamed is the number of labels or values that an error names.
const mostNamed = 20

// unknownStratum is the error of a value of a label that no run has.
func unknownStratum(e *series.UnknownStratum) error {
	switch {
	case len(e.Labels) == 0:
		return cli.Usagef("--stratum %s: no run counts by labels: give them to robocensus run with --label or --labels",
			e.Stratum())
	case len(e.Values) == 0:
		return cli.Usagef("--stratum: no run has a label %q%s: the labels are %s", e.Label,
			flags.Suggest(e.Label, e.Labels), past.Some(e.Labels, mostNamed))
	}
	return cli.Usagef("--stratum: no run counts a value %q of the label %s%s: the values are %s", e.Value, e.Label,
		flags.Suggest(e.Value, e.Values), past.Some(e.Values, mostNamed))
}

// fewSites reports whether the runs are small enough to look at each site. A run of archives
// counts captures, of which a site has several.
func fewSites(r *series.Result) bool {
	return !slices.ContainsFunc(r.Runs, func(run series.Run) bool { return run.Hosts > 10*series.MostSites })
}

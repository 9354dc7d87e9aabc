package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/sink"
)

const runHelp = `Asks every HOST, or every host in FILE, for its robots.txt and writes the tables
to DIR; or reads the answers from WARC files, from stored files named by their
hosts, or from an earlier run that has kept its bodies, and asks nobody.

FILE is a list of hosts, origins or URLs: one per line, or CSV, TSV or Parquet
with the columns host, rank, url or host_rev (a Tranco list works as it is);
plain, .gz or .zst; - is standard input. A bare host is asked over https, and over
http if https gives no answer. Adjacent rows of one origin that have URLs become
samples of that origin alone.

Lines that are not hosts go to DIR/_runs/ID/rejected.csv. After Ctrl-C, a full
disk or a crash, continue with --resume: it asks no host again that has answered,
and the tables are those of an undisturbed run. A second Ctrl-C stops at once,
without waiting for the hosts in flight (--grace).

If this machine is cut off from the network, the run waits and asks again; it
records no failure from that time. It stops after --outage-patience, or after 30
seconds if it never reached a host; --resume continues it.

With --json a run that completes prints one object

    {"run", "folder", "state", "hosts", "rejected", "seconds", "profile", "outcomes", "reasons", "failures",
     "rows", "expectations"}

with hosts by outcome, reason and error class under the first profile, and rows by
table. A run that was already complete has no seconds, outcomes, reasons or
failures. A run that fails prints nothing to standard output. Progress and notes go
to standard error.

Exit codes: 0 done, 1 done and an expectation is broken or cannot be checked, 64 usage, 65 bad input, 69 no host could be reached, 74 I/O,
75 ended by SIGTERM or this machine is cut off, 130 ended by Ctrl-C.`

const runExamples = `  robocensus run example.com www.example.org --out out
  robocensus run --hosts tranco.csv --limit 10000 --out out
  zcat hosts.gz | robocensus run --hosts - --out out --schemes https
  robocensus run --warc 'crawl/*.warc.gz' --ranks tranco.csv --out out
  robocensus run --from-run out/_runs/20261120T101500Z --agents mine.yaml --out out
  cd out && duckdb -init views.sql`

// runFlags are the flags of run as they were given.
type runFlags struct {
	commonFlags

	hosts, bodies, fromRun   string
	warc, named              []string
	out, run, urls, ranks    string
	tables, schemes          []string
	keepBodies, keepComments bool
	limit                    int64
	outagePatience           time.Duration
	acceptUnreachable        bool
	memory                   size
	resume, forceNew         bool
	state                    string
	maxAge                   time.Duration
	grace                    time.Duration
	progress                 string
	json, dryRun             bool
	expect                   string
	expectations             *audit.Expectations // nil for none
	dated                    bool                // the run's ID is the time, which another may have taken
	damaged                  []string            // runs that --resume has passed over
}

func newRunFlags() *runFlags {
	f := &runFlags{commonFlags: commonFlags{set: newFlagSet("run")}}
	s := f.set
	s.StringVar(&f.hosts, "hosts", "", "`FILE` of hosts, origins or URLs to ask; - is standard input; with --warc or --bodies, take only these hosts")
	s.StringArrayVar(&f.warc, "warc", nil, "WARC files, a quoted `GLOB`, plain, .gz or .zst; - is standard input; repeatable")
	s.StringVar(&f.bodies, "bodies", "", "folder or tar (`DIR|TAR`) of robots.txt files, named by host (example.com_8443: that port)")
	s.StringVar(&f.fromRun, "from-run", "", "folder (`DIR/_runs/ID`) of an earlier run with --keep-bodies, to judge again; latest and previous are complete runs of --out")
	s.StringVar(&f.ranks, "ranks", "", "`FILE` of ranked hosts (as --hosts), for --warc and --bodies")
	s.Int64VarP(&f.limit, "limit", "n", 0, "take the first `N` hosts only")
	group(s, "Input")

	f.addMeaning()
	s.StringVar(&f.urls, "urls", "", "`FILE` of URLs to judge, one per line: a path applies to every host, an absolute URL to its origin (default a dozen built-in paths)")
	s.StringVar(&f.expect, "expect", "", "YAML `FILE` of expectations about the hosts; if one is broken, the exit code is 1")
	group(s, "Meaning")

	s.StringSliceVar(&f.schemes, "schemes", []string{"https", "http"}, "schemes to try, in order, for hosts without one")
	s.IntVar(&f.concurrency, "concurrency", 500, "concurrent requests in total")
	f.addNetwork()
	s.StringVar(&f.state, "state", "", "`DIR` that keeps answers from run to run: outages, last copies, and answers fresh enough to serve again")
	s.DurationVar(&f.maxAge, "max-age", 24*time.Hour, "with --state: serve an answer up to this age without asking; Cache-Control may shorten the age, or lengthen it up to seven times; 0 always asks")
	s.DurationVar(&f.outagePatience, "outage-patience", 10*time.Minute, "if this machine is cut off from the network, wait this long before stopping with exit code 75")
	s.BoolVar(&f.acceptUnreachable, "accept-unreachable", false, "complete the run even if no host can be reached: blame the hosts, not this machine")
	s.DurationVar(&f.grace, "grace", 10*time.Second, "after Ctrl-C or SIGTERM, wait this long for the hosts in flight; --resume asks no host again that has answered")
	group(s, "Network")

	s.StringVarP(&f.out, "out", "o", "", "`DIR` for the tables")
	s.StringVar(&f.run, "run", "", "`ID` of the run (default the UTC start time, such as 20261120T101500Z)")
	s.BoolVar(&f.resume, "resume", false, "continue an interrupted run: the one named by --run, or the last one in DIR; if there is none, begin one")
	s.BoolVar(&f.forceNew, "force-new", false, "remove the run with this ID first, complete or not")
	s.StringSliceVar(&f.tables, "tables", nil, "tables to write (default all but bodies): "+strings.Join(sink.TableNames, ", "))
	s.BoolVar(&f.keepBodies, "keep-bodies", false, "write the table bodies too")
	s.BoolVar(&f.keepComments, "keep-comments", false, "keep comments in the table lines")
	s.Var(&f.memory, "memory", "memory limit, a `SIZE` such as 512M or 2G (default that of the control group or machine); bodies go to disk before it is exceeded")
	s.StringVar(&f.progress, "progress", "auto", "auto, bar, log or none")
	s.BoolVar(&f.dryRun, "dry-run", false, "show what would be asked and written: hosts, profiles, agents, URLs, verdicts, approximate bytes; ask and write nothing")
	s.BoolVar(&f.json, "json", false, "print only JSON to standard output: one object")
	group(s, "Output")
	return f
}

// addTo adds the flags to a command, with their completion.
func (f *runFlags) addTo(c *cobra.Command) {
	c.Flags().AddFlagSet(f.set)
	completeMeaning(c)
	completeList(c, "tables", sink.TableNames)
	completeList(c, "schemes", schemes)
	completeFlag(c, "progress", progressModes...)
	for _, name := range []string{"out", "state"} {
		c.MarkFlagDirname(name)
	}
	c.MarkFlagFilename("expect", "yaml", "yml")
}

var (
	schemes       = []string{"https", "http", "ftp"}
	progressModes = []string{"auto", "bar", "log", "none"}
)

func runCommand() *cobra.Command {
	f := newRunFlags()
	c := &cobra.Command{
		Use: `run HOST... --out DIR [flags]
       robocensus run --hosts FILE --out DIR [flags]
       robocensus run --warc GLOB | --bodies DIR|TAR | --from-run DIR/_runs/ID --out DIR [flags]`,
		Short: "Ask hosts for their robots.txt, or read stored answers, and write the tables", Long: runHelp, Example: runExamples,
		RunE: func(c *cobra.Command, args []string) error {
			f.named = args
			ctx := c.Context()
			if err := f.applyConfig(ctx); err != nil {
				return err
			}
			config, err := f.build(ctx)
			if err != nil {
				return err
			}
			if f.dryRun {
				return f.preview(ctx, config, c.OutOrStdout())
			}
			limitMemory(f.memory, config.Memory)
			return f.execute(ctx, config, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.addTo(c)
	return c
}

// build checks the flags and makes the configuration of a run.
func (f *runFlags) build(ctx context.Context) (pipeline.Config, error) {
	c := pipeline.Config{
		Dir: f.out, Run: f.run, Schemes: f.schemes, Limit: f.limit,
		Config: evaluate.Config{KeepComments: f.keepComments}, Grace: f.grace, State: f.state, Resume: f.resume, ForceNew: f.forceNew, ToolVersion: sink.ToolVersion(version),
	}
	if f.fromRun != "" {
		var err error
		if f.fromRun, err = findRunFolder(f.out, f.fromRun); err != nil {
			return c, err
		}
	}
	c.Source = pipeline.Source{Hosts: f.hosts, WARC: f.warc, Bodies: f.bodies, FromRun: f.fromRun, Ranks: f.ranks, Named: f.named}
	if err := f.checkNamed(); err != nil {
		return c, err
	}
	sources := 0
	for _, given := range []bool{len(f.warc) > 0, f.bodies != "", f.fromRun != ""} {
		if given {
			sources++
		}
	}
	piped := 0
	for _, path := range append([]string{f.hosts, f.ranks}, f.warc...) {
		if path == "-" {
			piped++
		}
	}
	switch {
	case piped > 1:
		return c, usagef("standard input can be read only once: give - for only one of --hosts, --ranks and --warc")
	case f.forceNew && f.fromRun != "" && f.run != "" && isSameFile(f.fromRun, filepath.Join(f.out, "_runs", f.run)):
		return c, usagef("--force-new would remove the run that --from-run reads; give another --run")
	case sources > 1:
		return c, usagef("--warc, --bodies and --from-run exclude each other: give one of them")
	case f.ranks != "" && (sources == 0 || f.fromRun != ""):
		return c, usagef("--ranks needs --warc or --bodies; a list of hosts and an earlier run have ranks already")
	case sources == 1 && f.state != "":
		return c, usagef("--state does not apply to stored answers: they are not asked over the network")
	case sources == 0 && f.hosts == "" && len(f.named) == 0:
		return c, usagef("no source given: name hosts, or give --hosts FILE (- is standard input), --warc, --bodies or --from-run")
	case f.out == "":
		return c, usagef("--out is missing: give a folder for the tables")
	case f.concurrency < 1 || f.concurrency > 100_000:
		return c, usagef("--concurrency must be between 1 and 100000")
	case f.resume && (f.hosts == "-" || slices.Contains(f.warc, "-")):
		return c, usagef("--resume: standard input cannot be read again; keep the list in a file")
	case f.set.Changed("max-age") && f.state == "":
		return c, usagef("--max-age needs --state DIR")
	case f.maxAge < 0:
		return c, usagef("--max-age cannot be negative")
	case f.outagePatience <= 0:
		return c, usagef("--outage-patience must be positive")
	case f.grace < 0:
		return c, usagef("--grace cannot be negative")
	case f.limit < 0:
		return c, usagef("--limit cannot be negative")
	case f.dryRun && f.json:
		return c, usagef("--dry-run prints text: leave out --json")
	case len(f.schemes) == 0:
		return c, usagef("--schemes is empty: use https, http or ftp")
	case !slices.Contains(progressModes, f.progress):
		return c, usagef("--progress %q: use auto, bar, log or none", f.progress)
	}
	for i, scheme := range f.schemes {
		if fetch.DefaultPort(scheme) == 0 || slices.Contains(f.schemes[:i], scheme) {
			return c, usagef("--schemes %q: use https, http or ftp, each once", strings.Join(f.schemes, ","))
		}
	}
	if c.Run == "" && f.resume && !f.forceNew {
		var err error
		if c.Run, f.damaged, err = sink.Unfinished(f.out); err != nil {
			return c, err
		}
	}
	if c.Run == "" {
		c.Run, f.dated = time.Now().UTC().Format("20060102T150405Z"), true
		c.ForceNew = false // or it would remove another's
	}
	if err := sink.CheckRunID(c.Run); err != nil {
		return c, usageError{err}
	}
	if standsForRun(c.Run) {
		return c, usagef("--run %s: the name is reserved for a complete run; choose another ID", c.Run)
	}
	for _, table := range f.tables {
		if !slices.Contains(sink.TableNames, table) {
			return c, usagef("--tables: no table %q%s: the tables are %s", table, suggest.Remark(table, sink.TableNames), strings.Join(sink.TableNames, ", "))
		}
		if !slices.Contains(c.Tables, table) {
			c.Tables = append(c.Tables, table)
		}
	}
	if len(c.Tables) == 0 {
		c.Tables = slices.DeleteFunc(slices.Clone(sink.TableNames), func(t string) bool { return t == "bodies" })
	}
	if f.keepBodies && !slices.Contains(c.Tables, "bodies") {
		c.Tables = append(c.Tables, "bodies")
	}
	var err error
	if c.Profiles, err = f.readProfiles(); err != nil {
		return c, err
	}
	if c.Fetch, err = f.fetchConfig(ctx, c.Profiles); err != nil {
		return c, err
	}
	c.Fetch.MaxAge, c.Fetch.OutagePatience, c.Fetch.AcceptUnreachable = f.maxAge, f.outagePatience, f.acceptUnreachable
	requests := f.concurrency
	if sources > 0 {
		requests = 0
	}
	if c.Memory, err = processMemory(f.memory, requests); err != nil {
		return c, err
	}
	if sources == 0 {
		if err := enoughFiles(f.concurrency, f.connectTo == "" && f.proxy == ""); err != nil {
			return c, err
		}
	}
	if err := f.files(ctx, &c); err != nil {
		return c, err
	}
	if f.expectations, err = readExpectations(ctx, f.expect); err != nil {
		return c, err
	}
	if f.expectations != nil {
		if err := f.expectations.Fit(c.Config, c.Tables); err != nil {
			return c, err
		}
	}
	c.Settings, c.Pace = f.settings()
	return c, nil
}

// checkNamed checks the hosts that are given as arguments.
func (f *runFlags) checkNamed() error {
	if len(f.named) == 0 {
		return nil
	}
	for _, other := range []struct {
		name  string
		given bool
	}{{"hosts", f.hosts != ""}, {"warc", len(f.warc) > 0}, {"bodies", f.bodies != ""}, {"from-run", f.fromRun != ""}} {
		if other.given {
			return usagef("%s and --%s are both sources: give one of them", f.named[0], other.name)
		}
	}
	for _, host := range f.named {
		if info, err := os.Stat(host); err == nil && info.Mode().IsRegular() {
			return usagef("%s is a file: give --hosts %[1]s to ask the hosts in it, or https://%[1]s for the host of that name", host)
		}
		if _, _, err := fetch.Parse(host, "https"); err != nil {
			return usageError{err}
		}
	}
	return nil
}

// isSameFile says whether two paths lead to one file or folder, however they are
// spelt. What does not exist is no file.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// files reads agents and URL samples, the built-in ones where none are named.
func (f *runFlags) files(ctx context.Context, c *pipeline.Config) error {
	agents, agentsInput, err := f.readAgents(ctx)
	if err != nil {
		return err
	}
	urls, path := configs.URLs, "built-in urls.txt"
	if f.urls != "" {
		path = f.urls
		if urls, err = readInput(ctx, path); err != nil {
			return err
		}
	}
	if c.Samples, err = evaluate.ParseSamples(path, urls); err != nil {
		return err
	}
	c.Agents = agents
	c.Inputs = []sink.Input{agentsInput, {Role: "urls", Path: path, SHA256: digest(urls), Rows: int64(len(c.Samples))}}
	if f.configInput != nil {
		c.Inputs = append(c.Inputs, *f.configInput)
	}
	return nil
}

// settings are the flags as the manifest shows them, whether given or not:
// what bears on the tables, and apart from it what a run may be gone on with
// under other values.
func (f *runFlags) settings() (settings, pace map[string]any) {
	settings, pace = make(map[string]any), make(map[string]any)
	f.set.VisitAll(func(flag *pflag.Flag) {
		out := settings
		switch flag.Name {
		case "out", "run", "config", "progress", "help", "resume", "force-new", "expect", "json", "dry-run":
			return
		case "concurrency", "per-address", "per-domain", "rate", "address-rate", "state", "grace", "outage-patience", "accept-unreachable", "memory":
			out = pace
		case "proxy":
			// A password has no business in a folder that is published.
			if u, err := url.Parse(f.proxy); err == nil {
				pace[flag.Name] = u.Redacted()
			}
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			out[flag.Name] = list.GetSlice()
			return
		}
		out[flag.Name] = flag.Value.String()
	})
	if len(f.own) > 0 {
		settings["profiles"] = f.ownAsWritten
	}
	return settings, pace
}

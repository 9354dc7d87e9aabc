package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/sink"
)

const runHelp = `Usage: robocensus run --hosts FILE --out DIR [flags]

Asks every host in FILE for its robots.txt and writes the tables to DIR.

FILE is a list of hosts, origins or URLs, one to a line, or CSV or TSV with the
columns host, rank, url or host_rev (a Tranco list works as it is), or Parquet
with such columns; plain, .gz or .zst; - is standard input. A bare host is
asked by https first and by http where https gives no answer. Rows of one
origin that stand together and carry URLs become that origin's own samples.

  robocensus run --hosts tranco.csv --limit 10000 --out out
  zcat hosts.gz | robocensus run --hosts - --out out --schemes https
  cd out && duckdb -init views.sql

Lines that are no host go to DIR/_runs/ID/rejected.csv and stop nothing.
Exit codes: 0 done, 64 usage, 65 bad input, 74 I/O, 130 interrupted.

Flags:
`

// runFlags are the flags of run as they were given.
type runFlags struct {
	commonFlags

	hosts, out, run, urls    string
	tables, schemes          []string
	keepBodies, keepComments bool
	concurrency              int
	limit                    int64
	progress                 string
}

func newRunFlags() *runFlags {
	f := &runFlags{commonFlags: commonFlags{set: newFlagSet("run")}}
	s := f.set
	s.StringVar(&f.hosts, "hosts", "", "`FILE` of hosts, origins or URLs; - is standard input")
	s.StringVar(&f.out, "out", "", "`DIR` for the tables")
	s.StringVar(&f.run, "run", "", "`ID` of the run (default the UTC start time, such as 20261120T101500Z)")
	s.StringVar(&f.urls, "urls", "", "`FILE` of URLs to judge, one to a line: a path is tried on every host, an absolute URL on its own origin (default a built-in dozen of paths)")
	s.StringSliceVar(&f.tables, "tables", nil, "tables to write (default all but bodies): "+strings.Join(sink.TableNames, ", "))
	s.BoolVar(&f.keepBodies, "keep-bodies", false, "write the table bodies too")
	s.BoolVar(&f.keepComments, "keep-comments", false, "keep comments in the table lines")
	s.StringSliceVar(&f.schemes, "schemes", []string{"https", "http"}, "for hosts without one: the first is asked, the next where it gives no answer")
	s.IntVar(&f.concurrency, "concurrency", 500, "hosts asked at once")
	f.addMeaning()
	f.addNetwork()
	s.Int64Var(&f.limit, "limit", 0, "ask the first `N` hosts only")
	s.StringVar(&f.progress, "progress", "auto", "auto, bar, log or none")
	return f
}

func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newRunFlags()
	if err := parseFlags(f.set, args, runHelp, stdout); err != nil {
		return err
	}
	if f.set.NArg() > 0 {
		return usagef("unexpected argument %q", f.set.Arg(0))
	}
	if err := f.applyConfig(); err != nil {
		return err
	}
	c, err := f.build()
	if err != nil {
		return err
	}
	return execute(ctx, c, f.progress, stdout, stderr)
}

// build checks the flags and makes the configuration of a run.
func (f *runFlags) build() (pipeline.Config, error) {
	c := pipeline.Config{
		Dir: f.out, Run: f.run, Hosts: f.hosts, Schemes: f.schemes, Limit: f.limit,
		Concurrency: f.concurrency, KeepComments: f.keepComments, ToolVersion: sink.ToolVersion(version),
	}
	switch {
	case f.hosts == "":
		return c, usagef("--hosts is missing: give a file of hosts, or - for standard input")
	case f.out == "":
		return c, usagef("--out is missing: give a folder for the tables")
	case f.concurrency < 1 || f.concurrency > 100_000:
		return c, usagef("--concurrency must be between 1 and 100000")
	case f.limit < 0:
		return c, usagef("--limit cannot be negative")
	case len(f.schemes) == 0:
		return c, usagef("--schemes is empty: use https, http or both")
	case !slices.Contains([]string{"auto", "bar", "log", "none"}, f.progress):
		return c, usagef("--progress %q: use auto, bar, log or none", f.progress)
	}
	for i, scheme := range f.schemes {
		if fetch.DefaultPort(scheme) == 0 || slices.Contains(f.schemes[:i], scheme) {
			return c, usagef("--schemes %q: use https, http or both, each once", strings.Join(f.schemes, ","))
		}
	}
	if c.Run == "" {
		c.Run = time.Now().UTC().Format("20060102T150405Z")
	}
	if err := sink.CheckRunID(c.Run); err != nil {
		return c, usageError{err}
	}
	for _, table := range f.tables {
		if !slices.Contains(c.Tables, table) {
			c.Tables = append(c.Tables, table)
		}
	}
	if len(c.Tables) == 0 {
		c.Tables = slices.DeleteFunc(slices.Clone(sink.TableNames), func(t string) bool { return t == "bodies" })
	}
	if err := sink.CheckTables(c.Tables); err != nil {
		return c, usageError{fmt.Errorf("--tables: %w", err)}
	}
	if f.keepBodies && !slices.Contains(c.Tables, "bodies") {
		c.Tables = append(c.Tables, "bodies")
	}
	var err error
	if c.Profiles, err = f.readProfiles(); err != nil {
		return c, err
	}
	if c.Fetch, err = f.fetchConfig(c.Profiles); err != nil {
		return c, err
	}
	if err := f.files(&c); err != nil {
		return c, err
	}
	c.Settings = f.settings()
	return c, nil
}

// files reads agents and URL samples, the built-in ones where none are named.
func (f *runFlags) files(c *pipeline.Config) error {
	agents, agentsInput, err := f.readAgents()
	if err != nil {
		return err
	}
	urls, path := configs.URLs, "built-in urls.txt"
	if f.urls != "" {
		path = f.urls
		if urls, err = readInput(path); err != nil {
			return err
		}
	}
	if c.Samples, err = pipeline.ParseSamples(path, urls); err != nil {
		return err
	}
	c.Agents = agents
	c.Inputs = []sink.Input{agentsInput, {Role: "urls", Path: path, SHA256: digest(urls), Rows: int64(len(c.Samples))}}
	if f.configInput != nil {
		c.Inputs = append(c.Inputs, *f.configInput)
	}
	return nil
}

// settings is the configuration as the manifest shows it: every flag that
// bears on what the tables hold, whether given or not.
func (f *runFlags) settings() map[string]any {
	out := make(map[string]any)
	f.set.VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "out", "run", "config", "progress", "help":
			return
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			out[flag.Name] = list.GetSlice()
			return
		}
		out[flag.Name] = flag.Value.String()
	})
	if len(f.own) > 0 {
		out["profiles"] = f.ownAsWritten
	}
	return out
}

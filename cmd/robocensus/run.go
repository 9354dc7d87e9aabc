package main

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/robots"
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
	set *pflag.FlagSet

	hosts, out, run                string
	config, agents, urls           string
	profiles, tables, schemes      []string
	keepBodies, keepComments       bool
	concurrency, perAddress        int
	timeout                        time.Duration
	retries, maxRedirects          int
	limit                          int64
	connectTo, resolver, userAgent string
	allowPrivate                   bool
	caFile                         string
	progress                       string
}

func newRunFlags(stderr io.Writer) *runFlags {
	f := &runFlags{set: pflag.NewFlagSet("run", pflag.ContinueOnError)}
	s := f.set
	s.SortFlags = false
	s.SetOutput(stderr)
	s.StringVar(&f.hosts, "hosts", "", "`FILE` of hosts, origins or URLs; - is standard input")
	s.StringVar(&f.out, "out", "", "`DIR` for the tables")
	s.StringVar(&f.run, "run", "", "`ID` of the run (default the UTC start time, such as 20261120T101500Z)")
	s.StringVar(&f.config, "config", "", "YAML `FILE` that sets any flag by its name; flags given here win")
	s.StringVar(&f.agents, "agents", "", "YAML `FILE` of agents (default a built-in registry)")
	s.StringVar(&f.urls, "urls", "", "`FILE` of URLs to judge, one to a line: a path is tried on every host, an absolute URL on its own origin (default a built-in dozen of paths)")
	s.StringSliceVar(&f.profiles, "profile", []string{"google"}, "how robots.txt is read: "+strings.Join(robots.ProfileNames(), ", ")+"; several give a verdict each")
	s.StringSliceVar(&f.tables, "tables", nil, "tables to write (default all but bodies): "+strings.Join(sink.TableNames, ", "))
	s.BoolVar(&f.keepBodies, "keep-bodies", false, "write the table bodies too")
	s.BoolVar(&f.keepComments, "keep-comments", false, "keep comments in the table lines")
	s.StringSliceVar(&f.schemes, "schemes", []string{"https", "http"}, "for hosts without one: the first is asked, the next where it gives no answer")
	s.IntVar(&f.concurrency, "concurrency", 500, "hosts asked at once")
	s.IntVar(&f.perAddress, "per-address", 4, "connections at once to one address")
	s.DurationVar(&f.timeout, "timeout", 30*time.Second, "for one host: redirects, retries and waits together")
	s.IntVar(&f.retries, "retries", 2, "further attempts after a 5xx or a failure that may pass; twice as many after a 503")
	s.IntVar(&f.maxRedirects, "max-redirects", 0, "redirects followed (default what the profiles say)")
	s.Int64Var(&f.limit, "limit", 0, "ask the first `N` hosts only")
	s.StringVar(&f.connectTo, "connect-to", "", "dial this `ADDR` (IP:port) whatever the host; politeness is then per host")
	s.BoolVar(&f.allowPrivate, "allow-private", false, "dial loopback, private and other special addresses too")
	s.StringVar(&f.caFile, "ca-file", "", "PEM `FILE` of certificate authorities to trust instead of the system's")
	s.StringVar(&f.resolver, "resolver", "", "DNS server to ask, as `ADDR` (IP or IP:port; default the system's)")
	s.StringVar(&f.userAgent, "user-agent", "robocensus/1 (+https://github.com/robocensus/robocensus)", "what we call ourselves; put an address of yours in it")
	s.StringVar(&f.progress, "progress", "auto", "auto, bar, log or none")
	s.Usage = func() {}
	return f
}

func runCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := newRunFlags(stderr)
	if err := parseFlags(f.set, args, runHelp, stdout); err != nil {
		return err
	}
	if f.config != "" {
		if err := applyConfig(f.set, f.config); err != nil {
			return err
		}
	}
	c, err := f.build()
	if err != nil {
		return err
	}
	return execute(ctx, c, f.progress, stdout, stderr)
}

// parseFlags parses args and answers --help.
func parseFlags(set *pflag.FlagSet, args []string, help string, stdout io.Writer) error {
	set.SetOutput(io.Discard)
	err := set.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprint(stdout, help, set.FlagUsagesWrapped(100))
		return err
	}
	if err != nil {
		return usageError{err}
	}
	if set.NArg() > 0 {
		return usagef("unexpected argument %q", set.Arg(0))
	}
	return nil
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
	case f.perAddress < 1:
		return c, usagef("--per-address must be 1 or more")
	case f.timeout <= 0:
		return c, usagef("--timeout must be positive")
	case f.retries < 0 || f.maxRedirects < 0 || f.limit < 0:
		return c, usagef("--retries, --max-redirects and --limit cannot be negative")
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
	c.Tables = f.tables
	if len(c.Tables) == 0 {
		c.Tables = slices.DeleteFunc(slices.Clone(sink.TableNames), func(t string) bool { return t == "bodies" })
	}
	if err := sink.CheckTables(c.Tables); err != nil {
		return c, usageError{fmt.Errorf("--tables: %w", err)}
	}
	if f.keepBodies && !slices.Contains(c.Tables, "bodies") {
		c.Tables = append(c.Tables, "bodies")
	}
	if err := f.network(&c); err != nil {
		return c, err
	}
	if err := f.files(&c); err != nil {
		return c, err
	}
	c.Settings = f.settings()
	return c, nil
}

// network fills in the profiles and how to fetch, which they bound.
func (f *runFlags) network(c *pipeline.Config) error {
	c.Fetch = fetch.Config{
		UserAgent: f.userAgent, Timeout: f.timeout, Retries: f.retries, PerAddress: f.perAddress, AllowPrivate: f.allowPrivate,
	}
	for i, name := range f.profiles {
		p, ok := robots.ProfileNamed(name)
		if !ok || slices.Contains(f.profiles[:i], name) {
			return usagef("--profile %q: use %s, each once", name, strings.Join(robots.ProfileNames(), ", "))
		}
		if f.maxRedirects > 0 {
			changed := *p
			changed.MaxRedirects = f.maxRedirects
			p = &changed
		}
		c.Profiles = append(c.Profiles, p)
		c.Fetch.MaxBody = max(c.Fetch.MaxBody, p.SizeLimit)
		c.Fetch.MaxRedirects = max(c.Fetch.MaxRedirects, p.MaxRedirects)
	}
	if len(c.Profiles) == 0 {
		return usagef("--profile is empty: use %s", strings.Join(robots.ProfileNames(), ", "))
	}
	var err error
	if f.connectTo != "" {
		if c.Fetch.ConnectTo, err = netip.ParseAddrPort(f.connectTo); err != nil {
			return usagef("--connect-to %q: give an IP address and a port, such as 127.0.0.1:8080", f.connectTo)
		}
	}
	if f.resolver != "" {
		if addr, e := netip.ParseAddr(f.resolver); e == nil {
			c.Fetch.Resolver = netip.AddrPortFrom(addr, 53)
		} else if c.Fetch.Resolver, err = netip.ParseAddrPort(f.resolver); err != nil {
			return usagef("--resolver %q: give an IP address, with or without a port", f.resolver)
		}
	}
	if f.caFile != "" {
		text, err := readInput(f.caFile)
		if err != nil {
			return err
		}
		c.Fetch.RootCAs = x509.NewCertPool()
		if !c.Fetch.RootCAs.AppendCertsFromPEM(text) {
			return &pipeline.InputError{Path: f.caFile, Err: errors.New("holds no PEM certificate")}
		}
	}
	return nil
}

// files reads agents and URL samples, the built-in ones where none are named.
func (f *runFlags) files(c *pipeline.Config) error {
	agents, urls := configs.Agents, configs.URLs
	agentsPath, urlsPath := "built-in agents.yaml", "built-in urls.txt"
	var err error
	if f.agents != "" {
		if agents, err = readInput(f.agents); err != nil {
			return err
		}
		agentsPath = f.agents
	}
	if f.urls != "" {
		if urls, err = readInput(f.urls); err != nil {
			return err
		}
		urlsPath = f.urls
	}
	if c.Agents, err = pipeline.ParseAgents(agentsPath, agents); err != nil {
		return err
	}
	if c.Samples, err = pipeline.ParseSamples(urlsPath, urls); err != nil {
		return err
	}
	c.Inputs = []sink.Input{
		{Role: "agents", Path: agentsPath, SHA256: digest(agents), Rows: int64(len(c.Agents))},
		{Role: "urls", Path: urlsPath, SHA256: digest(urls), Rows: int64(len(c.Samples))},
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
	return out
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxInputFile bounds the small files that are read whole.
const maxInputFile = 64 << 20

func readInput(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &pipeline.InputError{Path: path, Err: errors.Unwrap(err)}
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxInputFile+1))
	if err != nil {
		return nil, &pipeline.InputError{Path: path, Err: errors.Unwrap(err)}
	}
	if len(text) > maxInputFile {
		return nil, &pipeline.InputError{Path: path, Err: fmt.Errorf("is larger than %d MiB", maxInputFile>>20)}
	}
	return text, nil
}

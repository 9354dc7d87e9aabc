package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// build checks the flags and makes the configuration of a run.
func (f *runFlags) build(ctx context.Context) (c pipeline.Config, err error) {
	if f.fromRun != "" {
		if f.fromRun, err = findRunFolder(ctx, f.out, f.fromRun); err != nil {
			return c, err
		}
	}
	for _, check := range []func() error{f.checkNamed, f.checkSecrets, f.checkSource, f.checkEffect, f.checkValues, f.checkShard} {
		if err := check(); err != nil {
			return c, err
		}
	}
	c = pipeline.Config{
		Dir: f.out, Grace: f.grace, State: f.state, Resume: f.resume, ForceNew: f.forceNew, ToolVersion: sink.ToolVersion(version),
		Source: source.Config{
			Hosts: f.hosts, WARC: f.warc, Paths: f.warcPaths, Base: f.warcBase, Limits: f.archiveLimits(), Bodies: f.bodies, FromRun: f.fromRun, Ranks: f.ranks, Named: f.named,
			Schemes: f.schemes, Limit: f.limit, Sample: f.sample, Shard: f.shardOf(), Planning: f.planning, LastCapture: f.lastCapture,
		},
		Evaluate: evaluate.Config{KeepComments: f.keepComments},
	}
	if err := f.setRun(ctx, &c); err != nil {
		return c, err
	}
	for _, set := range []func(*pipeline.Config) error{f.setSpool, f.setDate, f.setTables} {
		if err := set(&c); err != nil {
			return c, err
		}
	}
	if c.Evaluate.Profiles, err = f.readProfiles(); err != nil {
		return c, err
	}
	if c.Fetch, err = f.fetchConfig(ctx, c.Evaluate.Profiles); err != nil {
		return c, err
	}
	f.setPlanned(&c)
	f.divide(&c.Fetch)
	c.Fetch.OutagePatience, c.Fetch.AcceptUnreachable = f.outagePatience, f.acceptUnreachable
	c.MaxAge = f.maxAge
	c.Lengthen = !slices.ContainsFunc(c.Evaluate.Profiles, func(p *robots.Profile) bool { return !p.MaxAgeLengthens })
	if err := f.setLimits(&c); err != nil {
		return c, err
	}
	if err := f.files(ctx, &c); err != nil {
		return c, err
	}
	if f.expectations, err = readExpectations(ctx, f.expect); err != nil {
		return c, err
	}
	if f.expectations != nil {
		if err := f.expectations.Fit(c.Evaluate, c.Tables); err != nil {
			return c, err
		}
	}
	c.Settings, c.Pace = f.settings()
	return c, nil
}

// checkSecrets refuses URLs with a name or password: messages and the plan, which may
// be published, have them.
func (f *runFlags) checkSecrets() (err error) {
	f.set.VisitAll(func(flag *pflag.Flag) {
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			u, e := url.Parse(value)
			if flag.Name != "proxy" && e == nil && u.User != nil && remote.IsURL(value) {
				err = usagef("--%s: leave the name and password out of the URL: they would stand in the plan of the run", flag.Name)
			}
		}
	})
	return err
}

// checkSource checks that the flags name exactly one source.
func (f *runFlags) checkSource() error {
	stored := len(f.given())
	if f.hosts != "" {
		stored--
	}
	piped := 0
	for _, path := range append([]string{f.hosts, f.ranks}, f.warc...) {
		if path == "-" {
			piped++
		}
	}
	switch {
	case piped > 1:
		return usagef("standard input can be read only once: give - for only one of --hosts, --ranks and --warc")
	case f.forceNew && f.fromRun != "" && f.run != "" && isSameFile(f.fromRun, filepath.Join(f.out, "_runs", f.run)):
		return usagef("--force-new would remove the run that --from-run reads; give another --run")
	case stored > 1:
		return usagef("--warc, --warc-paths, --bodies and --from-run exclude each other: give one of them")
	case f.lastCapture && slices.Contains(f.warc, "-"):
		return usagef("--last-capture reads archives several times: give a file, and not standard input")
	case f.lastCapture && f.shards > 1:
		return usagef("--last-capture does not apply to shards: the last capture of a host may be in an archive of another one")
	case f.warcBase != "" && f.warcPaths == "":
		return usagef("--warc-base needs --warc-paths: it is where the paths of the list begin")
	case isURL(f.warcBase) && !remote.IsURL(f.warcBase):
		return usagef("--warc-base %s: give an https:// URL, a folder of an object store (s3://), or a folder", remote.Name(f.warcBase))
	case remote.Name(f.warcBase) != f.warcBase:
		return usagef("--warc-base %s: leave out the query of the URL: paths are appended to it", remote.Name(f.warcBase))
	case f.ranks != "" && (stored == 0 || f.fromRun != ""):
		return usagef("--ranks needs --warc or --bodies; a list of hosts and an earlier run have ranks already")
	case isURL(f.state):
		return notHere("state", f.state)
	case stored == 1 && f.state != "":
		return usagef("--state does not apply to stored answers: they are not asked over the network")
	case stored == 0 && f.hosts == "" && len(f.named) == 0:
		return usagef("no source given: name hosts, or give --hosts FILE (- is standard input), --warc, --bodies or --from-run")
	case f.resume && (f.hosts == "-" || slices.Contains(f.warc, "-")):
		return usagef("--resume: standard input cannot be read again; keep the list in a file")
	}
	return nil
}

// checkValues checks the values of flags that do not name a source.
func (f *runFlags) checkValues() error {
	if err := store.CheckName(f.out); err != nil {
		return usagef("--out %w", err)
	}
	switch {
	case f.out == "":
		return usagef("--out is missing: give a folder for the tables")
	case f.out == "-":
		return usagef("--out -: give a folder for the tables; robocensus export writes one of them to standard output")
	case f.concurrency < 1 || f.concurrency > 100_000:
		return usagef("--concurrency must be between 1 and 100000")
	case f.set.Changed("max-age") && f.state == "":
		return usagef("--max-age needs --state DIR")
	case f.maxAge < 0:
		return usagef("--max-age cannot be negative")
	case f.outagePatience <= 0:
		return usagef("--outage-patience must be positive")
	case f.grace < 0:
		return usagef("--grace cannot be negative")
	case f.limit < 0 || f.limit == 0 && f.set.Changed("limit"):
		return usagef("--limit %d: give a number of hosts from 1, or leave it out for all", f.limit)
	case f.run == "" && f.set.Changed("run"):
		return usagef("--run is empty: give an ID, or leave it out for the time of the start")
	case !(f.sample > 0 && f.sample <= 1):
		return usagef("--sample must be above 0 and at most 1: 0.1 takes a tenth of the registered domains")
	case f.lines && f.json:
		return usagef("--lines and --json exclude each other: give one of them")
	case f.dryRun && f.lines:
		return usagef("--dry-run prints text: leave out --lines")
	case f.dryRun && f.json:
		return usagef("--dry-run prints text: leave out --json")
	case len(f.schemes) == 0:
		return usagef("--schemes is empty: use https, http or ftp")
	case !slices.Contains(progressModes, f.progress):
		return usagef("--progress %q: use auto, bar, log or none", f.progress)
	}
	for i, scheme := range f.schemes {
		if fetch.DefaultPort(scheme) == 0 || slices.Contains(f.schemes[:i], scheme) {
			return usagef("--schemes %q: use https, http or ftp, each once", strings.Join(f.schemes, ","))
		}
	}
	if isFile(f.out) {
		return usagef("--out %s: is a file; give a folder for the tables", f.out)
	}
	return writable(f.out)
}

// unguarded lets redirects lead anywhere if special addresses may be asked.
func (f *runFlags) unguarded(ctx context.Context) context.Context {
	if f.allowPrivate {
		return remote.Guarded(ctx, nil)
	}
	return ctx
}

// setRun sets the ID of the run: that of the flag, of the unfinished run to resume,
// or the time.
func (f *runFlags) setRun(ctx context.Context, c *pipeline.Config) (err error) {
	c.Run = f.run
	if c.Run == "" && f.resume && !f.forceNew {
		if c.Run, f.damaged, err = sink.LastIncomplete(ctx, f.out); err != nil {
			return err
		}
	}
	if c.Run == "" {
		c.Run, f.dated = time.Now().UTC().Format("20060102T150405Z"), true
		c.ForceNew = false // it would remove a run that began in the same second
	}
	if err := sink.CheckRunID(c.Run); err != nil {
		return usageError{err}
	}
	if standsForRun(c.Run) {
		return usagef("--run %s: the name is reserved for a complete run; choose another ID", c.Run)
	}
	return nil
}

// clockSkew is how far the clocks of the machines that share a folder may differ: a date
// that much later than now is not in the future.
const clockSkew = 5 * time.Minute

// setDate sets the date that --as-of gives.
func (f *runFlags) setDate(c *pipeline.Config) error {
	if f.asOf == "" {
		return nil
	}
	t, err := parseDate(f.asOf)
	if errors.Is(err, errYear) {
		return usagef("--as-of %q: %w", f.asOf, err)
	}
	if err != nil {
		return usagef("--as-of %q: give a date such as 2024, 2024-05, 2024-W20, 2024-05-14 or 2024-05-14T08:00:00Z", f.asOf)
	}
	if now := time.Now().UTC(); !f.future && t.After(now.Add(clockSkew)) {
		return usagef("--as-of %q: %s is in the future, and it is %s: until then the run would be the latest, and prune would remove others; give --future if you mean it",
			f.asOf, t.Format(time.RFC3339), now.Format(time.RFC3339))
	}
	c.AsOf = &t
	return nil
}

// errYear reports a date before there was a robots.txt, or of a mistyped year.
var errYear = errors.New("give a year from 1994 to 2099")

// parseDate reads a year, a month, a week of ISO 8601, a day or a time. A period is
// its first instant in UTC.
func parseDate(text string) (t time.Time, err error) {
	for _, form := range []string{"2006", "2006-01", time.DateOnly, time.RFC3339} {
		if t, err = time.Parse(form, text); err == nil {
			break
		}
	}
	if monday, ok := parseWeek(text); ok {
		t, err = monday, nil
	}
	if err == nil && (t.Year() < 1994 || t.Year() >= 2100) {
		err = errYear
	}
	return t.UTC(), err
}

// parseWeek returns the Monday of a week such as 2026-W47.
func parseWeek(text string) (monday time.Time, ok bool) {
	year, number, _ := strings.Cut(text, "-W")
	start, err := time.Parse("2006", year)
	week, e := strconv.Atoi(number)
	if err != nil || e != nil || number != fmt.Sprintf("%02d", week) {
		return monday, false
	}
	fourth := start.AddDate(0, 0, 3) // 4 January is in the first week
	monday = fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7)
	y, w := monday.ISOWeek()
	return monday, y == start.Year() && w == week
}

// setTables sets the tables: those of the flag, otherwise all but bodies.
func (f *runFlags) setTables(c *pipeline.Config) error {
	for _, table := range f.tables {
		if !slices.Contains(sink.TableNames, table) {
			return usagef("--tables: no table %q%s: the tables are %s", table, suggest.Remark(table, sink.TableNames), strings.Join(sink.TableNames, ", "))
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
	return nil
}

// setLimits sets the memory of the run and checks that memory and file descriptors
// suffice for the requests in flight.
func (f *runFlags) setLimits(c *pipeline.Config) (err error) {
	requests := f.concurrency
	if c.Source.IsStored() {
		requests = 0
	}
	if c.Memory, err = processMemory(f.memory, requests); err != nil || requests == 0 {
		return err
	}
	return enoughFiles(f.concurrency, f.connectTo == "" && f.proxy == "")
}

// given returns the flags that name a source and have a value.
func (f *runFlags) given() (names []string) {
	for _, source := range []struct {
		name  string
		given bool
	}{{"hosts", f.hosts != ""}, {"warc", len(f.warc) > 0}, {"warc-paths", f.warcPaths != ""}, {"bodies", f.bodies != ""}, {"from-run", f.fromRun != ""}} {
		if source.given {
			names = append(names, source.name)
		}
	}
	return names
}

// checkNamed checks the hosts given as arguments.
func (f *runFlags) checkNamed() error {
	if len(f.named) == 0 {
		return nil
	}
	if given := f.given(); len(given) > 0 {
		return usagef("%s and --%s are both sources: give one of them", f.named[0], given[0])
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

// isSameFile reports whether two paths lead to the same existing file or folder.
func isSameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// files reads the agents and URL samples, by default the built-in ones.
func (f *runFlags) files(ctx context.Context, c *pipeline.Config) error {
	agents, agentsInput, err := f.readAgents(ctx)
	if err != nil {
		return err
	}
	urls, path := configs.URLs, "built-in urls.txt"
	if f.urls != "" {
		if urls, err = readInput(ctx, f.urls); err != nil {
			return err
		}
		path = remote.Name(f.urls)
	}
	if c.Evaluate.Samples, err = evaluate.ParseSamples(path, urls); err != nil {
		return err
	}
	c.Evaluate.Agents = agents
	c.Inputs = []sink.Input{agentsInput, {Role: "urls", Path: path, SHA256: digest(urls), Rows: int64(len(c.Evaluate.Samples))}}
	if f.configInput != nil {
		c.Inputs = append(c.Inputs, *f.configInput)
	}
	return nil
}

// settings returns the values of all flags for the manifest: those that the tables
// depend on, and those that may differ when a run is resumed.
func (f *runFlags) settings() (settings, pace map[string]any) {
	settings, pace = make(map[string]any), make(map[string]any)
	f.set.VisitAll(func(flag *pflag.Flag) {
		out := settings
		switch flag.Name {
		case "out", "run", "config", "progress", "help", "resume", "force-new", "expect", "json", "lines", "dry-run", "shards", "shard", "spool":
			return
		case "concurrency", "per-address", "per-domain", "rate", "address-rate", "state", "grace", "outage-patience", "accept-unreachable", "memory", "parallelism", "warc-base", "archive-rate", "future":
			out = pace
		case "proxy":
			// A password must not appear in a folder that may be published.
			if u, err := url.Parse(f.proxy); err == nil {
				pace[flag.Name] = u.Redacted()
			}
			return
		}
		// Nor may the signature of a URL.
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values := slices.Clone(list.GetSlice())
			for i, value := range values {
				values[i] = remote.Name(value)
			}
			out[flag.Name] = values
			return
		}
		out[flag.Name] = remote.Name(flag.Value.String())
	})
	if len(f.own) > 0 {
		settings["profiles"] = f.ownAsWritten
	}
	return settings, pace
}
